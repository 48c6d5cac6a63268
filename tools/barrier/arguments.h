/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What the tools' command lines have in common.
 */
#ifndef BARRIER_ARGUMENTS_H
#define BARRIER_ARGUMENTS_H

#include <stdint.h>

#include "options.h"

#define EXIT_USAGE		2
#define MAX_ITERATIONS		10000000
#define MAX_TIMEOUT		86400
#define DEFAULT_TIMEOUT		60

/* Tells what is wrong after the tool's name, and ends it. */
_Noreturn __attribute__((format(printf, 1, 2))) void usage_error(const char *format, ...);

/* getopt_long() has told what is wrong. */
_Noreturn void usage_end(void);

_Noreturn void print_and_exit(const char *text);

/* Of the option @name; usage errors end the tool. */
uint64_t parse_number(const char *name, const char *text, uint64_t min, uint64_t max);
void parse_ranks(struct options *options, char *list);
void parse_hosts(struct options *options, char *list);

/* A seed that differs from run to run. */
uint32_t any_seed(void);

#endif
