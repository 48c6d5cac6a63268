/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Limits of what one context may ask for. IB_COLLQ_QUERY reports them, bounded
 * by what the device can do. Our own memory is charged to the caller's cgroup;
 * what drivers allocate for queue pairs isn't, so the limits bound that.
 */
#ifndef COLLQ_LIMITS_H
#define COLLQ_LIMITS_H

#include <linux/bits.h>

#define COLLQ_MAX_OBJECTS		65536
#define COLLQ_MAX_ID			0xfffff	/* ids go round after this */
#define COLLQ_MAX_ENDPOINTS		4096
#define COLLQ_MAX_CAPACITY		4096
#define COLLQ_MAX_QP_SLOTS		524288	/* of all endpoints together */
#define COLLQ_MAX_SLOTS			16384
#define COLLQ_MAX_EVENTFDS		256	/* counters of a context that listen to one */
#define COLLQ_MAX_TASKS			65536
#define COLLQ_MAX_SGES			65536
#define COLLQ_MAX_BUFFERS		16
#define COLLQ_MAX_REGION		BIT_ULL(36)	/* bytes */
#define COLLQ_MAX_ZONES			4096
#define COLLQ_MAX_LISTS			1024	/* regions of parts of others */
#define COLLQ_MAX_KEY_PAGES		4096U	/* of what one key is for */
#define COLLQ_MAX_QUEUE_DEPTH		1024
#define COLLQ_MAX_QUEUE_ENDPOINTS	4096
#define COLLQ_MAX_RING_ENTRIES		32768
#define COLLQ_MAX_BATCH			4096

/* What endpoints may ask for: how often to probe a peer that is waited for */
#define COLLQ_MIN_PROBE_MS		10
#define COLLQ_MAX_PROBE_MS		3600000

/*
 * Scatter/gather entries of a queue pair beyond what was asked for: enough for the
 * longest message of SoftRoCE, 8 MiB, in memory that is registered 1 MiB at a time
 */
#define COLLQ_SPARE_SGES		10

/* How long a reset waits until the peer has been told, in jiffies */
#define COLLQ_RESET_CLOSE		(HZ / 10)

/*
 * How long a signal endpoint that has failed with its graph tries to tell the peer,
 * behind the data that is under way, in jiffies
 */
#define COLLQ_ABORT_TIME		HZ
#define COLLQ_MAX_ABORT_WAITS		64	/* at a time, of all contexts together */

/* Endpoints of a device that may linger at a time, unless max_lingering says else */
#define COLLQ_MAX_LINGERING		4096

/* How long a look into another context waits for a call that is busy there, in jiffies */
#define COLLQ_LOOK_WAIT			HZ

/*
 * Tasks that the engine carries out on a processor in a jiffy before a worker goes
 * on, and what any entry may carry out nevertheless
 */
#define COLLQ_ENGINE_BUDGET		4096
#define COLLQ_ENGINE_MIN_BUDGET		64

#endif /* COLLQ_LIMITS_H */
