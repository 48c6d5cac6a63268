/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * An outside witness of the system calls that the ranks make.
 */
#ifndef BARRIER_WITNESS_H
#define BARRIER_WITNESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct witness;

/*
 * Takes its post at the ranks, all their threads; counts nothing so far. NULL
 * if it can't be had; *why then says why.
 */
struct witness *witness_open(const pid_t *pids, uint32_t nr, const char **why);
void witness_close(struct witness *witness);

/* Waits until the last one that was closed slows nothing down any more. */
void witness_fade(void);

bool witness_start(struct witness *witness);

/* Stops, and gives the number of system calls of all ranks since the start. */
bool witness_stop(struct witness *witness, uint64_t *calls);

#endif
