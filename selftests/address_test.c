// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Addresses of endpoints: what is in them, what is refused for its form, and
 * what becomes of those that are well-formed but false.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "collq_util.h"

/* Fails fast: in some tens of milliseconds, or a few more where rxe is slow. */
#define FAST_TIMEOUT	12
#define FAST_RETRY_CNT	2

/* An address that nobody has: 10.9.9.77. */
#define OTHER_HOST	"\x0a\x09\x09\x4d"

FIXTURE(address) {
	struct raw_side a;
	struct raw_side b;
	struct ib_collq_address of_b;
};

FIXTURE_SETUP(address)
{
	ASSERT_EQ(0, raw_side_open(&self->a));
	ASSERT_EQ(0, raw_side_open(&self->b));
	memcpy(&self->of_b, self->b.attr.address, sizeof(self->of_b));
}

FIXTURE_TEARDOWN(address)
{
	raw_pair_close(&self->a, &self->b);
}

/* An endpoint beside that of a side, which gives up soon. */
static int fast_endpoint(struct raw_side *side, struct ib_collq_endpoint_create *attr)
{
	*attr = raw_endpoint_attr(IB_COLLQ_ENDPOINT_SIGNAL);
	attr->timeout = FAST_TIMEOUT;
	attr->retry_cnt = FAST_RETRY_CNT;
	return raw_endpoint_create(side->fd, attr);
}

TEST_F(address, of_an_endpoint)
{
	struct ib_collq_address *address = &self->of_b;
	const __u8 zeros[40] = {};
	struct in_addr ip;

	EXPECT_EQ(IB_COLLQ_PROTOCOL_VERSION, le16toh(address->version));
	EXPECT_EQ(IB_COLLQ_ENDPOINT_SIGNAL, address->kind);
	EXPECT_EQ(IB_COLLQ_LINK_ETHERNET, address->link_layer);
	EXPECT_EQ(IB_COLLQ_CAP_ABORT | IB_COLLQ_CAP_CLOSE, le32toh(address->capabilities));
	EXPECT_EQ(0, memcmp(address->gid, "\0\0\0\0\0\0\0\0\0\0\xff\xff", 12));
	memcpy(&ip, address->gid + 12, sizeof(ip));
	EXPECT_STREQ("10.9.9.1", inet_ntoa(ip));
	EXPECT_LT(1, le32toh(address->qpn));
	EXPECT_GE(0xffffff, le32toh(address->qpn));
	EXPECT_GE(0xffffff, le32toh(address->psn));
	EXPECT_EQ(0, le16toh(address->lid));
	EXPECT_EQ(0xffff, le16toh(address->pkey));
	/* 1024 bytes are what fits into 1500. */
	EXPECT_EQ(3, address->mtu);
	EXPECT_NE(0, le64toh(address->device));
	EXPECT_NE(0, le64toh(address->netns));
	EXPECT_NE(0, memcmp(address->nonce, zeros, sizeof(address->nonce)));
	EXPECT_EQ(0, memcmp(address->__reserved0, zeros, sizeof(address->__reserved0)));
	EXPECT_EQ(0, memcmp(address->__reserved1, zeros, sizeof(address->__reserved1)));
}

/* The RDMA subsystem knows the queue pair by the same number, and whose it is. */
TEST_F(address, queue_pair_is_shown)
{
	FILE *pipe = popen("rdma resource show qp", "r");
	char line[512], qpn[32];
	int shown = 0;

	ASSERT_NE(NULL, pipe);
	snprintf(qpn, sizeof(qpn), " lqpn %u ", le32toh(self->of_b.qpn));
	while (fgets(line, sizeof(line), pipe))
		shown += strstr(line, qpn) && strstr(line, "comm [ib_collq]");
	pclose(pipe);
	EXPECT_EQ(1, shown);
}

/* Drawn anew for each, or the same for all. */
TEST_F(address, what_differs)
{
	struct ib_collq_address *b = &self->of_b, other;
	struct ib_collq_endpoint_create attr;
	int i, same_psn = 0;

	for (i = 0; i < 8; i++) {
		ASSERT_LT(0, fast_endpoint(&self->a, &attr));
		memcpy(&other, attr.address, sizeof(other));
		EXPECT_NE(b->qpn, other.qpn);
		EXPECT_NE(0, memcmp(b->nonce, other.nonce, sizeof(b->nonce)));
		EXPECT_EQ(0, memcmp(b->instance, other.instance, sizeof(b->instance)));
		EXPECT_EQ(b->device, other.device);
		EXPECT_EQ(b->netns, other.netns);
		same_psn += b->psn == other.psn;
	}
	EXPECT_GT(2, same_psn);
}

/* The path MTU that was asked for. */
TEST_F(address, mtu)
{
	struct ib_collq_endpoint_create attr = raw_endpoint_attr(IB_COLLQ_ENDPOINT_SIGNAL);
	struct ib_collq_address address;

	attr.mtu = 1;
	ASSERT_LT(0, raw_endpoint_create(self->a.fd, &attr));
	memcpy(&address, attr.address, sizeof(address));
	EXPECT_EQ(1, address.mtu);
}

/* One member that is malformed, in an address that is good otherwise. */
FIXTURE(malformed) {
	struct raw_side a;
	struct raw_side b;
};

FIXTURE_VARIANT(malformed) {
	size_t offset;
	size_t size;
	__u32 value;
};

#define OFFSET(member)	offsetof(struct ib_collq_address, member)
#define SIZE(member)	RAW_SIZE(struct ib_collq_address, member)

FIXTURE_VARIANT_ADD(malformed, version_0) {
	.offset = OFFSET(version), .size = SIZE(version), .value = 0,
};

FIXTURE_VARIANT_ADD(malformed, version_unknown) {
	.offset = OFFSET(version), .size = SIZE(version), .value = 2,
};

FIXTURE_VARIANT_ADD(malformed, kind_0) {
	.offset = OFFSET(kind), .size = SIZE(kind), .value = 0,
};

FIXTURE_VARIANT_ADD(malformed, kind_other) {
	.offset = OFFSET(kind), .size = SIZE(kind), .value = IB_COLLQ_ENDPOINT_MESSAGE,
};

FIXTURE_VARIANT_ADD(malformed, link_layer_0) {
	.offset = OFFSET(link_layer), .size = SIZE(link_layer), .value = 0,
};

FIXTURE_VARIANT_ADD(malformed, link_layer_unknown) {
	.offset = OFFSET(link_layer), .size = SIZE(link_layer), .value = 3,
};

FIXTURE_VARIANT_ADD(malformed, link_layer_of_another_port) {
	.offset = OFFSET(link_layer), .size = SIZE(link_layer),
	.value = IB_COLLQ_LINK_INFINIBAND,
};

FIXTURE_VARIANT_ADD(malformed, lid_on_ethernet) {
	.offset = OFFSET(lid), .size = SIZE(lid), .value = 1,
};

FIXTURE_VARIANT_ADD(malformed, gid_0) {
	.offset = OFFSET(gid), .size = SIZE(gid), .value = 0,
};

FIXTURE_VARIANT_ADD(malformed, qpn_of_25_bits) {
	.offset = OFFSET(qpn), .size = SIZE(qpn), .value = 1 << 24,
};

FIXTURE_VARIANT_ADD(malformed, psn_of_25_bits) {
	.offset = OFFSET(psn), .size = SIZE(psn), .value = 1 << 24,
};

FIXTURE_VARIANT_ADD(malformed, mtu_0) {
	.offset = OFFSET(mtu), .size = SIZE(mtu), .value = 0,
};

FIXTURE_VARIANT_ADD(malformed, mtu_unknown) {
	.offset = OFFSET(mtu), .size = SIZE(mtu), .value = 6,
};

FIXTURE_VARIANT_ADD(malformed, reserved0_first) {
	.offset = OFFSET(__reserved0[0]), .size = SIZE(__reserved0[0]), .value = 1,
};

FIXTURE_VARIANT_ADD(malformed, reserved0_last) {
	.offset = OFFSET(__reserved0[2]), .size = SIZE(__reserved0[2]), .value = 1,
};

FIXTURE_VARIANT_ADD(malformed, nonce_0) {
	.offset = OFFSET(nonce), .size = SIZE(nonce), .value = 0,
};

FIXTURE_VARIANT_ADD(malformed, reserved1_first) {
	.offset = OFFSET(__reserved1[0]), .size = SIZE(__reserved1[0]), .value = 1,
};

FIXTURE_VARIANT_ADD(malformed, reserved1_last) {
	.offset = OFFSET(__reserved1[39]), .size = SIZE(__reserved1[39]), .value = 1,
};

FIXTURE_SETUP(malformed)
{
	ASSERT_EQ(0, raw_side_open(&self->a));
	ASSERT_EQ(0, raw_side_open(&self->b));
}

FIXTURE_TEARDOWN(malformed)
{
	raw_pair_close(&self->a, &self->b);
}

/* It's refused and does no harm. All numbers are little-endian. */
TEST_F(malformed, refused)
{
	__u32 value = htole32(variant->value);
	__u8 address[IB_COLLQ_ADDRESS_SIZE];

	memcpy(address, self->b.attr.address, sizeof(address));
	memset(address + variant->offset, 0, variant->size);
	memcpy(address + variant->offset, &value,
	       variant->size < sizeof(value) ? variant->size : sizeof(value));
	ASSERT_EQ(-EINVAL, raw_endpoint_connect(self->a.fd, self->a.endpoint, address));
	EXPECT_EQ(IB_COLLQ_ENDPOINT_NEW, raw_endpoint_info(self->a.fd, self->a.endpoint).state);

	ASSERT_EQ(0, raw_side_connect(&self->a, self->b.attr.address));
	ASSERT_EQ(0, raw_side_connect(&self->b, self->a.attr.address));
	EXPECT_EQ(0, raw_pair_barrier(&self->a, &self->b));
}

/* What another version may say doesn't matter to this one. */
TEST_F(address, capabilities_unknown)
{
	self->of_b.capabilities = htole32(~0U);
	ASSERT_EQ(0, raw_side_connect(&self->a, (const __u8 *)&self->of_b));
	ASSERT_EQ(0, raw_side_connect(&self->b, self->a.attr.address));
	EXPECT_EQ(0, raw_pair_barrier(&self->a, &self->b));
}

TEST_F(address, connected_already)
{
	ASSERT_EQ(0, raw_side_connect(&self->a, self->b.attr.address));
	EXPECT_EQ(-EBUSY, raw_endpoint_connect(self->a.fd, self->a.endpoint,
					       self->b.attr.address));
	ASSERT_EQ(0, raw_side_connect(&self->b, self->a.attr.address));
	EXPECT_EQ(-EBUSY, raw_endpoint_connect(self->a.fd, self->a.endpoint,
					       self->b.attr.address));
	EXPECT_EQ(0, raw_pair_barrier(&self->a, &self->b));
}

TEST_F(address, connect_nobody)
{
	EXPECT_EQ(-ENOENT, raw_endpoint_connect(self->a.fd, 9999, self->b.attr.address));
	EXPECT_EQ(-ENOENT, raw_endpoint_connect(self->a.fd, 0, self->b.attr.address));
	EXPECT_EQ(-ENOENT, raw_endpoint_connect(self->a.fd, self->a.counter,
						self->b.attr.address));
}

static void set_arp(bool on)
{
	int ret = system(on ? "ip link set d0 arp on" : "ip link set d0 arp off");

	(void)ret;
}

/* Nobody answers for the address; the endpoint can still be connected elsewhere. */
TEST_F(address, host_not_resolved)
{
	if (geteuid())
		SKIP(return, "takes root");
	memcpy(self->of_b.gid + 12, OTHER_HOST, 4);
	set_arp(true);
	EXPECT_EQ(-ETIMEDOUT, raw_endpoint_connect(self->a.fd, self->a.endpoint,
						   (const __u8 *)&self->of_b));
	set_arp(false);
	EXPECT_EQ(IB_COLLQ_ENDPOINT_NEW, raw_endpoint_info(self->a.fd, self->a.endpoint).state);
	ASSERT_EQ(0, raw_side_connect(&self->a, self->b.attr.address));
	ASSERT_EQ(0, raw_side_connect(&self->b, self->a.attr.address));
	EXPECT_EQ(0, raw_pair_barrier(&self->a, &self->b));
}

/* An endpoint may be connected to itself. */
TEST_F(address, own)
{
	int status;

	ASSERT_EQ(0, raw_side_connect(&self->a, self->a.attr.address));
	ASSERT_EQ(0, raw_run(self->a.fd, self->a.queue, self->a.graph, &status));
	EXPECT_EQ(0, status);
	EXPECT_EQ(1, raw_counter_raised(self->a.fd, self->a.counter));
}

/* Who is connected first may send at once: retries bridge the rest. */
TEST_F(address, message_before_the_peer_is_connected)
{
	__u64 sequence;
	int status;

	ASSERT_EQ(0, raw_side_connect(&self->a, self->b.attr.address));
	ASSERT_EQ(0, raw_submit(self->a.fd, self->a.queue, self->a.graph, 0, 0, &sequence));
	ASSERT_EQ(1, raw_endpoint_info(self->a.fd, self->a.endpoint).sends);
	ASSERT_EQ(0, raw_side_connect(&self->b, self->a.attr.address));
	EXPECT_EQ(0, raw_run(self->b.fd, self->b.queue, self->b.graph, &status));
	EXPECT_EQ(0, status);
	EXPECT_EQ(0, raw_result(self->a.fd, self->a.queue, sequence, &status));
	EXPECT_EQ(0, status);
}

/* What comes of sending to a false address: status and culprit. */
static int send_to_false_address(struct raw_side *side, const struct ib_collq_address *address,
				 struct ib_collq_completion *completion, __u32 *endpoint)
{
	struct ib_collq_queue_endpoint link = {};
	struct ib_collq_endpoint_create attr;
	struct ib_collq_task tasks[2];
	int queue, graph, err;

	err = fast_endpoint(side, &attr);
	if (err < 0)
		return err;
	*endpoint = err;
	link.endpoint = *endpoint;
	err = raw_endpoint_connect(side->fd, *endpoint, (const __u8 *)address);
	if (err)
		return err;
	queue = raw_queue_create(side->fd, side->ring.id, 1, &link, 1);
	if (queue < 0)
		return queue;
	tasks[0] = raw_signal(*endpoint, RAW_SLOT, RAW_GENERATION);
	tasks[1] = raw_wait_for(side->counter, 1);
	graph = raw_graph_create(side->fd, tasks, 2);
	if (graph < 0)
		return graph;
	err = raw_submit(side->fd, queue, graph, 0, 0, NULL);
	if (err)
		return err;
	return raw_ring_next(side->fd, &side->ring, completion);
}

FIXTURE(false_address) {
	struct raw_side a;
	struct raw_side b;
};

FIXTURE_VARIANT(false_address) {
	__u32 qpn_offset;
	bool other_host;
};

FIXTURE_VARIANT_ADD(false_address, qpn_of_nobody) {
	.qpn_offset = 0x100000,
};

FIXTURE_VARIANT_ADD(false_address, qpn_not_connected) {
	.qpn_offset = 0,
};

FIXTURE_VARIANT_ADD(false_address, host_of_nobody) {
	.other_host = true,
};

FIXTURE_SETUP(false_address)
{
	ASSERT_EQ(0, raw_side_open(&self->a));
	ASSERT_EQ(0, raw_side_open(&self->b));
}

FIXTURE_TEARDOWN(false_address)
{
	raw_pair_close(&self->a, &self->b);
}

TEST_F(false_address, gives_a_transport_error)
{
	struct ib_collq_completion completion;
	struct ib_collq_address address;
	__u64 before = raw_now();
	__u32 endpoint;

	memcpy(&address, self->b.attr.address, sizeof(address));
	address.qpn = htole32((le32toh(address.qpn) + variant->qpn_offset) & 0xffffff);
	if (variant->other_host)
		memcpy(address.gid + 12, OTHER_HOST, 4);
	ASSERT_EQ(0, send_to_false_address(&self->a, &address, &completion, &endpoint));
	EXPECT_EQ(-EHOSTUNREACH, completion.status);
	EXPECT_EQ(endpoint, completion.endpoint);
	EXPECT_EQ(42, completion.peer);
	EXPECT_EQ(1, completion.task);
	EXPECT_EQ(IB_COLLQ_ENDPOINT_ERROR, raw_endpoint_info(self->a.fd, endpoint).state);
	EXPECT_EQ(-EHOSTUNREACH, raw_endpoint_info(self->a.fd, endpoint).error);
	/* Far less than what RAW_PATIENCE_MS would have let pass. */
	EXPECT_GT(before + 5000000000ULL, raw_now());
}

/* The peer waits for messages far ahead of those that come. */
TEST_F(address, wrong_psn)
{
	struct ib_collq_endpoint_create attr;
	struct ib_collq_queue_endpoint link = {};
	struct ib_collq_completion completion;
	struct ib_collq_address of_a;
	struct ib_collq_task tasks[2];
	int queue, graph;

	ASSERT_LT(0, fast_endpoint(&self->a, &attr));
	memcpy(&of_a, attr.address, sizeof(of_a));
	of_a.psn = htole32((le32toh(of_a.psn) - 1000) & 0xffffff);
	ASSERT_EQ(0, raw_endpoint_connect(self->a.fd, attr.id, self->b.attr.address));
	ASSERT_EQ(0, raw_endpoint_connect(self->b.fd, self->b.endpoint, (const __u8 *)&of_a));

	link.endpoint = attr.id;
	queue = raw_queue_create(self->a.fd, self->a.ring.id, 1, &link, 1);
	tasks[0] = raw_signal(attr.id, RAW_SLOT, RAW_GENERATION);
	tasks[1] = raw_wait_for(self->a.counter, 1);
	graph = raw_graph_create(self->a.fd, tasks, 2);
	ASSERT_EQ(0, raw_submit(self->a.fd, queue, graph, 0, 0, NULL));
	ASSERT_EQ(0, raw_ring_next(self->a.fd, &self->a.ring, &completion));
	EXPECT_EQ(-EHOSTUNREACH, completion.status);
	EXPECT_EQ(attr.id, completion.endpoint);
	EXPECT_EQ(0, raw_counter_raised(self->b.fd, self->b.counter));
}

/* The second to come finds a connection that isn't with him. */
TEST_F(address, connected_twice)
{
	struct ib_collq_completion completion;
	__u32 endpoint;

	ASSERT_EQ(0, raw_side_connect(&self->a, self->b.attr.address));
	ASSERT_EQ(0, raw_side_connect(&self->b, self->a.attr.address));
	ASSERT_EQ(0, send_to_false_address(&self->a, &self->of_b, &completion, &endpoint));
	EXPECT_EQ(-EHOSTUNREACH, completion.status);
	EXPECT_EQ(endpoint, completion.endpoint);
	EXPECT_EQ(0, raw_counter_raised(self->b.fd, self->b.counter));
}

TEST_HARNESS_MAIN
