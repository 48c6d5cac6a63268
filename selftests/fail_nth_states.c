// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The states in which calls are made to fail (fail_nth_world.h). Each is made
 * before the call, without faults.
 */
#include <endian.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "fail_nth_world.h"

int is_made(int id, __u32 *where)
{
	*where = id > 0 ? id : 0;
	return id > 0 ? 0 : id;
}

static int fail_unless(bool condition)
{
	return condition ? 0 : -EPROTO;
}

int queue_becomes(struct world *w, __u32 state)
{
	return fail_unless(RAW_EVENTUALLY(raw_queue_in_state(w->a.fd, w->a.queue, state)));
}

static int endpoint_becomes(struct world *w, __u32 endpoint, __u32 state)
{
	return fail_unless(RAW_EVENTUALLY(raw_endpoint_info(w->a.fd, endpoint).state == state));
}

int state_with_counter(struct world *w)
{
	return is_made(raw_counter_create(w->a.fd, IB_COLLQ_SOURCE_USER, 0), &w->object[0]);
}

int state_with_signal_counter(struct world *w)
{
	return is_made(raw_counter_create(w->a.fd, IB_COLLQ_SOURCE_SIGNAL, 0), &w->object[0]);
}

int state_with_messages(struct world *w)
{
	int err = raw_pair_add_messages(&w->a, &w->b);

	w->object[0] = w->a.message_endpoint;
	return err;
}

int state_with_eventfd_counter(struct world *w)
{
	struct ib_collq_counter_create create = {
		.source = IB_COLLQ_SOURCE_EVENTFD,
		.eventfd = w->eventfd,
	};
	int ret = raw_batch(w->a.fd, IB_COLLQ_COUNTER_CREATE, &create, sizeof(create), 1, NULL);

	return ret < 0 ? ret : is_made(create.id, &w->object[0]);
}

int state_with_graph(struct world *w)
{
	const struct ib_collq_task task = raw_wait_for(w->a.counter, 1);

	return is_made(raw_graph_create(w->a.fd, &task, 1), &w->object[0]);
}

/* Two endpoints in each context; those in b know where those in a are. */
int state_with_new_endpoints(struct world *w)
{
	int i, ret;

	for (i = 0; i < 2; i++) {
		w->attr = raw_endpoint_attr(IB_COLLQ_ENDPOINT_SIGNAL);
		ret = raw_endpoint_create(w->b.fd, &w->attr);
		if (ret < 0)
			return ret;
		memcpy(w->peer[i], w->attr.address, sizeof(w->peer[i]));
		w->attr = raw_endpoint_attr(IB_COLLQ_ENDPOINT_SIGNAL);
		ret = is_made(raw_endpoint_create(w->a.fd, &w->attr), &w->object[i]);
		if (ret)
			return ret;
	}
	return 0;
}

int state_with_new_messages(struct world *w)
{
	w->attr = raw_endpoint_attr(IB_COLLQ_ENDPOINT_MESSAGE);
	w->attr.signal_endpoint = w->b.endpoint;
	if (raw_endpoint_create(w->b.fd, &w->attr) < 0)
		return -EPROTO;
	memcpy(w->peer[0], w->attr.address, sizeof(w->peer[0]));
	w->attr = raw_endpoint_attr(IB_COLLQ_ENDPOINT_MESSAGE);
	w->attr.signal_endpoint = w->a.endpoint;
	return is_made(raw_endpoint_create(w->a.fd, &w->attr), &w->object[0]);
}

/* a's queue runs a graph that waits for b. */
int state_waiting(struct world *w)
{
	int err = raw_submit(w->a.fd, w->a.queue, w->a.graph, 0, 0, &w->sequence);

	return err ? err : queue_becomes(w, IB_COLLQ_QUEUE_WAITING);
}

/* It waits for the process itself. */
int state_waiting_for_user(struct world *w)
{
	struct ib_collq_task task;
	__u32 graph;
	int err = state_with_counter(w);

	task = raw_wait_for(w->object[0], 1);
	if (!err)
		err = is_made(raw_graph_create(w->a.fd, &task, 1), &graph);
	if (!err)
		err = raw_submit(w->a.fd, w->a.queue, graph, 0, 0, &w->sequence);
	return err ? err : queue_becomes(w, IB_COLLQ_QUEUE_WAITING);
}

/* Another one stands behind one that waits for b. */
int state_two_submitted(struct world *w)
{
	int err = state_waiting(w);

	return err ? err : raw_submit(w->a.fd, w->a.queue, w->a.graph, 0, 0, &w->sequence);
}

int state_done(struct world *w)
{
	w->sequence = 1;
	return raw_pair_barrier(&w->a, &w->b);
}

/* A barrier has been passed, and the ring has its entry. */
int state_unread(struct world *w)
{
	int status, err = raw_submit(w->b.fd, w->b.queue, w->b.graph, 0, 0, NULL);

	return err ? err : raw_run(w->a.fd, w->a.queue, w->a.graph, &status);
}

int state_peer_is_there(struct world *w)
{
	return raw_submit(w->b.fd, w->b.queue, w->b.graph, 0, 0, NULL);
}

int state_depth_full(struct world *w)
{
	int i, err = 0;

	for (i = 0; i < RAW_DEPTH && !err; i++)
		err = raw_submit(w->a.fd, w->a.queue, w->a.graph, 0, 0, NULL);
	return err;
}

int state_ring_full(struct world *w)
{
	__u32 graph, queue, counter;
	struct ib_collq_task task;
	int i, err, status;

	err = is_made(raw_counter_create(w->a.fd, IB_COLLQ_SOURCE_USER, 0), &counter);
	if (!err)
		err = raw_counter_raise(w->a.fd, counter, RAW_RING_ENTRIES);
	task = raw_wait_for(counter, 1);
	if (!err)
		err = is_made(raw_graph_create(w->a.fd, &task, 1), &graph);
	if (!err)
		err = is_made(raw_queue_create(w->a.fd, w->a.ring.id, 1, NULL, 0), &queue);
	for (i = 0; i < RAW_RING_ENTRIES && !err; i++)
		err = raw_run(w->a.fd, queue, graph, &status);
	return err;
}

int state_failed(struct world *w)
{
	int err = raw_submit(w->a.fd, w->a.queue, w->a.graph, 0, 1, &w->sequence);

	return err ? err : queue_becomes(w, IB_COLLQ_QUEUE_FAILED);
}

int state_peer_closed(struct world *w)
{
	raw_side_close(&w->b);
	return endpoint_becomes(w, w->a.endpoint, IB_COLLQ_ENDPOINT_PEER_CLOSED);
}

/* object[0] is an endpoint whose peer doesn't answer. */
int state_peer_lost(struct world *w)
{
	struct ib_collq_endpoint_create attr = raw_endpoint_attr(IB_COLLQ_ENDPOINT_SIGNAL);
	struct ib_collq_address address;
	struct ib_collq_task task;
	__u32 graph;
	int err;

	attr.timeout = 8;
	attr.retry_cnt = 1;
	err = is_made(raw_endpoint_create(w->a.fd, &attr), &w->object[0]);
	if (err)
		return err;
	memcpy(&address, w->b.attr.address, sizeof(address));
	/* Numbers of queue pairs are given out from the bottom. */
	address.qpn |= htole32(0x800000);
	err = raw_endpoint_connect(w->a.fd, w->object[0], (__u8 *)&address);
	if (err)
		return err;
	task = raw_signal(w->object[0], 0, 0);
	err = is_made(raw_graph_create(w->a.fd, &task, 1), &graph);
	if (!err)
		err = raw_submit(w->a.fd, w->a.queue, graph, 0, 0, NULL);
	if (!err)
		err = endpoint_becomes(w, w->object[0], IB_COLLQ_ENDPOINT_ERROR);
	return err ? err : fail_unless(RAW_EVENTUALLY(!raw_destroy(w->a.fd, graph)));
}

/* Two slots are bound; the table has grown once. */
int state_with_bindings(struct world *w)
{
	__u32 counter;
	int err = is_made(raw_counter_create(w->a.fd, IB_COLLQ_SOURCE_SIGNAL, 0), &counter);

	if (!err)
		err = raw_slot_bind(w->a.fd, w->a.endpoint, 100, 1, counter);
	return err ? err : state_with_signal_counter(w);
}

int state_with_ring(struct world *w)
{
	struct ib_collq_ring_create create = {
		.size = sizeof(create),
		.entries = RAW_RING_ENTRIES,
		.eventfd = w->eventfd,
	};
	int err = raw_ioctl(w->a.fd, IB_COLLQ_RING_CREATE, &create);

	w->map_size = create.mmap_size;
	w->map_offset = create.mmap_offset;
	return err ? err : is_made(create.id, &w->object[0]);
}

int state_with_mapped_ring(struct world *w)
{
	int err = state_with_ring(w);
	void *map;

	if (err)
		return err;
	map = mmap(NULL, w->map_size, PROT_READ | PROT_WRITE, MAP_SHARED, w->a.fd, w->map_offset);
	if (map == MAP_FAILED)
		return -errno;
	w->map[0] = map;
	return 0;
}

int state_with_idle_queue(struct world *w)
{
	return is_made(raw_queue_create(w->a.fd, w->a.ring.id, 4, NULL, 0), &w->object[0]);
}

/*
 * No completion queue has room for a large endpoint, so that the next one takes a
 * new one. The pool keeps one that is free, and one or two may have small
 * endpoints that linger.
 */
int state_without_completion_queue(struct world *w)
{
	struct ib_collq_endpoint_create attr = raw_endpoint_attr(IB_COLLQ_ENDPOINT_SIGNAL);
	int i, ret;

	w->holder = raw_open();
	if (w->holder < 0)
		return w->holder;
	attr.send_capacity = LARGE_CAPACITY;
	attr.recv_capacity = LARGE_CAPACITY;
	for (i = 0; i < 4; i++) {
		ret = raw_endpoint_create(w->holder, &attr);
		if (ret < 0)
			return ret;
	}
	return 0;
}
