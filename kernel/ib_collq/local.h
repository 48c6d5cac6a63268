/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef COLLQ_LOCAL_H
#define COLLQ_LOCAL_H

#include <linux/hashtable.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include "data.h"

struct collq_device;
struct collq_endpoint;
struct collq_list;
struct collq_queue;

/* Buckets of a device's table: as many as 16 ranks have endpoints to each other. */
#define COLLQ_LOCAL_BITS	8

/**
 * struct collq_local_table - connected endpoints of a device that may be local
 * @lock: protects @endpoints, and who is whose peer. Inside a context's mutex;
 *	endpoint locks nest inside
 * @endpoints: by nonce
 */
struct collq_local_table {
	spinlock_t lock;		/* all of it */
	DECLARE_HASHTABLE(endpoints, COLLQ_LOCAL_BITS);
};

/**
 * struct collq_local - what an endpoint knows of the short way to its peer
 * @node: in the device's table, under its lock
 * @peer: the endpoint at the other end, or NULL; changed under the table's lock
 *	as well as the endpoint's
 * @link: number of the connection, equal at both ends; 0 if there's none. What
 *	comes with another number is for a connection that is gone
 * @sends: messages that went this way
 * @messages: messages that came this way
 * @data: of a message endpoint: data takes this way, and no other; from when it's
 *	connected until it's reset
 * @sends_posted: and what it has been asked to send, by slot; buffers are held
 * @oldest: slot of the oldest of them
 * @pending: how many there are
 * @credits: receives of the peer that nothing was sent to
 * @moving: somebody moves messages to the peer, or will: @work
 * @arriving: the oldest message is where it should be, or will be shortly, and
 *	this endpoint doesn't know yet
 * @progress: how far the oldest has come; of who moves
 * @work: moves what was too much for who began it
 */
struct collq_local {
	struct hlist_node node;
	struct collq_endpoint *peer;
	u64 link;
	u64 sends;
	u64 messages;
	bool data;
	struct collq_list *sends_posted;
	u32 oldest;
	u32 pending;
	u32 credits;
	bool moving;
	bool arriving;
	struct collq_progress progress;
	struct work_struct work;
};

void collq_local_init(struct collq_device *cd);
void collq_local_join(struct collq_endpoint *ep);
void collq_local_leave(struct collq_endpoint *ep);
int collq_local_alloc(struct collq_endpoint *ep);
void collq_local_prepare(struct collq_endpoint *ep);
void collq_local_let_know(struct collq_endpoint *ep);
bool collq_local_is_open(const struct collq_endpoint *ep);
bool collq_local_is_end(const struct collq_endpoint *ep, u64 link);
void collq_local_signal(struct collq_endpoint *ep, u32 imm)
	__releases(&ep->lock);

/* local_data.c */
int collq_local_send(struct collq_endpoint *ep, struct collq_queue *queue,
		     const struct collq_list *list)
	__releases(&ep->lock);
void collq_local_recv(struct collq_endpoint *ep)
	__releases(&ep->lock);
void collq_local_begin(struct collq_endpoint *ep, u32 recvs);
void collq_local_work(struct work_struct *work);
void collq_local_finish(struct collq_endpoint *ep);
void collq_local_drop(struct collq_endpoint *ep);

#endif /* COLLQ_LOCAL_H */
