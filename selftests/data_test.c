// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Data between two contexts: SEND and RECV with lists, every byte of it.
 *
 * Each side has an area with a canary around and between all that is sent from or
 * received into it. A sends what lies in its list, B receives into its own, and both
 * wait for that in the graph.
 */
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "data_side.h"

#define MAX_SGES	32

FIXTURE(data) {
	struct raw_side a;
	struct raw_side b;
	struct data_side from;
	struct data_side to;
};

FIXTURE_SETUP(data)
{
	ASSERT_EQ(0, data_pair_open(&self->a, &self->b, &self->from, &self->to, 1 << 20,
				    MAX_SGES));
}

FIXTURE_TEARDOWN(data)
{
	raw_pair_close(&self->a, &self->b);
	munmap(self->from.area, self->from.area_size);
	munmap(self->to.area, self->to.area_size);
}

TEST_F(data, one_entry)
{
	static const __u32 lengths[] = {
		0, 1, 2, 7, 8, 255, 256, 1023, 1024, 1025, 4095, 4096, 4097, 8192, 65536, 100001,
	};
	struct ib_collq_sge src = { .offset = 4001 }, dst = { .offset = 8190 };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(lengths); i++) {
		src.length = lengths[i];
		dst.length = lengths[i];
		ASSERT_EQ(0, data_check(&self->from, &src, 1, &self->to, &dst, 1, i))
			TH_LOG("length %u", lengths[i]);
	}
}

TEST_F(data, alignments)
{
	struct ib_collq_sge src = { .length = 5000 }, dst = { .length = 5000 };
	int i;

	for (i = 0; i < 16; i++) {
		src.offset = 4093 + i % 4;
		dst.offset = 8189 + i / 4;
		ASSERT_EQ(0, data_check(&self->from, &src, 1, &self->to, &dst, 1, i));
	}
}

/* Lists of many entries, cut at other places on either side. */
TEST_F(data, lists)
{
	struct ib_collq_sge src[MAX_SGES], dst[MAX_SGES];
	int i;

	for (i = 0; i < MAX_SGES; i++) {
		src[i] = (struct ib_collq_sge) { .length = 777, .offset = 1000 * i + 3 };
		/* Backwards. */
		dst[i] = (struct ib_collq_sge) {
			.length = i % 2 ? 1 : 1553, .offset = 200000 - 5000 * i,
		};
	}
	EXPECT_EQ(0, data_check(&self->from, src, MAX_SGES, &self->to, dst, MAX_SGES, 1));
	src[3].length = 0;
	dst[4].length = 776;
	EXPECT_EQ(0, data_check(&self->from, src, MAX_SGES, &self->to, dst, MAX_SGES, 2));
}

/* What arrives may be shorter than the list; the rest is left alone. */
TEST_F(data, shorter)
{
	const struct ib_collq_sge src = { .length = 100, .offset = 5 };
	const struct ib_collq_sge dst[] = { { .length = 60, .offset = 10 },
					    { .length = 5000, .offset = 4000 } };

	raw_fill(self->from.area + 5, 100, 6);
	ASSERT_EQ(0, data_transfer(&self->from, &src, 1, &self->to, dst, 2));
	memmove(self->to.area + 70, self->to.area + 4000, 40);
	EXPECT_EQ(0, raw_count_wrong(self->to.area + 10, 100, 6));
	EXPECT_EQ(0, raw_count_other(self->to.area + 4040, 10000, DATA_CANARY));
}

/* And if it's longer, both ends hear of it, and nothing lands behind. */
TEST_F(data, longer)
{
	const struct ib_collq_sge src = { .length = 5000, .offset = 5 };
	const struct ib_collq_sge dst = { .length = 4999, .offset = 10 };
	int recv = data_graph(&self->to, false, &dst, 1);
	int send = data_graph(&self->from, true, &src, 1);
	__u64 received, sent;

	ASSERT_EQ(0, data_submit(&self->to, recv, &received));
	ASSERT_EQ(0, data_submit(&self->from, send, &sent));
	EXPECT_GT(0, data_result(&self->from, sent));
	EXPECT_GT(0, data_result(&self->to, received));
	EXPECT_EQ(0, raw_count_other(self->to.area, 10, DATA_CANARY));
	EXPECT_EQ(0, raw_count_other(self->to.area + 10 + 4999, 10000, DATA_CANARY));
	EXPECT_EQ(0, raw_destroy(self->a.fd, self->from.region));
	EXPECT_EQ(0, raw_destroy(self->b.fd, self->to.region));
}

/* Memory that the device must register in parts, with entries over their borders. */
TEST(registered_in_parts)
{
	const size_t size = 9 << 20, part = 1 << 20;
	struct ib_collq_sge src[MAX_SGES], dst[MAX_SGES];
	struct data_side from, to;
	struct raw_side a, b;
	__u64 sequence;
	int i;

	ASSERT_EQ(0, data_pair_open(&a, &b, &from, &to, size, MAX_SGES));
	ASSERT_LE(9, raw_region_info(a.fd, from.region).registrations);
	src[0] = (struct ib_collq_sge) { .length = 3 << 20, .offset = part - 1 };
	dst[0] = (struct ib_collq_sge) { .length = 3 << 20, .offset = 3 * part - 4097 };
	EXPECT_EQ(0, data_check(&from, src, 1, &to, dst, 1, 1));
	/* The largest message. */
	src[0].offset = 4097;
	dst[0].offset = 8191;
	src[0].length = 8 << 20;
	dst[0].length = 8 << 20;
	EXPECT_EQ(0, data_check(&from, src, 1, &to, dst, 1, 2));

	/* All entries on the same border: each takes two. */
	for (i = 0; i < MAX_SGES; i++)
		src[i] = (struct ib_collq_sge) { .length = 64, .offset = part - 1 - i };
	dst[0].length = MAX_SGES * 64;
	i = data_graph(&from, true, src, MAX_SGES);
	EXPECT_EQ(-EMSGSIZE, data_submit(&from, i, NULL));
	/* Half as many fit. Nobody receives them, so they are on their way for long. */
	i = data_graph(&from, true, src, MAX_SGES / 2);
	ASSERT_EQ(0, data_submit(&from, i, &sequence));
	EXPECT_EQ(-EBUSY, raw_destroy(a.fd, from.region));
	EXPECT_EQ(0, raw_cancel(a.fd, a.queue, 0));
	EXPECT_EQ(-ECANCELED, data_result(&from, sequence));
	EXPECT_EQ(0, raw_destroy(a.fd, from.region));
	raw_pair_close(&a, &b);
	munmap(from.area, size);
	munmap(to.area, size);
}

/* An endpoint for lists of one entry takes the largest message too. */
TEST(one_entry_in_parts)
{
	const size_t size = 9 << 20;
	const struct ib_collq_sge src = { .length = 8 << 20, .offset = 1 };
	const struct ib_collq_sge dst = { .length = 8 << 20, .offset = 1000 };
	struct data_side from, to;
	struct raw_side a, b;

	ASSERT_EQ(0, data_pair_open(&a, &b, &from, &to, size, 1));
	EXPECT_EQ(0, data_check(&from, &src, 1, &to, &dst, 1, 1));
	raw_pair_close(&a, &b);
	munmap(from.area, size);
	munmap(to.area, size);
}

/* What the queue says of it: neighbours count as one. */
TEST_F(data, counted)
{
	const struct ib_collq_sge src[] = {
		{ .length = 10, .offset = 0 }, { .length = 20, .offset = 10 },
		{ .length = 5, .offset = 31 },
	};
	const struct ib_collq_sge dst = { .length = 35, .offset = 100 };
	struct ib_collq_queue_info info;

	ASSERT_EQ(0, data_check(&self->from, src, 3, &self->to, &dst, 1, 1));
	ASSERT_EQ(0, raw_describe(self->a.fd, self->a.queue, &info, sizeof(info)));
	EXPECT_EQ(2, info.sges);
	EXPECT_EQ(0, info.copied);
	ASSERT_EQ(0, raw_describe(self->b.fd, self->b.queue, &info, sizeof(info)));
	EXPECT_EQ(1, info.sges);
}

TEST_F(data, described)
{
	const struct ib_collq_sge sges[] = { { .length = 10 }, { .length = 20, .offset = 10 } };
	struct ib_collq_sge seen[3];
	struct ib_collq_object_describe describe = {
		.size = sizeof(describe),
		.flags = IB_COLLQ_DESCRIBE_SGES,
		.id = data_graph(&self->from, true, sges, 2),
		.entries = (unsigned long)seen,
		.entry_size = sizeof(seen[0]),
		.nr = 3,
	};
	struct ib_collq_graph_info info;

	ASSERT_EQ(0, raw_ioctl(self->a.fd, IB_COLLQ_OBJECT_DESCRIBE, &describe));
	EXPECT_EQ(2, describe.nr);
	EXPECT_EQ(0, memcmp(sges, seen, sizeof(sges)));
	ASSERT_EQ(0, raw_describe(self->a.fd, describe.id, &info, sizeof(info)));
	EXPECT_EQ(2, info.nr_sges);
	EXPECT_EQ(1, info.nr_buffers);
}

/* Lists that don't fit the endpoint are refused, by how much is told. */
TEST_F(data, refused)
{
	struct ib_collq_sge sges[MAX_SGES + 1];
	struct ib_collq_graph_create refused;
	struct ib_collq_task task;
	const struct raw_graph graph = {
		.tasks = &task, .nr_tasks = 1, .sges = sges, .nr_sges = MAX_SGES + 1,
		.nr_buffers = 1,
	};
	struct ib_collq_query query;
	int i;

	ASSERT_EQ(0, raw_query(self->a.fd, &query));
	for (i = 0; i <= MAX_SGES; i++)
		sges[i] = (struct ib_collq_sge) { .length = 1 };
	for (i = 0; i < 2; i++) {
		task = i ? raw_send_list(self->a.message_endpoint, 0, MAX_SGES + 1) :
			   raw_recv_list(self->a.message_endpoint, 0, MAX_SGES + 1);
		EXPECT_EQ(-EINVAL, raw_data_graph_create(self->a.fd, &graph, &refused));
		EXPECT_EQ(0, refused.refused_task);
		EXPECT_EQ(IB_COLLQ_REFUSED_SGE_COUNT, refused.refused_reason);
		EXPECT_EQ(MAX_SGES + 1, refused.refused_needed);
		EXPECT_EQ(MAX_SGES, refused.refused_limit);
	}
	sges[0].length = query.max_message;
	task.sge_count = 2;
	EXPECT_EQ(-EINVAL, raw_data_graph_create(self->a.fd, &graph, &refused));
	EXPECT_EQ(IB_COLLQ_REFUSED_LENGTH, refused.refused_reason);
	EXPECT_EQ(query.max_message + 1, refused.refused_needed);
	EXPECT_EQ(query.max_message, refused.refused_limit);
	sges[MAX_SGES].buffer = 1;
	EXPECT_EQ(-EINVAL, raw_data_graph_create(self->a.fd, &graph, &refused));
	EXPECT_EQ(IB_COLLQ_REFUSED_BUFFER, refused.refused_reason);
}

/*
 * A graph with a receive posted fails. When that is heard of, a message that comes
 * later can't land any more, and the region can be destroyed.
 */
FIXTURE(failure) {
	struct raw_side a;
	struct raw_side b;
	struct data_side from;
	struct data_side to;
	__u64 received;
};

FIXTURE_SETUP(failure)
{
	const struct ib_collq_sge dst = { .length = 100000, .offset = 1 };

	ASSERT_EQ(0, data_pair_open(&self->a, &self->b, &self->from, &self->to, 1 << 20,
				    MAX_SGES));
	ASSERT_EQ(0, data_submit(&self->to, data_graph(&self->to, false, &dst, 1),
				 &self->received));
	ASSERT_EQ(1, RAW_EVENTUALLY(raw_queue_in_state(self->b.fd, self->b.queue,
						       IB_COLLQ_QUEUE_WAITING)));
	EXPECT_EQ(-EBUSY, raw_destroy(self->b.fd, self->to.region));
}

FIXTURE_TEARDOWN(failure)
{
	raw_pair_close(&self->a, &self->b);
	munmap(self->from.area, self->from.area_size);
	munmap(self->to.area, self->to.area_size);
}

static void expect_untouched(struct __test_metadata *_metadata, struct data_side *from,
			     struct data_side *to)
{
	const struct ib_collq_sge src = { .length = 100000, .offset = 1 };
	__u64 sent;

	EXPECT_EQ(IB_COLLQ_ENDPOINT_ERROR,
		  raw_endpoint_info(to->side->fd, to->side->message_endpoint).state);
	EXPECT_EQ(0, raw_destroy(to->side->fd, to->region));
	if (!data_submit(from, data_graph(from, true, &src, 1), &sent))
		EXPECT_GT(0, data_result(from, sent));
	EXPECT_EQ(0, raw_count_other(to->area, to->area_size, DATA_CANARY));
}

TEST_F(failure, cancelled)
{
	ASSERT_EQ(0, raw_cancel(self->b.fd, self->b.queue, self->received));
	EXPECT_EQ(-ECANCELED, data_result(&self->to, self->received));
	expect_untouched(_metadata, &self->from, &self->to);
}

TEST_F(failure, aborted)
{
	ASSERT_EQ(0, raw_submit(self->a.fd, self->a.queue, self->a.graph, 0, 0, NULL));
	ASSERT_EQ(0, raw_cancel(self->a.fd, self->a.queue, 0));
	EXPECT_EQ(-ECANCELED, data_result(&self->to, self->received));
	expect_untouched(_metadata, &self->from, &self->to);
}

TEST_F(failure, queue_destroyed)
{
	ASSERT_EQ(0, raw_destroy(self->b.fd, self->b.queue));
	expect_untouched(_metadata, &self->from, &self->to);
}

struct sleeper {
	_Atomic pid_t tid;
	const struct data_side *data;
	__u64 sequence;
	struct ib_collq_queue_wait wait;
	int err;
};

static void *sleep_on_it(void *data)
{
	struct sleeper *sleeper = data;
	const struct raw_side *side = sleeper->data->side;

	sleeper->tid = gettid();
	sleeper->err = raw_wait(side->fd, side->queue, sleeper->sequence,
				raw_in_ms(RAW_PATIENCE_MS), &sleeper->wait);
	return NULL;
}

/* Who sleeps until then hears how the graph has ended, not just that the queue is gone. */
TEST_F(failure, queue_destroyed_while_waited_for)
{
	struct sleeper sleeper = { .data = &self->to, .sequence = self->received };
	pthread_t thread;

	ASSERT_EQ(0, pthread_create(&thread, NULL, sleep_on_it, &sleeper));
	ASSERT_TRUE(RAW_EVENTUALLY(sleeper.tid && raw_asleep(sleeper.tid)));
	ASSERT_EQ(0, raw_destroy(self->b.fd, self->b.queue));
	ASSERT_EQ(0, pthread_join(thread, NULL));
	EXPECT_EQ(0, sleeper.err);
	EXPECT_EQ(-ECANCELED, sleeper.wait.status);
	expect_untouched(_metadata, &self->from, &self->to);
}

/* What is queued behind it is cancelled, after it. */
TEST_F(failure, order)
{
	struct ib_collq_completion completion;
	__u64 behind;

	ASSERT_EQ(0, raw_submit(self->b.fd, self->b.queue, self->b.graph, 7, 0, &behind));
	ASSERT_EQ(0, raw_cancel(self->b.fd, self->b.queue, self->received));
	ASSERT_EQ(0, raw_ring_next(self->b.fd, &self->b.ring, &completion));
	EXPECT_EQ(self->received, completion.sequence);
	EXPECT_EQ(-ECANCELED, completion.status);
	EXPECT_EQ(1, completion.task);
	ASSERT_EQ(0, raw_ring_next(self->b.fd, &self->b.ring, &completion));
	EXPECT_EQ(behind, completion.sequence);
	EXPECT_EQ(-ECANCELED, completion.status);
	EXPECT_EQ(1, raw_queue_in_state(self->b.fd, self->b.queue, IB_COLLQ_QUEUE_FAILED));
}

/* What has failed at both ends, when both have heard of it. */
static int reset_both(const struct raw_side *a, const struct raw_side *b)
{
	if (!RAW_EVENTUALLY(raw_queue_in_state(a->fd, a->queue, IB_COLLQ_QUEUE_FAILED) &&
			    raw_queue_in_state(b->fd, b->queue, IB_COLLQ_QUEUE_FAILED)))
		return -ETIME;
	return raw_pair_reset(a, a->message_endpoint, b, b->message_endpoint) ?:
	       raw_reset(a->fd, a->queue, NULL) ?: raw_reset(b->fd, b->queue, NULL);
}

/* After a reset of both ends data flows again. */
TEST_F(failure, reset)
{
	const struct ib_collq_sge sge = { .length = 70000, .offset = 17 };

	ASSERT_EQ(0, raw_cancel(self->b.fd, self->b.queue, self->received));
	EXPECT_EQ(-ECANCELED, data_result(&self->to, self->received));
	ASSERT_EQ(0, reset_both(&self->a, &self->b));
	EXPECT_EQ(0, data_check(&self->from, &sge, 1, &self->to, &sge, 1, 3));
}

/* The context goes while receives are posted and a send is under way. */
TEST_F(failure, closed)
{
	const struct ib_collq_sge src = { .length = 100000, .offset = 1 };
	__u64 sent;

	ASSERT_EQ(0, data_submit(&self->from, data_graph(&self->from, true, &src, 1), &sent));
	raw_side_close(&self->b);
	data_result(&self->from, sent);
	raw_side_close(&self->a);
	EXPECT_EQ(1, RAW_EVENTUALLY(!raw_status_kb("VmPin")));
}

/* What a graph has that is to be late, in ms: enough to post all that it posts */
#define SOON_MS	200

/* The other side does nothing, so the graph's message is under way when its deadline passes. */
FIXTURE(late) {
	struct raw_side a;
	struct raw_side b;
	struct data_side from;
	struct data_side to;
	struct data_side *late;
	struct data_side *other;
};

FIXTURE_VARIANT(late) {
	bool sends;
};

FIXTURE_VARIANT_ADD(late, sending) {
	.sends = true,
};

FIXTURE_VARIANT_ADD(late, receiving) {
	.sends = false,
};

FIXTURE_SETUP(late)
{
	const struct ib_collq_sge sge = { .length = 100000, .offset = 1 };
	struct ib_collq_buffer_bind binding = {};
	const struct raw_side *side;
	__u64 sequence, deadline;
	int graph;

	ASSERT_EQ(0, data_pair_open(&self->a, &self->b, &self->from, &self->to, 1 << 20,
				    MAX_SGES));
	self->late = variant->sends ? &self->from : &self->to;
	self->other = variant->sends ? &self->to : &self->from;
	side = self->late->side;
	binding.region = self->late->region;
	graph = data_graph(self->late, variant->sends, &sge, 1);
	deadline = raw_in_ms(SOON_MS);
	ASSERT_EQ(0, raw_submit_bound_by(side->fd, side->queue, graph, &binding, 1, deadline,
					 &sequence));
	EXPECT_EQ(-ETIMEDOUT, data_result(self->late, sequence));
	EXPECT_LE(deadline, raw_now());
	/* Who hears of it has his memory for himself. */
	EXPECT_EQ(0, raw_region_info(side->fd, binding.region).uses);
}

FIXTURE_TEARDOWN(late)
{
	raw_pair_close(&self->a, &self->b);
	munmap(self->from.area, self->from.area_size);
	munmap(self->to.area, self->to.area_size);
}

TEST_F(late, untouched)
{
	const struct ib_collq_sge sge = { .length = 100000, .offset = 1 };
	const struct raw_side *late = self->late->side, *other = self->other->side;

	EXPECT_EQ(IB_COLLQ_ENDPOINT_ERROR,
		  raw_endpoint_info(late->fd, late->message_endpoint).state);
	EXPECT_EQ(IB_COLLQ_ENDPOINT_CONNECTED,
		  raw_endpoint_info(late->fd, late->endpoint).state);
	EXPECT_EQ(0, raw_destroy(late->fd, self->late->region));
	ASSERT_TRUE(RAW_EVENTUALLY(raw_queue_in_state(other->fd, other->queue,
						      IB_COLLQ_QUEUE_FAILED)));
	EXPECT_EQ(-ETIMEDOUT, data_submit(self->other, data_graph(self->other, !variant->sends,
								  &sge, 1), NULL));
	EXPECT_EQ(0, raw_count_other(self->to.area, self->to.area_size, DATA_CANARY));
}

TEST_F(late, reset)
{
	const struct ib_collq_sge sge = { .length = 70000, .offset = 17 };

	ASSERT_EQ(0, reset_both(&self->a, &self->b));
	EXPECT_EQ(0, data_check(&self->from, &sge, 1, &self->to, &sge, 1, 3));
}

/* Receives that a graph leaves behind: the region stays until they are over. */
TEST_F(data, left_behind)
{
	const struct ib_collq_sge sge = { .length = 1000, .offset = 10 };
	const struct ib_collq_task task = raw_recv_list(self->b.message_endpoint, 0, 1);
	const struct raw_graph graph = {
		.tasks = &task, .nr_tasks = 1, .sges = &sge, .nr_sges = 1, .nr_buffers = 1,
	};
	const int id = raw_data_graph_create(self->b.fd, &graph, NULL);
	__u64 sequence, sent;

	ASSERT_EQ(0, data_submit(&self->to, id, &sequence));
	EXPECT_EQ(0, data_result(&self->to, sequence));
	EXPECT_EQ(1, raw_region_info(self->b.fd, self->to.region).uses);
	EXPECT_EQ(-EBUSY, raw_destroy(self->b.fd, self->to.region));
	raw_fill(self->from.area + 10, 1000, 8);
	ASSERT_EQ(0, data_submit(&self->from, data_graph(&self->from, true, &sge, 1), &sent));
	EXPECT_EQ(0, data_result(&self->from, sent));
	EXPECT_EQ(1, RAW_EVENTUALLY(!raw_region_info(self->b.fd, self->to.region).uses));
	EXPECT_EQ(0, raw_count_wrong(self->to.area + 10, 1000, 8));
	EXPECT_EQ(0, raw_destroy(self->b.fd, self->to.region));
}

/*
 * The same, on an endpoint that is destroyed: it lingers, and till then it may land.
 * From a local peer nothing can.
 */
TEST_F(data, left_behind_by_an_endpoint)
{
	const struct ib_collq_sge sge = { .length = 1000, .offset = 10 };
	const struct ib_collq_task task = raw_recv_list(self->b.message_endpoint, 0, 1);
	const struct raw_graph graph = {
		.tasks = &task, .nr_tasks = 1, .sges = &sge, .nr_sges = 1, .nr_buffers = 1,
	};
	const int id = raw_data_graph_create(self->b.fd, &graph, NULL);
	__u64 sequence;

	/* So that there's something to linger for. */
	ASSERT_EQ(0, data_check(&self->from, &sge, 1, &self->to, &sge, 1, 1));
	ASSERT_EQ(0, data_submit(&self->to, id, &sequence));
	EXPECT_EQ(0, data_result(&self->to, sequence));
	EXPECT_EQ(0, raw_destroy(self->b.fd, id));
	EXPECT_EQ(0, raw_destroy(self->b.fd, self->to.sends));
	EXPECT_EQ(0, raw_destroy(self->b.fd, self->to.messages));
	EXPECT_EQ(0, raw_destroy(self->b.fd, self->b.message_endpoint));
	if (raw_endpoint_flags & IB_COLLQ_ENDPOINT_LOCAL) {
		EXPECT_EQ(0, raw_destroy(self->b.fd, self->to.region));
		return;
	}
	EXPECT_EQ(-EBUSY, raw_destroy(self->b.fd, self->to.region));
	EXPECT_EQ(1, RAW_EVENTUALLY(!raw_destroy(self->b.fd, self->to.region)));
}

/*
 * The peer has closed: receives may be for a run that won't be, so those for which there's
 * room are posted. Who waits for them fails, and who finds no room.
 */
TEST_F(data, posted_after_close)
{
	const struct ib_collq_sge sge = { .length = 1000, .offset = 10 };
	const struct ib_collq_task task = raw_recv_list(self->b.message_endpoint, 0, 1);
	const struct raw_graph graph = {
		.tasks = &task, .nr_tasks = 1, .sges = &sge, .nr_sges = 1, .nr_buffers = 1,
	};
	const int id = raw_data_graph_create(self->b.fd, &graph, NULL);
	const int waits = data_graph(&self->to, false, &sge, 1);
	__u64 sequence;
	int i;

	raw_side_close(&self->a);
	ASSERT_EQ(1, RAW_EVENTUALLY(raw_endpoint_info(self->b.fd, self->b.message_endpoint).state ==
				    IB_COLLQ_ENDPOINT_PEER_CLOSED));
	for (i = 0; i < RAW_CAPACITY - 1; i++) {
		ASSERT_EQ(0, data_submit(&self->to, id, &sequence));
		EXPECT_EQ(0, data_result(&self->to, sequence));
	}
	ASSERT_EQ(0, data_submit(&self->to, waits, &sequence));
	EXPECT_EQ(-ECONNRESET, data_result(&self->to, sequence));
}

TEST_F(data, no_room_after_close)
{
	const struct ib_collq_task task = raw_recv_list(self->b.message_endpoint, 0, 0);
	const struct raw_graph graph = { .tasks = &task, .nr_tasks = 1 };
	const int id = raw_data_graph_create(self->b.fd, &graph, NULL);
	__u64 sequence;
	int i;

	raw_side_close(&self->a);
	ASSERT_EQ(1, RAW_EVENTUALLY(raw_endpoint_info(self->b.fd, self->b.message_endpoint).state ==
				    IB_COLLQ_ENDPOINT_PEER_CLOSED));
	for (i = 0; i <= RAW_CAPACITY; i++) {
		ASSERT_EQ(0, raw_submit(self->b.fd, self->b.queue, id, 0, 0, &sequence));
		EXPECT_EQ(i < RAW_CAPACITY ? 0 : -ECONNRESET, data_result(&self->to, sequence));
	}
}

TEST_HARNESS_MAIN
