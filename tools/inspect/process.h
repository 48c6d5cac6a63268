/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef PROCESS_H
#define PROCESS_H

#include <stdint.h>

/*
 * What the process that opened a context so long ago does, in a word: running,
 * sleeping, blocked, stopped, traced, ended, or unknown.
 */
const char *process_state(uint32_t pid, double context_age);

#endif /* PROCESS_H */
