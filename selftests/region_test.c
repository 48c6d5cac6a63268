// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Regions: what may be one, what it's charged, and when its memory is gone.
 *
 * Whether a region is of use is seen by what copies from one to the other: a graph
 * of one COPY from buffer slot 0 to slot 1, in a context without any endpoint.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "collq_memory.h"
#include "copier.h"
#include "usage.h"

#define WRITE		IB_COLLQ_ACCESS_WRITE
#define ROOM		(16 * RAW_PAGE)
#define LARGE		(4UL << 20)

FIXTURE(region) {
	struct copier copier;
	char *memory;
};

FIXTURE_SETUP(region)
{
	ASSERT_EQ(0, copier_open(&self->copier, 100));
	self->memory = raw_map(ROOM);
	ASSERT_NE(NULL, self->memory);
}

FIXTURE_TEARDOWN(region)
{
	munmap(self->memory, ROOM);
	copier_close(&self->copier);
}

static int create(struct copier *copier, struct ib_collq_region_create *region)
{
	region->size = sizeof(*region);
	return raw_ioctl(copier->fd, IB_COLLQ_REGION_CREATE, region);
}

TEST_F(region, refused)
{
	const __u64 memory = (unsigned long)self->memory;
	struct ib_collq_query query;
	const struct {
		struct ib_collq_region_create region;
		int err;
	} cases[] = {
		{ { .length = 1, .address = memory }, -EINVAL },
		{ { .type = 4, .length = 1, .address = memory }, -EINVAL },
		{ { .type = IB_COLLQ_REGION_MR, .length = 1, .address = memory }, -EOPNOTSUPP },
		{ { .type = IB_COLLQ_REGION_DMABUF, .length = 1, .fd = 0 }, -EOPNOTSUPP },
		{ { .type = IB_COLLQ_REGION_USER, .address = memory }, -EINVAL },
		{ { .type = IB_COLLQ_REGION_USER, .address = memory, .length = 1, .fd = 1 },
		  -EINVAL },
		{ { .type = IB_COLLQ_REGION_USER, .address = memory, .length = 1, .access = 2 },
		  -EOPNOTSUPP },
		{ { .type = IB_COLLQ_REGION_USER, .address = memory, .length = 1, .flags = 1 },
		  -EOPNOTSUPP },
		{ { .type = IB_COLLQ_REGION_USER, .address = ~0ULL, .length = 1 }, -EINVAL },
		{ { .type = IB_COLLQ_REGION_USER, .address = -4096ULL, .length = 4096 }, -EINVAL },
		{ { .type = IB_COLLQ_REGION_USER, .address = memory, .length = ~0ULL }, -EINVAL },
		{ { .type = IB_COLLQ_REGION_USER, .address = 0, .length = 1 }, -EFAULT },
		{ { .type = IB_COLLQ_REGION_USER, .address = memory, .length = 1ULL << 30 },
		  -EFAULT },
		{ { .type = IB_COLLQ_REGION_USER, .address = 1ULL << 62, .length = 1 }, -EFAULT },
	};
	struct ib_collq_region_create region;
	unsigned int i;

	/* So that there's nothing behind it. */
	ASSERT_EQ(0, munmap(self->memory + ROOM - RAW_PAGE, RAW_PAGE));
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		region = cases[i].region;
		EXPECT_EQ(cases[i].err, create(&self->copier, &region)) TH_LOG("case %u", i);
	}
	ASSERT_EQ(0, raw_query(self->copier.fd, &query));
	region = (struct ib_collq_region_create) {
		.type = IB_COLLQ_REGION_USER, .length = query.max_region + 1,
	};
	EXPECT_EQ(-EINVAL, create(&self->copier, &region));
	EXPECT_EQ(0, raw_status_kb("VmPin"));
}

TEST_F(region, describe)
{
	const int id = raw_region_create(self->copier.fd, self->memory + 4000, 4200, WRITE);
	struct ib_collq_region_info info;

	ASSERT_LT(0, id);
	info = raw_region_info(self->copier.fd, id);
	EXPECT_EQ(IB_COLLQ_REGION_USER, info.create.type);
	EXPECT_EQ(WRITE, info.create.access);
	EXPECT_EQ((unsigned long)self->memory + 4000, info.create.address);
	EXPECT_EQ(4200, info.create.length);
	EXPECT_EQ(id, (int)info.create.id);
	EXPECT_EQ(0, info.stale);
	EXPECT_EQ(0, info.uses);
	EXPECT_EQ(3, info.pages);
	EXPECT_GE(1, info.registrations);
	EXPECT_EQ(3 * 4, raw_status_kb("VmPin"));
	EXPECT_EQ(0, raw_destroy(self->copier.fd, id));
	EXPECT_EQ(0, raw_status_kb("VmPin"));
	EXPECT_EQ(-ENOENT, raw_destroy(self->copier.fd, id));
}

/* Every alignment of both sides, over the border of a page. */
TEST_F(region, alignments)
{
	int src = raw_region_create(self->copier.fd, self->memory, ROOM, WRITE);
	char *from = self->memory, *to = self->memory + 8 * RAW_PAGE;
	int i, wrong = 0;

	ASSERT_LT(0, src);
	for (i = 0; i < 64; i++) {
		const size_t at = RAW_PAGE - 50 + i % 8, there = RAW_PAGE - 70 + i / 8;

		memset(to, 0x55, 2 * RAW_PAGE);
		raw_fill(from + at, 100, i);
		ASSERT_EQ(0, copier_run(&self->copier, src, at, src, 8 * RAW_PAGE + there));
		wrong += raw_count_wrong(to + there, 100, i);
		wrong += raw_count_other(to, there, 0x55);
		wrong += raw_count_other(to + there + 100, 2 * RAW_PAGE - there - 100, 0x55);
	}
	EXPECT_EQ(0, wrong);
}

/* A region that begins and ends in the middle of pages is just as long as it is. */
TEST_F(region, odd_borders)
{
	int fd = self->copier.fd;
	int src = raw_region_create(fd, self->memory + 4095, 101, 0);
	int dst = raw_region_create(fd, self->memory + 3 * RAW_PAGE + 1, 100, WRITE);

	ASSERT_LT(0, src);
	ASSERT_LT(0, dst);
	raw_fill(self->memory + 4095 + 1, 100, 7);
	EXPECT_EQ(0, copier_run(&self->copier, src, 1, dst, 0));
	EXPECT_EQ(0, raw_count_wrong(self->memory + 3 * RAW_PAGE + 1, 100, 7));
	EXPECT_EQ(-EINVAL, copier_run(&self->copier, src, 2, dst, 0));
	EXPECT_EQ(-EINVAL, copier_run(&self->copier, src, 1, dst, 1));
	EXPECT_EQ(-EINVAL, copier_run(&self->copier, src, ~0ULL, dst, 0));
	EXPECT_EQ(-EACCES, copier_run(&self->copier, dst, 0, src, 0));
	EXPECT_EQ(-ENOENT, copier_run(&self->copier, src, 0, 0, 0));
	EXPECT_EQ(-ENOENT, copier_run(&self->copier, src, 0, self->copier.queue, 0));
}

TEST_F(region, bindings_refused)
{
	const int id = raw_region_create(self->copier.fd, self->memory, ROOM, WRITE);
	struct ib_collq_buffer_bind bindings[3] = {
		{ .buffer = 0, .region = id }, { .buffer = 1, .region = id },
		{ .buffer = 2, .region = id },
	};
	struct copier *copier = &self->copier;
	__u64 sequence;

	EXPECT_EQ(-EINVAL, raw_submit_bound(copier->fd, copier->queue, copier->graph, bindings, 0,
					    &sequence));
	EXPECT_EQ(-EINVAL, raw_submit_bound(copier->fd, copier->queue, copier->graph, bindings, 1,
					    &sequence));
	EXPECT_EQ(-EINVAL, raw_submit_bound(copier->fd, copier->queue, copier->graph, bindings, 3,
					    &sequence));
	EXPECT_EQ(-EINVAL, raw_submit_bound(copier->fd, copier->queue, copier->graph, bindings + 1,
					    2, &sequence));
	EXPECT_EQ(-EFAULT, raw_submit_bound(copier->fd, copier->queue, copier->graph, NULL, 2,
					    &sequence));
	bindings[1].buffer = 0;
	EXPECT_EQ(-EINVAL, raw_submit_bound(copier->fd, copier->queue, copier->graph, bindings, 2,
					    &sequence));
	EXPECT_EQ(0, raw_region_info(copier->fd, id).uses);
	EXPECT_EQ(0, raw_destroy(copier->fd, id));
}

/* Read-only memory can be a source, and nothing else. */
TEST_F(region, read_only)
{
	int fd = self->copier.fd, src, dst;

	raw_fill(self->memory, 100, 1);
	ASSERT_EQ(0, mprotect(self->memory, RAW_PAGE, PROT_READ));
	EXPECT_EQ(-EFAULT, raw_region_create(fd, self->memory, 100, WRITE));
	src = raw_region_create(fd, self->memory, 100, 0);
	dst = raw_region_create(fd, self->memory + RAW_PAGE, 100, WRITE);
	ASSERT_LT(0, src);
	EXPECT_EQ(0, copier_run(&self->copier, src, 0, dst, 0));
	EXPECT_EQ(0, raw_count_wrong(self->memory + RAW_PAGE, 100, 1));
}

/* A source that is private and not there yet is the process' own afterwards. */
TEST_F(region, private_source)
{
	int fd = self->copier.fd, src, dst;

	src = raw_region_create(fd, self->memory, 100, 0);
	dst = raw_region_create(fd, self->memory + RAW_PAGE, 100, WRITE);
	ASSERT_LT(0, src);
	raw_fill(self->memory, 100, 9);
	EXPECT_EQ(0, copier_run(&self->copier, src, 0, dst, 0));
	EXPECT_EQ(0, raw_count_wrong(self->memory + RAW_PAGE, 100, 9));
}

/* Memory of different kinds. */
FIXTURE(kind) {
	struct copier copier;
};

FIXTURE_VARIANT(kind) {
	int flags;
	bool memfd;
	bool mapped_read_only;
};

FIXTURE_VARIANT_ADD(kind, shared_anonymous) {
	.flags = MAP_SHARED | MAP_ANONYMOUS,
};

FIXTURE_VARIANT_ADD(kind, shared_memfd) {
	.flags = MAP_SHARED, .memfd = true,
};

FIXTURE_VARIANT_ADD(kind, private_memfd) {
	.flags = MAP_PRIVATE, .memfd = true,
};

FIXTURE_VARIANT_ADD(kind, shared_read_only) {
	.flags = MAP_SHARED, .memfd = true, .mapped_read_only = true,
};

FIXTURE_VARIANT_ADD(kind, private_read_only) {
	.flags = MAP_PRIVATE, .memfd = true, .mapped_read_only = true,
};

FIXTURE_VARIANT_ADD(kind, huge) {
	.flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB,
};

FIXTURE_SETUP(kind)
{
	ASSERT_EQ(0, copier_open(&self->copier, 3 * RAW_PAGE));
}

FIXTURE_TEARDOWN(kind)
{
	copier_close(&self->copier);
}

static void reserve_huge_pages(const char *nr)
{
	int fd = open("/proc/sys/vm/nr_hugepages", O_WRONLY);

	if (fd < 0)
		return;
	if (write(fd, nr, strlen(nr)) < 0)
		perror("nr_hugepages");
	close(fd);
}

TEST_F(kind, copy)
{
	const size_t size = 2 << 20;
	const int prot = variant->mapped_read_only ? PROT_READ : PROT_READ | PROT_WRITE;
	int fd = self->copier.fd, file = -1, src, dst;
	char *memory, *other = raw_map(4 * RAW_PAGE), *content;

	ASSERT_NE(NULL, other);
	if (variant->flags & MAP_HUGETLB)
		reserve_huge_pages("1");
	if (variant->memfd) {
		file = memfd_create("region", 0);
		ASSERT_EQ(0, ftruncate(file, size));
		content = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
		ASSERT_NE(MAP_FAILED, content);
		raw_fill(content + 100, 3 * RAW_PAGE, 3);
	}
	memory = mmap(NULL, size, prot, variant->flags, file, 0);
	if (memory == MAP_FAILED && variant->flags & MAP_HUGETLB)
		SKIP(return, "no huge page");
	ASSERT_NE(MAP_FAILED, memory);
	if (!variant->mapped_read_only)
		raw_fill(memory + 100, 3 * RAW_PAGE, 3);

	src = raw_region_create(fd, memory, size, variant->mapped_read_only ? 0 : WRITE);
	dst = raw_region_create(fd, other, 4 * RAW_PAGE, WRITE);
	ASSERT_LT(0, src);
	ASSERT_LT(0, dst);
	EXPECT_EQ(0, copier_run(&self->copier, src, 100, dst, 99));
	EXPECT_EQ(0, raw_count_wrong(other + 99, 3 * RAW_PAGE, 3));
	if (!variant->mapped_read_only) {
		EXPECT_EQ(0, copier_run(&self->copier, dst, 99, src, 1 << 20));
		EXPECT_EQ(0, raw_count_wrong(memory + (1 << 20), 3 * RAW_PAGE, 3));
	}
	if (variant->flags & MAP_HUGETLB) {
		EXPECT_EQ(0, raw_region_info(fd, src).registrations);
		ASSERT_EQ(0, raw_destroy(fd, src));
		munmap(memory, size);
		reserve_huge_pages("0");
	}
}

/* A file with storage behind it, as a source: this program, by its own mapping of it. */
TEST(program_as_a_source)
{
	const size_t size = 3 * RAW_PAGE;
	struct copier copier;
	int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), src, dst;
	char *other = raw_map(4 * RAW_PAGE), *memory;

	ASSERT_EQ(0, copier_open(&copier, size));
	ASSERT_LE(0, file);
	memory = mmap(NULL, size, PROT_READ, MAP_SHARED, file, 0);
	ASSERT_NE(MAP_FAILED, memory);
	src = raw_region_create(copier.fd, memory, size, 0);
	dst = raw_region_create(copier.fd, other, 4 * RAW_PAGE, WRITE);
	ASSERT_LT(0, src);
	ASSERT_LT(0, dst);
	EXPECT_EQ(0, copier_run(&copier, src, 0, dst, 7));
	EXPECT_EQ(0, memcmp(memory, other + 7, size));
	/* It can't be written to, whoever asks. */
	EXPECT_GT(0, raw_region_create(copier.fd, memory, size, WRITE));
	copier_close(&copier);
	close(file);
}

/* Memory that is taken away. */
FIXTURE(stale) {
	struct copier copier;
	char *memory;
	int src;
	int dst;
};

FIXTURE_SETUP(stale)
{
	ASSERT_EQ(0, copier_open(&self->copier, 100));
	self->memory = raw_map(ROOM);
	ASSERT_NE(NULL, self->memory);
	raw_fill(self->memory, ROOM, 1);
	self->src = raw_region_create(self->copier.fd, self->memory, 4 * RAW_PAGE, 0);
	ASSERT_LT(0, self->src);
	self->dst = raw_region_create(self->copier.fd, self->memory + 8 * RAW_PAGE, RAW_PAGE,
				      WRITE);
	ASSERT_LT(0, self->dst);
	ASSERT_EQ(0, copier_run(&self->copier, self->src, 0, self->dst, 0));
}

FIXTURE_TEARDOWN(stale)
{
	copier_close(&self->copier);
}

/* The source is stale for good, the other region isn't. */
#define EXPECT_STALE()								\
do {										\
	EXPECT_EQ(-ESTALE, copier_run(&self->copier, self->src, 0, self->dst, 0)); \
	EXPECT_EQ(-ESTALE, copier_run(&self->copier, self->src, 0, self->dst, 0)); \
	EXPECT_EQ(1, raw_region_info(self->copier.fd, self->src).stale);	\
	EXPECT_EQ(0, copier_run(&self->copier, self->dst, 0, self->dst, 200));	\
	EXPECT_EQ(0, raw_destroy(self->copier.fd, self->src));			\
} while (0)

#define EXPECT_FRESH()								\
do {										\
	EXPECT_EQ(0, copier_run(&self->copier, self->src, 0, self->dst, 0));	\
	EXPECT_EQ(0, raw_region_info(self->copier.fd, self->src).stale);	\
	EXPECT_EQ(0, raw_count_wrong(self->memory + 8 * RAW_PAGE, 100, 1));	\
} while (0)

TEST_F(stale, unmapped)
{
	ASSERT_EQ(0, munmap(self->memory, 4 * RAW_PAGE));
	EXPECT_STALE();
}

TEST_F(stale, last_page_unmapped)
{
	ASSERT_EQ(0, munmap(self->memory + 3 * RAW_PAGE, RAW_PAGE));
	EXPECT_STALE();
}

TEST_F(stale, mapped_over)
{
	ASSERT_EQ(self->memory, mmap(self->memory, RAW_PAGE, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0));
	EXPECT_STALE();
}

TEST_F(stale, moved)
{
	char *there = mmap(NULL, 4 * RAW_PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ASSERT_EQ(there, mremap(self->memory, 4 * RAW_PAGE, 4 * RAW_PAGE,
				MREMAP_MAYMOVE | MREMAP_FIXED, there));
	EXPECT_STALE();
}

TEST_F(stale, given_up)
{
	ASSERT_EQ(0, madvise(self->memory + RAW_PAGE, RAW_PAGE, MADV_DONTNEED));
	EXPECT_STALE();
}

/* Neighbours don't matter, and neither does what leaves the pages where they are. */
TEST_F(stale, not_by_neighbours)
{
	ASSERT_EQ(0, munmap(self->memory + 4 * RAW_PAGE, 2 * RAW_PAGE));
	EXPECT_FRESH();
	ASSERT_EQ(0, madvise(self->memory + 6 * RAW_PAGE, RAW_PAGE, MADV_DONTNEED));
	EXPECT_FRESH();
}

TEST_F(stale, not_by_protection)
{
	ASSERT_EQ(0, mprotect(self->memory, 2 * RAW_PAGE, PROT_READ));
	EXPECT_FRESH();
	ASSERT_EQ(0, mprotect(self->memory, 2 * RAW_PAGE, PROT_READ | PROT_WRITE));
	EXPECT_FRESH();
}

/* After fork the parent writes to its own pages, not to copies. */
TEST_F(stale, not_by_fork)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		raw_fill(self->memory, ROOM, 2);
		_exit(0);
	}
	raw_fill(self->memory, ROOM, 1);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_FRESH();
	raw_fill(self->memory, ROOM, 3);
	EXPECT_EQ(0, copier_run(&self->copier, self->src, 0, self->dst, 0));
	EXPECT_EQ(0, raw_count_wrong(self->memory + 8 * RAW_PAGE, 100, 3));
}

/* Part of a huge page goes: it's split, and the rest stays. */
TEST(not_stale_by_split)
{
	const size_t huge = 2 << 20;
	struct copier copier;
	char *area, *memory;
	int src, dst;

	ASSERT_EQ(0, copier_open(&copier, 100));
	area = raw_map(2 * huge);
	ASSERT_NE(NULL, area);
	memory = (char *)(((unsigned long)area + huge - 1) & ~(huge - 1));
	madvise(memory, huge, MADV_HUGEPAGE);
	raw_fill(memory, huge, 1);
	src = raw_region_create(copier.fd, memory, RAW_PAGE, 0);
	dst = raw_region_create(copier.fd, memory + RAW_PAGE, RAW_PAGE, WRITE);
	ASSERT_LT(0, src);
	ASSERT_LT(0, dst);
	ASSERT_EQ(0, madvise(memory + huge / 2, huge / 4, MADV_DONTNEED));
	ASSERT_EQ(0, munmap(memory + huge / 2, huge / 4));
	EXPECT_EQ(0, copier_run(&copier, src, 0, dst, 0));
	EXPECT_EQ(0, raw_count_wrong(memory + RAW_PAGE, 100, 1));
	copier_close(&copier);
}

/* A region is in use from submit until its graph has ended. */
TEST_F(region, busy)
{
	struct copier *copier = &self->copier;
	const int counter = raw_counter_create(copier->fd, IB_COLLQ_SOURCE_USER, 0);
	const int id = raw_region_create(copier->fd, self->memory, ROOM, WRITE);
	const struct ib_collq_task tasks[] = { raw_wait_for(counter, 1), raw_copy(0, 1, 1, 1) };
	const struct ib_collq_sge sges[] = { { .length = 8 }, { .length = 8, .offset = 8 } };
	const struct raw_graph graph = {
		.tasks = tasks, .nr_tasks = 2, .sges = sges, .nr_sges = 2, .nr_buffers = 1,
	};
	const struct ib_collq_buffer_bind binding = { .region = id };
	int graph_id = raw_data_graph_create(copier->fd, &graph, NULL), status;
	__u64 sequence[2];

	ASSERT_LT(0, graph_id);
	ASSERT_EQ(0, raw_submit_bound(copier->fd, copier->queue, graph_id, &binding, 1,
				      &sequence[0]));
	ASSERT_EQ(0, raw_submit_bound(copier->fd, copier->queue, graph_id, &binding, 1,
				      &sequence[1]));
	EXPECT_EQ(2, raw_region_info(copier->fd, id).uses);
	EXPECT_EQ(-EBUSY, raw_destroy(copier->fd, id));
	ASSERT_EQ(0, raw_counter_raise(copier->fd, counter, 1));
	ASSERT_EQ(0, raw_result(copier->fd, copier->queue, sequence[0], &status));
	EXPECT_EQ(0, status);
	EXPECT_EQ(1, raw_region_info(copier->fd, id).uses);
	EXPECT_EQ(-EBUSY, raw_destroy(copier->fd, id));
	ASSERT_EQ(0, raw_cancel(copier->fd, copier->queue, sequence[1]));
	ASSERT_EQ(0, raw_result(copier->fd, copier->queue, sequence[1], &status));
	EXPECT_EQ(-ECANCELED, status);
	EXPECT_EQ(0, raw_destroy(copier->fd, id));
	EXPECT_EQ(0, raw_status_kb("VmPin"));
}

struct raiser {
	int fd, counter;
	bool stop;
};

static void *raise_on(void *argument)
{
	struct raiser *raiser = argument;

	while (!__atomic_load_n(&raiser->stop, __ATOMIC_RELAXED))
		raw_counter_raise(raiser->fd, raiser->counter, 1);
	return NULL;
}

/* Memory is free when the region has been destroyed, whatever other threads call. */
TEST_F(region, destroyed_beside_calls)
{
	const int fd = self->copier.fd;
	struct raiser raiser = {
		.fd = fd, .counter = raw_counter_create(fd, IB_COLLQ_SOURCE_USER, 0),
	};
	char *large = raw_map(LARGE);
	const __u64 end = raw_in_ms(5000);
	int round, region, done = 0, still_pinned = 0;
	pthread_t threads[4];
	int i;

	ASSERT_NE(NULL, large);
	for (i = 0; i < 4; i++)
		ASSERT_EQ(0, pthread_create(&threads[i], NULL, raise_on, &raiser));
	for (round = 0; round < 300 && raw_in_ms(0) < end; round++) {
		region = raw_region_create(fd, large, LARGE, WRITE);
		if (region < 0 || raw_destroy(fd, region))
			break;
		still_pinned += raw_status_kb("VmPin") != 0;
		done++;
	}
	EXPECT_LT(0, done);
	EXPECT_EQ(round, done);
	__atomic_store_n(&raiser.stop, true, __ATOMIC_RELAXED);
	for (i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	EXPECT_EQ(0, still_pinned);
	munmap(large, LARGE);
}

/* The owner exits while a graph waits; others go on, and its memory is free. */
TEST_F(region, owner_exits)
{
	static struct usage before, now;
	struct copier *copier = &self->copier;
	int status, pipes[2];
	pid_t pid;
	char byte;

	ASSERT_TRUE(usage_read(&before));
	ASSERT_EQ(0, pipe(pipes));
	pid = fork();
	if (!pid) {
		struct copier mine;
		char *memory = raw_map(ROOM);
		int region;

		if (copier_open(&mine, 100))
			_exit(1);
		region = raw_region_create(mine.fd, memory, ROOM, WRITE);
		if (region < 0 || write(pipes[1], "x", 1) != 1)
			_exit(2);
		for (;;)
			if (copier_run(&mine, region, 0, region, 200))
				_exit(3);
	}
	ASSERT_EQ(1, read(pipes[0], &byte, 1));
	usleep(20000);
	ASSERT_EQ(0, kill(pid, SIGKILL));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	ASSERT_TRUE(WIFSIGNALED(status));
	EXPECT_EQ(SIGKILL, WTERMSIG(status));
	EXPECT_TRUE(RAW_EVENTUALLY(usage_read(&now) && now.pins == before.pins));
	EXPECT_LT(0, raw_region_create(copier->fd, self->memory, ROOM, WRITE));
	close(pipes[0]);
	close(pipes[1]);
}

TEST_HARNESS_MAIN
