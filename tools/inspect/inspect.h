/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What the subcommands share. Each gets the options and what stands behind its
 * name, and returns an exit status.
 */
#ifndef INSPECT_H
#define INSPECT_H

#include <stdbool.h>

#define EXIT_USAGE	2

struct options {
	bool json;
	bool details;
};

/* @device: only this one, or NULL for all */
int show_command(const struct options *options, const char *device);
int variables_command(const struct options *options);

/* To standard error, as "collq: ..." */
__attribute__((format(printf, 1, 2))) void complain(const char *format, ...);

#endif /* INSPECT_H */
