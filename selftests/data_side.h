/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A pair of contexts of which one sends from lists and the other receives into them. Each
 * has an area with canaries around and between all that is sent from or received into it.
 * Functions return 0, or an id, or -errno, or the status of a run.
 */
#ifndef DATA_SIDE_H
#define DATA_SIDE_H

#include <stdbool.h>
#include <stddef.h>

#include "collq_memory.h"

#define DATA_CANARY	0xc5

/**
 * struct data_side - a side
 * @side: its context, with a message endpoint
 * @sends: a counter of what that has sent
 * @messages: a counter of what has come there
 * @area: memory; its pages are hardly ever neighbours in memory
 * @area_size: bytes of it
 * @region: what graphs are bound to: all of the area, or what it's set to
 */
struct data_side {
	struct raw_side *side;
	int sends;
	int messages;
	char *area;
	size_t area_size;
	int region;
};

/* Both, connected, with so many bytes each and so many entries to a list. */
int data_pair_open(struct raw_side *a, struct raw_side *b, struct data_side *from,
		   struct data_side *to, size_t size, __u32 sges);

/* A graph that sends, or receives, a list and waits until that is done. */
int data_graph(const struct data_side *data, bool send, const struct ib_collq_sge *sges, __u32 nr);
int data_submit(const struct data_side *data, int graph, __u64 *sequence);
int data_result(const struct data_side *data, __u64 sequence);

/* From a list to a list: 0, or what went wrong first. */
int data_transfer(struct data_side *from, const struct ib_collq_sge *src, __u32 nr_src,
		  struct data_side *to, const struct ib_collq_sge *dst, __u32 nr_dst);

/*
 * A transfer of which every byte is looked at, and every byte that isn't part of it:
 * -EBADMSG if one is wrong, -EOVERFLOW if another one has changed.
 */
int data_check(struct data_side *from, const struct ib_collq_sge *src, __u32 nr_src,
	       struct data_side *to, const struct ib_collq_sge *dst, __u32 nr_dst,
	       unsigned int seed);

#endif /* DATA_SIDE_H */
