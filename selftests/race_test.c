// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Threads that do anything to the same objects at the same time: create and
 * destroy, connect, bind, submit, raise, cancel, wait, describe. Every call must
 * give an error that makes sense, every submission ends just once, and
 * everything works afterwards. What goes wrong in the kernel shows in its log.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "collq_util.h"

#define THREADS		4
#define OBJECTS		6	/* of each kind, or fewer for a while */
#define RUNTIME_MS	8000
#define ENTRIES		256

/* Ids, or 0. Threads take what they find, which may be gone already. */
struct arena {
	int fd;
	__u64 until;
	pthread_mutex_t reader;
	struct raw_ring ring;
	__u64 read;
	__u64 submitted;
	__u32 endpoint[OBJECTS];
	__u8 address[OBJECTS][IB_COLLQ_ADDRESS_SIZE];
	__u32 counter[OBJECTS];
	__u32 graph[OBJECTS];
	__u32 queue[OBJECTS];
};

struct runner {
	pthread_t thread;
	struct arena *arena;
	unsigned int seed;
	int odd;	/* an error that makes no sense */
	const char *where;
};

static unsigned int pick(struct runner *runner, unsigned int nr)
{
	return (unsigned int)rand_r(&runner->seed) % nr;
}

static __u32 look(struct runner *runner, const __u32 *ids)
{
	return __atomic_load_n(&ids[pick(runner, OBJECTS)], __ATOMIC_RELAXED);
}

/* Puts an object in a place, and destroys what was there if it can be. */
static int replace(struct runner *runner, __u32 *ids, int id)
{
	unsigned int place = pick(runner, OBJECTS);
	__u32 before;

	if (id < 0)
		return id;
	before = __atomic_exchange_n(&ids[place], id, __ATOMIC_RELAXED);
	return before ? raw_destroy(runner->arena->fd, before) : 0;
}

static int make_endpoint(struct runner *runner)
{
	struct ib_collq_endpoint_create attr = raw_endpoint_attr(IB_COLLQ_ENDPOINT_SIGNAL);
	struct arena *arena = runner->arena;
	int id;

	/* One that isn't answered fails soon. */
	attr.timeout = 8;
	attr.retry_cnt = 1;
	attr.send_capacity = 4;
	id = raw_endpoint_create(arena->fd, &attr);
	if (id > 0)
		memcpy(arena->address[pick(runner, OBJECTS)], attr.address, sizeof(attr.address));
	return replace(runner, arena->endpoint, id);
}

static int connect_endpoint(struct runner *runner)
{
	struct arena *arena = runner->arena;

	return raw_endpoint_connect(arena->fd, look(runner, arena->endpoint),
				    arena->address[pick(runner, OBJECTS)]);
}

static int make_counter(struct runner *runner)
{
	struct arena *arena = runner->arena;
	__u32 source = pick(runner, 2) ? IB_COLLQ_SOURCE_USER : IB_COLLQ_SOURCE_SIGNAL;

	if (!pick(runner, 4))
		return replace(runner, arena->counter,
			       raw_counter_create(arena->fd, IB_COLLQ_SOURCE_SENDS,
						  look(runner, arena->endpoint)));
	return replace(runner, arena->counter, raw_counter_create(arena->fd, source, 0));
}

static int raise_counter(struct runner *runner)
{
	return raw_counter_raise(runner->arena->fd, look(runner, runner->arena->counter),
				 1 + pick(runner, 3));
}

static int bind_slot(struct runner *runner)
{
	struct arena *arena = runner->arena;
	__u32 endpoint = look(runner, arena->endpoint);

	if (pick(runner, 2))
		return raw_slot_unbind(arena->fd, endpoint, pick(runner, 4), 0);
	return raw_slot_bind(arena->fd, endpoint, pick(runner, 4), 0,
			     look(runner, arena->counter));
}

static int make_graph(struct runner *runner)
{
	struct arena *arena = runner->arena;
	struct ib_collq_task tasks[8];
	int i;

	for (i = 0; i < 8; i++)
		tasks[i] = pick(runner, 2) ?
			   raw_signal(look(runner, arena->endpoint), pick(runner, 4), 0) :
			   raw_wait_for(look(runner, arena->counter), 1);
	return replace(runner, arena->graph,
		       raw_graph_create(arena->fd, tasks, 1 + pick(runner, 8)));
}

static int make_queue(struct runner *runner)
{
	struct arena *arena = runner->arena;
	const struct ib_collq_queue_endpoint link = {
		.endpoint = look(runner, arena->endpoint),
		.abort_slot = pick(runner, 8),
		.peer_abort_slot = pick(runner, 8),
	};

	return replace(runner, arena->queue,
		       raw_queue_create(arena->fd, arena->ring.id, 1 + pick(runner, 4), &link,
					pick(runner, 2)));
}

static int submit(struct runner *runner)
{
	struct arena *arena = runner->arena;
	__u64 deadline = pick(runner, 2) ? raw_now() + pick(runner, 3000000) : 0;
	int err = raw_submit(arena->fd, look(runner, arena->queue), look(runner, arena->graph), 0,
			     deadline, NULL);

	if (!err)
		__atomic_fetch_add(&arena->submitted, 1, __ATOMIC_RELAXED);
	return err;
}

static int cancel(struct runner *runner)
{
	return raw_cancel(runner->arena->fd, look(runner, runner->arena->queue),
			  pick(runner, 4));
}

static int wait_or_describe(struct runner *runner)
{
	struct arena *arena = runner->arena;
	struct ib_collq_queue_wait wait;
	char info[1024];

	if (pick(runner, 2))
		return raw_wait(arena->fd, look(runner, arena->queue), 1 + pick(runner, 4),
				raw_now() + pick(runner, 2000000), &wait);
	return raw_describe(arena->fd, 1 + pick(runner, 10000), info, sizeof(info));
}

static int read_ring(struct runner *runner)
{
	struct arena *arena = runner->arena;
	struct ib_collq_completion completion;

	pthread_mutex_lock(&arena->reader);
	while (raw_ring_take(&arena->ring, &completion))
		arena->read++;
	pthread_mutex_unlock(&arena->reader);
	return 0;
}

/* What may come of a call that isn't wrong, only late. */
static bool makes_sense(int err)
{
	static const int errors[] = {
		EBUSY, ENOENT, EINVAL, ENOSPC, ETIME, ESTALE, ECANCELED, ETIMEDOUT, ECONNRESET,
		EHOSTUNREACH, ENOTCONN, EREMOTEIO, ENETDOWN,
	};
	unsigned int i;

	if (err >= 0)
		return true;
	for (i = 0; i < ARRAY_SIZE(errors); i++) {
		if (err == -errors[i])
			return true;
	}
	return false;
}

static void *run(void *data)
{
	static const struct {
		const char *name;
		int (*call)(struct runner *runner);
	} calls[] = {
		{ "endpoint", make_endpoint }, { "connect", connect_endpoint },
		{ "counter", make_counter }, { "raise", raise_counter }, { "raise", raise_counter },
		{ "bind", bind_slot }, { "graph", make_graph }, { "queue", make_queue },
		{ "submit", submit }, { "submit", submit }, { "submit", submit },
		{ "cancel", cancel }, { "wait", wait_or_describe }, { "read", read_ring },
	};
	struct runner *runner = data;
	unsigned int which;
	int err;

	while (raw_now() < runner->arena->until && !runner->odd) {
		which = pick(runner, ARRAY_SIZE(calls));
		err = calls[which].call(runner);
		if (!makes_sense(err)) {
			runner->where = calls[which].name;
			runner->odd = err;
		}
	}
	return NULL;
}

TEST(anything_at_any_time)
{
	static struct arena arena = { .reader = PTHREAD_MUTEX_INITIALIZER };
	struct ib_collq_object_describe describe = {
		.size = sizeof(describe),
		.flags = IB_COLLQ_DESCRIBE_NEXT,
	};
	struct runner runners[THREADS];
	struct raw_side a, b;
	int i;

	arena.fd = raw_open();
	ASSERT_LE(0, arena.fd);
	ASSERT_EQ(0, raw_ring_create(arena.fd, ENTRIES, &arena.ring));
	arena.until = raw_in_ms(RUNTIME_MS);
	for (i = 0; i < THREADS; i++) {
		runners[i] = (struct runner) { .arena = &arena, .seed = 1 + i };
		ASSERT_EQ(0, pthread_create(&runners[i].thread, NULL, run, &runners[i]));
	}
	for (i = 0; i < THREADS; i++) {
		pthread_join(runners[i].thread, NULL);
		EXPECT_EQ(0, runners[i].odd)
			TH_LOG("%s", runners[i].where);
	}
	EXPECT_LT(0, arena.submitted);

	/* With all queues gone, each submission has had its entry. */
	while (!raw_ioctl(arena.fd, IB_COLLQ_OBJECT_DESCRIBE, &describe)) {
		if (describe.type == IB_COLLQ_OBJECT_QUEUE)
			ASSERT_EQ(0, raw_destroy(arena.fd, describe.id));
		describe.id++;
		read_ring(&runners[0]);
	}
	read_ring(&runners[0]);
	EXPECT_EQ(arena.submitted, arena.read);
	raw_ring_unmap(&arena.ring);
	close(arena.fd);

	ASSERT_EQ(0, raw_pair_open(&a, &b));
	EXPECT_EQ(0, raw_pair_barrier(&a, &b));
	raw_pair_close(&a, &b);
}

TEST_HARNESS_MAIN
