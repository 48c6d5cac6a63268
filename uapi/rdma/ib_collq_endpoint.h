/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR Linux-OpenIB) */
/*
 * ib_collq: endpoints, their capacity and slots, and counters. Part of
 * ib_collq.h, which has the general rules.
 */
#ifndef IB_COLLQ_ENDPOINT_H
#define IB_COLLQ_ENDPOINT_H

#include <linux/types.h>

#include <rdma/ib_collq_wire.h>

/* ib_collq_endpoint_create.flags */
#define IB_COLLQ_ENDPOINT_ZONES		(1U << 0)	/* may have landing zones */
#define IB_COLLQ_ENDPOINT_LOCAL		(1U << 1)	/* the wire may be left out */
#define IB_COLLQ_ENDPOINT_PD		(1U << 2)	/* in the caller's protection domain */

/**
 * struct ib_collq_endpoint_create - entry of ioctl(IB_COLLQ_ENDPOINT_CREATE)
 * @kind: IB_COLLQ_ENDPOINT_SIGNAL or IB_COLLQ_ENDPOINT_MESSAGE
 * @flags: one of IB_COLLQ_ENDPOINT_*, or 0: ZONES is for a signal endpoint, and PD for
 *	a message endpoint
 * @peer: rank of the peer; only reported back, in completions and describe
 * @signal_endpoint: for a message endpoint, the signal endpoint to the same
 *	peer, on which CLOSE and ABORT travel; 0 otherwise
 * @port: port of the device, from 1
 * @gid_index: index into the port's GID table. The GID's network device must
 *	be in the network namespace of the caller, else -EACCES
 * @pkey_index: index into the port's P_Key table
 * @sl: service level, 0..15
 * @traffic_class: traffic class; the DSCP on RoCE
 * @mtu: path MTU as IB_MTU_*, 1..5; 0 for what the port has active
 * @timeout: local ACK timeout, 4.096 us x 2^timeout, 1..31
 * @retry_cnt: transport retries, 0..6
 * @rnr_retry: retries after receiver-not-ready, 0..7; 7 is for ever
 * @probe_ms: how often to find out, while something waits for the peer and
 *	nothing is under way to it, whether it's there: in milliseconds,
 *	10..3600000; 0 for never. -EOPNOTSUPP without IB_COLLQ_FEATURE_PROBE
 * @send_capacity: messages under way at a time, 1..max_capacity
 * @recv_capacity: messages that may arrive before they are waited for,
 *	1..max_capacity
 * @max_send_sge: scatter/gather entries of a SEND, or of a WRITE on a signal
 *	endpoint
 * @max_recv_sge: scatter/gather entries of a RECV; 0 on a signal endpoint
 * @id: out: the endpoint
 * @__reserved: must be 0
 * @address: out: a &struct ib_collq_address to give to the peer
 *
 * Makes an endpoint: one reliable connection to one peer, not connected yet.
 * Signal endpoints carry zero-length messages that each raise a counter at the
 * peer, and WRITEs, which do so too; one serves any number of collectives. Message
 * endpoints carry SEND and RECV, matched in order, and belong to one collective.
 *
 * With IB_COLLQ_ENDPOINT_ZONES an endpoint can have landing zones. It has a
 * protection domain of its own, so that what its peer may write to is out of reach
 * of all others, whatever they send. The keys of regions don't count there, so what
 * it sends takes a scatter/gather entry for each part that is contiguous for the
 * device: ask for enough of them. -EOPNOTSUPP without IB_COLLQ_FEATURE_ZONE.
 *
 * With IB_COLLQ_ENDPOINT_LOCAL on both sides, which takes IB_COLLQ_FEATURE_LOCAL, and
 * if both have been made by this module on this device, in one network namespace and
 * with the same P_Key, of a full member, signals and messages don't take the wire from
 * when both have been connected to each other's true address. Nothing else changes:
 * the connection over the wire is there, and brings the end of the peer.
 *
 * With IB_COLLQ_ENDPOINT_PD, which the uverbs front end takes (-EOPNOTSUPP without it), an
 * endpoint is in a protection domain of the caller's, so that it can send from and receive
 * into the caller's memory regions, see IB_COLLQ_REGION_MR, and from nothing else. The
 * protection domain can't be deallocated before that. When it's destroyed, it stays only
 * until its last message has arrived, or won't, and doesn't answer retransmissions. As
 * any endpoint it takes zero-length RDMA WRITEs, and so the peer can write to memory
 * regions of that protection domain that have remote write access, if it knows their keys:
 * where that's not wanted, keep them in another one.
 */
struct ib_collq_endpoint_create {
	__u32 kind;
	__u32 flags;
	__u32 peer;
	__u32 signal_endpoint;
	__u32 port;
	__u32 gid_index;
	__u16 pkey_index;
	__u8 sl;
	__u8 traffic_class;
	__u8 mtu;
	__u8 timeout;
	__u8 retry_cnt;
	__u8 rnr_retry;
	__u32 probe_ms;
	__u32 send_capacity;
	__u32 recv_capacity;
	__u32 max_send_sge;
	__u32 max_recv_sge;
	__u32 id;
	__u32 __reserved[2];
	__u8 address[IB_COLLQ_ADDRESS_SIZE];
};

/**
 * struct ib_collq_endpoint_connect - entry of ioctl(IB_COLLQ_ENDPOINT_CONNECT)
 * @endpoint: the endpoint
 * @flags: must be 0
 * @address: the &struct ib_collq_address of the peer's endpoint
 *
 * -EINVAL if the address is malformed, of another kind or link layer, or of a
 * multicast group; -EBUSY if the endpoint is connected already; -ETIMEDOUT if
 * the peer's host doesn't answer within a second, -EHOSTUNREACH if there's no
 * way to it; -EADDRNOTAVAIL if the own GID has changed since the endpoint was
 * made. A well-formed address that is false shows as a transport error within
 * detection time, as soon as something is sent; but a start packet sequence
 * number ahead of the true one makes the receiver take messages for repetitions,
 * acknowledge and drop them, so that only a deadline ends the waiting. Receives
 * are posted by the time that this returns.
 */
struct ib_collq_endpoint_connect {
	__u32 endpoint;
	__u32 flags;
	__u8 address[IB_COLLQ_ADDRESS_SIZE];
};

/**
 * struct ib_collq_capacity - entry of ioctl(IB_COLLQ_CAPACITY_RESERVE) and
 *	ioctl(IB_COLLQ_CAPACITY_RELEASE)
 * @endpoint: a signal endpoint
 * @recvs: messages to reserve or to release, at least 1
 *
 * Reserves room for messages that can be under way to this endpoint before
 * they are waited for, so that none ever finds no receive posted: twice what a
 * collective sends here in one run. -ENOSPC if the endpoint's recv_capacity is
 * not enough: open another one. Releasing more than is reserved is -EINVAL.
 */
struct ib_collq_capacity {
	__u32 endpoint;
	__u32 recvs;
};

/**
 * struct ib_collq_slot_bind - entry of ioctl(IB_COLLQ_SLOT_BIND) and
 *	ioctl(IB_COLLQ_SLOT_UNBIND)
 * @endpoint: a signal endpoint
 * @slot: slot of the endpoint, 0..max_slots - 1
 * @generation: generation of this binding
 * @counter: a counter with source IB_COLLQ_SOURCE_SIGNAL, not bound anywhere;
 *	must be 0 to unbind
 *
 * Binds a slot to a counter: a signal that arrives here with this slot and
 * generation raises the counter by one. Any other is dropped and counted. -EBUSY
 * if the slot or the counter is bound. To unbind, the generation must be that
 * of the binding (-ENOENT otherwise), and -EBUSY while a running graph may
 * wait for the counter.
 */
struct ib_collq_slot_bind {
	__u32 endpoint;
	__u16 slot;
	__u16 generation;
	__u32 counter;
};

/* What raises a counter */
#define IB_COLLQ_SOURCE_USER		1	/* ioctl(IB_COLLQ_COUNTER_RAISE) */
#define IB_COLLQ_SOURCE_EVENTFD		2	/* writes to an eventfd */
#define IB_COLLQ_SOURCE_SENDS		3	/* sends of an endpoint are done */
#define IB_COLLQ_SOURCE_MESSAGES	4	/* RECVs of an endpoint are done */
#define IB_COLLQ_SOURCE_SIGNAL		5	/* signals in a slot it's bound to */

/**
 * struct ib_collq_counter_create - entry of ioctl(IB_COLLQ_COUNTER_CREATE)
 * @source: IB_COLLQ_SOURCE_*
 * @flags: must be 0
 * @endpoint: the endpoint for IB_COLLQ_SOURCE_SENDS and IB_COLLQ_SOURCE_MESSAGES
 *	(a message endpoint), else 0. An endpoint has one counter of each of these
 *	at most, else -EBUSY
 * @eventfd: the descriptor for IB_COLLQ_SOURCE_EVENTFD, else 0. The kernel
 *	takes what is written to it; the caller may close it. -ENOSPC beyond 256
 *	such counters in a context
 * @value: initial count
 * @id: out: the counter
 * @__reserved: must be 0
 *
 * A counter counts completions of one source; a WAIT task consumes them.
 */
struct ib_collq_counter_create {
	__u32 source;
	__u32 flags;
	__u32 endpoint;
	__s32 eventfd;
	__aligned_u64 value;
	__u32 id;
	__u32 __reserved;
};

/**
 * struct ib_collq_counter_raise - ioctl(IB_COLLQ_COUNTER_RAISE)
 * @size: sizeof(struct ib_collq_counter_raise)
 * @flags: must be 0
 * @counter: a counter with source IB_COLLQ_SOURCE_USER, else -EINVAL
 * @__reserved: must be 0
 * @count: how much to add, at least 1; -EOVERFLOW if the count would wrap
 */
struct ib_collq_counter_raise {
	__u32 size;
	__u32 flags;
	__u32 counter;
	__u32 __reserved;
	__aligned_u64 count;
};

/**
 * struct ib_collq_counter_read - ioctl(IB_COLLQ_COUNTER_READ)
 * @size: sizeof(struct ib_collq_counter_read)
 * @flags: must be 0
 * @counter: any counter
 * @error: out: 0, or the negative errno with which a WAIT that is short of its
 *	count fails, because the endpoint behind this counter is closed
 * @raised: out: all that was ever counted, the initial value included
 * @consumed: out: how much of it WAIT tasks have consumed
 */
struct ib_collq_counter_read {
	__u32 size;
	__u32 flags;
	__u32 counter;
	__s32 error;
	__aligned_u64 raised;
	__aligned_u64 consumed;
};

#endif /* IB_COLLQ_ENDPOINT_H */
