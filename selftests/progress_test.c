// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Runs and their ends, with a kernel that is made of paper: what libcollq asks of
 * ioctl(2) is answered here, as a kernel may answer but seldom does. So it needs no
 * device, and can be told when to fail.
 */
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "context.h"
#include "objects.h"
#include "progress.h"
#include "request.h"
#include "ring.h"

#define QUEUE		9
#define RING		7
#define MAX_BATCH	4
#define BAD_ID		3U
#define PATIENCE_NS	20000000000ULL

/*
 * @error: what submissions and waits give if it isn't 0; a submission is taken all
 * the same, and ends nevertheless if @ends. @sleeping: somebody waits for the ring;
 * with @hold that lasts until a submission was @refused for want of room.
 */
static struct {
	int fd;
	uint32_t entry_size;
	uint64_t mmap_offset;
	uint32_t entries;
	struct ib_collq_ring_header *header;
	uint64_t sequence;
	int error;
	bool ends;
	atomic_bool hold, sleeping, refused;
	uint32_t nr_gone;
	uint32_t gone[16];
} paper;

static void nap(void)
{
	const struct timespec time = { .tv_nsec = 1000000 };

	nanosleep(&time, NULL);
}

static int fail(int err)
{
	errno = err;
	return -1;
}

static int create_ring(struct ib_collq_ring_create *ring)
{
	ring->id = RING;
	ring->entry_size = paper.entry_size;
	ring->entries_offset = 4096;
	ring->mmap_offset = paper.mmap_offset;
	ring->mmap_size = 8192;
	paper.entries = ring->entries;
	if (ftruncate(paper.fd, paper.mmap_offset + ring->mmap_size))
		return -1;
	paper.header = mmap(NULL, ring->mmap_size, PROT_READ | PROT_WRITE, MAP_SHARED, paper.fd,
			    paper.mmap_offset);
	return paper.header == MAP_FAILED ? -1 : 0;
}

static bool ring_is_full(void)
{
	return __atomic_load_n(&paper.header->tail, __ATOMIC_ACQUIRE) -
	       __atomic_load_n(&paper.header->head, __ATOMIC_ACQUIRE) == paper.entries;
}

static void complete(uint64_t user_data, int status)
{
	const struct ib_collq_completion entry = {
		.user_data = user_data, .status = status, .label = 5, .peer = 6, .task = 7,
	};
	uint32_t tail = paper.header->tail;
	size_t offset = 4096 + (tail % paper.entries) * paper.entry_size;

	memcpy((char *)paper.header + offset, &entry,
	       paper.entry_size < sizeof(entry) ? paper.entry_size : sizeof(entry));
	__atomic_store_n(&paper.header->tail, tail + 1, __ATOMIC_RELEASE);
}

/* What doesn't fail has ended well when the call returns; the ring may not be told. */
static int submit(uint64_t user_data, __u64 *sequence, bool quiet)
{
	if (ring_is_full()) {
		paper.refused = true;
		return fail(EBUSY);
	}
	*sequence = ++paper.sequence;
	if (paper.error ? paper.ends : !quiet)
		complete(user_data, 0);
	return paper.error ? fail(paper.error) : 0;
}

/* In the ring, whoever sleeps is slow to wake. */
static int wait_for(const struct ib_collq_queue_wait *wait)
{
	int i;

	if (paper.error)
		return fail(paper.error);
	if (!wait->ring)
		return 0;
	paper.sleeping = true;
	while (paper.hold && !paper.refused)
		nap();
	for (i = 0; i < 20 && paper.hold; i++)
		nap();
	paper.hold = false;
	return 0;
}

static int take_away(struct ib_collq_batch *batch)
{
	const unsigned char *entries = (void *)(uintptr_t)batch->entries;
	uint32_t i, id;

	for (i = 0; i < batch->nr; i++) {
		/* Which comes first in all of these. */
		memcpy(&id, entries + i * batch->entry_size, sizeof(id));
		if (id == BAD_ID)
			return i ? (int)i : fail(EBUSY);
		paper.gone[paper.nr_gone++ % 16] = id;
	}
	return batch->nr;
}

int __wrap_ioctl(int fd, unsigned long command, void *arg);

int __wrap_ioctl(int fd, unsigned long command, void *arg)
{
	struct ib_collq_queue_submit *run = arg;
	struct ib_collq_queue_submit_wait *run_wait = arg;

	if (fd != paper.fd)
		return fail(EBADF);
	switch (command) {
	case IB_COLLQ_RING_CREATE:
		return create_ring(arg);
	case IB_COLLQ_QUEUE_SUBMIT:
		return submit(run->user_data, &run->sequence, false);
	case IB_COLLQ_QUEUE_SUBMIT_WAIT:
		return submit(run_wait->user_data, &run_wait->sequence,
			      run_wait->flags & IB_COLLQ_SUBMIT_WAIT_QUIET);
	case IB_COLLQ_QUEUE_WAIT:
		return wait_for(arg);
	case IB_COLLQ_OBJECT_DESTROY:
	case IB_COLLQ_SLOT_UNBIND:
	case IB_COLLQ_CAPACITY_RELEASE:
		return take_away(arg);
	default:
		return fail(ENOTTY);
	}
}

FIXTURE(progress) {
	struct collq_context ctx;
	struct collq_comm comm;
	struct collq_request requests[4];
};

FIXTURE_SETUP(progress)
{
	int i;

	memset(&paper, 0, sizeof(paper));
	paper.fd = memfd_create("paper", MFD_CLOEXEC);
	paper.entry_size = sizeof(struct ib_collq_completion);
	ASSERT_LE(0, paper.fd);
	memset(self, 0, sizeof(*self));
	self->ctx.fd = paper.fd;
	self->ctx.limits.max_batch = MAX_BATCH;
	self->ctx.ids.max = 8;
	ASSERT_EQ(0, pthread_mutex_init(&self->ctx.lock, NULL));
	ASSERT_EQ(0, pthread_cond_init(&self->ctx.woken, NULL));
	for (i = 0; i < 4; i++) {
		self->requests[i].comm = &self->comm;
		self->requests[i].ctx = &self->ctx;
		self->requests[i].stage = COLLQ_INIT_DONE;
		self->requests[i].queue_id = QUEUE + i;
		ASSERT_EQ(0, collq_progress_register(&self->requests[i]));
	}
}

FIXTURE_TEARDOWN(progress)
{
	close(paper.fd);
}

static int open_ring(FIXTURE_DATA(progress) * self, uint32_t entries)
{
	return collq_ring_map(&self->ctx, entries, -1, &self->ctx.ring);
}

/* An offset is cut off nowhere, as a 32-bit off_t would. */
TEST_F(progress, ring_is_far_behind)
{
	paper.mmap_offset = 0x100ULL << 24;
	ASSERT_EQ(0, open_ring(self, 4));
	EXPECT_EQ(0, collq_start(&self->requests[0], 0));
	EXPECT_EQ(0, collq_test(&self->requests[0]));
}

/* The one who waits is told by the call, and looks into no ring. */
TEST_F(progress, end_is_told_by_the_call)
{
	self->ctx.limits.features = IB_COLLQ_FEATURE_QUIET;
	ASSERT_EQ(0, open_ring(self, 4));
	EXPECT_EQ(0, collq_start_wait(&self->requests[0], 0));
	EXPECT_EQ(0, paper.header->tail);
	EXPECT_EQ(0, collq_test(&self->requests[0]));
	EXPECT_EQ(-ENOENT, collq_request_failure(&self->requests[0], &(struct collq_failure) {
		.size = sizeof(struct collq_failure),
	}));
}

/* A kernel that knows less of a completion than this library. */
TEST_F(progress, entries_may_be_short)
{
	struct ib_collq_completion entry;

	paper.entry_size = offsetof(struct ib_collq_completion, task);
	ASSERT_EQ(0, open_ring(self, 2));
	complete(1, -EIO);
	complete(2, -ENXIO);
	memset(&entry, 0xff, sizeof(entry));
	ASSERT_TRUE(collq_ring_next(self->ctx.ring, &entry));
	EXPECT_EQ(1, entry.user_data);
	EXPECT_EQ(-EIO, entry.status);
	EXPECT_EQ(0, entry.task);
	EXPECT_EQ(0, entry.__reserved[5]);
	ASSERT_TRUE(collq_ring_next(self->ctx.ring, &entry));
	EXPECT_EQ(2, entry.user_data);
	EXPECT_EQ(-ENXIO, entry.status);
	EXPECT_EQ(0, entry.task);
	EXPECT_FALSE(collq_ring_next(self->ctx.ring, &entry));
}

/* And one that knows more. */
TEST_F(progress, entries_may_be_long)
{
	struct ib_collq_completion entry[2];

	paper.entry_size = 2 * sizeof(struct ib_collq_completion);
	ASSERT_EQ(0, open_ring(self, 2));
	complete(1, -EIO);
	complete(2, -ENXIO);
	ASSERT_EQ(2, collq_ring_reap(self->ctx.ring, entry, 2));
	EXPECT_EQ(1, entry[0].user_data);
	EXPECT_EQ(2, entry[1].user_data);
	EXPECT_EQ(5, entry[1].label);
}

/* The device goes away, and no completion comes of what has been submitted. */
TEST_F(progress, device_is_gone)
{
	struct collq_failure failure = { .size = sizeof(failure) };
	struct collq_request *both[] = { &self->requests[2], &self->requests[3] };
	uint32_t index;

	ASSERT_EQ(0, open_ring(self, 4));
	self->requests[1].run = COLLQ_RUN_STARTED;
	self->requests[2].run = COLLQ_RUN_STARTED;
	self->requests[3].run = COLLQ_RUN_STARTED;
	paper.error = ENODEV;
	EXPECT_EQ(-ENODEV, collq_start_wait(&self->requests[0], 0));
	EXPECT_EQ(-ENODEV, collq_test(&self->requests[0]));
	ASSERT_EQ(0, collq_request_failure(&self->requests[0], &failure));
	EXPECT_EQ(-ENODEV, failure.error);
	EXPECT_EQ(COLLQ_NONE, failure.peer);
	EXPECT_EQ(IB_COLLQ_NO_TASK, failure.task);

	EXPECT_EQ(-ENODEV, collq_wait(&self->requests[1], 0));
	EXPECT_EQ(-ENODEV, collq_test(&self->requests[1]));
	EXPECT_EQ(-ENODEV, collq_waitany(both, 2, &index, 0));
	EXPECT_EQ(0, index);
	EXPECT_EQ(-ENODEV, collq_testany(both, 2, &index));
	EXPECT_EQ(1, index);
	EXPECT_EQ(-ENOENT, collq_testany(both, 2, &index));
}

/* The kernel says that a run has ended, but not how: no reason to believe it well. */
TEST_F(progress, end_is_not_to_be_found)
{
	ASSERT_EQ(0, open_ring(self, 4));
	self->requests[1].run = COLLQ_RUN_STARTED;
	EXPECT_EQ(-EPROTO, collq_wait(&self->requests[1], 0));
}

/* What ended before the device went away has ended well. */
TEST_F(progress, device_goes_after_the_end)
{
	ASSERT_EQ(0, open_ring(self, 4));
	paper.error = ENODEV;
	paper.ends = true;
	EXPECT_EQ(0, collq_start_wait(&self->requests[0], 0));
	EXPECT_EQ(0, collq_test(&self->requests[0]));
}

static void *wait_for_any(void *arg)
{
	struct collq_request *request = arg;
	uint32_t index;

	return (void *)(intptr_t)collq_waitany(&request, 1, &index,
					       collq_deadline_in(PATIENCE_NS));
}

/*
 * A thread in collq_waitany() that is slow to wake keeps entries in the ring. That's
 * no reason for a start to fail.
 */
TEST_F(progress, ring_is_full_of_what_a_sleeper_has_to_find)
{
	struct collq_request *slow = &self->requests[3];
	pthread_t thread;
	void *result;
	int i;

	ASSERT_EQ(0, open_ring(self, 2));
	slow->run = COLLQ_RUN_STARTED;
	paper.hold = true;
	ASSERT_EQ(0, pthread_create(&thread, NULL, wait_for_any, slow));
	while (!paper.sleeping)
		nap();
	EXPECT_EQ(0, collq_start_wait(&self->requests[0], 0));
	complete(collq_progress_tag(slow), 0);
	EXPECT_EQ(0, collq_test(&self->requests[0]));
	for (i = 0; i < 4; i++) {
		EXPECT_EQ(0, collq_start_wait(&self->requests[0], 0));
		EXPECT_EQ(0, collq_start(&self->requests[1], 0));
		EXPECT_EQ(0, collq_test(&self->requests[1]));
	}
	EXPECT_TRUE(paper.refused);
	ASSERT_EQ(0, pthread_join(thread, &result));
	EXPECT_EQ(0, (intptr_t)result);
}

/* Else the descriptor would be readable for ever. */
TEST_F(progress, nothing_is_left_of_who_is_gone)
{
	ASSERT_EQ(0, open_ring(self, 2));
	self->requests[0].run = COLLQ_RUN_STARTED;
	complete(collq_progress_tag(&self->requests[0]), -ECANCELED);
	collq_progress_unregister(&self->requests[0]);
	EXPECT_EQ(paper.header->tail, paper.header->head);
}

/* One that can't be destroyed doesn't keep those behind it. */
TEST_F(progress, all_is_taken_away)
{
	struct collq_in_channel in[8] = { { 0 } };
	struct collq_request *request = &self->requests[0];
	uint32_t i;

	setenv("COLLQ_LOG_LEVEL", "none", 1);
	ASSERT_EQ(0, collq_env_read(&self->ctx.env));
	for (i = 0; i < 8; i++)
		in[i].counter = i + 1;
	request->queue_id = 0;
	request->in = in;
	request->nr_counters = 8;
	collq_objects_destroy(request);
	EXPECT_EQ(0, request->nr_counters);
	ASSERT_EQ(7, paper.nr_gone);
	for (i = 0; i < 7; i++)
		EXPECT_EQ(i < 5 ? 8 - i : 7 - i, paper.gone[i]);
}

TEST_HARNESS_MAIN
