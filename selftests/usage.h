/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What the kernel has in use, to find out what was left behind: objects of each
 * slab cache, memory, what the RDMA subsystem counts, who holds the module.
 *
 * It takes root. Some memory comes back late (RCU, lingering endpoints), so what
 * has grown is to be looked at again for a while before it's called a leak.
 */
#ifndef USAGE_H
#define USAGE_H

#include <stdbool.h>

#define USAGE_CACHES	512

/**
 * struct usage - what is in use
 * @nr: number of caches
 * @cache: objects of each slab cache
 * @vmalloc: KiB, as are those that follow
 * @percpu: of memory for each CPU
 * @unreclaimable: slab that can't be given back
 * @available: what could be allocated; not compared
 * @pinned: by the caller
 * @pins: pages that anybody has pinned
 * @queue_pairs: of all contexts
 * @completion_queues: the same
 * @protection_domains: the same
 * @memory_regions: the same
 * @module_users: open descriptors and mappings
 */
struct usage {
	unsigned int nr;
	struct {
		char name[48];
		long objects;
	} cache[USAGE_CACHES];
	long vmalloc;
	long percpu;
	long unreclaimable;
	long available;
	long pinned;
	long pins;
	long queue_pairs;
	long completion_queues;
	long protection_domains;
	long memory_regions;
	long module_users;
};

/**
 * usage_read() - look what is in use
 * @usage: out: all of it
 *
 * Return: whether that could be found out.
 */
bool usage_read(struct usage *usage);

/**
 * usage_is_exact() - whether memory that was freed counts as free
 *
 * KASAN keeps it for a while, up to a part of all memory. Then growth of memory
 * isn't looked at: that kernel has kmemleak.
 *
 * Return: whether it does.
 */
bool usage_is_exact(void);

/**
 * usage_quiet() - nothing of the module is in use
 *
 * Return: whether there's no queue pair but the device's own (GSI), no
 * protection domain but that one's, no page pinned, and nobody holds the module.
 */
bool usage_quiet(void);

/**
 * usage_growth() - what is in use now and wasn't before
 * @before: what was
 * @rounds: how often something was made and destroyed since: a leak shows at
 *	least every other time
 * @say: print it
 *
 * Return: number of things that have grown.
 */
unsigned int usage_growth(const struct usage *before, int rounds, bool say);

/**
 * usage_uncharged() - no locked memory is charged to the caller's user
 *
 * It isn't told anywhere; a child that may lock a page and no more finds out.
 *
 * Return: whether it's none.
 */
bool usage_uncharged(void);

#endif /* USAGE_H */
