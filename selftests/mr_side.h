/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A side of a connection whose memory and protection domain the process has by itself,
 * by way of a uverbs descriptor (all_uverbs.h). Functions return 0, or an id, or -errno.
 */
#ifndef MR_SIDE_H
#define MR_SIDE_H

#include <stdbool.h>
#include <stddef.h>

#include <infiniband/verbs.h>

#include "collq_memory.h"

#define CANARY		0xc5
#define AREA		(1UL << 20)

/* A side, with registered memory and a message endpoint beside it */
struct mr_side {
	struct raw_side raw;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	char *area;
	struct ib_collq_endpoint_create attr;
	int endpoint;
	int sends;
	int messages;
	int region;
};

/* The timeout that message endpoints get */
extern __u8 mr_ack_timeout;

int mr_create_lent(int fd, unsigned long command, void *arg, size_t size, __u16 attr,
		   __u32 handle);
int mr_region(int fd, const struct ibv_mr *mr, const char *start, size_t length);
int mr_endpoint_in_pd(int fd, struct ibv_pd *pd, struct ib_collq_endpoint_create *attr);
struct ib_collq_endpoint_create mr_message_attr(const struct raw_side *side);
int mr_side_open(struct mr_side *side);
int mr_side_connect(struct mr_side *side, const struct mr_side *peer);
void mr_side_close(struct mr_side *side);
int mr_graph_of(struct mr_side *side, bool send, bool wait, size_t offset, size_t length);
int mr_submit_with(struct mr_side *side, int graph, int region, __u64 *sequence);
int mr_result_of(struct mr_side *side, __u64 sequence);

#endif /* MR_SIDE_H */
