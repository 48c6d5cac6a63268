/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What a request that moves data has besides: memory, and message endpoints of its own.
 */
#ifndef COLLQ_DATA_H
#define COLLQ_DATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collq/collq.h"

#include "message.h"

struct collq_context;
struct collq_region;
struct collq_request;
struct ibv_mr;
struct ibv_pd;

#define COLLQ_NR_BUFFERS	3U
#define COLLQ_MOST_BUFFERS	16U	/* with those that stand for lists */

/* A message channel: its endpoint, and the counters that are waited for */
struct collq_data_channel {
	uint32_t link;
	uint32_t tag;
	uint32_t sends, recvs;		/* in one run */
	uint32_t max_send_sge, max_recv_sge;
	bool waits_for_sends, waits_for_messages;
	uint32_t endpoint, sends_counter, messages_counter;	/* 0: there's none */
	bool heard;			/* @address is the peer's */
	unsigned char address[IB_COLLQ_ADDRESS_SIZE];
};

/* One buffer in the caller's memory, or none; part of @mr if that isn't NULL */
struct collq_buffer {
	const void *address;
	uint64_t bytes;
	const struct ibv_mr *mr;
	struct collq_region *region;
};

/*
 * Lists that were too long, together: the @nr pieces, which name the other buffers, and
 * what stands for them in each generation of scratch memory that makes a difference, or
 * NULL. @pages is what they may touch.
 */
struct collq_list {
	bool writable, has_scratch;
	uint32_t nr;
	uint64_t bytes, pages;
	struct ib_collq_sge *parts;
	struct collq_region *regions[2];
};

/*
 * @generation is that of the scratch memory in the next run: each run's receives are for
 * the run after the next one, so it counts from the prelude on. @in_place: the send
 * buffer has no region of its own. @old_scratch: what @scratch was before it was made
 * anew for another device, until that is settled. @pd: in which the endpoints are, and the
 * buffers' memory regions; or NULL. @own_bytes: what the graph leaves to be copied from one
 * buffer to the other, @own_offset from the start of both.
 */
struct collq_data {
	struct collq_buffer send, recv;
	bool in_place;
	const struct ibv_pd *pd;
	uint64_t own_offset, own_bytes;

	struct collq_graph *prelude;	/* NULL: none */
	uint32_t nr_buffers;		/* that the graph names */
	uint32_t generations;
	uint64_t scratch_bytes;		/* of one generation */
	void *scratch;			/* NULL: none */
	void *old_scratch;		/* the same */
	size_t scratch_mapped;
	struct collq_region *scratch_region;

	struct collq_data_channel *channels;
	uint32_t nr_channels;

	struct collq_list lists[COLLQ_MOST_BUFFERS - COLLQ_NR_BUFFERS];	/* buffers behind those */
	uint32_t nr_lists;

	uint32_t generation;
	struct ib_collq_buffer_bind bindings[COLLQ_MOST_BUFFERS];
};

/*
 * New, for these buffers: 0, -EINVAL or -ENOMEM. @needs and @prelude may come later,
 * but before the request is initialised.
 */
int collq_data_new(const void *send, void *recv, uint64_t send_bytes, uint64_t recv_bytes,
		   struct collq_data **data);
/* The buffers are in these memory regions, of one protection domain: 0 or -EINVAL. */
int collq_data_lend(struct collq_data *data, const struct collq_context *ctx,
		    const struct ibv_mr *send, const struct ibv_mr *recv);
/* Memory; what there is in the kernel has been taken away. */
void collq_data_free(struct collq_data *data);

/* The channels, which are found anew if an initialisation begins again. */
void collq_data_free_channels(struct collq_data *data);

/* What the graph needs: finds its message channels. 0 or -errno. */
int collq_data_find_channels(struct collq_request *req);

/* As the functions of the same names in objects.h, which call them. */
int collq_data_prepare(struct collq_request *req);
int collq_data_connect(struct collq_request *req);
void collq_data_destroy(struct collq_request *req);

/* Posts what must be posted before the first run. */
int collq_data_begin(struct collq_request *req);

/* What the message channels of a graph stand for, one for each; NULL: out of memory. */
struct collq_graph_message_binding *collq_data_bindings(const struct collq_request *req);

/* What is told the peer of a link, and heard of it: -EINVAL if it doesn't fit. */
uint32_t collq_data_nr_told(const struct collq_request *req, uint32_t link);
void collq_data_tell(const struct collq_request *req, uint32_t link,
		     struct collq_writer *records);
int collq_data_hear(struct collq_request *req, uint32_t link, const struct collq_found *found);

/* Makes the endpoints of a link anew, after the signal endpoint. */
int collq_data_reset(struct collq_request *req, uint32_t link);

/* For the id of each object in the kernel: to note it, or to count them. */
void collq_data_visit(struct collq_data *data, void (*visit)(uint32_t *id, void *arg),
		      void *arg);

/* Makes all of it on the device that the context is on by now: 0 or -errno. */
int collq_data_rebuild(struct collq_request *req);
/* That is to stay; or else the ids are those from before again. */
void collq_data_settle(struct collq_data *data, bool stays);

/* Whether a buffer lies in its memory region, if it's said to be in one. */
bool collq_buffer_fits(const struct collq_buffer *buffer);
/* Message endpoints, where they have to be: 0 or -errno. @done is how many there are. */
int collq_data_endpoints(struct collq_request *req, struct ib_collq_endpoint_create *entries,
			 uint32_t nr, uint32_t *done);

/* What the graph leaves to who starts it. */
void collq_data_copy_own(const struct collq_data *data);

/* The next run's buffers; and that it has begun, or hasn't. */
void collq_data_bind(struct collq_data *data);
void collq_data_turn(struct collq_data *data);

/*
 * Entries that a list of so many, and bytes, takes at most where memory is registered in
 * parts, if none of them overlap.
 */
uint64_t collq_data_entries(const struct collq_request *req, uint32_t nr, uint64_t bytes);

/* How many entries lists can have, however few the device takes; 0: no more than that. */
uint32_t collq_lists_most(const struct collq_request *req);
/*
 * The graph is there: what is too long in it becomes one entry each, as far as possible. It
 * has been made for limits that were agreed on, or it's the caller's. 0 or -errno.
 */
int collq_lists_fold(struct collq_request *req, const struct collq_message_terms *agreed);
/* Whether a buffer may begin there. */
bool collq_lists_allow(const struct collq_request *req, const void *address);
/* What stands for them, or does so anew on the device that the context is on: 0 or -errno. */
int collq_lists_make(struct collq_request *req);
/* The same for other buffers: all of them, or nothing changes. */
int collq_lists_remake(struct collq_request *req);
void collq_lists_put(struct collq_request *req);
void collq_lists_free(struct collq_data *data);
/* As collq_data_bind() and collq_data_visit(), which call them. */
void collq_lists_bind(struct collq_data *data);
void collq_lists_visit(struct collq_data *data, void (*visit)(uint32_t *id, void *arg),
		       void *arg);

/* Other buffers, as long as these: 0 or -errno. */
int collq_data_rebind(struct collq_request *req, const void *send, void *recv);

#endif /* COLLQ_DATA_H */
