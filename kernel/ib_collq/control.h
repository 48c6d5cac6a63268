/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef COLLQ_CONTROL_H
#define COLLQ_CONTROL_H

#include <linux/types.h>

struct collq_endpoint;
struct collq_queue;
struct collq_queue_link;

struct collq_queue *collq_control_receive(struct collq_endpoint *ep, u32 imm,
					  int *error);
void collq_control_send_abort(struct collq_queue_link *link, int error);
void collq_control_flush_aborts(struct collq_endpoint *ep);
bool collq_control_send_close(struct collq_endpoint *ep);

#endif /* COLLQ_CONTROL_H */
