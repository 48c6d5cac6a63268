/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef COLLQ_PROBE_H
#define COLLQ_PROBE_H

#include <linux/compiler.h>
#include <linux/workqueue.h>

struct collq_context;

/**
 * struct collq_probe - a context's probing
 * @interval: the shortest interval that an endpoint of the context ever had, in
 *	jiffies; 0 as long as none probes
 * @armed: @work is going to look at the queues
 * @work: looks at what queues are parked at
 */
struct collq_probe {
	unsigned long interval;
	int armed;
	struct delayed_work work;
};

void collq_probe_init(struct collq_probe *probe);
void collq_probe_add(struct collq_context *ctx, unsigned int ms);
void collq_probe_schedule(struct collq_probe *probe);
void collq_probe_stop(struct collq_probe *probe);

/*
 * A queue has been parked. Called with its lock held, by every WAIT that isn't
 * satisfied: two loads, mostly.
 */
static inline void collq_probe_arm(struct collq_probe *probe)
{
	if (READ_ONCE(probe->interval) && unlikely(!READ_ONCE(probe->armed)))
		collq_probe_schedule(probe);
}

#endif /* COLLQ_PROBE_H */
