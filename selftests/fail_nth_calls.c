// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The calls that are made to fail (fail_nth_world.h), one system call each.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fail_nth_world.h"

/* Longer than a page, so that vmalloc is what comes after kmalloc. */
#define LARGE_GRAPH	100

int call_open(struct world *w)
{
	int fd = open(w->node, O_RDWR | O_CLOEXEC);

	return fd < 0 ? -errno : close(fd);
}

int call_mmap(struct world *w)
{
	void *map = mmap(NULL, w->map_size, PROT_READ | PROT_WRITE, MAP_SHARED, w->a.fd,
			 w->map_offset);

	if (map == MAP_FAILED)
		return -errno;
	w->map[1] = map;
	return 0;
}

/* The first touch of a page; the fault handler tries again by itself. */
int call_touch(struct world *w)
{
	struct ib_collq_ring_header *header = w->map[0];

	__atomic_store_n(&header->head, 0, __ATOMIC_RELEASE);
	return 0;
}

int call_munmap(struct world *w)
{
	if (munmap(w->map[0], w->map_size))
		return -errno;
	w->map[0] = NULL;
	return 0;
}

int call_poll(struct world *w)
{
	struct pollfd fds = { .fd = w->a.fd, .events = POLLIN };
	int ret = poll(&fds, 1, 0);

	return ret < 0 ? -errno : ret;
}

int call_read(struct world *w)
{
	char byte;

	return read(w->a.fd, &byte, 1) < 0 ? -errno : 0;
}

int call_close(struct world *w)
{
	int fd = w->a.fd;

	w->a.fd = -1;
	return close(fd) ? -errno : 0;
}

int call_query(struct world *w)
{
	struct ib_collq_query query;

	return raw_query(w->a.fd, &query);
}

static int describe(struct world *w, __u32 id, __u32 flags)
{
	static char info[1024], entries[16 * 1024];
	struct ib_collq_object_describe attr = {
		.size = sizeof(attr),
		.flags = flags,
		.id = id,
		.info = (unsigned long)info,
		.info_size = sizeof(info),
		.entry_size = 128,
		.entries = (unsigned long)entries,
		.nr = sizeof(entries) / 128,
	};

	return raw_ioctl(w->a.fd, IB_COLLQ_OBJECT_DESCRIBE, &attr);
}

int call_describe_endpoint(struct world *w)
{
	return describe(w, w->a.endpoint, 0);
}

int call_describe_counter(struct world *w)
{
	return describe(w, w->a.counter, 0);
}

int call_describe_graph(struct world *w)
{
	return describe(w, w->a.graph, 0);
}

int call_describe_queue(struct world *w)
{
	return describe(w, w->a.queue, 0);
}

int call_describe_ring(struct world *w)
{
	return describe(w, w->a.ring.id, 0);
}

int call_describe_next(struct world *w)
{
	return describe(w, 1, IB_COLLQ_DESCRIBE_NEXT);
}

int call_destroy(struct world *w)
{
	return raw_destroy(w->a.fd, w->object[0]);
}

int call_destroy_endpoint(struct world *w)
{
	return raw_destroy(w->a.fd, w->a.endpoint);
}

int call_destroy_counter(struct world *w)
{
	return raw_destroy(w->a.fd, w->a.counter);
}

int call_destroy_graph(struct world *w)
{
	return raw_destroy(w->a.fd, w->a.graph);
}

int call_destroy_queue(struct world *w)
{
	return raw_destroy(w->a.fd, w->a.queue);
}

int call_destroy_ring(struct world *w)
{
	return raw_destroy(w->a.fd, w->a.ring.id);
}

int call_describe_context(struct world *w)
{
	struct ib_collq_context_describe attr = { .size = sizeof(attr) };

	return raw_ioctl(w->a.fd, IB_COLLQ_CONTEXT_DESCRIBE, &attr);
}

int call_describe_next_context(struct world *w)
{
	struct ib_collq_context_describe attr = {
		.size = sizeof(attr),
		.flags = IB_COLLQ_DESCRIBE_NEXT,
		.id = 1,
	};

	return raw_ioctl(w->a.fd, IB_COLLQ_CONTEXT_DESCRIBE, &attr);
}

static int reset(struct world *w, __u32 id)
{
	struct ib_collq_object_reset attr = { .size = sizeof(attr), .id = id };

	return raw_ioctl(w->a.fd, IB_COLLQ_OBJECT_RESET, &attr);
}

int call_reset(struct world *w)
{
	return reset(w, w->object[0]);
}

int call_reset_endpoint(struct world *w)
{
	return reset(w, w->a.endpoint);
}

int call_reset_queue(struct world *w)
{
	return reset(w, w->a.queue);
}

int call_endpoint_create(struct world *w)
{
	struct ib_collq_endpoint_create attr = raw_endpoint_attr(IB_COLLQ_ENDPOINT_SIGNAL);

	return raw_endpoint_create(w->a.fd, &attr);
}

int call_endpoint_create_large(struct world *w)
{
	struct ib_collq_endpoint_create attr = raw_endpoint_attr(IB_COLLQ_ENDPOINT_SIGNAL);

	attr.send_capacity = LARGE_CAPACITY;
	attr.recv_capacity = LARGE_CAPACITY;
	return raw_endpoint_create(w->a.fd, &attr);
}

int call_message_endpoint_create(struct world *w)
{
	struct ib_collq_endpoint_create attr = raw_endpoint_attr(IB_COLLQ_ENDPOINT_MESSAGE);

	attr.signal_endpoint = w->a.endpoint;
	return raw_endpoint_create(w->a.fd, &attr);
}

int call_connect(struct world *w)
{
	return raw_endpoint_connect(w->a.fd, w->object[0], w->peer[0]);
}

/* Where the second one fails, the first one counts: go on from there. */
int call_connect_two(struct world *w)
{
	struct ib_collq_endpoint_connect attr[2] = {
		{ .endpoint = w->object[0] }, { .endpoint = w->object[1] },
	};
	int error, ret;

	memcpy(attr[0].address, w->peer[0], sizeof(w->peer[0]));
	memcpy(attr[1].address, w->peer[1], sizeof(w->peer[1]));
	ret = raw_batch(w->a.fd, IB_COLLQ_ENDPOINT_CONNECT, &attr[w->done], sizeof(attr[0]),
			2 - w->done, &error);
	if (ret > 0)
		w->done += ret;
	return ret > 0 && error ? error : ret;
}

int call_reserve(struct world *w)
{
	return raw_capacity(w->a.fd, IB_COLLQ_CAPACITY_RESERVE, w->a.endpoint, RAW_CAPACITY);
}

int call_release(struct world *w)
{
	return raw_capacity(w->a.fd, IB_COLLQ_CAPACITY_RELEASE, w->a.endpoint, RAW_CAPACITY);
}

int call_bind_in_table(struct world *w)
{
	return raw_slot_bind(w->a.fd, w->a.endpoint, 101, 1, w->object[0]);
}

int call_bind_beyond_table(struct world *w)
{
	return raw_slot_bind(w->a.fd, w->a.endpoint, 16383, 1, w->object[0]);
}

int call_unbind(struct world *w)
{
	return raw_slot_unbind(w->a.fd, w->a.endpoint, RAW_SLOT, RAW_GENERATION);
}

int call_counter_create(struct world *w)
{
	return raw_counter_create(w->a.fd, IB_COLLQ_SOURCE_SIGNAL, 0);
}

int call_sends_counter_create(struct world *w)
{
	return raw_counter_create(w->a.fd, IB_COLLQ_SOURCE_SENDS, w->a.endpoint);
}

int call_messages_counter_create(struct world *w)
{
	return raw_counter_create(w->a.fd, IB_COLLQ_SOURCE_MESSAGES, w->a.message_endpoint);
}

int call_raise(struct world *w)
{
	return raw_counter_raise(w->a.fd, w->object[0], 1);
}

int call_counter_read(struct world *w)
{
	struct ib_collq_counter_read attr;

	return raw_counter_read(w->a.fd, w->a.counter, &attr);
}

static int ring_create(struct world *w, __u32 entries, int eventfd)
{
	struct ib_collq_ring_create attr = {
		.size = sizeof(attr),
		.entries = entries,
		.eventfd = eventfd,
	};

	return raw_ioctl(w->a.fd, IB_COLLQ_RING_CREATE, &attr);
}

int call_ring_create(struct world *w)
{
	return ring_create(w, RAW_RING_ENTRIES, -1);
}

int call_ring_create_large(struct world *w)
{
	return ring_create(w, 1024, w->eventfd);
}

int call_queue_create(struct world *w)
{
	return raw_queue_create(w->a.fd, w->a.ring.id, 1024, NULL, 0);
}

/* The slots are far apart, so that the table of slots has to grow. */
int call_queue_create_linked(struct world *w)
{
	const struct ib_collq_queue_endpoint links[] = {
		{ .endpoint = w->a.endpoint, .abort_slot = 16383 },
		{ .endpoint = w->object[0], .abort_slot = 0 },
		{ .endpoint = w->object[1], .abort_slot = 5000 },
	};

	return raw_queue_create(w->a.fd, w->a.ring.id, 4, links, 3);
}

int call_graph_create(struct world *w)
{
	const struct ib_collq_task tasks[] = {
		raw_signal(w->a.endpoint, 0, 0), raw_wait_for(w->a.counter, 1),
		raw_wait_for(w->object[0], 2),
	};

	return raw_graph_create(w->a.fd, tasks, 3);
}

int call_graph_create_large(struct world *w)
{
	static struct ib_collq_task tasks[LARGE_GRAPH];
	int i;

	for (i = 0; i < LARGE_GRAPH; i++)
		tasks[i] = raw_wait_for(w->a.counter, 1);
	return raw_graph_create(w->a.fd, tasks, LARGE_GRAPH);
}

int call_graph_create_refused(struct world *w)
{
	const struct ib_collq_task tasks[] = {
		raw_wait_for(w->a.counter, 1), raw_wait_for(w->a.counter, 0),
	};

	return raw_graph_create(w->a.fd, tasks, 2);
}

int call_submit(struct world *w)
{
	return raw_submit(w->a.fd, w->a.queue, w->a.graph, 0, 0, NULL);
}

int call_submit_with_deadline(struct world *w)
{
	return raw_submit(w->a.fd, w->a.queue, w->a.graph, 0, raw_in_ms(100000), NULL);
}

int call_wait(struct world *w)
{
	struct ib_collq_queue_wait wait;

	return raw_wait(w->a.fd, w->a.queue, w->sequence, raw_in_ms(2), &wait);
}

int call_wait_for_ring(struct world *w)
{
	struct ib_collq_queue_wait wait = {
		.size = sizeof(wait),
		.ring = w->a.ring.id,
		.deadline = raw_in_ms(2),
	};

	return raw_ioctl(w->a.fd, IB_COLLQ_QUEUE_WAIT, &wait);
}

int call_submit_wait(struct world *w)
{
	struct ib_collq_queue_submit_wait run = {
		.size = sizeof(run),
		.queue = w->a.queue,
		.graph = w->a.graph,
		.wait_deadline = raw_in_ms(100),
	};

	return raw_ioctl(w->a.fd, IB_COLLQ_QUEUE_SUBMIT_WAIT, &run);
}

int call_cancel(struct world *w)
{
	return raw_cancel(w->a.fd, w->a.queue, w->sequence);
}

int call_cancel_all(struct world *w)
{
	return raw_cancel(w->a.fd, w->a.queue, 0);
}
