// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What /proc tells of a process. The one that opened a context may have ended
 * while another holds the descriptor, and its number may belong to a younger one.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "process.h"

/* Members 3 and 22 of the line; see proc(5) */
#define TO_NEXT_6		" %*s %*s %*s %*s %*s %*s"
#define STATE_AND_START		" %c" TO_NEXT_6 TO_NEXT_6 TO_NEXT_6 " %llu"

/* Rounding of the clocks, in seconds */
#define TOLERANCE		1.0

static double process_age(unsigned long long start_ticks)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return now.tv_sec + now.tv_nsec / 1e9 - (double)start_ticks / sysconf(_SC_CLK_TCK);
}

/* The line of /proc/PID/stat behind the name, which may have anything in it. */
static const char *read_stat(uint32_t pid, char *line, size_t size)
{
	char path[32], *end;
	size_t length;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%u/stat", pid);
	file = fopen(path, "re");
	if (!file)
		return NULL;
	length = fread(line, 1, size - 1, file);
	fclose(file);
	line[length] = '\0';
	end = strrchr(line, ')');
	return end ? end + 1 : NULL;
}

const char *process_state(uint32_t pid, double context_age)
{
	unsigned long long start;
	const char *stat;
	char line[1024], state;

	if (!pid)
		return "unknown";
	stat = read_stat(pid, line, sizeof(line));
	if (!stat || sscanf(stat, STATE_AND_START, &state, &start) != 2)
		return "ended";
	if (process_age(start) + TOLERANCE < context_age)
		return "ended";
	switch (state) {
	case 'R':
		return "running";
	case 'S':
	case 'I':
		return "sleeping";
	case 'D':
		return "blocked";
	case 'T':
		return "stopped";
	case 't':
		return "traced";
	default:
		return "ended";
	}
}
