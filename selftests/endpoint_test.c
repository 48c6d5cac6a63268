// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Endpoints: creating, connecting and destroying them one by one and many at a
 * time; reserving capacity; binding slots. Addresses have a test of their own.
 */
#include <errno.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "collq_util.h"

FIXTURE(endpoint) {
	int fd;
	struct ib_collq_query query;
	struct ib_collq_endpoint_create signal;
	struct ib_collq_endpoint_create message;
};

FIXTURE_SETUP(endpoint)
{
	self->fd = raw_open();
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, raw_query(self->fd, &self->query));
	self->signal = raw_endpoint_attr(IB_COLLQ_ENDPOINT_SIGNAL);
	ASSERT_LT(0, raw_endpoint_create(self->fd, &self->signal));
	self->message = raw_endpoint_attr(IB_COLLQ_ENDPOINT_MESSAGE);
	self->message.signal_endpoint = self->signal.id;
}

FIXTURE_TEARDOWN(endpoint)
{
	close(self->fd);
}

/* The smallest and the largest that one can ask for. */
TEST_F(endpoint, limits)
{
	struct ib_collq_endpoint_create attr = raw_endpoint_attr(IB_COLLQ_ENDPOINT_SIGNAL);

	attr.send_capacity = 1;
	attr.recv_capacity = 1;
	attr.timeout = 1;
	attr.retry_cnt = 0;
	attr.rnr_retry = 0;
	attr.mtu = 1;
	EXPECT_LT(0, raw_endpoint_create(self->fd, &attr));

	attr = raw_endpoint_attr(IB_COLLQ_ENDPOINT_SIGNAL);
	attr.send_capacity = self->query.max_capacity;
	attr.recv_capacity = self->query.max_capacity;
	attr.timeout = 31;
	attr.sl = 15;
	attr.traffic_class = 255;
	EXPECT_LT(0, raw_endpoint_create(self->fd, &attr));

	self->message.max_send_sge = self->query.max_send_sge;
	self->message.max_recv_sge = self->query.max_recv_sge;
	EXPECT_LT(0, raw_endpoint_create(self->fd, &self->message));
	/* Each has its own id. */
	EXPECT_NE(attr.id, self->message.id);
	EXPECT_NE(self->signal.id, attr.id);
}

/* What a message endpoint names can't go before it. */
TEST_F(endpoint, message_endpoint_names_its_signal_endpoint)
{
	ASSERT_LT(0, raw_endpoint_create(self->fd, &self->message));
	EXPECT_EQ(-EBUSY, raw_destroy(self->fd, self->signal.id));
	EXPECT_EQ(0, raw_destroy(self->fd, self->message.id));
	EXPECT_EQ(0, raw_destroy(self->fd, self->signal.id));
	EXPECT_EQ(-ENOENT, raw_destroy(self->fd, self->signal.id));
}

/* A GID of a network namespace that isn't the caller's. */
TEST_F(endpoint, other_network_namespace)
{
	struct ib_collq_endpoint_create attr = raw_endpoint_attr(IB_COLLQ_ENDPOINT_SIGNAL);

	ASSERT_EQ(0, unshare(CLONE_NEWNET));
	EXPECT_EQ(-EACCES, raw_endpoint_create(self->fd, &attr));
}

/* One value out of its range in an otherwise good endpoint. */
FIXTURE(range) {
	int fd;
};

FIXTURE_VARIANT(range) {
	bool message;
	size_t offset;
	size_t size;
	__u32 value;
	int err;
};

#define OFFSET(member)	offsetof(struct ib_collq_endpoint_create, member)
#define SIZE(member)	RAW_SIZE(struct ib_collq_endpoint_create, member)

FIXTURE_VARIANT_ADD(range, kind_0) {
	.offset = OFFSET(kind), .size = SIZE(kind), .value = 0, .err = -EINVAL,
};

FIXTURE_VARIANT_ADD(range, kind_unknown) {
	.offset = OFFSET(kind), .size = SIZE(kind), .value = 3, .err = -EINVAL,
};

FIXTURE_VARIANT_ADD(range, signal_endpoint_nobody) {
	.offset = OFFSET(signal_endpoint), .size = SIZE(signal_endpoint),
	.value = ~0U, .err = -ENOENT,
};

FIXTURE_VARIANT_ADD(range, signal_endpoint_missing) {
	.message = true,
	.offset = OFFSET(signal_endpoint), .size = SIZE(signal_endpoint),
	.value = 0, .err = -EINVAL,
};

FIXTURE_VARIANT_ADD(range, port_0) {
	.offset = OFFSET(port), .size = SIZE(port), .value = 0, .err = -EINVAL,
};

FIXTURE_VARIANT_ADD(range, port_beyond) {
	.offset = OFFSET(port), .size = SIZE(port), .value = 2, .err = -EINVAL,
};

FIXTURE_VARIANT_ADD(range, gid_index_beyond) {
	.offset = OFFSET(gid_index), .size = SIZE(gid_index), .value = 65535, .err = -EINVAL,
};

FIXTURE_VARIANT_ADD(range, gid_index_empty) {
	.offset = OFFSET(gid_index), .size = SIZE(gid_index), .value = 2, .err = -EINVAL,
};

FIXTURE_VARIANT_ADD(range, pkey_index_beyond) {
	.offset = OFFSET(pkey_index), .size = SIZE(pkey_index), .value = 65535, .err = -EINVAL,
};

FIXTURE_VARIANT_ADD(range, sl) {
	.offset = OFFSET(sl), .size = SIZE(sl), .value = 16, .err = -EINVAL,
};

FIXTURE_VARIANT_ADD(range, mtu) {
	.offset = OFFSET(mtu), .size = SIZE(mtu), .value = 6, .err = -EINVAL,
};

FIXTURE_VARIANT_ADD(range, mtu_more_than_active) {
	.offset = OFFSET(mtu), .size = SIZE(mtu), .value = 5, .err = -EINVAL,
};

FIXTURE_VARIANT_ADD(range, timeout_0) {
	.offset = OFFSET(timeout), .size = SIZE(timeout), .value = 0, .err = -EINVAL,
};

FIXTURE_VARIANT_ADD(range, timeout_32) {
	.offset = OFFSET(timeout), .size = SIZE(timeout), .value = 32, .err = -EINVAL,
};

FIXTURE_VARIANT_ADD(range, retry_cnt_for_ever) {
	.offset = OFFSET(retry_cnt), .size = SIZE(retry_cnt), .value = 7, .err = -EINVAL,
};

FIXTURE_VARIANT_ADD(range, rnr_retry) {
	.offset = OFFSET(rnr_retry), .size = SIZE(rnr_retry), .value = 8, .err = -EINVAL,
};

FIXTURE_VARIANT_ADD(range, send_capacity_0) {
	.offset = OFFSET(send_capacity), .size = SIZE(send_capacity), .value = 0, .err = -EINVAL,
};

FIXTURE_VARIANT_ADD(range, send_capacity_beyond) {
	.offset = OFFSET(send_capacity), .size = SIZE(send_capacity), .value = ~0U, .err = -EINVAL,
};

FIXTURE_VARIANT_ADD(range, recv_capacity_0) {
	.offset = OFFSET(recv_capacity), .size = SIZE(recv_capacity), .value = 0, .err = -EINVAL,
};

FIXTURE_VARIANT_ADD(range, recv_capacity_beyond) {
	.offset = OFFSET(recv_capacity), .size = SIZE(recv_capacity), .value = ~0U, .err = -EINVAL,
};

FIXTURE_VARIANT_ADD(range, max_send_sge_of_writes_beyond) {
	.offset = OFFSET(max_send_sge), .size = SIZE(max_send_sge), .value = 33, .err = -EINVAL,
};

FIXTURE_VARIANT_ADD(range, max_recv_sge_of_signals) {
	.offset = OFFSET(max_recv_sge), .size = SIZE(max_recv_sge), .value = 1, .err = -EINVAL,
};

FIXTURE_VARIANT_ADD(range, max_send_sge_beyond) {
	.message = true,
	.offset = OFFSET(max_send_sge), .size = SIZE(max_send_sge), .value = 33, .err = -EINVAL,
};

FIXTURE_VARIANT_ADD(range, max_recv_sge_beyond) {
	.message = true,
	.offset = OFFSET(max_recv_sge), .size = SIZE(max_recv_sge), .value = 33, .err = -EINVAL,
};

FIXTURE_VARIANT_ADD(range, probe_ms) {
	.offset = OFFSET(probe_ms), .size = SIZE(probe_ms), .value = 9, .err = -EINVAL,
};

FIXTURE_VARIANT_ADD(range, probe_ms_beyond) {
	.offset = OFFSET(probe_ms), .size = SIZE(probe_ms), .value = 3600001, .err = -EINVAL,
};

FIXTURE_VARIANT_ADD(range, flags) {
	.offset = OFFSET(flags), .size = SIZE(flags), .value = 8, .err = -EOPNOTSUPP,
};

FIXTURE_VARIANT_ADD(range, in_no_protection_domain) {
	.message = true,
	.offset = OFFSET(flags), .size = SIZE(flags), .value = IB_COLLQ_ENDPOINT_PD,
	.err = -EOPNOTSUPP,
};

FIXTURE_VARIANT_ADD(range, last_flag) {
	.offset = OFFSET(flags), .size = SIZE(flags), .value = 1U << 31, .err = -EOPNOTSUPP,
};

FIXTURE_VARIANT_ADD(range, zones_that_are_local) {
	.offset = OFFSET(flags), .size = SIZE(flags),
	.value = IB_COLLQ_ENDPOINT_ZONES | IB_COLLQ_ENDPOINT_LOCAL, .err = -EINVAL,
};

FIXTURE_VARIANT_ADD(range, zones_of_messages) {
	.message = true,
	.offset = OFFSET(flags), .size = SIZE(flags), .value = IB_COLLQ_ENDPOINT_ZONES,
	.err = -EINVAL,
};

FIXTURE_VARIANT_ADD(range, reserved) {
	.offset = OFFSET(__reserved), .size = SIZE(__reserved), .value = 1, .err = -EINVAL,
};

FIXTURE_SETUP(range)
{
	self->fd = raw_open();
	ASSERT_LE(0, self->fd);
}

FIXTURE_TEARDOWN(range)
{
	close(self->fd);
}

/* An endpoint that is good, of the kind that the variant is about. */
static int good_endpoint(int fd, bool message, struct ib_collq_endpoint_create *attr)
{
	int signal;

	*attr = raw_endpoint_attr(IB_COLLQ_ENDPOINT_SIGNAL);
	if (!message)
		return 0;
	signal = raw_endpoint_create(fd, attr);
	*attr = raw_endpoint_attr(IB_COLLQ_ENDPOINT_MESSAGE);
	attr->signal_endpoint = signal;
	return signal < 0 ? signal : 0;
}

TEST_F(range, refused)
{
	struct ib_collq_endpoint_create attr;

	ASSERT_EQ(0, good_endpoint(self->fd, variant->message, &attr));
	memcpy((char *)&attr + variant->offset, &variant->value, variant->size);
	ASSERT_EQ(variant->err, raw_endpoint_create(self->fd, &attr));
	EXPECT_EQ(0, attr.id);
}

TEST_F(endpoint, accepted_within_range)
{
	struct ib_collq_endpoint_create attr;

	ASSERT_EQ(0, good_endpoint(self->fd, false, &attr));
	ASSERT_LT(0, raw_endpoint_create(self->fd, &attr));
	ASSERT_EQ(0, good_endpoint(self->fd, true, &attr));
	ASSERT_LT(0, raw_endpoint_create(self->fd, &attr));
}

/* The signal endpoint of a message endpoint must be one. */
TEST_F(endpoint, signal_endpoint_of_another_kind)
{
	struct ib_collq_endpoint_create attr = raw_endpoint_attr(IB_COLLQ_ENDPOINT_SIGNAL);
	int counter = raw_counter_create(self->fd, IB_COLLQ_SOURCE_USER, 0);

	attr.signal_endpoint = self->signal.id;
	EXPECT_EQ(-EINVAL, raw_endpoint_create(self->fd, &attr));

	ASSERT_LT(0, raw_endpoint_create(self->fd, &self->message));
	attr = self->message;
	attr.signal_endpoint = self->message.id;
	EXPECT_EQ(-EINVAL, raw_endpoint_create(self->fd, &attr));
	attr.signal_endpoint = counter;
	EXPECT_EQ(-ENOENT, raw_endpoint_create(self->fd, &attr));
}

/* A batch stops at the first failure, and what was done stays done. */
TEST_F(endpoint, batch_create)
{
	struct ib_collq_endpoint_create attr[5];
	int error, i;

	for (i = 0; i < 5; i++)
		attr[i] = raw_endpoint_attr(IB_COLLQ_ENDPOINT_SIGNAL);
	attr[3].sl = 16;
	EXPECT_EQ(3, raw_batch(self->fd, IB_COLLQ_ENDPOINT_CREATE, attr, sizeof(attr[0]), 5,
			       &error));
	EXPECT_EQ(-EINVAL, error);
	for (i = 0; i < 3; i++)
		EXPECT_EQ(IB_COLLQ_ENDPOINT_NEW, raw_endpoint_info(self->fd, attr[i].id).state);
	EXPECT_EQ(0, attr[3].id);
	EXPECT_EQ(0, attr[4].id);

	/* Nothing done: the error is the call's. */
	EXPECT_EQ(-EINVAL, raw_batch(self->fd, IB_COLLQ_ENDPOINT_CREATE, &attr[3],
				     sizeof(attr[0]), 2, &error));
	EXPECT_EQ(-EINVAL, error);
	EXPECT_EQ(0, attr[4].id);

	attr[3].sl = 0;
	EXPECT_EQ(2, raw_batch(self->fd, IB_COLLQ_ENDPOINT_CREATE, &attr[3], sizeof(attr[0]), 2,
			       &error));
	EXPECT_EQ(0, error);
}

/* Many connections, each command once. */
TEST_F(endpoint, batch_connect_and_destroy)
{
	struct ib_collq_endpoint_create attr[8];
	struct ib_collq_endpoint_connect connect[8] = {};
	struct ib_collq_object_destroy destroy[9] = {};
	int error, i;

	for (i = 0; i < 8; i++)
		attr[i] = raw_endpoint_attr(IB_COLLQ_ENDPOINT_SIGNAL);
	ASSERT_EQ(8, raw_batch(self->fd, IB_COLLQ_ENDPOINT_CREATE, attr, sizeof(attr[0]), 8,
			       &error));
	for (i = 0; i < 8; i++) {
		connect[i].endpoint = attr[i].id;
		memcpy(connect[i].address, attr[i ^ 1].address, sizeof(connect[i].address));
		destroy[i].id = attr[i].id;
		destroy[i].type = IB_COLLQ_OBJECT_ENDPOINT;
	}
	ASSERT_EQ(8, raw_batch(self->fd, IB_COLLQ_ENDPOINT_CONNECT, connect, sizeof(connect[0]),
			       8, &error));
	EXPECT_EQ(0, error);
	for (i = 0; i < 8; i++)
		EXPECT_EQ(IB_COLLQ_ENDPOINT_CONNECTED,
			  raw_endpoint_info(self->fd, attr[i].id).state);

	/* The last one isn't there. */
	destroy[8].id = 9999;
	EXPECT_EQ(8, raw_batch(self->fd, IB_COLLQ_OBJECT_DESTROY, destroy, sizeof(destroy[0]), 9,
			       &error));
	EXPECT_EQ(-ENOENT, error);
	for (i = 0; i < 8; i++)
		EXPECT_EQ(0, raw_endpoint_info(self->fd, attr[i].id).state);
}

TEST_F(endpoint, batch_too_long)
{
	struct ib_collq_object_destroy destroy = {};

	if (raw_by_uverbs)
		SKIP(return, "there a batch is as many methods");
	EXPECT_EQ(-EINVAL, raw_batch(self->fd, IB_COLLQ_OBJECT_DESTROY, &destroy,
				     sizeof(destroy), self->query.max_batch + 1, NULL));
	EXPECT_EQ(-EINVAL, raw_batch(self->fd, IB_COLLQ_OBJECT_DESTROY, &destroy,
				     sizeof(destroy), 0, NULL));
}

TEST_F(endpoint, destroy_checks_the_type)
{
	struct ib_collq_object_destroy destroy = {
		.id = self->signal.id,
		.type = IB_COLLQ_OBJECT_COUNTER,
	};

	EXPECT_EQ(-ENOENT, raw_batch(self->fd, IB_COLLQ_OBJECT_DESTROY, &destroy,
				     sizeof(destroy), 1, NULL));
	destroy.type = IB_COLLQ_OBJECT_ENDPOINT;
	EXPECT_EQ(1, raw_batch(self->fd, IB_COLLQ_OBJECT_DESTROY, &destroy, sizeof(destroy), 1,
			       NULL));
}

TEST_F(endpoint, capacity)
{
	__u32 id = self->signal.id;

	ASSERT_EQ(0, raw_capacity(self->fd, IB_COLLQ_CAPACITY_RESERVE, id, RAW_CAPACITY - 2));
	EXPECT_EQ(-ENOSPC, raw_capacity(self->fd, IB_COLLQ_CAPACITY_RESERVE, id, 3));
	EXPECT_EQ(0, raw_capacity(self->fd, IB_COLLQ_CAPACITY_RESERVE, id, 2));
	EXPECT_EQ(-ENOSPC, raw_capacity(self->fd, IB_COLLQ_CAPACITY_RESERVE, id, 1));
	EXPECT_EQ(-ENOSPC, raw_capacity(self->fd, IB_COLLQ_CAPACITY_RESERVE, id, ~0U));
	EXPECT_EQ(RAW_CAPACITY, raw_endpoint_info(self->fd, id).reserved_recvs);

	EXPECT_EQ(-EINVAL, raw_capacity(self->fd, IB_COLLQ_CAPACITY_RELEASE, id, RAW_CAPACITY + 1));
	EXPECT_EQ(0, raw_capacity(self->fd, IB_COLLQ_CAPACITY_RELEASE, id, 10));
	EXPECT_EQ(RAW_CAPACITY - 10, raw_endpoint_info(self->fd, id).reserved_recvs);
	EXPECT_EQ(0, raw_capacity(self->fd, IB_COLLQ_CAPACITY_RESERVE, id, 10));

	EXPECT_EQ(-EINVAL, raw_capacity(self->fd, IB_COLLQ_CAPACITY_RESERVE, id, 0));
	EXPECT_EQ(-EINVAL, raw_capacity(self->fd, IB_COLLQ_CAPACITY_RELEASE, id, 0));
	EXPECT_EQ(-ENOENT, raw_capacity(self->fd, IB_COLLQ_CAPACITY_RESERVE, 0, 1));
	EXPECT_EQ(-ENOENT, raw_capacity(self->fd, IB_COLLQ_CAPACITY_RELEASE, 9999, 1));
}

/* Only signals need it. */
TEST_F(endpoint, capacity_of_a_message_endpoint)
{
	ASSERT_LT(0, raw_endpoint_create(self->fd, &self->message));
	EXPECT_EQ(-EINVAL, raw_capacity(self->fd, IB_COLLQ_CAPACITY_RESERVE, self->message.id, 1));
}

/* Reservations add up in a batch, and it stops where there is no more. */
TEST_F(endpoint, capacity_in_batches)
{
	struct ib_collq_capacity capacity[4];
	int error, i;

	for (i = 0; i < 4; i++)
		capacity[i] = (struct ib_collq_capacity) { self->signal.id, 20 };
	EXPECT_EQ(2, raw_batch(self->fd, IB_COLLQ_CAPACITY_RESERVE, capacity, sizeof(capacity[0]),
			       4, &error));
	EXPECT_EQ(-ENOSPC, error);
	EXPECT_EQ(40, raw_endpoint_info(self->fd, self->signal.id).reserved_recvs);
}

TEST_F(endpoint, slots)
{
	int counter = raw_counter_create(self->fd, IB_COLLQ_SOURCE_SIGNAL, 0);
	int other = raw_counter_create(self->fd, IB_COLLQ_SOURCE_SIGNAL, 0);
	int user = raw_counter_create(self->fd, IB_COLLQ_SOURCE_USER, 0);
	__u32 id = self->signal.id, last = self->query.max_slots - 1;

	ASSERT_LT(0, counter);
	ASSERT_LT(0, other);
	ASSERT_LT(0, user);
	ASSERT_EQ(0, raw_slot_bind(self->fd, id, last, 3, counter));
	/* The slot is taken, then the counter is; whatever the generation. */
	EXPECT_EQ(-EBUSY, raw_slot_bind(self->fd, id, last, 4, other));
	EXPECT_EQ(-EBUSY, raw_slot_bind(self->fd, id, 0, 3, counter));
	EXPECT_EQ(-EINVAL, raw_slot_bind(self->fd, id, last + 1, 3, other));
	EXPECT_EQ(-EINVAL, raw_slot_bind(self->fd, id, 1, 0, user));
	EXPECT_EQ(-ENOENT, raw_slot_bind(self->fd, id, 1, 0, 0));
	EXPECT_EQ(-ENOENT, raw_slot_bind(self->fd, id, 1, 0, id));
	EXPECT_EQ(-ENOENT, raw_slot_bind(self->fd, counter, 1, 0, other));
	EXPECT_EQ(-EBUSY, raw_destroy(self->fd, id));
	EXPECT_EQ(-EBUSY, raw_destroy(self->fd, counter));

	EXPECT_EQ(-ENOENT, raw_slot_unbind(self->fd, id, last, 4));
	EXPECT_EQ(-ENOENT, raw_slot_unbind(self->fd, id, 0, 3));
	EXPECT_EQ(-ENOENT, raw_slot_unbind(self->fd, id, last + 1, 3));
	EXPECT_EQ(0, raw_slot_unbind(self->fd, id, last, 3));
	EXPECT_EQ(-ENOENT, raw_slot_unbind(self->fd, id, last, 3));
	EXPECT_EQ(0, raw_slot_bind(self->fd, id, last, 4, other));
	EXPECT_EQ(0, raw_slot_bind(self->fd, id, 0, 0, counter));
	EXPECT_EQ(2, raw_endpoint_info(self->fd, id).nr_slots);
}

TEST_F(endpoint, slots_of_a_message_endpoint)
{
	int counter = raw_counter_create(self->fd, IB_COLLQ_SOURCE_SIGNAL, 0);

	ASSERT_LT(0, raw_endpoint_create(self->fd, &self->message));
	EXPECT_EQ(-EINVAL, raw_slot_bind(self->fd, self->message.id, 0, 0, counter));
}

TEST_F(endpoint, unbind_names_no_counter)
{
	int counter = raw_counter_create(self->fd, IB_COLLQ_SOURCE_SIGNAL, 0);
	struct ib_collq_slot_bind bind = {
		.endpoint = self->signal.id,
		.counter = counter,
	};

	ASSERT_EQ(0, raw_slot_bind(self->fd, self->signal.id, 0, 0, counter));
	EXPECT_EQ(-EINVAL, raw_batch(self->fd, IB_COLLQ_SLOT_UNBIND, &bind, sizeof(bind), 1,
				     NULL));
}

/* Not while a graph that runs may wait for it. */
TEST_F(endpoint, unbind_while_running)
{
	struct raw_side a, b;
	__u64 sequence;

	ASSERT_EQ(0, raw_pair_open(&a, &b));
	ASSERT_EQ(0, raw_submit(a.fd, a.queue, a.graph, 0, 0, &sequence));
	EXPECT_EQ(-EBUSY, raw_slot_unbind(a.fd, a.endpoint, RAW_SLOT, RAW_GENERATION));
	ASSERT_EQ(0, raw_cancel(a.fd, a.queue, sequence));
	EXPECT_EQ(0, raw_slot_unbind(a.fd, a.endpoint, RAW_SLOT, RAW_GENERATION));
	raw_pair_close(&a, &b);
}

/* Thousands of queue pairs are too many for 30 s where a kernel checks each access. */
TEST_F_TIMEOUT(endpoint, number_is_limited, 300)
{
	struct ib_collq_endpoint_create attr[64];
	unsigned int done = 1, i;
	int ret, error;

	for (i = 0; i < 64; i++) {
		attr[i] = raw_endpoint_attr(IB_COLLQ_ENDPOINT_SIGNAL);
		attr[i].send_capacity = 1;
		attr[i].recv_capacity = 1;
	}
	do {
		ret = raw_batch(self->fd, IB_COLLQ_ENDPOINT_CREATE, attr, sizeof(attr[0]), 64,
				&error);
		if (ret > 0)
			done += ret;
	} while (ret == 64 && done <= self->query.max_endpoints);
	EXPECT_EQ(-ENOSPC, error);
	EXPECT_EQ(self->query.max_endpoints, done);
	/* One can go on as soon as there is room. */
	ASSERT_EQ(0, raw_destroy(self->fd, self->signal.id));
	EXPECT_LT(0, raw_endpoint_create(self->fd, attr));
	EXPECT_EQ(-ENOSPC, raw_endpoint_create(self->fd, attr));
}

TEST_HARNESS_MAIN
