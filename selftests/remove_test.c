// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The module and the device, when they are to go: the module not while anybody
 * uses it; the device at any time, and then everything ends with -ENODEV.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "hole.h"
#include "landing.h"

static int add_device(void)
{
	return system("rdma link add " RAW_DEVICE " type rxe netdev d0");
}

static int delete_device(void)
{
	return system("rdma link del " RAW_DEVICE);
}

FIXTURE(remove) {
	struct raw_side a;
	struct raw_side b;
};

FIXTURE_SETUP(remove)
{
	if (geteuid())
		SKIP(return, "takes root");
	ASSERT_EQ(0, raw_pair_open(&self->a, &self->b));
}

FIXTURE_TEARDOWN(remove)
{
	raw_pair_close(&self->a, &self->b);
	/* Whatever has become of the test, those behind it need both. */
	if (system("modprobe ib_collq"))
		TH_LOG("no module any more");
	if (!raw_node()[0] && add_device())
		TH_LOG("no device any more");
}

/* At once when nobody does, though endpoints still linger. */
TEST_F(remove, module)
{
	EXPECT_EQ(-EWOULDBLOCK, raw_unload("ib_collq"));
	ASSERT_EQ(0, raw_pair_barrier(&self->a, &self->b));
	/* A mapping is as good as a descriptor. */
	close(self->a.fd);
	self->a.fd = -1;
	raw_side_close(&self->b);
	EXPECT_EQ(-EWOULDBLOCK, raw_unload("ib_collq"));
	raw_side_close(&self->a);
	EXPECT_EQ(0, raw_unload("ib_collq"));
	EXPECT_GT(0, raw_open());

	ASSERT_EQ(0, system("modprobe ib_collq"));
	EXPECT_EQ(0, raw_try_new_pair());
}

/* The instance is drawn when the module is loaded. */
TEST_F(remove, module_instance)
{
	struct ib_collq_query before, after;
	int fd;

	ASSERT_EQ(0, raw_query(self->a.fd, &before));
	raw_pair_close(&self->a, &self->b);
	ASSERT_EQ(0, raw_unload("ib_collq"));
	ASSERT_EQ(0, system("modprobe ib_collq"));
	fd = raw_open();
	ASSERT_EQ(0, raw_query(fd, &after));
	EXPECT_NE(0, memcmp(before.instance, after.instance, sizeof(before.instance)));
	close(fd);
}

/* Somebody who sleeps: for a submission, or for a ring if there's no queue. */
struct sleeper {
	pthread_t thread;
	int fd;
	struct ib_collq_queue_wait wait;
	pid_t tid;
	int ret;
	bool over;
};

static void *sleeper_run(void *data)
{
	struct sleeper *sleeper = data;

	__atomic_store_n(&sleeper->tid, gettid(), __ATOMIC_RELEASE);
	sleeper->ret = raw_ioctl(sleeper->fd, IB_COLLQ_QUEUE_WAIT, &sleeper->wait);
	__atomic_store_n(&sleeper->over, true, __ATOMIC_RELEASE);
	return NULL;
}

static bool sleeper_begin(struct sleeper *sleeper, int fd, __u32 queue, __u32 ring)
{
	*sleeper = (struct sleeper) {
		.fd = fd,
		.wait = {
			.size = sizeof(sleeper->wait),
			.queue = queue,
			.ring = ring,
			.sequence = !!queue,
		},
	};
	return !pthread_create(&sleeper->thread, NULL, sleeper_run, sleeper);
}

static bool sleeper_start(struct sleeper *sleeper, int fd, __u32 queue, __u32 ring)
{
	if (!sleeper_begin(sleeper, fd, queue, ring))
		return false;
	return RAW_EVENTUALLY(__atomic_load_n(&sleeper->tid, __ATOMIC_ACQUIRE) &&
			      raw_asleep(sleeper->tid));
}

/* With graphs that run, somebody who sleeps, and endpoints that linger. */
TEST_F(remove, device)
{
	struct pollfd pollfd = { .fd = self->a.fd, .events = POLLIN };
	struct ib_collq_completion completion;
	struct ib_collq_query query;
	struct ib_collq_task task = raw_wait_for(raw_counter_create(self->a.fd,
			IB_COLLQ_SOURCE_USER, 0), 1);
	struct sleeper submission, behind, ring;
	struct raw_ring other;
	int queue;

	ASSERT_EQ(0, raw_try_new_pair());
	ASSERT_EQ(0, raw_ring_create(self->a.fd, 1, &other));
	ASSERT_EQ(0, raw_submit(self->a.fd, self->a.queue, self->a.graph, 1, 0, NULL));
	ASSERT_EQ(0, raw_submit(self->a.fd, self->a.queue, self->a.graph, 2, 0, NULL));
	queue = raw_queue_behind_gap(&self->a);
	ASSERT_LT(0, queue);
	ASSERT_EQ(0, raw_submit(self->a.fd, queue, raw_graph_create(self->a.fd, &task, 1), 3, 0,
				NULL));
	ASSERT_TRUE(sleeper_start(&submission, self->a.fd, self->a.queue, 0));
	ASSERT_TRUE(sleeper_start(&behind, self->a.fd, queue, 0));
	ASSERT_TRUE(sleeper_start(&ring, self->a.fd, 0, other.id));

	ASSERT_EQ(0, delete_device());
	pthread_join(submission.thread, NULL);
	EXPECT_EQ(-ENODEV, submission.ret ? submission.ret : submission.wait.status);
	pthread_join(behind.thread, NULL);
	EXPECT_EQ(-ENODEV, behind.ret ? behind.ret : behind.wait.status);
	pthread_join(ring.thread, NULL);
	EXPECT_EQ(-ENODEV, ring.ret);

	/* The ring outlives it, and all is told there. */
	ASSERT_TRUE(raw_ring_take(&self->a.ring, &completion));
	EXPECT_EQ(1, completion.user_data);
	EXPECT_EQ(-ENODEV, completion.status);
	ASSERT_TRUE(raw_ring_take(&self->a.ring, &completion));
	EXPECT_EQ(2, completion.user_data);
	EXPECT_EQ(-ENODEV, completion.status);

	EXPECT_EQ(-ENODEV, raw_query(self->a.fd, &query));
	EXPECT_EQ(-ENODEV, raw_submit(self->a.fd, self->a.queue, self->a.graph, 0, 0, NULL));
	EXPECT_EQ(-ENODEV, raw_destroy(self->b.fd, self->b.queue));
	ASSERT_EQ(1, poll(&pollfd, 1, RAW_PATIENCE_MS));
	EXPECT_EQ(POLLERR | POLLHUP, pollfd.revents & (POLLERR | POLLHUP));
	EXPECT_STREQ("", raw_node());
}

/* With memory that is registered twice, and a receive posted into a list of it. */
TEST_F(remove, device_with_data)
{
	const size_t size = 8 * RAW_PAGE;
	const struct ib_collq_sge sge = { .length = size };
	struct ib_collq_task tasks[2];
	const struct raw_graph graph = {
		.tasks = tasks, .nr_tasks = 2, .sges = &sge, .nr_sges = 1, .nr_buffers = 1,
	};
	struct ib_collq_sge parts[] = {
		{ .length = size / 2, .offset = size / 2 }, { .length = size / 2 },
	};
	struct ib_collq_buffer_bind binding = {};
	struct ib_collq_completion completion;
	char *memory = raw_map(size);
	int id;

	ASSERT_EQ(0, raw_pair_add_messages(&self->a, &self->b));
	tasks[0] = raw_recv_list(self->a.message_endpoint, 0, 1);
	tasks[1] = raw_wait_for(raw_counter_create(self->a.fd, IB_COLLQ_SOURCE_MESSAGES,
						   self->a.message_endpoint), 1);
	parts[0].buffer = raw_region_create(self->a.fd, memory, size, IB_COLLQ_ACCESS_WRITE);
	parts[1].buffer = parts[0].buffer;
	id = raw_list_create(self->a.fd, parts, 2, IB_COLLQ_ACCESS_WRITE);
	ASSERT_LT(0, id);
	binding.region = id;
	id = raw_data_graph_create(self->a.fd, &graph, NULL);
	ASSERT_LT(0, id);
	ASSERT_EQ(0, raw_submit_bound(self->a.fd, self->a.queue, id, &binding, 1, NULL));
	EXPECT_EQ((long)(size >> 10), raw_status_kb("VmPin"));

	ASSERT_EQ(0, delete_device());
	ASSERT_TRUE(RAW_EVENTUALLY(raw_ring_take(&self->a.ring, &completion)));
	EXPECT_EQ(-ENODEV, completion.status);
	EXPECT_TRUE(RAW_EVENTUALLY(!raw_status_kb("VmPin")));
	raw_pair_close(&self->a, &self->b);
	EXPECT_EQ(0, raw_unload("ib_collq"));
	munmap(memory, size);
}

static void *remover_run(void *failed)
{
	__atomic_store_n((int *)failed, delete_device(), __ATOMIC_RELEASE);
	return NULL;
}

/*
 * Who waits hears that the device is gone when nothing of his is on it any more, also if
 * it takes its time to go: here because of a call that others don't know of.
 */
TEST_F(remove, news_come_last)
{
	struct pollfd pollfd = { .fd = self->a.fd };
	struct ib_collq_task task = raw_wait_for(self->a.counter, 1);
	struct hole_upload upload;
	struct sleeper sleeper;
	pthread_t remover;
	struct hole hole;
	int failed = -1;

	ASSERT_TRUE(hole_open(&hole));
	ASSERT_EQ(0, raw_submit(self->a.fd, self->a.queue,
				raw_graph_create(self->a.fd, &task, 1), 0, 0, NULL));
	ASSERT_TRUE(hole_upload_begin(&upload, self->b.fd, &hole));
	ASSERT_EQ(0, pthread_create(&remover, NULL, remover_run, &failed));
	ASSERT_EQ(1, poll(&pollfd, 1, RAW_PATIENCE_MS));

	ASSERT_TRUE(sleeper_begin(&sleeper, self->a.fd, self->a.queue, 0));
	EXPECT_FALSE(RAW_WITHIN(300, __atomic_load_n(&sleeper.over, __ATOMIC_ACQUIRE)));
	ASSERT_TRUE(hole_fill(&hole));
	ASSERT_TRUE(RAW_EVENTUALLY(__atomic_load_n(&sleeper.over, __ATOMIC_ACQUIRE)));
	EXPECT_EQ(-ENODEV, sleeper.ret ? sleeper.ret : sleeper.wait.status);
	EXPECT_EQ(-EINVAL, hole_upload_end(&upload));
	pthread_join(sleeper.thread, NULL);
	pthread_join(remover, NULL);
	EXPECT_EQ(0, failed);
	hole_close(&hole);
}

/* In a process of its own. */
static void call_without_end(int ready)
{
	struct hole_upload upload;
	struct raw_side a, b;
	struct hole hole;

	if (raw_pair_open(&a, &b) || !hole_open(&hole) ||
	    !hole_upload_begin(&upload, a.fd, &hole) || write(ready, "", 1) != 1)
		_exit(1);
	pause();
}

/* Starts a process that does something and says when it's ready: it, or -1. */
static pid_t start(void (*child)(int ready))
{
	int ready[2];
	bool began;
	char byte;
	pid_t pid;

	if (pipe(ready))
		return -1;
	pid = fork();
	if (!pid)
		child(ready[1]);
	close(ready[1]);
	began = read(ready[0], &byte, 1) == 1;
	close(ready[0]);
	return began ? pid : -1;
}

/*
 * The device can't go while a call waits for its memory; others hear that it's to go,
 * also those that come behind in the device's list. The process can be killed.
 */
TEST_F(remove, device_and_a_call_without_end)
{
	struct ib_collq_completion completion;
	struct ib_collq_task task;
	int failed = -1, status;
	pthread_t remover;
	pid_t pid;

	raw_pair_close(&self->a, &self->b);
	pid = start(call_without_end);
	ASSERT_LT(0, pid);
	ASSERT_EQ(0, raw_pair_open(&self->a, &self->b));
	task = raw_wait_for(self->a.counter, 1);
	ASSERT_EQ(0, raw_submit(self->a.fd, self->a.queue,
				raw_graph_create(self->a.fd, &task, 1), 0, 0, NULL));
	ASSERT_EQ(0, pthread_create(&remover, NULL, remover_run, &failed));
	EXPECT_TRUE(RAW_EVENTUALLY(raw_ring_take(&self->a.ring, &completion)));
	EXPECT_EQ(-ENODEV, completion.status);
	EXPECT_EQ(-1, __atomic_load_n(&failed, __ATOMIC_ACQUIRE));
	kill(pid, SIGKILL);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	pthread_join(remover, NULL);
	EXPECT_EQ(0, failed);
}

#define NR_BUSY		32
#define BUSY_LENGTH	(64UL << 20)

static bool busy;

/* Most of the time the kernel is telling of what happens to these pages. */
static void *busy_run(void *memory)
{
	/* Until all are there: making them takes the address space for itself. */
	while (!__atomic_load_n(&busy, __ATOMIC_ACQUIRE))
		usleep(1000);
	for (;;)
		madvise(memory, BUSY_LENGTH, MADV_FREE);
	return NULL;
}

/* A region in an address space where at least one thing or another always happens. */
static void busy_memory(int ready)
{
	char *memory = raw_map(BUSY_LENGTH);
	pthread_t thread;
	int fd = raw_open();
	int i;

	/* The rest of the machine is to go on. */
	if (nice(19) != 19)
		_exit(1);
	madvise(memory, BUSY_LENGTH, MADV_NOHUGEPAGE);
	memset(memory, 1, BUSY_LENGTH);
	if (raw_region_create(fd, memory, RAW_PAGE, IB_COLLQ_ACCESS_WRITE) < 0)
		_exit(1);
	for (i = 0; i < NR_BUSY; i++)
		if (pthread_create(&thread, NULL, busy_run, memory))
			_exit(1);
	__atomic_store_n(&busy, true, __ATOMIC_RELEASE);
	usleep(100000);
	if (write(ready, "", 1) != 1)
		_exit(1);
	pause();
}

/* What a process does to its memory doesn't keep the device. */
TEST_F_TIMEOUT(remove, device_and_busy_memory, 120)
{
	pid_t pid = start(busy_memory);
	int failed = -1, status;
	pthread_t remover;

	ASSERT_LT(0, pid);
	raw_pair_close(&self->a, &self->b);
	ASSERT_EQ(0, pthread_create(&remover, NULL, remover_run, &failed));
	EXPECT_TRUE(RAW_EVENTUALLY(__atomic_load_n(&failed, __ATOMIC_ACQUIRE) != -1));
	kill(pid, SIGKILL);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	pthread_join(remover, NULL);
	EXPECT_EQ(0, failed);
}

/* With a zone that is written to while the device goes. */
TEST(device_with_a_zone)
{
	struct ib_collq_sge sge = { .length = 20000 };
	struct ib_collq_zone_name name;
	struct landing landing;
	int graph, status;

	if (geteuid())
		SKIP(return, "takes root");
	ASSERT_EQ(0, landing_open(&landing, IB_COLLQ_ENDPOINT_ZONES));
	ASSERT_EQ(0, landing_offer(&landing, 77, 20000));
	graph = landing_graph(&landing, landing.target, 0, &sge, 1);
	ASSERT_EQ(0, landing_check(&landing, &sge, 1, 0, 1));
	ASSERT_EQ(0, system("(rdma link del " RAW_DEVICE ") &"));
	do
		status = landing_run(&landing, graph);
	while (!status);
	EXPECT_TRUE(status == -ENODEV || status == -ENETDOWN || status == -EHOSTUNREACH ||
		    status == -EREMOTEIO || status == -ECONNRESET) TH_LOG("status %d", status);
	ASSERT_TRUE(RAW_EVENTUALLY(!raw_node()[0]));
	EXPECT_TRUE(RAW_EVENTUALLY(!raw_status_kb("VmPin")));
	EXPECT_EQ(-ENODEV, raw_zone_offer(landing.to.side.fd, landing.to.side.endpoint,
					  landing.to.region, 0, 1, &name));
	EXPECT_EQ(-ENODEV, raw_destroy(landing.to.side.fd, landing.zone));
	memset(landing.to.area, LANDING_CANARY, LANDING_SIZE);
	EXPECT_TRUE(landing_untouched(&landing));
	landing_close(&landing);
	EXPECT_EQ(0, raw_unload("ib_collq"));
	EXPECT_EQ(0, system("modprobe ib_collq"));
	/* For others than us it may still be there. */
	EXPECT_TRUE(RAW_EVENTUALLY(!add_device()));
	EXPECT_EQ(0, raw_try_new_pair());
}

/* It comes back as another one, while old descriptors are still open. */
TEST_F(remove, device_and_add_it_again)
{
	struct ib_collq_query query;

	ASSERT_EQ(0, delete_device());
	ASSERT_EQ(0, add_device());
	ASSERT_TRUE(RAW_EVENTUALLY(raw_node()[0]));
	EXPECT_EQ(0, raw_try_new_pair());
	EXPECT_EQ(-ENODEV, raw_query(self->a.fd, &query));
	EXPECT_EQ(-EWOULDBLOCK, raw_unload("ib_collq"));
	raw_pair_close(&self->a, &self->b);
	EXPECT_EQ(0, raw_try_new_pair());
	EXPECT_EQ(0, raw_unload("ib_collq"));
}

TEST_HARNESS_MAIN
