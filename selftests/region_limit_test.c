// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Regions: what they are charged, and large ones.
 *
 * Limits are those of an ordinary user, in a child, which tells by its status what
 * went wrong.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "collq_memory.h"
#include "copier.h"

#define WRITE		IB_COLLQ_ACCESS_WRITE
#define NOBODY		65534
#define ROOM		(16 * RAW_PAGE)

/* As an ordinary user in a child: what @check returns is the child's status. */
static int as_user(rlim_t limit, int (*check)(void))
{
	const struct rlimit rlimit = { limit, limit };
	pid_t pid = fork();

	if (!pid) {
		if (setrlimit(RLIMIT_MEMLOCK, &rlimit) || setgid(NOBODY) || setuid(NOBODY))
			_exit(99);
		_exit(check());
	}
	return raw_exit_status(pid);
}

/* The first check that has failed in a child: its line, as far as a status can tell. */
static int failed;

static void check_at(bool condition, int line)
{
	if (!condition && !failed)
		failed = line % 98 + 1;
}

#define CHECK(condition)	check_at(condition, __LINE__)

/* 16 pages may be locked. */
static int check_limit(void)
{
	char *memory = raw_map(64 * RAW_PAGE);
	int fd = raw_open(), a, b;

	CHECK(fd >= 0 && memory);
	CHECK(raw_region_create(fd, memory, 17 * RAW_PAGE, WRITE) == -ENOMEM);
	CHECK(raw_region_create(fd, memory + 1, 16 * RAW_PAGE, WRITE) == -ENOMEM);
	CHECK(raw_status_kb("VmPin") == 0);
	a = raw_region_create(fd, memory, 16 * RAW_PAGE, WRITE);
	CHECK(a > 0);
	CHECK(raw_status_kb("VmPin") == 64);
	CHECK(raw_region_create(fd, memory, 1, 0) == -ENOMEM);
	CHECK(!raw_destroy(fd, a));
	CHECK(raw_status_kb("VmPin") == 0);
	a = raw_region_create(fd, memory, 8 * RAW_PAGE, 0);
	b = raw_region_create(fd, memory, 8 * RAW_PAGE, WRITE);
	CHECK(a > 0 && b > 0);
	CHECK(raw_region_create(fd, memory, 1, 0) == -ENOMEM);
	close(fd);
	CHECK(RAW_EVENTUALLY(!raw_status_kb("VmPin")));
	return failed;
}

TEST(limit)
{
	if (geteuid())
		SKIP(return, "takes root");
	EXPECT_EQ(0, as_user(16 * RAW_PAGE, check_limit));
	/* Nothing is left of it. */
	EXPECT_EQ(0, as_user(16 * RAW_PAGE, check_limit));
}

/* The limit is one of the user's: a child has none of its own. */
static int check_limit_of_user(void)
{
	char *memory = raw_map(64 * RAW_PAGE);
	int fd = raw_open(), status;
	pid_t pid;

	CHECK(fd >= 0 && memory);
	CHECK(raw_region_create(fd, memory, 10 * RAW_PAGE, WRITE) > 0);
	pid = fork();
	if (!pid) {
		fd = raw_open();
		CHECK(raw_status_kb("VmPin") == 0);
		if (raw_region_create(fd, memory, 7 * RAW_PAGE, WRITE) != -ENOMEM)
			_exit(1);
		_exit(raw_region_create(fd, memory, 6 * RAW_PAGE, WRITE) > 0 ? 0 : 2);
	}
	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK(WIFEXITED(status) && !WEXITSTATUS(status));
	return failed;
}

TEST(limit_of_user)
{
	if (geteuid())
		SKIP(return, "takes root");
	EXPECT_EQ(0, as_user(16 * RAW_PAGE, check_limit_of_user));
}

/* After exec the pages are pinned as long as the descriptor is open. */
static int check_exec(void)
{
	char *memory = raw_map(64 * RAW_PAGE);
	int fd = raw_open();

	CHECK(fd >= 0 && memory);
	CHECK(raw_region_create(fd, memory, 10 * RAW_PAGE, WRITE) > 0);
	CHECK(!fcntl(fd, F_SETFD, 0));
	execl("/proc/self/exe", "region_limit_test", "--after-exec", NULL);
	return 127;
}

static int after_exec(void)
{
	char *memory = raw_map(64 * RAW_PAGE);
	int fd = raw_open();

	CHECK(fd >= 0 && memory);
	CHECK(raw_region_create(fd, memory, 7 * RAW_PAGE, WRITE) == -ENOMEM);
	CHECK(raw_region_create(fd, memory, 6 * RAW_PAGE, WRITE) > 0);
	return failed;
}

TEST(limit_survives_exec)
{
	if (geteuid())
		SKIP(return, "takes root");
	EXPECT_EQ(0, as_user(16 * RAW_PAGE, check_exec));
}

/* Whoever may lock any amount is counted but not limited. */
TEST(not_limited)
{
	const struct rlimit none = { 0, 0 };
	char *memory = raw_map(ROOM);
	int fd = raw_open(), id;

	if (geteuid())
		SKIP(return, "takes root");
	ASSERT_EQ(0, setrlimit(RLIMIT_MEMLOCK, &none));
	id = raw_region_create(fd, memory, ROOM, WRITE);
	EXPECT_LT(0, id);
	EXPECT_EQ((long)ROOM / 1024, raw_status_kb("VmPin"));
}

static void *interrupt(void *thread)
{
	int i;

	for (i = 0; i < 200; i++) {
		raw_nap();
		pthread_kill(*(pthread_t *)thread, SIGUSR1);
	}
	return NULL;
}

static void ignore(int sig)
{
	(void)sig;
}

/* A GiB, if there is one: in one call, interruptible, and usable at both ends. */
TEST(large)
{
	const size_t size = 1UL << 30;
	pthread_t self_thread = pthread_self(), other;
	struct copier copier;
	char *memory, *end;
	int id, interrupted = 0;

	if (sysconf(_SC_AVPHYS_PAGES) < (long)(size / RAW_PAGE * 3 / 2))
		SKIP(return, "less than 1.5 GiB free");
	ASSERT_EQ(0, copier_open(&copier, 100));
	memory = raw_map(size);
	ASSERT_NE(NULL, memory);
	end = memory + size;
	madvise(memory, size, MADV_NOHUGEPAGE);

	signal(SIGUSR1, ignore);
	ASSERT_EQ(0, pthread_create(&other, NULL, interrupt, &self_thread));
	id = raw_region_create(copier.fd, memory, size, WRITE);
	interrupted = id == -EINTR;
	pthread_join(other, NULL);
	EXPECT_TRUE(interrupted) TH_LOG("%d", id);
	EXPECT_EQ(0, raw_status_kb("VmPin"));

	id = raw_region_create(copier.fd, memory, size, WRITE);
	ASSERT_LT(0, id);
	EXPECT_EQ((long)(size >> 10), raw_status_kb("VmPin"));
	raw_fill(memory, 100, 4);
	EXPECT_EQ(0, copier_run(&copier, id, 0, id, size - 100));
	EXPECT_EQ(0, raw_count_wrong(end - 100, 100, 4));
	EXPECT_EQ(0, copier_run(&copier, id, size - 100, id, size / 2 - 50));
	EXPECT_EQ(0, raw_count_wrong(memory + size / 2 - 50, 100, 4));
	EXPECT_EQ(-EINVAL, copier_run(&copier, id, 0, id, size - 99));
	EXPECT_EQ(0, raw_destroy(copier.fd, id));
	EXPECT_EQ(0, raw_status_kb("VmPin"));
	copier_close(&copier);
	munmap(memory, size);
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "--after-exec"))
		return after_exec();
	return test_harness_run(argc, argv);
}
