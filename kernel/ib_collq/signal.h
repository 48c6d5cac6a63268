/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef COLLQ_SIGNAL_H
#define COLLQ_SIGNAL_H

#include <linux/types.h>

struct collq_counter;
struct collq_endpoint;

int collq_signal_bind(struct collq_endpoint *ep, u16 slot, u16 generation,
		      struct collq_counter *counter);
int collq_signal_unbind(struct collq_endpoint *ep, u16 slot, u16 generation);
void collq_signal_receive(struct collq_endpoint *ep, u32 imm);

#endif /* COLLQ_SIGNAL_H */
