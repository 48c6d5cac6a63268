// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The kernel's fault injection, see fail_nth.h.
 *
 * The file fail-nth is read and written by system calls that copy from and to user
 * memory, which is where faults are injected too. So the thread disarms itself by
 * trying until the number it writes gets through.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "fail_nth.h"

#define DEBUG_DIR	"/sys/kernel/debug"
#define FAIL_NTH	"/proc/thread-self/fail-nth"

static __thread int fail_nth_fd = -1;

bool fail_nth_set(const char *path, const char *value)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool done;

	if (fd < 0)
		return false;
	done = write(fd, value, strlen(value)) == (ssize_t)strlen(value);
	close(fd);
	return done;
}

const char *fail_nth_prepare(void)
{
	static const struct {
		const char *path;
		const char *value;
	} knobs[] = {
		/* Allocations that may sleep count too, and those of one page. */
		{ DEBUG_DIR "/failslab/ignore-gfp-wait", "N" },
		{ DEBUG_DIR "/fail_page_alloc/ignore-gfp-wait", "N" },
		{ DEBUG_DIR "/fail_page_alloc/ignore-gfp-highmem", "N" },
		{ DEBUG_DIR "/fail_page_alloc/min-order", "0" },
		/* No trace for each. */
		{ DEBUG_DIR "/failslab/verbose", "0" },
		{ DEBUG_DIR "/fail_page_alloc/verbose", "0" },
		{ DEBUG_DIR "/fail_usercopy/verbose", "0" },
	};
	unsigned int i;

	if (geteuid())
		return "takes root";
	if (access(FAIL_NTH, R_OK | W_OK))
		return "the kernel has no " FAIL_NTH " (CONFIG_FAULT_INJECTION)";
	if (access(DEBUG_DIR "/failslab", X_OK))
		mount("debugfs", DEBUG_DIR, "debugfs", 0, NULL);
	for (i = 0; i < sizeof(knobs) / sizeof(knobs[0]); i++) {
		if (!fail_nth_set(knobs[i].path, knobs[i].value))
			return "the kernel lacks CONFIG_FAILSLAB, _FAIL_PAGE_ALLOC or _USERCOPY";
	}
	if (fail_nth_fd >= 0)
		close(fail_nth_fd);
	fail_nth_fd = open(FAIL_NTH, O_RDWR | O_CLOEXEC);
	return fail_nth_fd < 0 ? "cannot open " FAIL_NTH : NULL;
}

bool fail_nth_arm(unsigned int n)
{
	char text[16];
	int length = snprintf(text, sizeof(text), "%u", n);

	return pwrite(fail_nth_fd, text, length, 0) == length;
}

bool fail_nth_disarm(void)
{
	char text[16] = "";
	/* Where reading it takes the fault, it hadn't happened before. */
	bool happened = pread(fail_nth_fd, text, sizeof(text) - 1, 0) > 0 && !atoi(text);

	while (pwrite(fail_nth_fd, "0", 1, 0) != 1)
		;
	return happened;
}

bool fail_nth_random(enum fail_nth_whose whose, unsigned int percent)
{
	bool atomic = whose == FAIL_NTH_ATOMIC;
	char text[16];

	snprintf(text, sizeof(text), "%u", percent);
	return fail_nth_set(DEBUG_DIR "/failslab/ignore-gfp-wait", atomic ? "Y" : "N") &&
	       fail_nth_set(DEBUG_DIR "/failslab/task-filter", atomic ? "N" : "Y") &&
	       fail_nth_set(DEBUG_DIR "/failslab/interval", "1") &&
	       fail_nth_set(DEBUG_DIR "/failslab/times", "-1") &&
	       fail_nth_set(DEBUG_DIR "/failslab/probability", text);
}

void fail_nth_random_end(void)
{
	fail_nth_set(DEBUG_DIR "/failslab/probability", "0");
	fail_nth_set(DEBUG_DIR "/failslab/ignore-gfp-wait", "N");
	fail_nth_set(DEBUG_DIR "/failslab/task-filter", "N");
}
