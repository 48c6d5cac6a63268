// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Allocation failures while the module is loaded, and with it makes what it has for each
 * RDMA device. A load that fails leaves nothing; a device that could not be made is left
 * out, one that is there works, and the module can go. Whatever came before, the next load
 * works.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "collq_util.h"
#include "fail_nth.h"

/* More points than a load has */
#define MANY_POINTS	100000

/**
 * struct loads - how the loads of a sweep ended
 * @points: one failed for each
 * @refused: the module wasn't loaded
 * @without_device: it was, without the device
 */
struct loads {
	unsigned int points;
	unsigned int refused;
	unsigned int without_device;
};

static bool is_loaded(void)
{
	return !access("/sys/module/ib_collq", F_OK);
}

/* The module's file, or -1. */
static int open_module(void)
{
	FILE *modinfo = popen("modinfo -F filename ib_collq", "re");
	char path[PATH_MAX] = "";

	if (!modinfo)
		return -1;
	if (fgets(path, sizeof(path), modinfo))
		path[strcspn(path, "\n")] = '\0';
	pclose(modinfo);
	return open(path, O_RDONLY | O_CLOEXEC);
}

/* What there is of the device after a load works. (devtmpfs may lack it alone.) */
static int use_device(struct loads *loads)
{
	int fd = raw_open();

	if (fd == -ENOENT) {
		loads->without_device++;
		return 0;
	}
	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

/* The n-th allocation of a load fails: 1, 0 if there are fewer, or what is wrong. */
static int load_failing(int module, unsigned int n, struct loads *loads)
{
	bool happened;
	int err;

	if (!fail_nth_arm(n))
		return -EIO;
	err = syscall(SYS_finit_module, module, "", 0) ? -errno : 0;
	happened = fail_nth_disarm();
	if (err) {
		if (!happened || is_loaded() || (err != -ENOMEM && err != -EFAULT))
			return err;
		loads->refused++;
		return 1;
	}
	return use_device(loads) ?: raw_unload("ib_collq") ?: happened;
}

static int sweep(int module, struct loads *loads)
{
	int ret;

	do
		ret = load_failing(module, loads->points + 1, loads);
	while (ret > 0 && ++loads->points < MANY_POINTS);
	return ret > 0 ? -ELOOP : ret;
}

FIXTURE(load) {
	int module;
};

FIXTURE_SETUP(load)
{
	const char *why = fail_nth_prepare();

	if (why)
		SKIP(return, "%s", why);
	self->module = open_module();
	ASSERT_LE(0, self->module);
	ASSERT_EQ(0, raw_unload("ib_collq"));
}

/* Those behind it need the module. */
FIXTURE_TEARDOWN(load)
{
	close(self->module);
	if (!is_loaded() && system("modprobe ib_collq"))
		TH_LOG("no module any more");
}

TEST_F_TIMEOUT(load, leaves_nothing, 1000)
{
	struct loads loads = { };
	struct raw_side a, b;

	EXPECT_EQ(0, sweep(self->module, &loads))
		TH_LOG("at point %u", loads.points + 1);
	TH_LOG("%u failure points: %u times not loaded, %u without the device",
	       loads.points, loads.refused, loads.without_device);
	EXPECT_LT(0, loads.refused);
	EXPECT_LT(0, loads.without_device);
	ASSERT_EQ(0, system("modprobe ib_collq"));
	ASSERT_EQ(0, raw_pair_open(&a, &b));
	raw_pair_close(&a, &b);
}

TEST_HARNESS_MAIN
