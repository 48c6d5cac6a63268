/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef COLLQ_ENDPOINT_H
#define COLLQ_ENDPOINT_H

#include <linux/list.h>
#include <linux/rcupdate.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>

#include <rdma/ib_collq.h>
#include <rdma/ib_verbs.h>

#include "charge.h"
#include "local.h"
#include "object.h"
#include "verbs.h"

struct collq_bindings;
struct collq_counter;
struct collq_cq;
struct collq_list;
struct collq_queue;
struct collq_target;

/* Receives are given back to the adapter this many at a time. */
#define COLLQ_REPOST_BATCH	8

/* What the kernel itself may send and receive on a signal endpoint. */
#define COLLQ_CONTROL_SENDS	2	/* an ABORT, and CLOSE */
#define COLLQ_CONTROL_RECVS	2

/**
 * struct collq_send - a slot of the send queue
 * @cqe: completion
 * @endpoint: the endpoint
 * @number: number of the send that is in this slot, counted from 0
 * @counted: it's the application's, and a counter counts it
 * @bindings: the buffers that it reads, as long as it may; or NULL
 */
struct collq_send {
	struct ib_cqe cqe;
	struct collq_endpoint *endpoint;
	u32 number;
	bool counted;
	struct collq_bindings *bindings;
};

/**
 * struct collq_endpoint - one reliable connection to one peer
 * @obj: common part
 * @attr: as created, with id and address
 * @peer_address: as connected
 * @signal: a message endpoint's signal endpoint, or NULL; named until the
 *	message endpoint is destroyed, referenced until it is freed
 * @verbs: what the queue pair was made from; referenced as long as it exists
 * @charge: what the queue pair is charged
 * @pd: a protection domain of its own, if it may have landing zones, or the process'
 *	that it borrows; NULL if it needs none, or is gone
 * @own_lkey: the key for everything in one of its own
 * @pd_charge: what that is charged
 * @cq: completion queue of both directions
 * @cq_depth: entries of @cq that are this endpoint's
 * @qp: the queue pair; NULL when it's gone
 * @connected: the queue pair has left RESET, and has receives posted; under
 *	ctx->mutex until the endpoint is CLOSED, then it doesn't change
 * @zones: landing zones that its peer may write to; under ctx->mutex
 * @send_depth: slots of the send queue, control messages included
 * @recv_depth: slots of the receive queue that are used
 * @sends: one for each slot of the send queue, rounded up to a power of two so
 *	that numbers may wrap
 * @sends_mask: number to index of @sends
 * @send_sges: scatter/gather entries of a send that the queue pair takes
 * @recv_sges: the same for a receive
 * @recvs: of a message endpoint, for each slot of the receive queue: what is
 *	written to. Its buffers are held as long as that may happen
 * @sge_list: the list of what is being posted, under @lock; NULL if no message can
 *	have data
 * @recv_cqe: completion of every receive
 * @repost: a chain of receives, to post a batch
 * @lock: protects all that follows. Nests inside a queue's lock; a counter's
 *	lock, the run list and the linger list nest inside, and inside a message
 *	endpoint's that of its signal endpoint
 * @state: IB_COLLQ_ENDPOINT_*, changed by collq_endpoint_set_state()
 * @resets: how often it was reset
 * @error: what it gives in IB_COLLQ_ENDPOINT_ERROR
 * @posted: sends posted so far, modulo 2^32
 * @retired: those known to have arrived
 * @last_signaled: sends posted up to the last one that will complete visibly
 * @probe_at: when to probe next, in jiffies
 * @probes: that were sent, modulo 2^32
 * @released: sends so far that let go of their buffers, modulo 2^32 (if there's
 *	@sge_list)
 * @recvs_posted: RECV tasks posted and not complete (message endpoint)
 * @recv_oldest: slot of the oldest of them
 * @carried: messages under way that have buffers
 * @recvs_consumed: receives complete and not posted again (signal endpoint)
 * @reserved_recvs: what users of the endpoint have reserved
 * @total_sends: all sends, for describe
 * @messages: all messages received
 * @dropped: messages that nobody waited for
 * @send_waiters: queues parked for a slot of the send queue
 * @recv_waiters: queues parked for a slot of the receive queue
 * @pending_aborts: &struct collq_queue_link whose ABORT waits for a slot
 * @slots: slot to &struct collq_counter, an array since every signal looks there;
 *	changed under ctx->mutex as well
 * @nr_slots: its length
 * @aborts: abort slot to &struct collq_queue_link; stored to under ctx->mutex
 * @sends_counter: counts sends, or NULL
 * @messages_counter: counts messages, or NULL
 * @message_endpoints: of a signal endpoint: those that name it
 * @message_node: in that list, under the lock of the signal endpoint
 * @signal_lost: this message endpoint was told that its signal endpoint is of no
 *	use any more; under the lock of the signal endpoint
 * @messages_closing: of a signal endpoint: message endpoints that still see
 *	their last messages delivered. CLOSE, which speaks for them too, waits
 * @close_wanted: CLOSE is to be sent when @messages_closing drops to zero
 * @holds_close: this message endpoint is counted there
 * @sends_awaited: somebody waits for the last send to arrive
 * @qp_failed: the driver or a completion said so; not under @lock
 * @event_work: tells counters and queues of a failure or of CLOSE
 * @lingering: it's in the device's list, and not cut short
 * @linger_node: in that list, under its lock
 * @linger_until: when lingering ends, in jiffies, under that lock too
 * @local: the short way to the peer
 * @rcu: frees the memory
 */
struct collq_endpoint {
	struct collq_object obj;
	struct ib_collq_endpoint_create attr;
	struct ib_collq_address peer_address;
	struct collq_endpoint *signal;
	struct collq_verbs *verbs;
	struct collq_charge charge;
	struct ib_pd *pd;
	u32 own_lkey;
	struct collq_charge pd_charge;
	struct collq_cq *cq;
	u32 cq_depth;
	struct ib_qp *qp;
	bool connected;
	struct list_head zones;
	u32 send_depth;
	u32 recv_depth;
	struct collq_send *sends;
	u32 sends_mask;
	u32 send_sges;
	u32 recv_sges;
	struct collq_list *recvs;
	struct ib_sge *sge_list;
	struct ib_cqe recv_cqe;
	struct ib_recv_wr repost[COLLQ_REPOST_BATCH];

	spinlock_t lock;		/* all that follows */
	u32 state;
	u32 resets;
	int error;
	u32 posted;
	u32 retired;
	u32 last_signaled;
	unsigned long probe_at;
	u32 probes;
	u32 released;
	u32 recvs_posted;
	u32 recv_oldest;
	u32 carried;
	u32 recvs_consumed;
	u32 reserved_recvs;
	u64 total_sends;
	u64 messages;
	u64 dropped;
	struct list_head send_waiters;
	struct list_head recv_waiters;
	struct list_head pending_aborts;
	struct collq_counter **slots;
	u32 nr_slots;
	struct xarray aborts;
	struct collq_counter *sends_counter;
	struct collq_counter *messages_counter;
	struct list_head message_endpoints;
	struct list_head message_node;
	bool signal_lost;
	u32 messages_closing;
	bool close_wanted;
	bool holds_close;
	bool sends_awaited;
	bool qp_failed;
	struct work_struct event_work;
	bool lingering;
	struct list_head linger_node;
	unsigned long linger_until;
	struct collq_local local;
	struct rcu_head rcu;
};

static inline struct collq_endpoint *
collq_endpoint_of(struct collq_object *obj)
{
	return container_of(obj, struct collq_endpoint, obj);
}

/* endpoint.c: life */
struct collq_endpoint *
collq_endpoint_create(struct collq_context *ctx,
		      struct ib_collq_endpoint_create *attr,
		      struct collq_endpoint *signal, struct ib_pd *pd);
u32 collq_endpoint_max_capacity(struct ib_device *ibdev);
int collq_endpoint_reserve(struct collq_endpoint *ep, u32 recvs);
int collq_endpoint_release(struct collq_endpoint *ep, u32 recvs);
void collq_endpoint_teardown(struct collq_endpoint *ep);
void collq_endpoint_wait_returned(struct collq_endpoint *ep);
void collq_endpoint_info(struct collq_endpoint *ep,
			 struct ib_collq_endpoint_info *info);

struct ib_qp *collq_endpoint_create_qp(struct collq_endpoint *ep);
void collq_endpoint_destroy_qp(struct collq_endpoint *ep);

/* endpoint_state.c: state, and who is told */
void collq_endpoint_set_state(struct collq_endpoint *ep, u32 state, int error);
int collq_endpoint_error(const struct collq_endpoint *ep);
void collq_endpoint_fail(struct collq_endpoint *ep, int error);
void collq_endpoint_fail_locked(struct collq_endpoint *ep, int error);
void collq_endpoint_abandon(struct collq_endpoint *ep, int error);
void collq_endpoint_end_sends_counter(struct collq_endpoint *ep);
void collq_endpoint_peer_closed(struct collq_endpoint *ep);
void collq_endpoint_event_work(struct work_struct *work);
void collq_endpoint_qp_event(struct ib_event *event, void *data);
void collq_endpoint_kill(struct collq_endpoint *ep);

/* connect.c */
int collq_endpoint_connect(struct collq_endpoint *ep,
			   const struct ib_collq_address *peer);

/* reset.c */
int collq_endpoint_reset(struct collq_endpoint *ep);

/* transfer.c: sends and receives */

/* The queue has been parked: it goes on when there is a free slot. */
#define COLLQ_PARKED	1

int collq_endpoint_park(struct list_head *waiters, struct collq_queue *queue);
int collq_endpoint_send(struct collq_endpoint *ep, struct collq_queue *queue,
			u32 imm, const struct collq_list *list);
int collq_endpoint_write(struct collq_endpoint *ep, struct collq_queue *queue,
			 u32 imm, const struct collq_list *list,
			 const struct collq_target *target, u64 offset);
int collq_endpoint_recv(struct collq_endpoint *ep, struct collq_queue *queue,
			const struct collq_list *list);
void collq_endpoint_release_recvs(struct collq_endpoint *ep);
void collq_endpoint_release_buffers(struct collq_endpoint *ep);
int collq_endpoint_post_recvs(struct collq_endpoint *ep);
int collq_endpoint_post_control(struct collq_endpoint *ep, u32 imm);
int collq_endpoint_post_probe(struct collq_endpoint *ep);
void collq_endpoint_ask(struct collq_endpoint *ep);
void collq_endpoint_probe(struct collq_endpoint *ep);
void collq_endpoint_message_done(struct collq_endpoint *ep);
void collq_endpoint_send_done(struct ib_cq *cq, struct ib_wc *wc);
void collq_endpoint_recv_done(struct ib_cq *cq, struct ib_wc *wc);
void collq_endpoint_wake_waiters(struct collq_endpoint *ep);
void collq_endpoint_pass_on(struct collq_endpoint *ep);

/* In a protection domain of the process': only its memory regions can be used there. */
static inline bool collq_endpoint_borrows(const struct collq_endpoint *ep)
{
	return ep->attr.flags & IB_COLLQ_ENDPOINT_PD;
}

/* In a protection domain of its own, where @own_lkey is all that counts. */
static inline bool collq_endpoint_is_apart(const struct collq_endpoint *ep)
{
	return ep->attr.flags & IB_COLLQ_ENDPOINT_ZONES;
}

/* Where its queue pair is, and so which keys count there. */
static inline struct ib_pd *collq_endpoint_pd(const struct collq_endpoint *ep)
{
	return ep->pd ?: ep->verbs->pd;
}

static inline u32 collq_endpoint_in_flight(const struct collq_endpoint *ep)
{
	return ep->posted - ep->retired;
}

#endif /* COLLQ_ENDPOINT_H */
