// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Completion rings: mapping them, being told of entries, and that neither a full
 * ring nor a hostile reader does harm.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "collq_util.h"

#define ENTRIES	4

FIXTURE(ring) {
	int fd;
	int eventfd;
	struct ib_collq_ring_create create;
	struct raw_ring ring;
	__u32 counter;
	__u32 graph;	/* waits for one of counter */
	__u32 queue;	/* deeper than the ring */
};

static int map_ring(int fd, const struct ib_collq_ring_create *create, struct raw_ring *ring)
{
	void *map = mmap(NULL, create->mmap_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
			 create->mmap_offset);

	if (map == MAP_FAILED)
		return -errno;
	*ring = (struct raw_ring) {
		.id = create->id,
		.entries = create->entries,
		.map_size = create->mmap_size,
		.header = map,
		.completions = (void *)((char *)map + create->entries_offset),
	};
	return 0;
}

FIXTURE_SETUP(ring)
{
	struct ib_collq_task task;

	self->fd = raw_open();
	ASSERT_LE(0, self->fd);
	self->eventfd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	self->create = (struct ib_collq_ring_create) {
		.size = sizeof(self->create),
		.entries = ENTRIES,
		.eventfd = self->eventfd,
	};
	ASSERT_EQ(0, raw_ioctl(self->fd, IB_COLLQ_RING_CREATE, &self->create));
	ASSERT_EQ(0, map_ring(self->fd, &self->create, &self->ring));
	self->counter = raw_counter_create(self->fd, IB_COLLQ_SOURCE_USER, 0);
	task = raw_wait_for(self->counter, 1);
	self->graph = raw_graph_create(self->fd, &task, 1);
	self->queue = raw_queue_create(self->fd, self->ring.id, 2 * ENTRIES, NULL, 0);
	ASSERT_LT(0, (int)self->queue);
	ASSERT_LT(0, (int)self->graph);
}

FIXTURE_TEARDOWN(ring)
{
	raw_ring_unmap(&self->ring);
	close(self->fd);
}

TEST_F(ring, layout)
{
	struct ib_collq_ring_create *create = &self->create;
	long page = sysconf(_SC_PAGESIZE);

	EXPECT_EQ(sizeof(struct ib_collq_completion), create->entry_size);
	EXPECT_EQ(sizeof(struct ib_collq_ring_header), create->entries_offset);
	EXPECT_LE(create->entries_offset + ENTRIES * create->entry_size, create->mmap_size);
	EXPECT_EQ(0, create->mmap_size % page);
	EXPECT_EQ(0, create->mmap_offset % page);
	EXPECT_EQ(0, self->ring.header->head);
	EXPECT_EQ(0, self->ring.header->tail);
}

TEST_F(ring, sizes)
{
	static const struct {
		__u32 entries;
		int err;
	} sizes[] = {
		{ 0, -EINVAL }, { 1, 0 }, { 2, 0 }, { 3, -EINVAL }, { 48, -EINVAL },
		{ 1024, 0 }, { 0x80000000, -EINVAL }, { ~0U, -EINVAL },
	};
	struct ib_collq_query query;
	struct raw_ring ring;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		EXPECT_EQ(sizes[i].err, raw_ring_create(self->fd, sizes[i].entries, &ring))
			TH_LOG("%u entries", sizes[i].entries);
	}
	ASSERT_EQ(0, raw_query(self->fd, &query));
	EXPECT_EQ(-EINVAL, raw_ring_create(self->fd, 2 * query.max_ring_entries, &ring));
	ASSERT_EQ(0, raw_ring_create(self->fd, query.max_ring_entries, &ring));
	/* All of it is there. */
	ring.completions[query.max_ring_entries - 1].status = 1;
}

TEST_F(ring, eventfd_is_checked)
{
	struct ib_collq_ring_create create = self->create;

	create.eventfd = -2;
	EXPECT_EQ(-EINVAL, raw_ioctl(self->fd, IB_COLLQ_RING_CREATE, &create));
	create.eventfd = 9999;
	EXPECT_EQ(-EBADF, raw_ioctl(self->fd, IB_COLLQ_RING_CREATE, &create));
	create.eventfd = self->fd;
	EXPECT_EQ(-EINVAL, raw_ioctl(self->fd, IB_COLLQ_RING_CREATE, &create));
}

/* mmap() of the ring with one thing changed: 0 or errno. */
static int try_mmap(int fd, size_t size, int flags, __u64 offset)
{
	void *map = mmap(NULL, size, PROT_READ | PROT_WRITE, flags, fd, offset);

	return map == MAP_FAILED ? errno : 0;
}

TEST_F(ring, mmap_is_checked)
{
	size_t size = self->create.mmap_size;
	__u64 offset = self->create.mmap_offset;

	EXPECT_EQ(0, try_mmap(self->fd, size, MAP_SHARED, offset));
	EXPECT_EQ(EINVAL, try_mmap(self->fd, size, MAP_PRIVATE, offset));
	EXPECT_EQ(EINVAL, try_mmap(self->fd, size + 4096, MAP_SHARED, offset));
	EXPECT_EQ(EINVAL, try_mmap(self->fd, 4096, MAP_SHARED, offset + 4096));
	EXPECT_EQ(ENOENT, try_mmap(self->fd, size, MAP_SHARED, 0));
	EXPECT_EQ(ENOENT, try_mmap(self->fd, size, MAP_SHARED, offset * 1000));
}

/* It can't be made larger, nor be seen by a child. */
TEST_F(ring, mapping_stays_what_it_is)
{
	size_t size = self->ring.map_size;
	unsigned char present[16];
	int status;
	pid_t pid;

	EXPECT_EQ(MAP_FAILED, mremap(self->ring.header, size, 2 * size, MREMAP_MAYMOVE));
	EXPECT_EQ(EFAULT, errno);
	EXPECT_EQ(0, mincore(self->ring.header, size, present));

	pid = fork();
	if (!pid)
		_exit(mincore(self->ring.header, size, present) == -1 && errno == ENOMEM ? 0 : 1);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
}

/* What is mapped stays when ring, context and device file are gone. */
TEST_F(ring, mapping_outlives_the_context)
{
	struct ib_collq_completion completion;

	ASSERT_EQ(0, raw_submit(self->fd, self->queue, self->graph, 77, 0, NULL));
	ASSERT_EQ(0, raw_counter_raise(self->fd, self->counter, 1));
	close(self->fd);
	ASSERT_TRUE(raw_ring_take(&self->ring, &completion));
	EXPECT_EQ(77, completion.user_data);
	self->ring.completions[ENTRIES - 1].user_data = 1;
	raw_ring_unmap(&self->ring);
	self->fd = raw_open();
	EXPECT_LE(0, self->fd);
}

TEST_F(ring, mapping_outlives_the_ring)
{
	ASSERT_EQ(-EBUSY, raw_destroy(self->fd, self->ring.id));
	ASSERT_EQ(0, raw_destroy(self->fd, self->queue));
	ASSERT_EQ(0, raw_destroy(self->fd, self->ring.id));
	EXPECT_EQ(0, self->ring.header->tail);
	self->ring.header->head = 5;
	EXPECT_EQ(ENOENT, try_mmap(self->fd, self->create.mmap_size, MAP_SHARED,
				   self->create.mmap_offset));
}

/* Entries are in the order of completion and say what was submitted. */
TEST_F(ring, entries)
{
	struct ib_collq_completion completion, expected;
	int round, i;

	for (round = 0; round < 3; round++) {
		for (i = 0; i < ENTRIES; i++)
			ASSERT_EQ(0, raw_submit(self->fd, self->queue, self->graph, ~0ULL - i, 0,
						NULL));
		ASSERT_EQ(0, raw_ring_unread(&self->ring));
		ASSERT_EQ(0, raw_counter_raise(self->fd, self->counter, ENTRIES));
		ASSERT_EQ(ENTRIES, raw_ring_unread(&self->ring));
		for (i = 0; i < ENTRIES; i++) {
			ASSERT_TRUE(raw_ring_take(&self->ring, &completion));
			expected = (struct ib_collq_completion) {
				.user_data = ~0ULL - i,
				.sequence = round * ENTRIES + i + 1,
				.queue = self->queue,
				.task = IB_COLLQ_NO_TASK,
			};
			EXPECT_EQ(0, memcmp(&expected, &completion, sizeof(expected)));
		}
		EXPECT_FALSE(raw_ring_take(&self->ring, &completion));
	}
	EXPECT_EQ(3 * ENTRIES, self->ring.header->tail);
}

/* A submission reserves its entry: what can't be told isn't started. */
TEST_F(ring, never_overflows)
{
	int other = raw_queue_create(self->fd, self->ring.id, 8, NULL, 0);
	struct ib_collq_completion completion;
	int i;

	ASSERT_LT(0, other);
	for (i = 0; i < ENTRIES; i++)
		ASSERT_EQ(0, raw_submit(self->fd, self->queue, self->graph, i, 0, NULL));
	EXPECT_EQ(-EBUSY, raw_submit(self->fd, self->queue, self->graph, 9, 0, NULL));
	EXPECT_EQ(-EBUSY, raw_submit(self->fd, other, self->graph, 0, 0, NULL));

	/* Ended, but not read yet. */
	ASSERT_EQ(0, raw_counter_raise(self->fd, self->counter, ENTRIES));
	EXPECT_EQ(-EBUSY, raw_submit(self->fd, self->queue, self->graph, 9, 0, NULL));
	for (i = 0; i < ENTRIES; i++) {
		ASSERT_TRUE(raw_ring_take(&self->ring, &completion));
		EXPECT_EQ(i, completion.user_data);
		EXPECT_EQ(0, raw_submit(self->fd, self->queue, self->graph, 10 + i, 0, NULL));
		EXPECT_EQ(-EBUSY, raw_submit(self->fd, self->queue, self->graph, 99, 0, NULL));
	}
	ASSERT_EQ(0, raw_counter_raise(self->fd, self->counter, ENTRIES));
	for (i = 0; i < ENTRIES; i++) {
		ASSERT_TRUE(raw_ring_take(&self->ring, &completion));
		EXPECT_EQ(10 + i, completion.user_data);
	}
}

/* A reader that lies harms itself only: the kernel believes its own tail. */
TEST_F(ring, hostile_head)
{
	static const __u32 lies[] = { 1, ENTRIES, 1000, 0x7fffffff, 0x80000000, ~0U };
	struct ib_collq_completion completion;
	struct ib_collq_ring_info info = {};
	unsigned int i;
	int ret;

	for (i = 0; i < ARRAY_SIZE(lies); i++) {
		__u32 tail = self->ring.header->tail;

		self->ring.header->head = tail + lies[i];
		self->ring.header->tail = lies[i];
		ASSERT_EQ(0, raw_describe(self->fd, self->ring.id, &info, sizeof(info)));
		EXPECT_GE(ENTRIES, info.unread);
		ret = raw_submit(self->fd, self->queue, self->graph, 5, 0, NULL);
		EXPECT_TRUE(ret == 0 || ret == -EBUSY);
		if (!ret)
			ASSERT_EQ(0, raw_counter_raise(self->fd, self->counter, 1));

		self->ring.header->head = tail;
		ASSERT_EQ(0, raw_describe(self->fd, self->ring.id, &info, sizeof(info)));
		EXPECT_EQ(!ret, info.unread);
		/* The next completion puts the tail right. */
		if (ret) {
			ASSERT_EQ(0, raw_submit(self->fd, self->queue, self->graph, 5, 0, NULL));
			ASSERT_EQ(0, raw_counter_raise(self->fd, self->counter, 1));
		}
		ASSERT_EQ(tail + 1, self->ring.header->tail);
		ASSERT_TRUE(raw_ring_take(&self->ring, &completion));
		EXPECT_EQ(5, completion.user_data);
	}
}

static short poll_now(int fd)
{
	struct pollfd pollfd = { .fd = fd, .events = POLLIN };

	return poll(&pollfd, 1, 0) < 0 ? -1 : pollfd.revents;
}

TEST_F(ring, poll_reports_entries)
{
	struct ib_collq_completion completion;

	EXPECT_EQ(0, poll_now(self->fd));
	ASSERT_EQ(0, raw_submit(self->fd, self->queue, self->graph, 0, 0, NULL));
	EXPECT_EQ(0, poll_now(self->fd));
	ASSERT_EQ(0, raw_counter_raise(self->fd, self->counter, 1));
	EXPECT_EQ(POLLIN, poll_now(self->fd));
	ASSERT_TRUE(raw_ring_take(&self->ring, &completion));
	EXPECT_EQ(0, poll_now(self->fd));
}

/* One descriptor for all rings of a context. */
TEST_F(ring, poll_looks_at_all_rings)
{
	struct ib_collq_completion completion;
	struct raw_ring other;
	int queue;

	if (raw_by_uverbs)
		SKIP(return, "a ring is a descriptor of its own there");
	ASSERT_EQ(0, raw_ring_create(self->fd, 1, &other));
	queue = raw_queue_create(self->fd, other.id, 1, NULL, 0);
	ASSERT_EQ(0, raw_submit(self->fd, queue, self->graph, 3, 0, NULL));
	EXPECT_EQ(0, poll_now(self->fd));
	ASSERT_EQ(0, raw_counter_raise(self->fd, self->counter, 1));
	EXPECT_EQ(POLLIN, poll_now(self->fd));
	EXPECT_FALSE(raw_ring_take(&self->ring, &completion));
	ASSERT_TRUE(raw_ring_take(&other, &completion));
	EXPECT_EQ(3, completion.user_data);
	EXPECT_EQ(0, poll_now(self->fd));
}

/* A thread that sleeps for a ring, and what woke it. */
struct sleeper {
	pthread_t thread;
	int fd;
	__u32 ring;	/* to wait for, or 0 to poll */
	pid_t tid;
	int ret;
};

static void *sleeper_run(void *data)
{
	struct sleeper *sleeper = data;
	struct pollfd pollfd = { .fd = sleeper->fd, .events = POLLIN };
	struct ib_collq_queue_wait wait = { .size = sizeof(wait), .ring = sleeper->ring };

	__atomic_store_n(&sleeper->tid, gettid(), __ATOMIC_RELEASE);
	if (sleeper->ring)
		sleeper->ret = raw_ioctl(sleeper->fd, IB_COLLQ_QUEUE_WAIT, &wait);
	else
		sleeper->ret = poll(&pollfd, 1, RAW_PATIENCE_MS) == 1 ? pollfd.revents : -1;
	return NULL;
}

/* Starts it, and returns when it sleeps. */
static bool sleeper_start(struct sleeper *sleeper, int fd, __u32 ring)
{
	*sleeper = (struct sleeper) { .fd = fd, .ring = ring };
	if (pthread_create(&sleeper->thread, NULL, sleeper_run, sleeper))
		return false;
	return RAW_EVENTUALLY(__atomic_load_n(&sleeper->tid, __ATOMIC_ACQUIRE) &&
			      raw_asleep(sleeper->tid));
}

TEST_F(ring, poll_wakes)
{
	struct sleeper sleeper;

	ASSERT_EQ(0, raw_submit(self->fd, self->queue, self->graph, 0, 0, NULL));
	ASSERT_TRUE(sleeper_start(&sleeper, self->fd, 0));
	ASSERT_EQ(0, raw_counter_raise(self->fd, self->counter, 1));
	pthread_join(sleeper.thread, NULL);
	EXPECT_EQ(POLLIN, sleeper.ret);
}

TEST_F(ring, wait_wakes)
{
	struct sleeper sleeper;

	ASSERT_EQ(0, raw_submit(self->fd, self->queue, self->graph, 0, 0, NULL));
	ASSERT_TRUE(sleeper_start(&sleeper, self->fd, self->ring.id));
	ASSERT_EQ(0, raw_counter_raise(self->fd, self->counter, 1));
	pthread_join(sleeper.thread, NULL);
	EXPECT_EQ(0, sleeper.ret);
	EXPECT_EQ(1, raw_ring_unread(&self->ring));
}

TEST_F(ring, wait_ends_with_the_ring)
{
	struct sleeper sleeper;

	ASSERT_EQ(0, raw_destroy(self->fd, self->queue));
	ASSERT_TRUE(sleeper_start(&sleeper, self->fd, self->ring.id));
	ASSERT_EQ(0, raw_destroy(self->fd, self->ring.id));
	pthread_join(sleeper.thread, NULL);
	EXPECT_EQ(-ECANCELED, sleeper.ret);
}

/* The entry stays in the ring, so that waiting again doesn't sleep. */
TEST_F(ring, wait)
{
	struct ib_collq_queue_wait wait = {
		.size = sizeof(wait),
		.ring = self->ring.id,
		.deadline = raw_in_ms(20),
	};
	struct ib_collq_completion completion;

	EXPECT_EQ(-ETIME, raw_ioctl(self->fd, IB_COLLQ_QUEUE_WAIT, &wait));
	EXPECT_LE(wait.deadline, raw_now());
	wait.deadline = 1;
	EXPECT_EQ(-ETIME, raw_ioctl(self->fd, IB_COLLQ_QUEUE_WAIT, &wait));
	ASSERT_EQ(0, raw_submit(self->fd, self->queue, self->graph, 0, 0, NULL));
	ASSERT_EQ(0, raw_counter_raise(self->fd, self->counter, 1));
	wait.deadline = raw_in_ms(RAW_PATIENCE_MS);
	EXPECT_EQ(0, raw_ioctl(self->fd, IB_COLLQ_QUEUE_WAIT, &wait));
	/* What is there is told even when it's late. */
	wait.deadline = 1;
	EXPECT_EQ(0, raw_ioctl(self->fd, IB_COLLQ_QUEUE_WAIT, &wait));
	ASSERT_TRUE(raw_ring_take(&self->ring, &completion));
	EXPECT_EQ(-ETIME, raw_ioctl(self->fd, IB_COLLQ_QUEUE_WAIT, &wait));
}

TEST_F(ring, epoll)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLET, .data.u64 = 4711 };
	int epoll = epoll_create1(EPOLL_CLOEXEC), i;

	if (raw_by_uverbs)
		SKIP(return, "a ring is a descriptor of its own there");
	ASSERT_EQ(0, epoll_ctl(epoll, EPOLL_CTL_ADD, self->fd, &event));
	EXPECT_EQ(0, epoll_wait(epoll, &event, 1, 0));
	/* One edge for each completion, though nobody reads. */
	for (i = 0; i < 3; i++) {
		event.data.u64 = 0;
		ASSERT_EQ(0, raw_submit(self->fd, self->queue, self->graph, 0, 0, NULL));
		EXPECT_EQ(0, epoll_wait(epoll, &event, 1, 0));
		ASSERT_EQ(0, raw_counter_raise(self->fd, self->counter, 1));
		EXPECT_EQ(1, epoll_wait(epoll, &event, 1, RAW_PATIENCE_MS));
		EXPECT_EQ(4711, event.data.u64);
	}
	close(epoll);
}

TEST_F(ring, eventfd)
{
	eventfd_t value;
	int i;

	EXPECT_EQ(-1, eventfd_read(self->eventfd, &value));
	for (i = 0; i < 3; i++)
		ASSERT_EQ(0, raw_submit(self->fd, self->queue, self->graph, 0, 0, NULL));
	ASSERT_EQ(0, raw_counter_raise(self->fd, self->counter, 3));
	ASSERT_EQ(0, eventfd_read(self->eventfd, &value));
	EXPECT_EQ(3, value);
	EXPECT_EQ(-1, eventfd_read(self->eventfd, &value));
}

TEST_HARNESS_MAIN
