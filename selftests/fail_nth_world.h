/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What calls that are made to fail find, and the calls: for fail_nth_test. A state
 * and a call make a case.
 *
 *	a --- b		two connected contexts; a's endpoint, queue and graph are what
 *			the calls are about
 */
#ifndef FAIL_NTH_WORLD_H
#define FAIL_NTH_WORLD_H

#include "collq_util.h"

/* Two of them are more than a completion queue takes. */
#define LARGE_CAPACITY	4096

/**
 * struct world - what a call finds
 * @a: the context that the call is made on
 * @b: its peer
 * @attr: the endpoint that was made last
 * @peer: addresses of b's that a can connect to
 * @zone: name of a zone of b's that a can make a target of
 * @object: what the state has made for the call
 * @done: entries of the call's batch that are done
 * @map_size: of a ring to be mapped
 * @map_offset: and where
 * @sequence: the submission to wait for or to cancel
 * @map: the mapped ring, once or twice, or NULL
 * @node: the device to open
 * @eventfd: an eventfd
 * @holder: a context that has used completion queues up, or -1
 */
struct world {
	struct raw_side a;
	struct raw_side b;
	struct ib_collq_endpoint_create attr;
	__u8 peer[2][IB_COLLQ_ADDRESS_SIZE];
	struct ib_collq_zone_name zone;
	__u32 object[2];
	__u32 done;
	size_t map_size;
	__u64 map_offset;
	__u64 sequence;
	void *map[2];
	char node[64];
	int eventfd;
	int holder;
};

/* For states: 0, or -errno where an id is one or a queue isn't what it's to become. */
int is_made(int id, __u32 *where);
int queue_becomes(struct world *w, __u32 state);

/* States: 0 or -errno. */
int state_with_counter(struct world *w);
int state_with_signal_counter(struct world *w);
int state_with_messages(struct world *w);
int state_with_eventfd_counter(struct world *w);
int state_with_graph(struct world *w);
int state_with_new_endpoints(struct world *w);
int state_with_new_messages(struct world *w);
int state_waiting(struct world *w);
int state_waiting_for_user(struct world *w);
int state_two_submitted(struct world *w);
int state_done(struct world *w);
int state_unread(struct world *w);
int state_peer_is_there(struct world *w);
int state_depth_full(struct world *w);
int state_ring_full(struct world *w);
int state_failed(struct world *w);
int state_peer_closed(struct world *w);
int state_peer_lost(struct world *w);
int state_with_bindings(struct world *w);
int state_with_ring(struct world *w);
int state_with_mapped_ring(struct world *w);
int state_with_idle_queue(struct world *w);
int state_without_completion_queue(struct world *w);
int state_with_region(struct world *w);
int state_with_stale_region(struct world *w);
int state_with_stale_copy(struct world *w);
int state_with_receive_in_list(struct world *w);
int state_with_copy(struct world *w);
int state_with_calc(struct world *w);
int state_with_receive(struct world *w);
int state_with_send(struct world *w);
int state_receiving(struct world *w);
int state_blocked(struct world *w);
int state_with_zone_endpoint(struct world *w);
int state_with_zone(struct world *w);
int state_with_target(struct world *w);
int state_with_write(struct world *w);

/* Calls: 0 or more, or -errno. */
int call_open(struct world *w);
int call_mmap(struct world *w);
int call_touch(struct world *w);
int call_munmap(struct world *w);
int call_poll(struct world *w);
int call_read(struct world *w);
int call_close(struct world *w);
int call_query(struct world *w);
int call_describe_endpoint(struct world *w);
int call_describe_counter(struct world *w);
int call_describe_graph(struct world *w);
int call_describe_queue(struct world *w);
int call_describe_ring(struct world *w);
int call_describe_next(struct world *w);
int call_destroy(struct world *w);
int call_destroy_endpoint(struct world *w);
int call_destroy_counter(struct world *w);
int call_destroy_graph(struct world *w);
int call_destroy_queue(struct world *w);
int call_destroy_ring(struct world *w);
int call_describe_context(struct world *w);
int call_describe_next_context(struct world *w);
int call_reset(struct world *w);
int call_reset_endpoint(struct world *w);
int call_reset_queue(struct world *w);
int call_region_create(struct world *w);
int call_region_create_registered(struct world *w);
int call_region_create_list(struct world *w);
int call_describe_list(struct world *w);
int call_describe_region(struct world *w);
int call_graph_create_with_data(struct world *w);
int call_submit_bound(struct world *w);
int call_zone_offer(struct world *w);
int call_describe_zone(struct world *w);
int call_target_create(struct world *w);
int call_describe_target(struct world *w);
int call_destroy_second(struct world *w);
int call_endpoint_create_with_zones(struct world *w);
int call_endpoint_create(struct world *w);
int call_endpoint_create_large(struct world *w);
int call_message_endpoint_create(struct world *w);
int call_connect(struct world *w);
int call_connect_two(struct world *w);
int call_reserve(struct world *w);
int call_release(struct world *w);
int call_bind_in_table(struct world *w);
int call_bind_beyond_table(struct world *w);
int call_unbind(struct world *w);
int call_counter_create(struct world *w);
int call_sends_counter_create(struct world *w);
int call_messages_counter_create(struct world *w);
int call_raise(struct world *w);
int call_counter_read(struct world *w);
int call_ring_create(struct world *w);
int call_ring_create_large(struct world *w);
int call_queue_create(struct world *w);
int call_queue_create_linked(struct world *w);
int call_graph_create(struct world *w);
int call_graph_create_large(struct world *w);
int call_graph_create_refused(struct world *w);
int call_submit(struct world *w);
int call_submit_with_deadline(struct world *w);
int call_wait(struct world *w);
int call_wait_for_ring(struct world *w);
int call_submit_wait(struct world *w);
int call_cancel(struct world *w);
int call_cancel_all(struct world *w);

#endif /* FAIL_NTH_WORLD_H */
