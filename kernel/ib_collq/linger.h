/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef COLLQ_LINGER_H
#define COLLQ_LINGER_H

#include <linux/types.h>

struct collq_context;
struct collq_device;
struct collq_endpoint;

void collq_linger_init(struct collq_device *cd);
bool collq_linger_begin(struct collq_endpoint *ep);
void collq_linger_sent(struct collq_endpoint *ep);
void collq_linger_cut(struct collq_endpoint *ep);
void collq_linger_shorten(struct collq_context *ctx);
void collq_linger_hurry(struct collq_device *cd);
void collq_linger_stop(struct collq_device *cd);

/* How long the end of a process waits for last messages in its protection domain */
#define COLLQ_MAX_BORROWED	(2 * HZ)

/* How long removal of the device waits for last messages, in jiffies */
#define COLLQ_HURRY	(HZ / 2)

#endif /* COLLQ_LINGER_H */
