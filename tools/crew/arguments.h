/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What the tools' command lines have in common.
 */
#ifndef CREW_ARGUMENTS_H
#define CREW_ARGUMENTS_H

#include <getopt.h>
#include <stdint.h>

#include "options.h"

#define EXIT_USAGE		2
#define MAX_ITERATIONS		10000000
#define MAX_TIMEOUT		86400
#define DEFAULT_TIMEOUT		60

/* What all tools understand; each has others of its own. */
enum common_option {
	OPTION_RANKS = 256,
	OPTION_ITERATIONS,
	OPTION_DEVICE,
	OPTION_FRONT_END,
	OPTION_HOSTS,
	OPTION_JSON,
	OPTION_DEMO,
	OPTION_SEED,
	OPTION_TIMEOUT,
	OPTION_HELP,
	OPTION_VERSION,
	OPTION_OWN,
};

/* Tells what is wrong after the tool's name, and ends it. */
_Noreturn __attribute__((format(printf, 1, 2))) void usage_error(const char *format, ...);

/* Of the option @name; usage errors end the tool. */
uint64_t parse_number(const char *name, const char *text, uint64_t min, uint64_t max);
void parse_ranks(struct options *options, char *list);

/* As the option has it, or NULL. */
const char *front_end_name(uint32_t front_end);

/* The next of them, or -1. @own ends with one that has no name. */
int next_option(int argc, char **argv, const struct option *own);

/* Takes one that isn't the tool's own. @usage is for --help. */
void parse_common(struct options *options, int option, const char *usage);

/* Of the option @name: there must be such a rank, and others, or @why_not. */
void check_spoilt(const struct options *options, const char *name, const char *why_not);

/* A seed that differs from run to run. */
uint32_t any_seed(void);

#endif
