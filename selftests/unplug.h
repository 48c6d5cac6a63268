/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The RDMA device is taken away from a team that is busy with it, and comes back.
 */
#ifndef UNPLUG_H
#define UNPLUG_H

#include <stdbool.h>
#include <stdint.h>

/* Ways to take it away */
#define UNPLUG_LINK	0	/* rdma link delete */
#define UNPLUG_NETDEV	1	/* its network device is removed */
#define UNPLUG_MODULE	2	/* its driver is unloaded */
#define UNPLUG_WAYS	3

/**
 * struct unplug_plan - what happens
 * @way: UNPLUG_*
 * @delay_ns: when, after all are busy
 */
struct unplug_plan {
	uint32_t way;
	uint64_t delay_ns;
};

/**
 * struct unplug_result - what came of it
 * @took_ns: how long the removal took
 * @calls: what all ranks did until then: runs, and rounds of each storm
 */
struct unplug_result {
	uint64_t took_ns;
	uint64_t calls;
};

/**
 * unplug_possible() - whether there's this way
 * @way: UNPLUG_*
 *
 * Return: false for a driver that is built in.
 */
bool unplug_possible(uint32_t way);

/**
 * unplug_run() - do it
 * @plan: what is to happen
 * @result: out: what came of it
 *
 * The device is there again afterwards, if that was possible.
 *
 * Return: how many ranks failed.
 */
unsigned int unplug_run(const struct unplug_plan *plan, struct unplug_result *result);

/**
 * unplug_take() - take it away, and no more
 * @way: UNPLUG_*
 *
 * Return: whether it has gone.
 */
bool unplug_take(uint32_t way);

/**
 * unplug_undo() - bring back what is missing: driver, network device, device
 *
 * Return: whether all of it is there.
 */
bool unplug_undo(void);

#endif /* UNPLUG_H */
