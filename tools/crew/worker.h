/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The tool's hand on another host: has the ranks there.
 */
#ifndef CREW_WORKER_H
#define CREW_WORKER_H

#define WORKER_OPTION		"--worker"

/* All that a process is for which was started with WORKER_OPTION alone. */
int worker_main(void);

#endif
