// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The layout of the ABI, asserted from the kernel's side. A change that breaks
 * programs does not build. The same from user space's side, for 64 and 32 bits,
 * is in the selftests.
 */
#include <linux/build_bug.h>
#include <linux/stddef.h>

#include <rdma/ib_collq.h>

#define ASSERT_SIZE(type, size)						\
	static_assert(sizeof(struct type) == (size))
#define ASSERT_OFFSET(type, member, offset)				\
	static_assert(offsetof(struct type, member) == (offset))

ASSERT_SIZE(ib_collq_query, 200);
ASSERT_OFFSET(ib_collq_query, instance, 88);
ASSERT_OFFSET(ib_collq_query, device, 104);
ASSERT_OFFSET(ib_collq_query, max_region, 168);
ASSERT_OFFSET(ib_collq_query, max_zones, 184);
ASSERT_OFFSET(ib_collq_query, region_part, 188);
ASSERT_OFFSET(ib_collq_query, max_list_pages, 192);
ASSERT_SIZE(ib_collq_batch, 32);
ASSERT_SIZE(ib_collq_object_destroy, 8);
ASSERT_SIZE(ib_collq_address, IB_COLLQ_ADDRESS_SIZE);
ASSERT_OFFSET(ib_collq_address, gid, 8);
ASSERT_OFFSET(ib_collq_address, qpn, 24);
ASSERT_OFFSET(ib_collq_address, psn, 28);
ASSERT_OFFSET(ib_collq_address, lid, 32);
ASSERT_OFFSET(ib_collq_address, mtu, 36);
ASSERT_OFFSET(ib_collq_address, device, 40);
ASSERT_OFFSET(ib_collq_address, netns, 48);
ASSERT_OFFSET(ib_collq_address, instance, 56);
ASSERT_OFFSET(ib_collq_address, nonce, 72);
ASSERT_SIZE(ib_collq_endpoint_create, 192);
ASSERT_OFFSET(ib_collq_endpoint_create, pkey_index, 24);
ASSERT_OFFSET(ib_collq_endpoint_create, probe_ms, 32);
ASSERT_OFFSET(ib_collq_endpoint_create, id, 52);
ASSERT_OFFSET(ib_collq_endpoint_create, address, 64);
ASSERT_SIZE(ib_collq_endpoint_connect, 136);
ASSERT_SIZE(ib_collq_capacity, 8);
ASSERT_SIZE(ib_collq_slot_bind, 12);
ASSERT_SIZE(ib_collq_counter_create, 32);
ASSERT_OFFSET(ib_collq_counter_create, id, 24);
ASSERT_SIZE(ib_collq_counter_raise, 24);
ASSERT_SIZE(ib_collq_counter_read, 32);
ASSERT_SIZE(ib_collq_ring_create, 48);
ASSERT_OFFSET(ib_collq_ring_create, mmap_offset, 24);
ASSERT_SIZE(ib_collq_ring_header, 256);
ASSERT_OFFSET(ib_collq_ring_header, head, 128);
ASSERT_SIZE(ib_collq_completion, 64);
ASSERT_OFFSET(ib_collq_completion, status, 16);
ASSERT_SIZE(ib_collq_queue_endpoint, 12);
ASSERT_SIZE(ib_collq_queue_create, 40);
ASSERT_SIZE(ib_collq_task, 64);
ASSERT_OFFSET(ib_collq_task, count, 16);
ASSERT_OFFSET(ib_collq_task, zone_offset, 32);
ASSERT_SIZE(ib_collq_sge, 16);
ASSERT_SIZE(ib_collq_graph_create, 72);
ASSERT_OFFSET(ib_collq_graph_create, refused_task, 48);
ASSERT_SIZE(ib_collq_buffer_bind, 16);
ASSERT_SIZE(ib_collq_queue_submit, 56);
ASSERT_OFFSET(ib_collq_queue_submit, sequence, 48);
ASSERT_SIZE(ib_collq_queue_wait, 48);
ASSERT_SIZE(ib_collq_queue_submit_wait, 80);
ASSERT_OFFSET(ib_collq_queue_submit_wait, sequence, 48);
ASSERT_SIZE(ib_collq_queue_cancel, 24);
ASSERT_SIZE(ib_collq_object_describe, 48);
ASSERT_SIZE(ib_collq_counter_info, 64);
ASSERT_SIZE(ib_collq_graph_info, 24);
ASSERT_SIZE(ib_collq_queue_info, 80);
ASSERT_SIZE(ib_collq_ring_info, 56);
ASSERT_SIZE(ib_collq_endpoint_info, 392);
ASSERT_SIZE(ib_collq_region_create, 48);
ASSERT_OFFSET(ib_collq_region_create, nr_parts, 40);
ASSERT_SIZE(ib_collq_region_info, 72);
ASSERT_SIZE(ib_collq_zone_offer, 72);
ASSERT_OFFSET(ib_collq_zone_offer, zone, 40);
ASSERT_SIZE(ib_collq_zone_name, IB_COLLQ_ZONE_SIZE);
ASSERT_OFFSET(ib_collq_zone_name, key, 4);
ASSERT_OFFSET(ib_collq_zone_name, address, 8);
ASSERT_OFFSET(ib_collq_zone_name, endpoint, 24);
ASSERT_SIZE(ib_collq_target_create, 48);
ASSERT_OFFSET(ib_collq_target_create, zone, 16);
ASSERT_SIZE(ib_collq_zone_info, 80);
ASSERT_SIZE(ib_collq_target_info, 56);
ASSERT_SIZE(ib_collq_object_reset, 144);
ASSERT_SIZE(ib_collq_context_describe, 48);
