// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * See mr_side.h.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include <rdma/ib_collq_uverbs.h>

#include "all_uverbs.h"
#include "mr_side.h"
#include "verbs.h"

int mr_create_lent(int fd, unsigned long command, void *arg, size_t size, __u16 attr,
		   __u32 handle)
{
	const struct collq_loan loan = { .attr = attr, .handle = handle };

	return collq_verbs_create(uverbs_of(fd), command, arg, size, &loan);
}

int mr_region(int fd, const struct ibv_mr *mr, const char *start, size_t length)
{
	struct ib_collq_region_create create = {
		.size = sizeof(create),
		.type = IB_COLLQ_REGION_MR,
		.access = IB_COLLQ_ACCESS_WRITE,
		.address = start - (char *)mr->addr,
		.length = length,
	};
	int err = mr_create_lent(fd, IB_COLLQ_REGION_CREATE, &create, sizeof(create),
			      IB_COLLQ_ATTR_MR, mr->handle);

	return err ? err : (int)create.id;
}

int mr_endpoint_in_pd(int fd, struct ibv_pd *pd, struct ib_collq_endpoint_create *attr)
{
	int err = mr_create_lent(fd, IB_COLLQ_ENDPOINT_CREATE, attr, sizeof(*attr),
			      IB_COLLQ_ATTR_PD, pd->handle);

	return err ? err : (int)attr->id;
}

__u8 mr_ack_timeout = 16;

struct ib_collq_endpoint_create mr_message_attr(const struct raw_side *side)
{
	struct ib_collq_endpoint_create attr = raw_endpoint_attr(IB_COLLQ_ENDPOINT_MESSAGE);

	attr.flags = IB_COLLQ_ENDPOINT_PD;
	attr.signal_endpoint = side->endpoint;
	attr.timeout = mr_ack_timeout;
	attr.max_send_sge = 2;
	attr.max_recv_sge = 2;
	return attr;
}

int mr_side_open(struct mr_side *side)
{
	struct ibv_context *ibv;

	if (raw_side_open(&side->raw))
		return -1;
	ibv = uverbs_context(side->raw.fd);
	side->area = raw_map(AREA);
	side->pd = ibv_alloc_pd(ibv);
	if (!side->area || !side->pd)
		return -1;
	memset(side->area, CANARY, AREA);
	side->mr = ibv_reg_mr(side->pd, side->area, AREA, IBV_ACCESS_LOCAL_WRITE);
	if (!side->mr)
		return -1;
	side->region = mr_region(side->raw.fd, side->mr, side->area, AREA);
	side->attr = mr_message_attr(&side->raw);
	side->endpoint = mr_endpoint_in_pd(side->raw.fd, side->pd, &side->attr);
	side->sends = raw_counter_create(side->raw.fd, IB_COLLQ_SOURCE_SENDS, side->endpoint);
	side->messages = raw_counter_create(side->raw.fd, IB_COLLQ_SOURCE_MESSAGES,
					    side->endpoint);
	if (side->region < 0 || side->endpoint < 0 || side->sends < 0 || side->messages < 0)
		return -1;
	return 0;
}

int mr_side_connect(struct mr_side *side, const struct mr_side *peer)
{
	int err = raw_side_connect(&side->raw, peer->raw.attr.address);

	return err ? err : raw_endpoint_connect(side->raw.fd, side->endpoint,
						peer->attr.address);
}

/* What is still there goes in whatever order. */
void mr_side_close(struct mr_side *side)
{
	raw_side_close(&side->raw);
	munmap(side->area, AREA);
}

/* A message to or from the area; the graph waits for it, or leaves it posted. */
int mr_graph_of(struct mr_side *side, bool send, bool wait, size_t offset, size_t length)
{
	const struct ib_collq_sge sge = { .offset = offset, .length = length };
	const struct ib_collq_task tasks[] = {
		send ? raw_send_list(side->endpoint, 0, 1) : raw_recv_list(side->endpoint, 0, 1),
		raw_wait_for(send ? side->sends : side->messages, 1),
	};
	const struct raw_graph graph = {
		.tasks = tasks, .nr_tasks = 1 + wait, .sges = &sge, .nr_sges = 1, .nr_buffers = 1,
	};

	return raw_data_graph_create(side->raw.fd, &graph, NULL);
}

int mr_submit_with(struct mr_side *side, int graph, int region, __u64 *sequence)
{
	const struct ib_collq_buffer_bind binding = { .region = region };

	return raw_submit_bound(side->raw.fd, side->raw.queue, graph, &binding, 1, sequence);
}

int mr_result_of(struct mr_side *side, __u64 sequence)
{
	int status, err = raw_result(side->raw.fd, side->raw.queue, sequence, &status);

	return err ? err : status;
}
