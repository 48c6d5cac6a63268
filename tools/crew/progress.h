/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What goes to standard error while the ranks are at work: one line that is
 * written over on a terminal, now and then a line elsewhere.
 */
#ifndef CREW_PROGRESS_H
#define CREW_PROGRESS_H

#include <stdint.h>

/* Of each tool that is linked with this: its name, and what it has done how many of */
extern const char * const tool_name, * const tool_unit;

/* Begins what the row says of itself, such as "[3/12] 16 ranks, auto". */
void progress_begin(const char *row);

/* Where it stands; prints only if enough time has passed or @what has changed. */
void progress_show(const char *what, uint64_t done, uint64_t of);

/* The row is over, and this is what came out. */
__attribute__((format(printf, 1, 2)))
void progress_end(const char *format, ...);

/* A message among the progress, in a line of its own, after the tool's name. */
__attribute__((format(printf, 1, 2)))
void complain(const char *format, ...);

#endif
