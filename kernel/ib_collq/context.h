/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef COLLQ_CONTEXT_H
#define COLLQ_CONTEXT_H

#include <linux/list.h>
#include <linux/llist.h>
#include <linux/mutex.h>
#include <linux/refcount.h>
#include <linux/sched.h>
#include <linux/uidgid.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>

#include "probe.h"

struct collq_device;
struct collq_verbs;
struct mm_struct;

/**
 * struct collq_leftovers - regions that are gone, but for their memory
 * @regions: those, referenced
 * @mutex: of who lets go of it
 * @work: does so, with a reference to the context
 */
struct collq_leftovers {
	struct llist_head regions;
	struct mutex mutex;		/* letting go */
	struct work_struct work;
};

/**
 * struct collq_context - one open of the device, and all objects made through it
 * @refs: one of the file, one of each object
 * @device: the device; referenced
 * @node: in the device's list of contexts, under its mutex
 * @id: what the device calls it
 * @pid: the process that opened it; referenced
 * @uid: its effective user
 * @created: when, CLOCK_MONOTONIC in ns
 * @comm: its name
 * @mm: address space of the process that opened it; mm_count is held. Ioctls
 *	from another are refused
 * @mutex: serialises what creates, names, connects and destroys objects.
 *	Submitting and waiting don't take it. Outermost of a context's locks:
 *	mutex -> queue lock -> endpoint lock -> counter lock
 * @objects: id to object; its lock protects the look-up
 * @next_id: where the search for a free id goes on
 * @nr_objects: number of objects, under @mutex
 * @nr_lists: number of regions among them that are lists, under @mutex
 * @nr_zones: number of landing zones among them, under @mutex
 * @nr_eventfds: number of counters among them that listen to an eventfd, under @mutex
 * @borrowed: verbs objects of the process that its objects use, see borrow.c
 * @closed: its file is gone; set under @mutex
 * @verbs: protection domain; NULL once the context or
 *	the device is gone; set under @mutex
 * @claim_lock: protects which graph may wait on a counter: claimant, owner and
 *	claimed of counters and graphs, and the start of a graph's runs. Nests
 *	inside a queue's lock; a counter's nests inside
 * @rings_lock: protects @rings
 * @rings: rings of the context
 * @probe: finds out about peers that are waited for
 * @poll_wait: woken when a ring gets an entry or the device goes
 * @leftovers: regions whose memory is still to be let go of
 * @free_work: frees the context when the last reference goes in softirq
 */
struct collq_context {
	refcount_t refs;
	struct collq_device *device;
	struct list_head node;
	u32 id;
	struct pid *pid;
	kuid_t uid;
	u64 created;
	char comm[TASK_COMM_LEN];
	struct mm_struct *mm;
	struct mutex mutex;		/* making and unmaking of objects */
	struct xarray objects;
	u32 next_id;
	u32 nr_objects;
	u32 nr_lists;
	u32 nr_zones;
	u32 nr_eventfds;
	atomic_t borrowed;
	bool closed;
	struct collq_verbs *verbs;
	spinlock_t claim_lock;		/* who waits on which counter */
	spinlock_t rings_lock;		/* rings */
	struct list_head rings;
	struct collq_probe probe;
	wait_queue_head_t poll_wait;
	struct collq_leftovers leftovers;
	struct work_struct free_work;
};

struct collq_context *collq_context_open(struct collq_device *cd);
struct collq_context *collq_context_find(struct collq_context *caller, u32 id,
					 bool or_next);
void collq_context_lose_device(struct collq_context *ctx);
void collq_context_remove(struct collq_context *ctx);
void collq_context_shut(struct collq_context *ctx);
void collq_context_close(struct collq_context *ctx);
void collq_context_put(struct collq_context *ctx);

static inline void collq_context_get(struct collq_context *ctx)
{
	refcount_inc(&ctx->refs);
}

#endif /* COLLQ_CONTEXT_H */
