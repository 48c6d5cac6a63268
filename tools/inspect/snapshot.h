/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What is found on the devices, and how it hangs together.
 *
 * snapshot_take() reads contexts and objects; what vanishes meanwhile is left out.
 * peers_find() then fills in all that is marked as its own. Objects of a context
 * are in order of their ids.
 */
#ifndef SNAPSHOT_H
#define SNAPSHOT_H

#include <stdbool.h>
#include <stdint.h>

#include <rdma/ib_collq.h>

#include "devices.h"

#define NO_RANK		UINT32_MAX

struct context;

/* @peer: by peers_find(): the other end, if it's among those that were found */
struct endpoint {
	struct context *context;
	struct ib_collq_endpoint_info info;
	struct endpoint *peer;
};

struct counter {
	struct ib_collq_counter_info info;
};

struct ring {
	struct ib_collq_ring_info info;
};

struct region {
	struct ib_collq_region_info info;
};

/*
 * @moved: it has gone on since it was read, so that it may not fit what was read
 *	of others
 * @tasks: of the graph that runs, if any
 * By peers_find():
 * @rank: what its peers take it for, or NO_RANK
 * @counter: what it waits for, or NULL
 * @endpoint: what is behind @counter, or is full; or NULL
 * @via: the signal endpoint of @endpoint, which may be the same; or NULL
 * @next: the queue at the other end of @via that works together with this one, or
 *	NULL
 * @linked: sure so: both have said so; else it's the only one in its context
 * @group: a queue that stands for all those that work together
 */
struct queue {
	struct context *context;
	struct ib_collq_queue_info info;
	bool moved;
	uint32_t nr_links;
	struct ib_collq_queue_endpoint *links;
	uint32_t nr_tasks;
	struct ib_collq_task *tasks;

	uint32_t rank;
	struct counter *counter;
	struct endpoint *endpoint;
	struct endpoint *via;
	struct queue *next;
	bool linked;
	struct queue *group;
};

/*
 * @comm and @user: fit to be printed; @process: as process_state(); @busy: a call of its
 * process keeps others from seeing its objects; @pinned: bytes of all regions
 */
struct context {
	const struct device *device;
	struct ib_collq_context_describe info;
	char comm[16];
	char user[64];
	const char *process;
	bool busy;
	uint64_t pinned;
	uint32_t nr_endpoints, nr_counters, nr_queues, nr_rings, nr_regions;
	struct endpoint *endpoints;
	struct counter *counters;
	struct queue *queues;
	struct ring *rings;
	struct region *regions;
};

/* @now: when it was read, as times of the kernel */
struct snapshot {
	uint64_t now;
	unsigned int nr;
	struct context **contexts;
};

/* Adds what is on a device; 0 or -errno. */
int snapshot_take(struct snapshot *snapshot, const struct device *device);
void snapshot_free(struct snapshot *snapshot);

/* Looks once more whether queues are still as they were read. */
void snapshot_check(struct snapshot *snapshot);

struct endpoint *snapshot_endpoint(const struct context *context, uint32_t id);
struct counter *snapshot_counter(const struct context *context, uint32_t id);

/* Bytes that a region keeps in memory. */
uint64_t snapshot_pinned(const struct region *region);

/* Seconds from a time of the kernel to when the snapshot was taken. */
double snapshot_age(const struct snapshot *snapshot, uint64_t time);

/* The task that a queue carries out, or NULL if it isn't known. */
const struct ib_collq_task *snapshot_task(const struct queue *queue);

/* 0 or -ENOMEM. */
int peers_find(struct snapshot *snapshot);

#endif /* SNAPSHOT_H */
