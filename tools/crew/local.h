/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Messages that don't take the wire, which a device's counters know nothing of.
 */
#ifndef BARRIER_LOCAL_H
#define BARRIER_LOCAL_H

#include <stdint.h>

#include <collq/collq.h>

/* How many all endpoints of a context have sent to local peers, as the module counts. */
uint64_t local_sends(struct collq_context *context);

#endif
