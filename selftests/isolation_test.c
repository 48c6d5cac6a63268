// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Isolation: what is one user's is out of reach of another; who floods or meddles
 * changes nothing for others; network namespaces are heeded.
 */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "collq_memory.h"
#include "forger.h"
#include "slow_kernel.h"

#define ONE_USER	2001
#define OTHER_USER	2002
#define BARRIERS	200

/* What the other user tries, and what comes of it if it isn't refused. */
static int nr_attempts, nr_allowed;

static void attempt(const char *what, int err)
{
	nr_attempts++;
	if (err == -ENOENT)
		return;
	nr_allowed++;
	fprintf(stderr, "# %s: %d\n", what, err);
}

#define ATTEMPT(expression)	attempt(#expression, expression)

static int reset(int fd, __u32 id)
{
	struct ib_collq_object_reset attr = { .size = sizeof(attr), .id = id };

	return raw_ioctl(fd, IB_COLLQ_OBJECT_RESET, &attr);
}

static int wait_for_ring(int fd, __u32 ring)
{
	struct ib_collq_queue_wait wait = {
		.size = sizeof(wait),
		.ring = ring,
		.deadline = 1,
	};

	return raw_ioctl(fd, IB_COLLQ_QUEUE_WAIT, &wait);
}

static int wait_for_queue(int fd, __u32 queue)
{
	struct ib_collq_queue_wait wait;

	return raw_wait(fd, queue, 1, 1, &wait);
}

static int run_graph(int fd, __u32 queue, __u32 graph)
{
	int status;

	return raw_run(fd, queue, graph, &status);
}

static int read_counter(int fd, __u32 counter)
{
	struct ib_collq_counter_read read;

	return raw_counter_read(fd, counter, &read);
}

static int describe_in(int fd, __u32 context, __u32 id)
{
	struct ib_collq_object_describe attr = {
		.size = sizeof(attr),
		.id = id,
		.context = context,
	};

	return raw_ioctl(fd, IB_COLLQ_OBJECT_DESCRIBE, &attr);
}

static int message_endpoint(int fd, __u32 signal)
{
	struct ib_collq_endpoint_create attr = raw_endpoint_attr(IB_COLLQ_ENDPOINT_MESSAGE);

	attr.signal_endpoint = signal;
	return raw_endpoint_create(fd, &attr);
}

static int graph_of(int fd, struct ib_collq_task task)
{
	return raw_graph_create(fd, &task, 1);
}

/* In a context that has nothing but a ring, whose id may be the same. */
static int queue_of(__u32 endpoint)
{
	const struct ib_collq_queue_endpoint link = { .endpoint = endpoint };
	struct raw_ring ring;
	int fd = raw_open();

	if (raw_ring_create(fd, 4, &ring))
		return -EIO;
	return raw_queue_create(fd, ring.id, 1, &link, 1);
}

static int map(int fd, __u64 offset)
{
	void *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, offset);

	return memory == MAP_FAILED ? -errno : 0;
}

/* A graph of a task with a list of one entry. */
static int data_graph_of(int fd, struct ib_collq_task task)
{
	const struct ib_collq_sge sge = { .length = 8 };
	const struct raw_graph graph = {
		.tasks = &task, .nr_tasks = 1, .sges = &sge, .nr_sges = 1, .nr_buffers = 1,
	};

	return raw_data_graph_create(fd, &graph, NULL);
}

/* A copy within a region by a context's own graph and queue. */
static int copy_in(const struct raw_side *own, __u32 region)
{
	const struct ib_collq_buffer_bind binding = { .region = region };
	int id = data_graph_of(own->fd, raw_copy(0, 1, 0, 1));

	return id < 0 ? -EIO : raw_submit_bound(own->fd, own->queue, id, &binding, 1, NULL);
}

static int offer(int fd, __u32 endpoint, __u32 region)
{
	struct ib_collq_zone_name name;

	return raw_zone_offer(fd, endpoint, region, 0, RAW_PAGE, &name);
}

/* What the one user tells the other one. */
struct secrets {
	struct raw_side side;
	int region, zone, target;
	struct ib_collq_zone_name name;
	__u64 mmap_offset;
};

/*
 * With everything of one's own but the memory, or what is written to; they have ids that
 * are higher than any here. 0 if that could be tried.
 */
static int try_with_own(const struct secrets *secrets)
{
	struct ib_collq_endpoint_create attr = raw_endpoint_attr(IB_COLLQ_ENDPOINT_SIGNAL);
	struct ib_collq_endpoint_create peers = attr;
	struct raw_side own, peer;
	int err;

	attr.max_send_sge = 1;
	err = raw_pair_open_with(&own, &attr, &peer, &peers);
	if (err)
		return err;
	ATTEMPT(copy_in(&own, secrets->region));
	ATTEMPT(offer(own.fd, own.endpoint, secrets->region));
	ATTEMPT(data_graph_of(own.fd, raw_write_list(own.endpoint, secrets->target, 0, 1)));
	raw_pair_close(&own, &peer);
	return 0;
}

/* All commands, with ids that only exist in another user's context. */
static void try_all(int fd, const struct secrets *secrets)
{
	const struct raw_side *s = &secrets->side;
	const __u32 ids[] = {
		s->ring.id, s->endpoint, s->counter, s->queue, s->graph,
		secrets->region, secrets->zone, secrets->target,
	};
	__u32 i;

	for (i = 0; i < ARRAY_SIZE(ids); i++) {
		ATTEMPT(raw_destroy(fd, ids[i]));
		ATTEMPT(raw_describe(fd, ids[i], NULL, 0));
		ATTEMPT(reset(fd, ids[i]));
	}
	ATTEMPT(message_endpoint(fd, s->endpoint));
	ATTEMPT(raw_endpoint_connect(fd, s->endpoint, s->attr.address));
	ATTEMPT(raw_capacity(fd, IB_COLLQ_CAPACITY_RESERVE, s->endpoint, 1));
	ATTEMPT(raw_capacity(fd, IB_COLLQ_CAPACITY_RELEASE, s->endpoint, 1));
	ATTEMPT(raw_slot_bind(fd, s->endpoint, 0, 0, s->counter));
	ATTEMPT(raw_slot_unbind(fd, s->endpoint, RAW_SLOT, RAW_GENERATION));
	ATTEMPT(raw_counter_create(fd, IB_COLLQ_SOURCE_SENDS, s->endpoint));
	ATTEMPT(raw_counter_create(fd, IB_COLLQ_SOURCE_MESSAGES, s->endpoint));
	ATTEMPT(raw_counter_raise(fd, s->counter, 1));
	ATTEMPT(read_counter(fd, s->counter));
	ATTEMPT(raw_queue_create(fd, s->ring.id, 1, NULL, 0));
	ATTEMPT(queue_of(s->endpoint));
	ATTEMPT(graph_of(fd, raw_signal(s->endpoint, RAW_SLOT, RAW_GENERATION)));
	ATTEMPT(graph_of(fd, raw_wait_for(s->counter, 1)));
	ATTEMPT(graph_of(fd, raw_message(IB_COLLQ_TASK_RECV, s->endpoint)));
	ATTEMPT(raw_submit(fd, s->queue, s->graph, 0, 0, NULL));
	ATTEMPT(run_graph(fd, s->queue, s->graph));
	ATTEMPT(wait_for_queue(fd, s->queue));
	ATTEMPT(wait_for_ring(fd, s->ring.id));
	ATTEMPT(raw_cancel(fd, s->queue, 0));
	ATTEMPT(map(fd, secrets->mmap_offset));
	ATTEMPT(raw_target_create(fd, s->endpoint, &secrets->name));
	ATTEMPT(offer(fd, s->endpoint, secrets->region));
	ATTEMPT(data_graph_of(fd, raw_write_list(s->endpoint, secrets->target, 0, 1)));
	ATTEMPT(data_graph_of(fd, raw_send_list(s->endpoint, 0, 1)));
	ATTEMPT(raw_submit_bound(fd, s->queue, s->graph, NULL, 0, NULL));
	/* Contexts have ids too; one's own is among those that are guessed. */
	for (i = 1; i < 1000; i++)
		ATTEMPT(describe_in(fd, i, s->queue));
}

/* In a process of its own; reads the secrets, and closes @to when it's done. */
static int be_other_user(int from, int to)
{
	struct secrets secrets;
	int fd;

	if (setresgid(OTHER_USER, OTHER_USER, OTHER_USER) ||
	    setresuid(OTHER_USER, OTHER_USER, OTHER_USER))
		return 10;
	if (read(from, &secrets, sizeof(secrets)) != sizeof(secrets))
		return 11;
	fd = raw_open();
	if (fd < 0)
		return 12;
	try_all(fd, &secrets);
	close(fd);
	if (try_with_own(&secrets))
		return 14;
	close(to);
	return nr_allowed || nr_attempts < 1000 ? 13 : 0;
}

/* Memory, a landing zone in it and what a peer knows of that, with ids that are high. */
static int add_memory(struct secrets *secrets, const struct raw_side *peer)
{
	struct raw_side *side = &secrets->side;
	int i;

	for (i = 0; i < 100; i++)
		raw_counter_create(side->fd, IB_COLLQ_SOURCE_USER, 0);
	secrets->region = raw_region_create(side->fd, raw_map(RAW_PAGE), RAW_PAGE,
					    IB_COLLQ_ACCESS_WRITE);
	if (secrets->region < 0)
		return secrets->region;
	/* Local endpoints have no landing zones. */
	secrets->zone = secrets->region;
	secrets->target = secrets->region;
	if (raw_endpoint_flags & IB_COLLQ_ENDPOINT_LOCAL)
		return 0;
	secrets->zone = raw_zone_offer(side->fd, side->endpoint, secrets->region, 0, RAW_PAGE,
				       &secrets->name);
	if (secrets->zone < 0)
		return secrets->zone;
	i = raw_region_create(peer->fd, raw_map(RAW_PAGE), RAW_PAGE, IB_COLLQ_ACCESS_WRITE);
	if (i < 0 || raw_zone_offer(peer->fd, peer->endpoint, i, 0, RAW_PAGE, &secrets->name) < 0)
		return -EIO;
	secrets->target = raw_target_create(side->fd, side->endpoint, &secrets->name);
	return secrets->target < 0 ? secrets->target : 0;
}

TEST(two_users)
{
	struct ib_collq_ring_info ring = {};
	struct secrets secrets;
	int there[2], back[2];
	struct raw_side b;
	__u64 i = 0;
	char byte;
	pid_t pid;

	if (geteuid())
		SKIP(return, "takes root");
	ASSERT_EQ(0, pipe(there));
	ASSERT_EQ(0, pipe2(back, O_NONBLOCK));
	pid = fork();
	if (!pid)
		_exit(be_other_user(there[0], back[1]));
	close(back[1]);
	ASSERT_EQ(0, setresuid(ONE_USER, ONE_USER, ONE_USER));
	if (!(raw_endpoint_flags & IB_COLLQ_ENDPOINT_LOCAL))
		raw_endpoint_flags = IB_COLLQ_ENDPOINT_ZONES;
	ASSERT_EQ(0, raw_pair_open(&secrets.side, &b));
	ASSERT_EQ(0, add_memory(&secrets, &b));
	ASSERT_EQ(0, raw_describe(b.fd, b.ring.id, &ring, sizeof(ring)));
	secrets.mmap_offset = ring.create.mmap_offset;
	ASSERT_EQ(0, map(b.fd, secrets.mmap_offset));
	ASSERT_EQ(sizeof(secrets), (size_t)write(there[1], &secrets, sizeof(secrets)));
	/* Barriers go on all the while. */
	while (i < BARRIERS || read(back[0], &byte, 1) < 0) {
		ASSERT_EQ(0, raw_pair_barrier(&secrets.side, &b));
		i++;
	}
	EXPECT_EQ(0, raw_exit_status(pid));
	EXPECT_EQ(i, raw_counter_raised(secrets.side.fd, secrets.side.counter));
	EXPECT_EQ(i, raw_counter_raised(b.fd, b.counter));
	raw_pair_close(&secrets.side, &b);
}

/* Barriers of two contexts that have nothing to do with what else goes on. */
static int pass_barriers(struct raw_side *a, struct raw_side *b, int nr)
{
	__u64 before[2] = {
		raw_counter_raised(a->fd, a->counter), raw_counter_raised(b->fd, b->counter),
	};
	int i, err;

	for (i = 0; i < nr; i++) {
		err = raw_pair_barrier(a, b);
		if (err)
			return err;
	}
	return raw_counter_raised(a->fd, a->counter) == before[0] + nr &&
	       raw_counter_raised(b->fd, b->counter) == before[1] + nr ? 0 : -EPROTO;
}

/*
 * Somebody floods an endpoint of a context that has another one, on which it
 * passes barriers; and so do two other contexts.
 */
FIXTURE(flood) {
	struct forger forger;
	struct raw_side target;
	struct raw_side a, b;
};

FIXTURE_VARIANT(flood) {
	__u32 slot;
	bool abort;
	bool given;	/* it's a signal that may be sent */
};

FIXTURE_VARIANT_ADD(flood, signals) {
	.slot = RAW_SLOT, .given = true,
};

FIXTURE_VARIANT_ADD(flood, signals_of_no_slot) {
	.slot = RAW_SLOT + 1,
};

FIXTURE_VARIANT_ADD(flood, aborts_of_nobody) {
	.slot = RAW_ABORT_SLOT + 1, .abort = true,
};

FIXTURE_SETUP(flood)
{
	__u8 address[IB_COLLQ_ADDRESS_SIZE];

	ASSERT_EQ(0, raw_side_open(&self->target));
	ASSERT_EQ(0, forger_open(&self->forger, self->target.attr.address, address));
	ASSERT_EQ(0, raw_side_connect(&self->target, address));
	ASSERT_EQ(0, raw_pair_open(&self->a, &self->b));
}

FIXTURE_TEARDOWN(flood)
{
	raw_pair_close(&self->a, &self->b);
	raw_side_close(&self->target);
	forger_close(&self->forger);
}

/* A second endpoint of the target's context, with a peer that is a good one. */
static int add_peer(struct raw_side *second, const struct raw_side *target, struct raw_side *peer)
{
	int ret;

	ret = raw_side_open(peer);
	if (ret)
		return ret;
	*second = *target;
	second->attr = raw_endpoint_attr(IB_COLLQ_ENDPOINT_SIGNAL);
	ret = raw_endpoint_create(second->fd, &second->attr);
	if (ret < 0)
		return ret;
	second->endpoint = ret;
	ret = raw_counter_create(second->fd, IB_COLLQ_SOURCE_SIGNAL, 0);
	if (ret < 0)
		return ret;
	second->counter = ret;
	ret = raw_slot_bind(second->fd, second->endpoint, RAW_SLOT, RAW_GENERATION,
			    second->counter);
	if (ret)
		return ret;
	ret = raw_side_connect(second, peer->attr.address);
	return ret ? ret : raw_side_connect(peer, second->attr.address);
}

TEST_F_TIMEOUT(flood, harms_nobody, 120)
{
	__u32 what = variant->abort ?
		     forge_abort(variant->slot, RAW_ABORT_GENERATION, IB_COLLQ_ERROR_CANCELED) :
		     forge_signal(variant->slot, RAW_GENERATION);
	struct ib_collq_endpoint_info info;
	struct raw_side second, peer;
	__u64 begin, alone;

	ASSERT_EQ(0, add_peer(&second, &self->target, &peer));
	begin = raw_now();
	ASSERT_EQ(0, pass_barriers(&self->a, &self->b, BARRIERS));
	alone = raw_now() - begin;

	ASSERT_EQ(0, forger_start(&self->forger, what));
	ASSERT_TRUE(RAW_EVENTUALLY(raw_endpoint_info(self->target.fd,
						     self->target.endpoint).messages > 100));
	begin = raw_now();
	EXPECT_EQ(0, pass_barriers(&self->a, &self->b, BARRIERS));
	TH_LOG("barriers take %.1f times as long", (double)(raw_now() - begin) / alone);
	EXPECT_EQ(0, pass_barriers(&second, &peer, BARRIERS));
	EXPECT_EQ(0, forger_stop(&self->forger));

	/* All of it was counted, and what wasn't given dropped. */
	EXPECT_TRUE(RAW_EVENTUALLY(raw_endpoint_info(self->target.fd,
						     self->target.endpoint).messages ==
				   self->forger.said));
	info = raw_endpoint_info(self->target.fd, self->target.endpoint);
	EXPECT_EQ(variant->given ? 0 : self->forger.said, info.dropped);
	EXPECT_EQ(variant->given ? self->forger.said : 0,
		  raw_counter_raised(self->target.fd, self->target.counter));
	EXPECT_EQ(IB_COLLQ_ENDPOINT_CONNECTED, info.state);
	EXPECT_TRUE(raw_queue_in_state(self->target.fd, self->target.queue, IB_COLLQ_QUEUE_IDLE));
	raw_side_close(&peer);
}

/*
 * Endpoints that are connected to one that has another peer, and doesn't know
 * them. Its messages are none of theirs.
 */
TEST(third_parties)
{
	struct raw_side a, b, third[8];
	struct ib_collq_task tasks[8];
	unsigned int i;
	int graph;

	ASSERT_EQ(0, raw_pair_open(&a, &b));
	for (i = 0; i < ARRAY_SIZE(third); i++) {
		ASSERT_EQ(0, raw_side_open(&third[i]));
		ASSERT_EQ(0, raw_side_connect(&third[i], a.attr.address));
	}
	for (i = 0; i < ARRAY_SIZE(tasks); i++)
		tasks[i] = raw_signal(third[0].endpoint, RAW_SLOT, RAW_GENERATION);
	for (i = 0; i < ARRAY_SIZE(third); i++) {
		graph = raw_graph_create(third[i].fd, tasks, ARRAY_SIZE(tasks));
		ASSERT_LT(0, graph);
		ASSERT_EQ(0, raw_submit(third[i].fd, third[i].queue, graph, 0, 0, NULL));
		EXPECT_EQ(0, pass_barriers(&a, &b, BARRIERS / ARRAY_SIZE(third)));
	}
	EXPECT_EQ(IB_COLLQ_ENDPOINT_CONNECTED, raw_endpoint_info(a.fd, a.endpoint).state);
	EXPECT_EQ(IB_COLLQ_ENDPOINT_CONNECTED, raw_endpoint_info(b.fd, b.endpoint).state);
	for (i = 0; i < ARRAY_SIZE(third); i++)
		raw_side_close(&third[i]);
	raw_pair_close(&a, &b);
}

/* An endpoint with a peer that there isn't, and what it writes to there. */
static int stray(int fd, struct ib_collq_task *task)
{
	struct ib_collq_endpoint_create attr = raw_endpoint_attr(IB_COLLQ_ENDPOINT_SIGNAL);
	struct ib_collq_zone_name name = {
		.version = htole16(IB_COLLQ_PROTOCOL_VERSION), .length = htole64(8),
	};
	struct ib_collq_address address;
	int err, endpoint, target;

	attr.max_send_sge = 1;
	attr.send_capacity = 1;
	attr.timeout = 31;
	endpoint = raw_endpoint_create(fd, &attr);
	if (endpoint < 0)
		return endpoint;
	memcpy(&address, attr.address, sizeof(address));
	address.qpn = htole32(0xfffff0);
	memcpy(name.endpoint, address.nonce, sizeof(name.endpoint));
	err = raw_endpoint_connect(fd, endpoint, (__u8 *)&address);
	if (err)
		return err;
	target = raw_target_create(fd, endpoint, &name);
	*task = raw_write_list(endpoint, target, 0, 1);
	return target < 0 ? target : 0;
}

#define NR_STRAYS	600

/* Writes on all of them in a graph that is cancelled then: each endpoint fails. */
static int fail_many(int fd, __u32 ring)
{
	static struct ib_collq_task tasks[NR_STRAYS + 1];
	const struct ib_collq_sge sge = { .length = 8 };
	struct ib_collq_buffer_bind binding = {};
	const struct raw_graph graph = {
		.tasks = tasks, .nr_tasks = NR_STRAYS + 1, .sges = &sge, .nr_sges = 1,
		.nr_buffers = 1,
	};
	int i, id, queue, err;

	for (i = 0; i < NR_STRAYS; i++) {
		err = stray(fd, &tasks[i]);
		if (err)
			return err;
	}
	tasks[i] = raw_wait_for(raw_counter_create(fd, IB_COLLQ_SOURCE_USER, 0), 1);
	binding.region = raw_region_create(fd, raw_map(RAW_PAGE), RAW_PAGE, 0);
	id = raw_data_graph_create(fd, &graph, NULL);
	queue = raw_queue_create(fd, ring, 1, NULL, 0);
	if (id < 0 || queue < 0)
		return -EIO;
	err = raw_submit_bound(fd, queue, id, &binding, 1, NULL);
	return err ? err : raw_cancel(fd, queue, 0);
}

/* One context fails in many ways at once; deadlines of others come to pass all the same. */
TEST(many_failures)
{
	__u64 deadline, sequence;
	struct ib_collq_task task;
	struct raw_side a, b, c;
	int graph, status;

	ASSERT_EQ(0, raw_pair_open(&a, &b));
	ASSERT_EQ(0, raw_side_open(&c));
	task = raw_wait_for(a.counter, 1);
	graph = raw_graph_create(a.fd, &task, 1);
	ASSERT_EQ(0, fail_many(c.fd, c.ring.id));
	deadline = raw_in_ms(100);
	ASSERT_EQ(0, raw_submit(a.fd, a.queue, graph, 0, deadline, &sequence));
	ASSERT_EQ(0, raw_result(a.fd, a.queue, sequence, &status));
	EXPECT_EQ(-ETIMEDOUT, status);
	if (!slow_kernel())
		EXPECT_GT(deadline + 500000000, raw_now())
			TH_LOG("%llu ms late", (raw_now() - deadline) / 1000000);
	raw_side_close(&c);
	raw_pair_close(&a, &b);
}

/* In a network namespace of its own: with a descriptor from before, and without. */
static int be_elsewhere(struct raw_side *side, bool may_open)
{
	struct ib_collq_endpoint_create attr = raw_endpoint_attr(IB_COLLQ_ENDPOINT_SIGNAL);
	int fd;

	if (raw_side_open(side))
		return 10;
	if (unshare(CLONE_NEWNET))
		return 11;
	/* The GID isn't one of the namespace's. */
	if (raw_endpoint_create(side->fd, &attr) != -EACCES)
		return 12;
	if (raw_endpoint_connect(side->fd, side->endpoint, side->attr.address) != -EADDRNOTAVAIL)
		return 13;
	fd = raw_open();
	if (!may_open)
		return fd == -EPERM ? 0 : 14;
	if (fd < 0)
		return 15;
	return raw_endpoint_create(fd, &attr) == -EACCES ? 0 : 16;
}

static void try_elsewhere(struct __test_metadata *_metadata, bool may_open)
{
	struct raw_side side;
	pid_t pid = fork();

	ASSERT_LE(0, pid);
	if (!pid)
		_exit(be_elsewhere(&side, may_open));
	EXPECT_EQ(0, raw_exit_status(pid));
}

TEST(network_namespaces)
{
	struct raw_side a, b;

	if (geteuid())
		SKIP(return, "takes root");
	ASSERT_EQ(0, raw_pair_open(&a, &b));
	try_elsewhere(_metadata, true);
	/* Other namespaces that are about to go are in the way. */
	ASSERT_TRUE(RAW_EVENTUALLY(!system("rdma system set netns exclusive 2>/dev/null")));
	try_elsewhere(_metadata, false);
	EXPECT_EQ(0, pass_barriers(&a, &b, BARRIERS));
	ASSERT_TRUE(RAW_EVENTUALLY(!system("rdma system set netns shared 2>/dev/null")));
	EXPECT_EQ(0, pass_barriers(&a, &b, BARRIERS));
	raw_pair_close(&a, &b);
}

TEST_HARNESS_MAIN
