// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Buffers that the caller has registered with libibverbs: they stay where they are, and
 * message endpoints are made in their protection domain. Only the adapter gets at them, so
 * what would be left to the CPU is left to who starts the run.
 */
#include <errno.h>
#include <string.h>

#include <infiniband/verbs.h>
#include <rdma/ib_collq_uverbs.h>

#include "data.h"
#include "ioctl.h"
#include "request.h"
#include "verbs.h"

bool collq_buffer_fits(const struct collq_buffer *buffer)
{
	const struct ibv_mr *mr = buffer->mr;
	uintptr_t start = (uintptr_t)buffer->address;

	return !mr || !buffer->bytes ||
	       (start >= (uintptr_t)mr->addr && buffer->bytes <= mr->length &&
		start - (uintptr_t)mr->addr <= mr->length - buffer->bytes);
}

/* By character device the memory has to be registered again. */
int collq_data_lend(struct collq_data *data, const struct collq_context *ctx,
		    const struct ibv_mr *send, const struct ibv_mr *recv)
{
	data->send.mr = send;
	data->recv.mr = recv;
	if (!send || !recv || data->in_place || send->pd != recv->pd ||
	    !collq_buffer_fits(&data->send) || !collq_buffer_fits(&data->recv))
		return -EINVAL;
	if (!ctx->verbs) {
		data->send.mr = NULL;
		data->recv.mr = NULL;
		return 0;
	}
	data->pd = send->pd;
	return send->context->cmd_fd == collq_verbs_fd(ctx->verbs) ? 0 : -EINVAL;
}

int collq_data_endpoints(struct collq_request *req, struct ib_collq_endpoint_create *entries,
			 uint32_t nr, uint32_t *done)
{
	const struct ibv_pd *pd = req->data->pd;
	struct collq_loan loan = { .attr = IB_COLLQ_ATTR_PD };
	int err;

	if (!pd)
		return collq_ioctl_all(req->ctx, IB_COLLQ_ENDPOINT_CREATE, entries,
				       sizeof(*entries), nr, done);
	loan.handle = pd->handle;
	for (*done = 0; *done < nr; ++*done) {
		entries[*done].flags = IB_COLLQ_ENDPOINT_PD;
		err = collq_ioctl_lend(req->ctx, IB_COLLQ_ENDPOINT_CREATE, &entries[*done],
				       sizeof(*entries), &loan);
		if (err)
			return err;
	}
	return 0;
}

void collq_data_copy_own(const struct collq_data *data)
{
	if (data->own_bytes)
		memcpy((char *)(uintptr_t)data->recv.address + data->own_offset,
		       (const char *)data->send.address + data->own_offset, data->own_bytes);
}
