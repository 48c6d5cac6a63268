// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A peer that isn't ours writes where it was given leave to, and where it was not: a
 * queue pair of user-space verbs, with keys and addresses of all kinds. Its own
 * connection is lost then; canaries, and the other peer of the same context, are as
 * they were.
 *
 *	writer ---- endpoint ---- zone  \
 *	                                  one context, one region
 *	forger ---- own endpoint -- own /
 */
#include <arpa/inet.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <string.h>

#include "kselftest_harness.h"

#include "forger.h"
#include "landing.h"

#define OFFSET		(3 * RAW_PAGE + 77)	/* of the forger's zone */
#define LENGTH		5000
#define OTHER		(20 * RAW_PAGE + 3)	/* of the writer's */

FIXTURE(forged_write) {
	struct landing landing;
	struct forger forger;
	int endpoint;
	int zone;
	struct ib_collq_zone_name own;
};

FIXTURE_SETUP(forged_write)
{
	struct ib_collq_endpoint_create attr = raw_endpoint_attr(IB_COLLQ_ENDPOINT_SIGNAL);
	struct landing *landing = &self->landing;
	__u8 address[IB_COLLQ_ADDRESS_SIZE];
	int fd;

	ASSERT_EQ(0, landing_open(landing, 0));
	fd = landing->to.side.fd;
	ASSERT_EQ(0, landing_offer(landing, OTHER, LENGTH));
	attr.flags = IB_COLLQ_ENDPOINT_ZONES;
	self->endpoint = raw_endpoint_create(fd, &attr);
	ASSERT_LT(0, self->endpoint);
	ASSERT_EQ(0, forger_open(&self->forger, attr.address, address));
	ASSERT_EQ(0, raw_endpoint_connect(fd, self->endpoint, address));
	self->zone = raw_zone_offer(fd, self->endpoint, landing->to.region, OFFSET, LENGTH,
				    &self->own);
	ASSERT_LT(0, self->zone);
	memset(self->forger.buffer, 0x11, sizeof(self->forger.buffer));
}

FIXTURE_TEARDOWN(forged_write)
{
	landing_close(&self->landing);
	forger_close(&self->forger);
}

/* An operation on so many bytes from an address on. */
static int forge(struct forger *forger, enum ibv_wr_opcode opcode, __u32 key, __u64 address,
		 __u32 length)
{
	struct ibv_sge sge = {
		.addr = (unsigned long)forger->buffer,
		.length = length,
		.lkey = forger->mr->lkey,
	};
	struct ibv_send_wr send = {
		.opcode = opcode,
		.imm_data = htonl(forge_signal(RAW_SLOT, RAW_GENERATION)),
		.sg_list = &sge,
		.num_sge = 1,
		.wr.rdma = { .remote_addr = address, .rkey = key },
	};

	if (opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		send.wr.atomic.remote_addr = address;
		send.wr.atomic.compare_add = 1;
		send.wr.atomic.rkey = key;
	}
	return forger_send(forger, &send);
}

/* The forger's connection is lost, nothing was written, and the other peer writes on. */
static int harmless(struct landing *landing, __u32 endpoint)
{
	const struct ib_collq_sge sge = { .length = LENGTH, .offset = 9 };

	if (!RAW_EVENTUALLY(raw_endpoint_info(landing->to.side.fd, endpoint).state ==
			    IB_COLLQ_ENDPOINT_ERROR))
		return -ETIME;
	if (!landing_untouched(landing))
		return -EOVERFLOW;
	return landing_check(landing, &sge, 1, 0, 5);
}

/* The first and the last byte, and all of the forger's own buffer. */
TEST_F(forged_write, within_the_zone)
{
	const unsigned char *zone = self->landing.to.area + OFFSET;
	struct forger *forger = &self->forger;
	const __u32 key = self->own.key;
	const __u64 address = self->own.address;

	EXPECT_EQ(0, forge(forger, IBV_WR_RDMA_WRITE, key, address, 1));
	EXPECT_EQ(0, forge(forger, IBV_WR_RDMA_WRITE_WITH_IMM, key, address + LENGTH - 64, 64));
	EXPECT_EQ(0x11, zone[0]);
	EXPECT_EQ(LANDING_CANARY, zone[1]);
	EXPECT_EQ(LANDING_CANARY, zone[-1]);
	EXPECT_EQ(LANDING_CANARY, zone[LENGTH - 65]);
	EXPECT_EQ(0, raw_count_other(zone + LENGTH - 64, 64, 0x11));
	EXPECT_EQ(LANDING_CANARY, zone[LENGTH]);
	/* Of no length it's a signal, whatever the key. */
	EXPECT_EQ(0, forge(forger, IBV_WR_RDMA_WRITE_WITH_IMM, ~key, ~0ULL, 0));
	EXPECT_TRUE(RAW_EVENTUALLY(raw_endpoint_info(self->landing.to.side.fd,
						     self->endpoint).messages == 2));
}

FIXTURE(beyond) {
	struct _test_data_forged_write world;
};

FIXTURE_VARIANT(beyond) {
	enum ibv_wr_opcode opcode;
	__s64 offset;		/* from the zone's first byte */
	__u32 length;
	__u32 key;		/* what to flip in the key */
	bool others_key;
	int status;
};

FIXTURE_VARIANT_ADD(beyond, byte_before) {
	IBV_WR_RDMA_WRITE, -1, 1, .status = IBV_WC_REM_ACCESS_ERR,
};

FIXTURE_VARIANT_ADD(beyond, byte_behind) {
	IBV_WR_RDMA_WRITE, LENGTH, 1, .status = IBV_WC_REM_ACCESS_ERR,
};

FIXTURE_VARIANT_ADD(beyond, begins_before) {
	IBV_WR_RDMA_WRITE_WITH_IMM, -1, 2, .status = IBV_WC_REM_ACCESS_ERR,
};

FIXTURE_VARIANT_ADD(beyond, ends_behind) {
	IBV_WR_RDMA_WRITE_WITH_IMM, LENGTH - 63, 64, .status = IBV_WC_REM_ACCESS_ERR,
};

FIXTURE_VARIANT_ADD(beyond, far_away) {
	IBV_WR_RDMA_WRITE, 1LL << 40, 8, .status = IBV_WC_REM_ACCESS_ERR,
};

FIXTURE_VARIANT_ADD(beyond, round_the_end) {
	IBV_WR_RDMA_WRITE, -(1LL << 40), 8, .status = IBV_WC_REM_ACCESS_ERR,
};

FIXTURE_VARIANT_ADD(beyond, key_part) {
	IBV_WR_RDMA_WRITE, 0, 8, .key = 1, .status = IBV_WC_REM_ACCESS_ERR,
};

FIXTURE_VARIANT_ADD(beyond, key_index) {
	IBV_WR_RDMA_WRITE, 0, 8, .key = 0x100, .status = IBV_WC_REM_ACCESS_ERR,
};

/* That of the other endpoint of the same context, which is a good one over there. */
FIXTURE_VARIANT_ADD(beyond, key_of_another) {
	IBV_WR_RDMA_WRITE, 0, 8, .others_key = true, .status = IBV_WC_REM_ACCESS_ERR,
};

FIXTURE_VARIANT_ADD(beyond, key_of_another_with_signal) {
	IBV_WR_RDMA_WRITE_WITH_IMM, 0, 8, .others_key = true, .status = IBV_WC_REM_ACCESS_ERR,
};

FIXTURE_VARIANT_ADD(beyond, read) {
	IBV_WR_RDMA_READ, 0, 8, .status = IBV_WC_REM_INV_REQ_ERR,
};

FIXTURE_VARIANT_ADD(beyond, atomic) {
	IBV_WR_ATOMIC_FETCH_AND_ADD, 3, 8, .status = IBV_WC_REM_INV_REQ_ERR,
};

FIXTURE_SETUP(beyond)
{
	memset(&self->world, 0, sizeof(self->world));
	forged_write_setup(_metadata, &self->world, NULL);
}

FIXTURE_TEARDOWN(beyond)
{
	forged_write_teardown(_metadata, &self->world, NULL);
}

TEST_F(beyond, refused)
{
	struct landing *landing = &self->world.landing;
	const struct ib_collq_zone_name *name =
		variant->others_key ? &landing->name : &self->world.own;

	EXPECT_EQ(variant->status, forge(&self->world.forger, variant->opcode,
					 name->key ^ variant->key,
					 name->address + variant->offset, variant->length));
	EXPECT_EQ(0, harmless(landing, self->world.endpoint));
	EXPECT_EQ(0x11, self->world.forger.buffer[0]);
}

/* What was a good key until just now. */
TEST_F(forged_write, after_destroy)
{
	const unsigned char *zone = self->landing.to.area + OFFSET;

	ASSERT_EQ(0, forge(&self->forger, IBV_WR_RDMA_WRITE, self->own.key, self->own.address, 8));
	EXPECT_EQ(0, raw_count_other(zone, 8, 0x11));
	memset(self->landing.to.area, LANDING_CANARY, LANDING_SIZE);
	ASSERT_EQ(0, raw_destroy(self->landing.to.side.fd, self->zone));
	EXPECT_EQ(IBV_WC_REM_ACCESS_ERR, forge(&self->forger, IBV_WR_RDMA_WRITE, self->own.key,
					       self->own.address, 8));
	EXPECT_EQ(0, harmless(&self->landing, self->endpoint));
}

/* A target whose name claims a byte more than there is: the writer is ours this time. */
TEST_F(forged_write, longer_name)
{
	const struct ib_collq_sge sge = { .length = LENGTH + 1 };
	struct landing *landing = &self->landing;
	struct ib_collq_zone_name forged = landing->name;
	int target;

	forged.length++;
	target = raw_target_create(landing->from.side.fd, landing->from.side.endpoint, &forged);
	ASSERT_LT(0, target);
	EXPECT_EQ(-EREMOTEIO, landing_run(landing, landing_graph(landing, target, 0, &sge, 1)));
	EXPECT_TRUE(landing_untouched(landing));
	EXPECT_TRUE(RAW_EVENTUALLY(raw_endpoint_info(landing->to.side.fd,
						     landing->to.side.endpoint).state ==
				   IB_COLLQ_ENDPOINT_ERROR));
	/* The forger is on another connection. */
	EXPECT_EQ(0, forge(&self->forger, IBV_WR_RDMA_WRITE, self->own.key, self->own.address, 8));
}

TEST_HARNESS_MAIN
