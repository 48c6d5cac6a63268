/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Whether a region is of use is seen by what copies from one to the other: a graph
 * of one COPY from buffer slot 0 to slot 1, in a context without any endpoint.
 */
#ifndef COPIER_H
#define COPIER_H

#include "collq_memory.h"

/**
 * struct copier - a context that copies
 * @fd: the context
 * @queue: its queue
 * @graph: the graph
 * @ring: the queue's ring
 */
struct copier {
	int fd;
	int queue;
	int graph;
	struct raw_ring ring;
};

/* Opens a context that copies @length bytes at a time: 0 or -errno. */
int copier_open(struct copier *copier, __u32 length);
void copier_close(struct copier *copier);

/* Copies from one region to another: 0, or why not. */
int copier_run(struct copier *copier, __u32 src, __u64 src_offset, __u32 dst,
	       __u64 dst_offset);

#endif /* COPIER_H */
