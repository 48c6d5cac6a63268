/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What the environment asks for, parsed and checked.
 */
#ifndef COLLQ_ENV_H
#define COLLQ_ENV_H

#include <stdint.h>

#include "log.h"

/* Where a number means "find out": a GID index may be 0 */
#define COLLQ_ENV_AUTO		UINT32_MAX

/* Bits of transports */
#define COLLQ_TLS_LOCAL		(1U << 0)
#define COLLQ_TLS_RC		(1U << 1)

/* Where a caller of collq_open_verbs() gets to */
#define COLLQ_FRONT_END_AUTO	0U
#define COLLQ_FRONT_END_CHAR	1U
#define COLLQ_FRONT_END_UVERBS	2U

/* Whether lists that are too long for the device become regions of their own */
#define COLLQ_LONG_LISTS_AUTO	0U	/* if it takes any */
#define COLLQ_LONG_LISTS_PAGES	1U	/* or if all pieces are whole pages */
#define COLLQ_LONG_LISTS_NO	2U

struct collq_env {
	const char *net_devices;	/* valid until the environment changes */
	uint32_t gid_index;		/* or COLLQ_ENV_AUTO */
	uint32_t tls;
	uint32_t front_end;		/* COLLQ_FRONT_END_* */
	uint32_t log_level;
	uint32_t barrier_algorithm;	/* COLLQ_BARRIER_* */
	uint32_t barrier_radix;		/* or 0 */
	uint32_t alltoall_algorithm;	/* COLLQ_ALLTOALL_* */
	uint32_t long_lists;		/* COLLQ_LONG_LISTS_* */
	uint32_t rc_timeout;
	uint32_t rc_retry_count;
	uint32_t rc_rnr_retry;
	uint32_t rc_service_level;
	uint32_t rc_traffic_class;
	uint32_t rc_capacity;
	uint32_t probe_interval;	/* in milliseconds; 0: never */
	uint32_t ring_entries;
	uint32_t spin;
};

/*
 * 0, or -EINVAL if a variable is malformed, which is logged. The level of what is
 * logged is as it says from then on.
 */
int collq_env_read(struct collq_env *env);

#endif /* COLLQ_ENV_H */
