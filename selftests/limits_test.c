// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Limits from outside of the module: the rdma cgroup, and how many destroyed
 * endpoints of all users may linger.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "collq_util.h"

#define CGROUPS		"/sys/fs/cgroup/"
#define CGROUP		CGROUPS "collq_limits_test/"
#define MAX_LINGERING	"/sys/module/ib_collq/parameters/max_lingering"

static int write_file(const char *path, const char *text)
{
	ssize_t len = strlen(text);
	int fd = open(path, O_WRONLY);
	int err = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text, len) != len)
		err = -errno;
	close(fd);
	return err;
}

/* What the cgroup uses of a resource of the device, or -1. */
static int cgroup_uses(const char *resource)
{
	char line[256], *at = NULL;
	FILE *file = fopen(CGROUP "rdma.current", "r");

	while (!at && file && fgets(line, sizeof(line), file)) {
		if (!strncmp(line, RAW_DEVICE " ", strlen(RAW_DEVICE) + 1))
			at = strstr(line, resource);
	}
	if (file)
		fclose(file);
	return at ? atoi(at + strlen(resource) + 1) : -1;
}

/* In a cgroup that may have two handles and four objects. */
static int charged_process(void)
{
	struct ib_collq_endpoint_create attr;
	int fds[2], endpoint;

	if (write_file(CGROUP "cgroup.procs", "0"))
		return 10;
	fds[0] = raw_open();
	fds[1] = raw_open();
	if (fds[0] < 0 || fds[1] < 0)
		return 11;
	if (raw_open() != -ENOSPC)
		return 12;
	if (cgroup_uses("hca_handle") != 2 || cgroup_uses("hca_object") != 2)
		return 13;
	attr = raw_endpoint_attr(IB_COLLQ_ENDPOINT_SIGNAL);
	if (raw_endpoint_create(fds[0], &attr) < 0)
		return 14;
	attr = raw_endpoint_attr(IB_COLLQ_ENDPOINT_SIGNAL);
	endpoint = raw_endpoint_create(fds[1], &attr);
	if (endpoint < 0)
		return 15;
	attr = raw_endpoint_attr(IB_COLLQ_ENDPOINT_SIGNAL);
	if (raw_endpoint_create(fds[0], &attr) != -ENOSPC)
		return 16;
	/* What is given back can be had again. */
	if (raw_destroy(fds[1], endpoint))
		return 17;
	attr = raw_endpoint_attr(IB_COLLQ_ENDPOINT_SIGNAL);
	if (raw_endpoint_create(fds[0], &attr) < 0)
		return 18;
	close(fds[1]);
	return cgroup_uses("hca_handle") != 1 || cgroup_uses("hca_object") != 3 ? 19 : 0;
}

TEST(rdma_cgroup)
{
	int status;
	pid_t child;

	write_file(CGROUPS "cgroup.subtree_control", "+rdma");
	if (mkdir(CGROUP, 0755) && errno != EEXIST)
		SKIP(return, "no cgroup2 at " CGROUPS);
	if (write_file(CGROUP "rdma.max", RAW_DEVICE " hca_handle=2 hca_object=4"))
		SKIP(goto out_rmdir, "no rdma controller");
	child = fork();
	ASSERT_LE(0, child);
	if (!child)
		_exit(charged_process());
	ASSERT_EQ(child, waitpid(child, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_TRUE(RAW_EVENTUALLY(cgroup_uses("hca_handle") <= 0));
	EXPECT_TRUE(RAW_EVENTUALLY(cgroup_uses("hca_object") <= 0));
	/*
	 * 6.1 frees a cgroup and forgets that its limits are still in the device's
	 * list, which removing the device then stumbles over: no limits, no trap.
	 */
	EXPECT_EQ(0, write_file(CGROUP "rdma.max", RAW_DEVICE " hca_handle=max hca_object=max"));
out_rmdir:
	EXPECT_TRUE(RAW_EVENTUALLY(!rmdir(CGROUP)));
}

static bool qp_is_there(const struct raw_side *side)
{
	const struct ib_collq_address *address = (const void *)side->attr.address;
	char command[128];

	snprintf(command, sizeof(command),
		 "rdma resource show qp link " RAW_DEVICE "/1 lqpn %u | grep -q .", address->qpn);
	return !system(command);
}

/* As a user: pairs that passed a barrier, which then linger for half a minute. */
static bool leave_lingering(uid_t uid, int nr, struct raw_side *first)
{
	struct raw_side a, b;

	if (seteuid(uid))
		return false;
	while (nr--) {
		if (raw_side_open(&a) || raw_side_open(&b))
			return false;
		a.attr.timeout = 20;
		b.attr.timeout = 20;
		if (raw_destroy(a.fd, a.endpoint) != -EBUSY)
			return false;
		if (raw_slot_unbind(a.fd, a.endpoint, RAW_SLOT, RAW_GENERATION) ||
		    raw_slot_unbind(b.fd, b.endpoint, RAW_SLOT, RAW_GENERATION))
			return false;
		a.endpoint = raw_endpoint_create(a.fd, &a.attr);
		b.endpoint = raw_endpoint_create(b.fd, &b.attr);
		if (raw_slot_bind(a.fd, a.endpoint, RAW_SLOT, RAW_GENERATION, a.counter) ||
		    raw_slot_bind(b.fd, b.endpoint, RAW_SLOT, RAW_GENERATION, b.counter) ||
		    raw_side_connect(&a, b.attr.address) || raw_side_connect(&b, a.attr.address) ||
		    raw_pair_barrier(&a, &b))
			return false;
		*first = a;
		raw_pair_close(&a, &b);
	}
	return !seteuid(0);
}

FIXTURE(lingering) {
};

FIXTURE_SETUP(lingering)
{
	ASSERT_EQ(0, write_file(MAX_LINGERING, "8"));
}

FIXTURE_TEARDOWN(lingering)
{
	EXPECT_EQ(0, write_file(MAX_LINGERING, "4096"));
}

/* One user's many don't cut another's few short. */
TEST_F_TIMEOUT(lingering, of_users, 300)
{
	struct raw_side victim, other;

	ASSERT_TRUE(leave_lingering(0, 1, &other));
	ASSERT_TRUE(leave_lingering(1234, 1, &victim));
	EXPECT_TRUE(qp_is_there(&victim));
	ASSERT_TRUE(leave_lingering(1235, 1, &other));
	EXPECT_TRUE(qp_is_there(&other));
	ASSERT_TRUE(leave_lingering(1236, 12, &other));
	EXPECT_TRUE(qp_is_there(&victim));
	/* The last ones are left, the first have gone. */
	EXPECT_TRUE(qp_is_there(&other));

	/* And no room at all ends them all. */
	ASSERT_EQ(0, write_file(MAX_LINGERING, "0"));
	ASSERT_TRUE(leave_lingering(1235, 1, &other));
	EXPECT_TRUE(RAW_EVENTUALLY(!qp_is_there(&victim)));
	EXPECT_TRUE(RAW_EVENTUALLY(!qp_is_there(&other)));
}

TEST_HARNESS_MAIN
