// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What objects take up is charged to the memory cgroup of whoever makes them, who is
 * refused more of them at its limit; others don't notice.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "collq_memory.h"

/*
 * The memory cgroup. In version 2 a process that goes beyond its limit is killed;
 * in version 1 that can be switched off, and whoever asks gets -ENOMEM.
 */
#define MEMCG		"/run/collq_memcg"
#define MEMCG_ROOM	(4L << 20)

/* For what there may be few of */
#define SMALL_ROOM	(64L << 10)
/* Each processor may have so much that was charged in advance. */
#define STOCK		(64L * RAW_PAGE)

#define REGION_PAGES	256
#define LIST_PARTS	64

/* One more object of the first side of a pair: an id, or -errno. */
typedef int (*make_function)(const struct raw_side pair[2]);

FIXTURE(memory) {
	bool ready;
	int limit;
};

FIXTURE_VARIANT(memory) {
	make_function make;
	long charge;	/* for each; a little less than it is now, so that a part would be missed */
	long room;	/* until the limit; MEMCG_ROOM if 0 */
};

static long number_in(const char *path)
{
	FILE *file = fopen(path, "r");
	long number = -1;

	if (file && fscanf(file, "%ld", &number) != 1)
		number = -1;
	if (file)
		fclose(file);
	return number;
}

static bool write_number(const char *path, long number)
{
	FILE *file = fopen(path, "w");

	if (!file)
		return false;
	fprintf(file, "%ld\n", number);
	return !fclose(file);
}

static struct ib_collq_task many_tasks[4096];

static int make_counter(const struct raw_side pair[2])
{
	return raw_counter_create(pair->fd, IB_COLLQ_SOURCE_USER, 0);
}

static int make_graph(const struct raw_side pair[2])
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(many_tasks); i++)
		many_tasks[i] = raw_wait_for(pair->counter, 1);
	return raw_graph_create(pair->fd, many_tasks, ARRAY_SIZE(many_tasks));
}

static int make_queue(const struct raw_side pair[2])
{
	return raw_queue_create(pair->fd, pair->ring.id, 1024, NULL, 0);
}

/* Without mapping it: that is another matter. */
static int make_ring(const struct raw_side pair[2])
{
	struct ib_collq_ring_create create = {
		.size = sizeof(create),
		.entries = 1024,
		.eventfd = -1,
	};

	return raw_ioctl(pair->fd, IB_COLLQ_RING_CREATE, &create);
}

static int make_endpoint(const struct raw_side pair[2])
{
	struct ib_collq_endpoint_create attr = raw_endpoint_attr(IB_COLLQ_ENDPOINT_SIGNAL);

	attr.send_capacity = 1000;
	return raw_endpoint_create(pair->fd, &attr);
}

static int make_messages(const struct raw_side *side, __u32 flags)
{
	struct ib_collq_endpoint_create attr = raw_endpoint_attr(IB_COLLQ_ENDPOINT_MESSAGE);

	attr.flags = flags;
	attr.signal_endpoint = side->endpoint;
	attr.send_capacity = 1000;
	return raw_endpoint_create(side->fd, &attr);
}

static int make_message_endpoint(const struct raw_side pair[2])
{
	return make_messages(pair, 0);
}

/* What it sends to a peer of its own host is held apart from what goes out. */
static int make_local_endpoint(const struct raw_side pair[2])
{
	return make_messages(pair, IB_COLLQ_ENDPOINT_LOCAL);
}

/* The same memory again and again: what the region takes up is another matter. */
static int make_region(const struct raw_side pair[2])
{
	static void *memory;

	if (!memory) {
		memory = raw_map(REGION_PAGES * RAW_PAGE);
		raw_fill(memory, REGION_PAGES * RAW_PAGE, 1);
	}
	return raw_region_create(pair->fd, memory, REGION_PAGES * RAW_PAGE,
				 IB_COLLQ_ACCESS_WRITE);
}

/* One that others are made of: the same each time. */
static int one_region(const struct raw_side pair[2])
{
	static int region;

	if (!region)
		region = make_region(pair);
	return region;
}

/* Every other page of it. */
static int make_list(const struct raw_side pair[2])
{
	struct ib_collq_sge parts[LIST_PARTS];
	unsigned int i;

	for (i = 0; i < LIST_PARTS; i++)
		parts[i] = (struct ib_collq_sge){
			.buffer = one_region(pair),
			.length = RAW_PAGE,
			.offset = 2 * i * RAW_PAGE,
		};
	return raw_list_create(pair->fd, parts, LIST_PARTS, IB_COLLQ_ACCESS_WRITE);
}

static int make_zone(const struct raw_side pair[2])
{
	struct ib_collq_zone_name name;

	return raw_zone_offer(pair->fd, pair->endpoint, one_region(pair), 0, RAW_PAGE, &name);
}

/* One for each target would be the peer's matter. */
static int make_target(const struct raw_side pair[2])
{
	static struct ib_collq_zone_name name;
	static void *memory;

	if (!memory) {
		memory = raw_map(RAW_PAGE);
		raw_zone_offer(pair[1].fd, pair[1].endpoint,
			       raw_region_create(pair[1].fd, memory, RAW_PAGE,
						 IB_COLLQ_ACCESS_WRITE), 0, RAW_PAGE, &name);
	}
	return raw_target_create(pair->fd, pair->endpoint, &name);
}

FIXTURE_VARIANT_ADD(memory, counters) {
	.make = make_counter, .charge = 96,
};

FIXTURE_VARIANT_ADD(memory, graphs) {
	.make = make_graph, .charge = 4096 * 96,
};

FIXTURE_VARIANT_ADD(memory, queues) {
	.make = make_queue, .charge = 1024 * 48,
};

FIXTURE_VARIANT_ADD(memory, rings) {
	.make = make_ring, .charge = 1024 * sizeof(struct ib_collq_completion),
};

FIXTURE_VARIANT_ADD(memory, endpoints) {
	.make = make_endpoint, .charge = 1000 * 28,
};

FIXTURE_VARIANT_ADD(memory, message_endpoints) {
	.make = make_message_endpoint, .charge = 1000 * 28,
};

FIXTURE_VARIANT_ADD(memory, local_endpoints) {
	.make = make_local_endpoint, .charge = 1000 * (28 + 24),
};

FIXTURE_VARIANT_ADD(memory, regions) {
	.make = make_region, .charge = REGION_PAGES * sizeof(void *) + 344,
};

FIXTURE_VARIANT_ADD(memory, lists) {
	.make = make_list, .charge = LIST_PARTS * 24 + 344, .room = SMALL_ROOM,
};

FIXTURE_VARIANT_ADD(memory, zones) {
	.make = make_zone, .charge = 152, .room = SMALL_ROOM,
};

FIXTURE_VARIANT_ADD(memory, targets) {
	.make = make_target, .charge = 112,
};

FIXTURE_SETUP(memory)
{
	if (geteuid())
		SKIP(return, "takes root");
	mkdir(MEMCG, 0700);
	if (mount("memcg", MEMCG, "cgroup", 0, "memory"))
		SKIP(return, "no memory controller to be had");
	ASSERT_EQ(0, mkdir(MEMCG "/test", 0700));
	ASSERT_TRUE(write_number(MEMCG "/test/memory.oom_control", 1));
	self->limit = open(MEMCG "/test/memory.limit_in_bytes", O_WRONLY);
	ASSERT_LE(0, self->limit);
	self->ready = true;
}

FIXTURE_TEARDOWN(memory)
{
	if (!self->ready)
		return;
	close(self->limit);
	/* What was charged comes back late. */
	EXPECT_TRUE(RAW_EVENTUALLY(!rmdir(MEMCG "/test")));
	EXPECT_EQ(0, umount(MEMCG));
}

/*
 * In the cgroup: makes objects until there's no more memory. Nothing must be paged
 * in then, so the limit goes first of all.
 */
static int use_memory(int limit, make_function make, long charge, long room)
{
	/* With much room they are less than what the charge leaves out. */
	const long stocks = room < MEMCG_ROOM ? sysconf(_SC_NPROCESSORS_ONLN) * STOCK : 0;
	long before, used, nr;
	struct raw_side pair[2];
	char text[32];
	int i, err;

	if (!write_number(MEMCG "/test/cgroup.procs", getpid()))
		return 10;
	raw_endpoint_flags = IB_COLLQ_ENDPOINT_ZONES;
	if (raw_pair_open(&pair[0], &pair[1]))
		return 11;
	if (make(pair) < 0)
		return 12;
	before = number_in(MEMCG "/test/memory.usage_in_bytes");
	snprintf(text, sizeof(text), "%ld", before + room);
	if (write(limit, text, strlen(text)) < 0)
		return 13;
	for (nr = 0, err = 0; err >= 0 && nr < 50000; nr++)
		err = make(pair);
	if (write(limit, "-1", 2) < 0)
		return 14;
	used = number_in(MEMCG "/test/memory.usage_in_bytes") - before;
	fprintf(stderr, "# %ld objects, %ld bytes, then: %d\n", nr - 1, used, err);
	if (err != -ENOMEM)
		return 15;
	/* What wasn't charged would have gone on for longer. */
	if (nr * charge > room + stocks + charge)
		return 16;
	/* All is as good as before, what failed included. */
	if (make(pair) < 0)
		return 17;
	for (i = 0; i < 10; i++)
		if (raw_pair_barrier(&pair[0], &pair[1]))
			return 18;
	raw_pair_close(&pair[0], &pair[1]);
	return 0;
}

TEST_F_TIMEOUT(memory, is_charged, 300)
{
	struct raw_side a, b;
	siginfo_t info = {};
	pid_t pid;

	ASSERT_EQ(0, raw_pair_open(&a, &b));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid)
		_exit(use_memory(self->limit, variant->make, variant->charge,
				 variant->room ?: MEMCG_ROOM));
	/* Others don't notice. */
	while (!waitid(P_PID, pid, &info, WEXITED | WNOHANG | WNOWAIT) && !info.si_pid)
		ASSERT_EQ(0, raw_pair_barrier(&a, &b));
	EXPECT_EQ(0, raw_exit_status(pid));
	raw_pair_close(&a, &b);
}

TEST_HARNESS_MAIN
