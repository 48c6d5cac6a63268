// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What the tools' command lines have in common.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "arguments.h"
#include "place.h"
#include "progress.h"

void usage_end(void)
{
	fprintf(stderr, "See %s --help\n", tool_name);
	exit(EXIT_USAGE);
}

void usage_error(const char *format, ...)
{
	va_list args;

	fprintf(stderr, "%s: ", tool_name);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fprintf(stderr, "; see %s --help\n", tool_name);
	exit(EXIT_USAGE);
}

void print_and_exit(const char *text)
{
	if (fputs(text, stdout) == EOF || fflush(stdout) == EOF) {
		perror(tool_name);
		exit(EXIT_FAILURE);
	}
	exit(EXIT_SUCCESS);
}

uint64_t parse_number(const char *name, const char *text, uint64_t min, uint64_t max)
{
	unsigned long long value;
	char *end;

	errno = 0;
	value = strtoull(text, &end, 10);
	if (*text < '0' || *text > '9' || *end || errno || value < min || value > max)
		usage_error("%s: '%s' is not a number from %llu to %llu", name, text,
			    (unsigned long long)min, (unsigned long long)max);
	return value;
}

void parse_ranks(struct options *options, char *list)
{
	char *item;

	options->nr_ranks = 0;
	while ((item = strsep(&list, ","))) {
		if (options->nr_ranks == MAX_ROWS_RANKS)
			usage_error("--ranks: more than %d numbers", MAX_ROWS_RANKS);
		options->ranks[options->nr_ranks++] = parse_number("--ranks", item, 1, MAX_RANKS);
	}
}

void parse_hosts(struct options *options, char *list)
{
	const char *wrong = place_parse(options, list);

	if (wrong)
		usage_error("--hosts: %s", wrong);
}

uint32_t any_seed(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (now.tv_nsec ^ now.tv_sec ^ getpid()) & 0x7fffffff;
}
