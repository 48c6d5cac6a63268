// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Rings as user space sees them, and two contexts that are connected. See
 * collq_util.h.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "collq_util.h"

int raw_ring_create(int fd, __u32 entries, struct raw_ring *ring)
{
	struct ib_collq_ring_create create = {
		.size = sizeof(create),
		.entries = entries,
		.eventfd = -1,
	};
	int err = raw_ioctl(fd, IB_COLLQ_RING_CREATE, &create);
	void *map;

	if (err)
		return err;
	if (create.entry_size != sizeof(struct ib_collq_completion))
		return -EPROTO;
	map = mmap(NULL, create.mmap_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		   create.mmap_offset);
	if (map == MAP_FAILED)
		return -errno;
	*ring = (struct raw_ring) {
		.id = create.id,
		.entries = entries,
		.map_size = create.mmap_size,
		.header = map,
		.completions = (void *)((char *)map + create.entries_offset),
	};
	return 0;
}

void raw_ring_unmap(struct raw_ring *ring)
{
	if (ring->header)
		munmap(ring->header, ring->map_size);
	ring->header = NULL;
}

/* The acquire pairs with the kernel's release of an entry's tail. */
__u32 raw_ring_unread(const struct raw_ring *ring)
{
	return __atomic_load_n(&ring->header->tail, __ATOMIC_ACQUIRE) -
	       ring->header->head;
}

bool raw_ring_take(struct raw_ring *ring, struct ib_collq_completion *completion)
{
	__u32 head = ring->header->head;

	if (!raw_ring_unread(ring))
		return false;
	*completion = ring->completions[head & (ring->entries - 1)];
	/* The kernel may write over the entry when it sees this. */
	__atomic_store_n(&ring->header->head, head + 1, __ATOMIC_RELEASE);
	return true;
}

/* The next entry, which should come soon. */
int raw_ring_next(int fd, struct raw_ring *ring,
		  struct ib_collq_completion *completion)
{
	struct ib_collq_queue_wait wait = {
		.size = sizeof(wait),
		.ring = ring->id,
		.deadline = raw_in_ms(RAW_PATIENCE_MS),
	};
	int err;

	if (raw_ring_take(ring, completion))
		return 0;
	err = raw_ioctl(fd, IB_COLLQ_QUEUE_WAIT, &wait);
	if (err)
		return err;
	return raw_ring_take(ring, completion) ? 0 : -EPROTO;
}

/* Opens a context with all that it takes to be connected, and such an endpoint. */
int raw_side_open_with(struct raw_side *side, const struct ib_collq_endpoint_create *attr)
{
	int ret;

	memset(side, 0, sizeof(*side));
	side->fd = raw_open();
	if (side->fd < 0)
		return side->fd;
	ret = raw_ring_create(side->fd, RAW_RING_ENTRIES, &side->ring);
	if (ret)
		return ret;
	side->attr = *attr;
	ret = raw_endpoint_create(side->fd, &side->attr);
	if (ret < 0)
		return ret;
	side->endpoint = ret;
	ret = raw_counter_create(side->fd, IB_COLLQ_SOURCE_SIGNAL, 0);
	if (ret < 0)
		return ret;
	side->counter = ret;
	return raw_slot_bind(side->fd, side->endpoint, RAW_SLOT, RAW_GENERATION,
			     side->counter);
}

int raw_side_open(struct raw_side *side)
{
	const struct ib_collq_endpoint_create attr = raw_endpoint_attr(IB_COLLQ_ENDPOINT_SIGNAL);

	return raw_side_open_with(side, &attr);
}

int raw_side_connect(struct raw_side *side, const __u8 *peer_address)
{
	const struct ib_collq_queue_endpoint link = {
		.endpoint = side->endpoint,
		.abort_slot = RAW_ABORT_SLOT,
		.abort_generation = RAW_ABORT_GENERATION,
		.peer_abort_slot = RAW_ABORT_SLOT,
		.peer_abort_generation = RAW_ABORT_GENERATION,
	};
	const struct ib_collq_task barrier[] = {
		raw_signal(side->endpoint, RAW_SLOT, RAW_GENERATION),
		raw_wait_for(side->counter, 1),
	};
	int ret;

	ret = raw_endpoint_connect(side->fd, side->endpoint, peer_address);
	if (ret)
		return ret;
	ret = raw_queue_create(side->fd, side->ring.id, RAW_DEPTH, &link, 1);
	if (ret < 0)
		return ret;
	side->queue = ret;
	ret = raw_graph_create(side->fd, barrier, 2);
	if (ret < 0)
		return ret;
	side->graph = ret;
	return 0;
}

void raw_side_close(struct raw_side *side)
{
	raw_ring_unmap(&side->ring);
	if (side->fd >= 0)
		close(side->fd);
	side->fd = -1;
}

int raw_pair_open_with(struct raw_side *a, const struct ib_collq_endpoint_create *attr_a,
		       struct raw_side *b, const struct ib_collq_endpoint_create *attr_b)
{
	int err;

	b->fd = -1;
	err = raw_side_open_with(a, attr_a);
	if (err)
		return err;
	err = raw_side_open_with(b, attr_b);
	if (err)
		return err;
	err = raw_side_connect(a, b->attr.address);
	if (err)
		return err;
	return raw_side_connect(b, a->attr.address);
}

int raw_pair_open(struct raw_side *a, struct raw_side *b)
{
	const struct ib_collq_endpoint_create attr = raw_endpoint_attr(IB_COLLQ_ENDPOINT_SIGNAL);

	return raw_pair_open_with(a, &attr, b, &attr);
}

void raw_pair_close(struct raw_side *a, struct raw_side *b)
{
	raw_side_close(a);
	raw_side_close(b);
}

int raw_pair_reset(const struct raw_side *a, __u32 of_a, const struct raw_side *b, __u32 of_b)
{
	__u8 address[2][IB_COLLQ_ADDRESS_SIZE];

	return raw_reset(a->fd, of_a, address[0]) ?:
	       raw_reset(b->fd, of_b, address[1]) ?:
	       raw_endpoint_connect(a->fd, of_a, address[1]) ?:
	       raw_endpoint_connect(b->fd, of_b, address[0]);
}

/* Adds a message endpoint to each side, connected to the other's. */
int raw_pair_add_messages(struct raw_side *a, struct raw_side *b)
{
	struct raw_side *sides[] = { a, b };
	struct ib_collq_endpoint_create attr[2];
	int i, ret;

	for (i = 0; i < 2; i++) {
		attr[i] = raw_endpoint_attr(IB_COLLQ_ENDPOINT_MESSAGE);
		attr[i].signal_endpoint = sides[i]->endpoint;
		ret = raw_endpoint_create(sides[i]->fd, &attr[i]);
		if (ret < 0)
			return ret;
		sides[i]->message_endpoint = ret;
	}
	for (i = 0; i < 2; i++) {
		ret = raw_endpoint_connect(sides[i]->fd, sides[i]->message_endpoint,
					   attr[!i].address);
		if (ret)
			return ret;
	}
	return 0;
}

/* Both pass a barrier, and forget about it: 0, or what went wrong first. */
int raw_pair_barrier(struct raw_side *a, struct raw_side *b)
{
	struct ib_collq_completion completion;
	__u64 sequence;
	int err, status;

	err = raw_submit(a->fd, a->queue, a->graph, 0, 0, &sequence);
	if (err)
		return err;
	err = raw_run(b->fd, b->queue, b->graph, &status);
	if (err || status)
		return err ? err : status;
	err = raw_result(a->fd, a->queue, sequence, &status);
	if (err || status)
		return err ? err : status;
	return raw_ring_take(&a->ring, &completion) &&
	       raw_ring_take(&b->ring, &completion) ? 0 : -EPROTO;
}

/* Two contexts that were just opened can do what they are for: 0, or why not. */
int raw_try_new_pair(void)
{
	struct raw_side a, b;
	int err = raw_pair_open(&a, &b);

	if (!err)
		err = raw_pair_barrier(&a, &b);
	raw_pair_close(&a, &b);
	return err;
}
