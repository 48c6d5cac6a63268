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
#include "open.h"
#include "place.h"
#include "progress.h"

#define MAX_OPTIONS	32

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

static _Noreturn __attribute__((format(printf, 1, 2)))
void print_and_exit(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	if (ferror(stdout) || fflush(stdout) == EOF) {
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

static void parse_hosts(struct options *options, char *list)
{
	const char *wrong = place_parse(options, list);

	if (wrong)
		usage_error("--hosts: %s", wrong);
}

const char *front_end_name(uint32_t front_end)
{
	static const char * const names[] = {
		[FRONT_END_CHAR] = "char",
		[FRONT_END_UVERBS] = "uverbs",
		[FRONT_END_AUTO] = "auto",
	};

	return front_end < sizeof(names) / sizeof(names[0]) ? names[front_end] : NULL;
}

static void parse_front_end(struct options *options, const char *name)
{
	for (uint32_t i = 0; front_end_name(i); i++) {
		if (!strcmp(front_end_name(i), name)) {
			options->front_end = i;
			return;
		}
	}
	usage_error("--front-end: '%s' is neither char nor uverbs nor auto", name);
}

int next_option(int argc, char **argv, const struct option *own)
{
	static struct option all[MAX_OPTIONS] = {
		{ "ranks",		required_argument,	NULL, OPTION_RANKS },
		{ "iterations",		required_argument,	NULL, OPTION_ITERATIONS },
		{ "device",		required_argument,	NULL, OPTION_DEVICE },
		{ "front-end",		required_argument,	NULL, OPTION_FRONT_END },
		{ "hosts",		required_argument,	NULL, OPTION_HOSTS },
		{ "json",		no_argument,		NULL, OPTION_JSON },
		{ "demo",		no_argument,		NULL, OPTION_DEMO },
		{ "seed",		required_argument,	NULL, OPTION_SEED },
		{ "timeout",		required_argument,	NULL, OPTION_TIMEOUT },
		{ "help",		no_argument,		NULL, OPTION_HELP },
		{ "version",		no_argument,		NULL, OPTION_VERSION },
	};
	unsigned int i = OPTION_OWN - OPTION_RANKS;

	for (; own->name && i < MAX_OPTIONS - 1; i++)
		all[i] = *own++;
	return getopt_long(argc, argv, "", all, NULL);
}

void parse_common(struct options *options, int option, const char *usage)
{
	switch (option) {
	case OPTION_RANKS:
		parse_ranks(options, optarg);
		break;
	case OPTION_ITERATIONS:
		options->iterations = parse_number("--iterations", optarg, 1, MAX_ITERATIONS);
		break;
	case OPTION_DEVICE:
		options->device = optarg;
		break;
	case OPTION_FRONT_END:
		parse_front_end(options, optarg);
		break;
	case OPTION_HOSTS:
		parse_hosts(options, optarg);
		break;
	case OPTION_JSON:
		options->json = true;
		break;
	case OPTION_DEMO:
		options->demo = true;
		break;
	case OPTION_SEED:
		options->seed = parse_number("--seed", optarg, 0, UINT32_MAX);
		break;
	case OPTION_TIMEOUT:
		options->timeout = parse_number("--timeout", optarg, 1, MAX_TIMEOUT);
		break;
	case OPTION_HELP:
		print_and_exit("%s", usage);
	case OPTION_VERSION:
		print_and_exit("%s " TOOL_VERSION "\n", tool_name);
	default:
		/* getopt_long() has told what is wrong. */
		fprintf(stderr, "See %s --help\n", tool_name);
		exit(EXIT_USAGE);
	}
}

void check_spoilt(const struct options *options, const char *name, const char *why_not)
{
	unsigned int i;

	if (options->spoilt == NO_RANK)
		return;
	for (i = 0; i < options->nr_ranks; i++) {
		if (options->ranks[i] < 2)
			usage_error("%s: %s", name, why_not);
		if (options->spoilt >= options->ranks[i])
			usage_error("%s: there is no rank %u among %u", name, options->spoilt,
				    options->ranks[i]);
	}
}

uint32_t any_seed(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (now.tv_nsec ^ now.tv_sec ^ getpid()) & 0x7fffffff;
}
