/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef COLLQ_DATA_H
#define COLLQ_DATA_H

#include <linux/types.h>

struct collq_bindings;
struct collq_graph;
struct collq_list;
struct collq_step;

/**
 * struct collq_place - a place in a list
 * @entry: the entry
 * @done: bytes of it that lie before
 */
struct collq_place {
	u32 entry;
	u32 done;
};

/**
 * struct collq_progress - how far a COPY or CALC task has come
 * @src: in the list that is read
 * @dst: in the list that is written
 * @left: bytes left, once @begun
 * @begun: the task has begun
 */
struct collq_progress {
	struct collq_place src;
	struct collq_place dst;
	u64 left;
	bool begun;
};

u64 collq_list_length(const struct collq_list *list);
void collq_data_begin(struct collq_progress *progress,
		      const struct collq_list *src, const struct collq_list *dst,
		      unsigned int *budget);
void collq_data_copy(const struct collq_list *src, const struct collq_list *dst,
		     struct collq_progress *progress, unsigned int *budget);
u64 collq_data_run(const struct collq_graph *graph,
		   const struct collq_step *step,
		   struct collq_bindings *bindings,
		   struct collq_progress *progress, unsigned int *budget);

#endif /* COLLQ_DATA_H */
