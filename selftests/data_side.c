// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A pair of contexts of which one sends from lists and the other receives into them: see
 * data_side.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "data_side.h"

/* With a message endpoint that takes lists. */
static int data_endpoint(struct raw_side *side, struct ib_collq_endpoint_create *attr,
			 __u32 sges)
{
	int ret;

	*attr = raw_endpoint_attr(IB_COLLQ_ENDPOINT_MESSAGE);
	attr->signal_endpoint = side->endpoint;
	attr->max_send_sge = sges;
	attr->max_recv_sge = sges;
	ret = raw_endpoint_create(side->fd, attr);
	if (ret < 0)
		return ret;
	side->message_endpoint = ret;
	return 0;
}

static int data_side_open(struct data_side *data, struct raw_side *side, size_t size)
{
	data->side = side;
	data->sends = raw_counter_create(side->fd, IB_COLLQ_SOURCE_SENDS, side->message_endpoint);
	data->messages = raw_counter_create(side->fd, IB_COLLQ_SOURCE_MESSAGES,
					    side->message_endpoint);
	if (data->sends < 0 || data->messages < 0)
		return data->sends < 0 ? data->sends : data->messages;
	data->area_size = size;
	data->area = raw_map_apart(size);
	if (!data->area)
		return -ENOMEM;
	memset(data->area, DATA_CANARY, size);
	data->region = raw_region_create(side->fd, data->area, size,
					 IB_COLLQ_ACCESS_WRITE);
	return data->region < 0 ? data->region : 0;
}

int data_pair_open(struct raw_side *a, struct raw_side *b, struct data_side *from,
		   struct data_side *to, size_t size, __u32 sges)
{
	struct ib_collq_endpoint_create attr[2];
	int err;

	err = raw_pair_open(a, b);
	if (!err)
		err = data_endpoint(a, &attr[0], sges);
	if (!err)
		err = data_endpoint(b, &attr[1], sges);
	if (!err)
		err = raw_endpoint_connect(a->fd, a->message_endpoint, attr[1].address);
	if (!err)
		err = raw_endpoint_connect(b->fd, b->message_endpoint, attr[0].address);
	if (!err)
		err = data_side_open(from, a, size);
	return err ? err : data_side_open(to, b, size);
}

int data_graph(const struct data_side *data, bool send, const struct ib_collq_sge *sges, __u32 nr)
{
	const __u32 endpoint = data->side->message_endpoint;
	const struct ib_collq_task tasks[] = {
		send ? raw_send_list(endpoint, 0, nr) : raw_recv_list(endpoint, 0, nr),
		raw_wait_for(send ? data->sends : data->messages, 1),
	};
	const struct raw_graph graph = {
		.tasks = tasks, .nr_tasks = 2, .sges = sges, .nr_sges = nr, .nr_buffers = 1,
	};

	return raw_data_graph_create(data->side->fd, &graph, NULL);
}

int data_submit(const struct data_side *data, int graph, __u64 *sequence)
{
	const struct ib_collq_buffer_bind binding = { .region = data->region };

	return graph < 0 ? graph : raw_submit_bound(data->side->fd, data->side->queue, graph,
						    &binding, 1, sequence);
}

int data_result(const struct data_side *data, __u64 sequence)
{
	struct ib_collq_completion completion;
	int status, err = raw_result(data->side->fd, data->side->queue, sequence, &status);

	raw_ring_take(&data->side->ring, &completion);
	return err ? err : status;
}

int data_transfer(struct data_side *from, const struct ib_collq_sge *src, __u32 nr_src,
		  struct data_side *to, const struct ib_collq_sge *dst, __u32 nr_dst)
{
	int recv = data_graph(to, false, dst, nr_dst), send = data_graph(from, true, src, nr_src);
	__u64 received, sent;
	int err;

	err = data_submit(to, recv, &received);
	if (err)
		return err;
	err = data_submit(from, send, &sent);
	if (err)
		return err;
	err = data_result(from, sent);
	if (!err)
		err = data_result(to, received);
	if (!err)
		err = raw_destroy(from->side->fd, send);
	return err ? err : raw_destroy(to->side->fd, recv);
}

int data_check(struct data_side *from, const struct ib_collq_sge *src, __u32 nr_src,
	       struct data_side *to, const struct ib_collq_sge *dst, __u32 nr_dst,
	       unsigned int seed)
{
	size_t length = raw_length(src, nr_src);
	char *stream = malloc(length + 1);
	char *blank = malloc(length + 1);
	int err;

	if (!stream || !blank)
		return -ENOMEM;
	memset(blank, DATA_CANARY, length + 1);
	raw_fill(stream, length, seed);
	raw_scatter(from->area, src, nr_src, stream);
	err = data_transfer(from, src, nr_src, to, dst, nr_dst);
	if (!err) {
		memset(stream, 0, length);
		raw_gather(to->area, dst, nr_dst, stream);
		if (raw_count_wrong(stream, length, seed))
			err = -EBADMSG;
	}
	raw_scatter(to->area, dst, nr_dst, blank);
	if (!err && raw_count_other(to->area, to->area_size, DATA_CANARY))
		err = -EOVERFLOW;
	raw_scatter(from->area, src, nr_src, blank);
	free(stream);
	free(blank);
	return err;
}
