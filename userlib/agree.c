// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * See agree.h. It is a telling of its own: each rank tells its terms, and hears those of
 * all. Who has a reason to fail says so in the header, as in any telling; what turns out
 * afterwards is said in the telling that follows.
 */
#include <errno.h>
#include <string.h>

#include "agree.h"
#include "data.h"
#include "place.h"
#include "request.h"

int collq_agree_begin(struct collq_request *req)
{
	const struct ib_collq_query *limits = &req->ctx->limits;
	struct collq_message_terms *own = &req->terms->own;
	struct collq_comm *comm = req->comm;
	struct collq_message_header header = {
		.init = ++comm->init,
		.algorithm = req->algorithm,
	};
	uint32_t rank, most;

	if (!req->init_error && !(limits->features & IB_COLLQ_FEATURE_REGION))
		req->init_error = -EOPNOTSUPP;
	most = collq_lists_most(req);
	own->max_send_sge = limits->max_send_sge > most ? limits->max_send_sge : most;
	own->max_recv_sge = limits->max_recv_sge > most ? limits->max_recv_sge : most;
	own->max_message = limits->max_message;
	own->region_part = limits->region_part;
	own->place = collq_context_place(req->ctx);
	collq_write_terms(&req->telling.records, own);
	for (rank = 0; rank < comm->size && !req->init_error; rank++)
		req->init_error = collq_telling_listen(&req->telling, rank);
	if (!req->init_error)
		req->init_error = req->telling.records.error;
	header.status = (uint32_t)req->init_error;
	return collq_telling_begin(&req->telling, comm, &header);
}

static void take_least(uint32_t *limit, uint32_t other)
{
	if (other < *limit)
		*limit = other;
}

/* All ranks come to the same, but for running out of memory. */
static int hear(struct collq_message_terms *agreed, const struct collq_stream *stream)
{
	struct collq_message_terms told;
	int err;

	err = collq_message_get_terms(stream->bytes, stream->nr, &told);
	if (err)
		return err;
	if (told.amount != agreed->amount ||
	    memcmp(told.choice, agreed->choice, sizeof(told.choice)))
		return -EINVAL;
	take_least(&agreed->max_send_sge, told.max_send_sge);
	take_least(&agreed->max_recv_sge, told.max_recv_sge);
	if (told.max_message < agreed->max_message)
		agreed->max_message = told.max_message;
	if (told.region_part && (!agreed->region_part ||
				 told.region_part < agreed->region_part))
		agreed->region_part = told.region_part;
	if (told.place != agreed->place)
		agreed->place = 0;
	return 0;
}

int collq_agree_test(struct collq_request *req)
{
	struct collq_message_terms agreed = req->terms->own;
	uint32_t i;
	int err;

	err = collq_telling_test(&req->telling, req->comm, &req->init_error);
	if (err)
		return err;
	for (i = 0; i < req->telling.nr_streams && !req->init_error; i++)
		req->init_error = hear(&agreed, &req->telling.streams[i]);
	collq_telling_free(&req->telling);
	if (!req->init_error)
		req->init_error = req->terms->build(req, &agreed);
	return 0;
}
