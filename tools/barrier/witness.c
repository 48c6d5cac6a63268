// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * An outside witness of the system calls that the ranks make: the kernel's own
 * tracepoint at the entry of every system call, counted by perf for each rank.
 * Neither the ranks nor the library take part in that.
 *
 * There is an event for each thread that a rank has, and it is inherited by
 * those that might still be started: nobody can make a system call unseen.
 */
#include <dirent.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "witness.h"

/*
 * Where the kernel attends to events (in every switch between processes), it
 * goes on to do so for a second after the last one is closed.
 */
#define SECOND_NS		1000000000
#define FADE_NS			1100000000LL

static struct timespec last_closed;	/* 0: none was */

struct witness {
	uint32_t nr;
	int *fds;
};

static bool tracepoint_id(uint64_t *id)
{
	static const char * const paths[] = {
		"/sys/kernel/tracing/events/raw_syscalls/sys_enter/id",
		"/sys/kernel/debug/tracing/events/raw_syscalls/sys_enter/id",
	};
	unsigned long long value;
	FILE *file = NULL;
	bool ok;
	size_t i;

	for (i = 0; i < sizeof(paths) / sizeof(paths[0]) && !file; i++)
		file = fopen(paths[i], "re");
	if (!file)
		return false;
	ok = fscanf(file, "%llu", &value) == 1;
	*id = value;
	fclose(file);
	return ok;
}

static int event_open(uint64_t tracepoint, pid_t thread)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT,
		.size = sizeof(attr),
		.config = tracepoint,
		.disabled = 1,
		.inherit = 1,
	};

	return syscall(SYS_perf_event_open, &attr, thread, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static int watch_thread(struct witness *witness, uint64_t tracepoint, pid_t thread)
{
	int *fds = reallocarray(witness->fds, witness->nr + 1, sizeof(*fds));

	if (!fds)
		return -ENOMEM;
	witness->fds = fds;
	fds[witness->nr] = event_open(tracepoint, thread);
	if (fds[witness->nr] < 0)
		return -errno;
	witness->nr++;
	return 0;
}

static int watch_process(struct witness *witness, uint64_t tracepoint, pid_t pid)
{
	struct dirent *entry;
	char path[64];
	DIR *threads;
	int rc = 0;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	threads = opendir(path);
	if (!threads)
		return -errno;
	while (!rc && (entry = readdir(threads))) {
		if (entry->d_name[0] != '.')
			rc = watch_thread(witness, tracepoint, atoi(entry->d_name));
	}
	closedir(threads);
	return rc;
}

struct witness *witness_open(const pid_t *pids, uint32_t nr, const char **why)
{
	struct witness *witness = calloc(1, sizeof(*witness));
	uint64_t tracepoint;
	uint32_t i;
	int rc = witness ? 0 : -ENOMEM;

	if (!rc && !tracepoint_id(&tracepoint)) {
		*why = "no access to raw_syscalls in /sys/kernel/tracing";
		free(witness);
		return NULL;
	}
	for (i = 0; i < nr && !rc; i++)
		rc = watch_process(witness, tracepoint, pids[i]);
	if (!rc)
		return witness;
	*why = rc == -EACCES || rc == -EPERM ? "kernel.perf_event_paranoid forbids it" :
					       strerror(-rc);
	witness_close(witness);
	return NULL;
}

void witness_close(struct witness *witness)
{
	uint32_t i;

	if (!witness)
		return;
	for (i = 0; i < witness->nr; i++)
		close(witness->fds[i]);
	free(witness->fds);
	free(witness);
	clock_gettime(CLOCK_MONOTONIC, &last_closed);
}

void witness_fade(void)
{
	struct timespec until = last_closed;

	until.tv_nsec += FADE_NS % SECOND_NS;
	until.tv_sec += FADE_NS / SECOND_NS + until.tv_nsec / SECOND_NS;
	until.tv_nsec %= SECOND_NS;
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
}

bool witness_start(struct witness *witness)
{
	bool ok = true;
	uint32_t i;

	for (i = 0; i < witness->nr; i++)
		ok &= !ioctl(witness->fds[i], PERF_EVENT_IOC_ENABLE, 0);
	return ok;
}

bool witness_stop(struct witness *witness, uint64_t *calls)
{
	bool ok = true;
	uint64_t count;
	uint32_t i;

	*calls = 0;
	for (i = 0; i < witness->nr; i++) {
		ok &= !ioctl(witness->fds[i], PERF_EVENT_IOC_DISABLE, 0);
		ok &= read(witness->fds[i], &count, sizeof(count)) == sizeof(count);
		*calls += count;
	}
	return ok;
}
