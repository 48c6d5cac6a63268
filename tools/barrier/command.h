/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What the command line asks for.
 */
#ifndef BARRIER_COMMAND_H
#define BARRIER_COMMAND_H

#include "options.h"

/* Doesn't return where there is nothing to do: help, version, usage errors. */
void options_parse(struct options *options, int argc, char **argv);

#endif
