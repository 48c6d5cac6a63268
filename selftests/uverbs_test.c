// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The uverbs front end, raw: objects have handles, which may go in any order and with
 * the descriptor, the process or the device; and a context is its owner's.
 *
 * It runs where ib_uverbs is the patched one (tools/vm --uverbs).
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <infiniband/verbs.h>
#include <rdma/ib_collq_uverbs.h>
#include <rdma/rdma_user_ioctl_cmds.h>

#include "kselftest_harness.h"

#include "collq_util.h"
#include "hole.h"
#include "pass_fd.h"
#include "usage.h"
#include "verbs.h"
#include "verbs_device.h"

/* Of SoftRoCE */
#define DRIVER	14

/* What a test works with; a descriptor, and a context on it that runs graphs */
struct world {
	struct ibv_context *ibv;
	struct collq_verbs *verbs;
	struct ib_collq_ring_header *map;
	size_t map_size;
	int ring_fd;
	__u32 ring;
	__u32 counter;
	__u32 graph;		/* waits for one of counter */
	__u32 queue;
};

static int command(struct world *w, unsigned long command, void *arg)
{
	return collq_verbs_command(w->verbs, command, arg);
}

static int batch(struct world *w, unsigned long cmd, void *entry, __u32 size)
{
	struct ib_collq_batch batch = {
		.size = sizeof(batch), .nr = 1, .entry_size = size,
		.entries = (unsigned long)entry,
	};
	int ret = command(w, cmd, &batch);

	return ret == 1 ? 0 : ret;
}

static int make_counter(struct world *w, __u32 *id)
{
	struct ib_collq_counter_create create = { .source = IB_COLLQ_SOURCE_USER };
	int err = batch(w, IB_COLLQ_COUNTER_CREATE, &create, sizeof(create));

	*id = create.id;
	return err;
}

static int destroy(struct world *w, __u32 id)
{
	struct ib_collq_object_destroy entry = { .id = id };

	return batch(w, IB_COLLQ_OBJECT_DESTROY, &entry, sizeof(entry));
}

static int make_objects(struct world *w)
{
	struct ib_collq_ring_create ring = { .size = sizeof(ring), .entries = 16, .eventfd = -1 };
	struct ib_collq_queue_create queue = { .size = sizeof(queue), .depth = 4 };
	struct ib_collq_graph_create graph = { .size = sizeof(graph), .nr_tasks = 1 };
	struct ib_collq_task task;
	int err;

	err = command(w, IB_COLLQ_RING_CREATE, &ring);
	if (!err)
		err = make_counter(w, &w->counter);
	task = raw_wait_for(w->counter, 1);
	graph.tasks = (unsigned long)&task;
	graph.task_size = sizeof(task);
	if (!err)
		err = command(w, IB_COLLQ_GRAPH_CREATE, &graph);
	queue.ring = ring.id;
	if (!err)
		err = command(w, IB_COLLQ_QUEUE_CREATE, &queue);
	if (err)
		return err;
	w->ring = ring.id;
	w->graph = graph.id;
	w->queue = queue.id;
	w->map_size = ring.mmap_size;
	w->ring_fd = collq_verbs_ring_fd(w->verbs, ring.id);
	w->map = mmap(NULL, ring.mmap_size, PROT_READ | PROT_WRITE, MAP_SHARED, w->ring_fd, 0);
	return w->map == MAP_FAILED ? -errno : 0;
}

static int world_open(struct world *w)
{
	int err;

	memset(w, 0, sizeof(*w));
	w->ibv = verbs_device_open();
	if (!w->ibv)
		return -ENODEV;
	err = collq_verbs_open(w->ibv->cmd_fd, DRIVER, &w->verbs);
	return err ? err : make_objects(w);
}

static int submit(struct world *w)
{
	struct ib_collq_queue_submit submit = {
		.size = sizeof(submit), .queue = w->queue, .graph = w->graph, .user_data = 7,
	};

	return command(w, IB_COLLQ_QUEUE_SUBMIT, &submit);
}

static int submit_and_wait(struct world *w, int *status)
{
	struct ib_collq_queue_submit_wait run = {
		.size = sizeof(run), .queue = w->queue, .graph = w->graph,
	};
	int err = command(w, IB_COLLQ_QUEUE_SUBMIT_WAIT, &run);

	*status = run.status;
	return err;
}

static int raise_counter(struct world *w)
{
	struct ib_collq_counter_raise raise = {
		.size = sizeof(raise), .counter = w->counter, .count = 1,
	};

	return command(w, IB_COLLQ_COUNTER_RAISE, &raise);
}

FIXTURE(uverbs) {
	struct world w;
};

FIXTURE_SETUP(uverbs)
{
	int err = world_open(&self->w);

	if (err == -EOPNOTSUPP)
		SKIP(return, "this ib_uverbs takes no extensions");
	ASSERT_EQ(0, err);
}

/* Lets go of the ring, which is a file of its own. */
static void drop_ring(struct world *w)
{
	if (w->map)
		munmap(w->map, w->map_size);
	w->map = NULL;
	close(w->ring_fd);
}

/* Whatever became of handles, with the descriptor all is gone. */
FIXTURE_TEARDOWN(uverbs)
{
	if (self->w.ibv)
		ibv_close_device(self->w.ibv);
	drop_ring(&self->w);
	EXPECT_TRUE(RAW_EVENTUALLY(usage_quiet()));
}

TEST_F(uverbs, tells_what_it_is)
{
	struct ib_collq_query query = { .size = sizeof(query) };

	ASSERT_EQ(0, command(&self->w, IB_COLLQ_QUERY, &query));
	EXPECT_EQ(IB_COLLQ_ABI_VERSION, query.abi_version);
	EXPECT_STREQ("rxe0", (char *)query.device);
	query.size = 3;
	EXPECT_EQ(-EINVAL, command(&self->w, IB_COLLQ_QUERY, &query));
	EXPECT_EQ(-ENOTTY, command(&self->w, 12345, &query));
}

TEST_F(uverbs, runs_a_graph)
{
	struct pollfd poll_fd = { .fd = self->w.ring_fd, .events = POLLIN };

	ASSERT_EQ(0, submit(&self->w));
	EXPECT_EQ(0, poll(&poll_fd, 1, 0));
	ASSERT_EQ(0, raise_counter(&self->w));
	EXPECT_EQ(1, poll(&poll_fd, 1, 1000));
	EXPECT_EQ(1, self->w.map->tail);
}

TEST_F(uverbs, objects_in_use_stay)
{
	struct ib_collq_counter_read read = {
		.size = sizeof(read), .counter = self->w.counter,
	};

	EXPECT_EQ(-EBUSY, destroy(&self->w, self->w.counter));
	EXPECT_EQ(0, command(&self->w, IB_COLLQ_COUNTER_READ, &read));
	ASSERT_EQ(0, submit(&self->w));
	EXPECT_EQ(-EBUSY, destroy(&self->w, self->w.graph));
	EXPECT_EQ(0, destroy(&self->w, self->w.queue));
	EXPECT_EQ(0, destroy(&self->w, self->w.graph));
	EXPECT_EQ(0, destroy(&self->w, self->w.counter));
	EXPECT_EQ(-ENOENT, destroy(&self->w, self->w.counter));
	EXPECT_EQ(0, destroy(&self->w, self->w.ring));
}

/* By the library's way it is refused, as it is everywhere. */
TEST_F(uverbs, ring_in_use_stays)
{
	EXPECT_EQ(-EBUSY, destroy(&self->w, self->w.ring));
	EXPECT_EQ(0, destroy(&self->w, self->w.queue));
	EXPECT_EQ(0, destroy(&self->w, self->w.ring));
}

/* Whoever polls a ring may do so when all else is gone. */
TEST_F(uverbs, ring_is_polled_to_the_end)
{
	struct epoll_event event = { .events = EPOLLIN };
	int fd = epoll_create1(0);

	ASSERT_EQ(0, epoll_ctl(fd, EPOLL_CTL_ADD, self->w.ring_fd, &event));
	EXPECT_EQ(0, epoll_wait(fd, &event, 1, 0));
	munmap(self->w.map, self->w.map_size);
	self->w.map = NULL;
	ASSERT_EQ(0, ibv_close_device(self->w.ibv));
	self->w.ibv = NULL;
	EXPECT_EQ(1, epoll_wait(fd, &event, 1, 1000));
	EXPECT_TRUE(event.events & EPOLLHUP);
	/* What has been freed is gone by then. */
	usleep(100000);
	EXPECT_EQ(0, epoll_ctl(fd, EPOLL_CTL_DEL, self->w.ring_fd, NULL));
	close(fd);
}

/* By its id, as no handle does it: the descriptor is there, and there is nothing behind. */
static int destroy_by_id(struct world *w, __u32 id)
{
	struct ib_collq_object_destroy entry = { .id = id };
	struct ib_collq_batch batch = {
		.size = sizeof(batch), .nr = 1, .entry_size = sizeof(entry),
		.entries = (unsigned long)&entry,
	};
	struct {
		struct ib_uverbs_ioctl_hdr hdr;
		struct ib_uverbs_attr attrs[2];
	} call = {
		.hdr = {
			.length = sizeof(call), .object_id = IB_COLLQ_UOBJECT_CONTEXT,
			.method_id = IB_COLLQ_METHOD_OBJECT_DESTROY, .num_attrs = 2,
			.driver_id = DRIVER,
		},
		.attrs = {
			{ .attr_id = IB_COLLQ_ATTR_CONTEXT, .flags = UVERBS_ATTR_F_MANDATORY },
			{ .attr_id = IB_COLLQ_ATTR_ARGUMENT, .flags = UVERBS_ATTR_F_MANDATORY,
			  .len = sizeof(batch), .data = (unsigned long)&batch },
		},
	};
	int ret;

	/* Of all handles only the context's is one of a context. */
	do
		ret = ioctl(w->ibv->cmd_fd, RDMA_VERBS_IOCTL, &call.hdr);
	while (ret < 0 && ++call.attrs[0].data < 64);
	return ret == 1 ? 0 : -errno;
}

TEST_F(uverbs, ring_is_destroyed_while_polled)
{
	struct pollfd fd = { .fd = self->w.ring_fd, .events = POLLIN };

	EXPECT_EQ(0, destroy(&self->w, self->w.queue));
	EXPECT_EQ(0, poll(&fd, 1, 0));
	ASSERT_EQ(0, destroy_by_id(&self->w, self->w.ring));
	EXPECT_EQ(1, poll(&fd, 1, 0));
	EXPECT_TRUE(fd.revents & POLLHUP);
}

/* The descriptor of a ring may go first. */
TEST_F(uverbs, ring_is_closed_under_its_queue)
{
	ASSERT_EQ(0, close(self->w.ring_fd));
	ASSERT_EQ(0, submit(&self->w));
	ASSERT_EQ(0, raise_counter(&self->w));
	EXPECT_EQ(1, self->w.map->tail);
	EXPECT_EQ(0, destroy(&self->w, self->w.queue));
}

/* A call with memory that doesn't come. */
struct stuck {
	struct world *w;
	struct hole hole;
	int result;
};

static void *stuck_run(void *arg)
{
	struct stuck *stuck = arg;
	struct ib_collq_graph_create graph = {
		.size = sizeof(graph), .nr_tasks = 1, .task_size = sizeof(struct ib_collq_task),
		.tasks = (unsigned long)stuck->hole.page,
	};

	stuck->result = command(stuck->w, IB_COLLQ_GRAPH_CREATE, &graph);
	return NULL;
}

/* A process that has a descriptor until it's told to go */
static pid_t keep_until_eof(int pipe[2])
{
	pid_t pid = fork();
	char byte;

	if (!pid) {
		close(pipe[1]);
		_exit(read(pipe[0], &byte, 1));
	}
	close(pipe[0]);
	return pid;
}

/* Another process, which has a ring last, isn't held up by what the owner does. */
TEST_F(uverbs, ring_is_closed_by_another)
{
	struct stuck stuck = { .w = &self->w };
	int status = -1, go[2];
	pthread_t thread;
	pid_t pid;

	ASSERT_EQ(0, pipe(go));
	pid = keep_until_eof(go);
	ASSERT_LT(0, pid);
	drop_ring(&self->w);
	ASSERT_TRUE(hole_open(&stuck.hole));
	ASSERT_EQ(0, pthread_create(&thread, NULL, stuck_run, &stuck));
	ASSERT_TRUE(hole_is_felt(&stuck.hole));
	close(go[1]);
	EXPECT_TRUE(RAW_EVENTUALLY(waitpid(pid, &status, WNOHANG) == pid));
	EXPECT_EQ(0, status);
	ASSERT_TRUE(hole_fill(&stuck.hole));
	ASSERT_EQ(0, pthread_join(thread, NULL));
	EXPECT_EQ(-EINVAL, stuck.result);
	hole_close(&stuck.hole);
}

TEST_F(uverbs, contexts_are_apart)
{
	struct ib_collq_counter_read read = { .size = sizeof(read) };
	struct collq_verbs *other;
	__u32 id;
	int i;

	ASSERT_EQ(0, collq_verbs_open(self->w.ibv->cmd_fd, DRIVER, &other));
	for (i = 0; i < 8; i++)
		ASSERT_EQ(0, make_counter(&self->w, &id));
	read.counter = id;
	EXPECT_EQ(0, command(&self->w, IB_COLLQ_COUNTER_READ, &read));
	EXPECT_EQ(-ENOENT, collq_verbs_command(other, IB_COLLQ_COUNTER_READ, &read));
	collq_verbs_close(other);
	EXPECT_EQ(0, command(&self->w, IB_COLLQ_COUNTER_READ, &read));
}

/* A method by hand. */
static int method(int fd, __u32 driver, __u16 object, __u16 method, __u16 attr, __u64 handle)
{
	struct {
		struct ib_uverbs_ioctl_hdr hdr;
		struct ib_uverbs_attr attr;
	} call = {
		.hdr = {
			.length = sizeof(call), .object_id = object, .method_id = method,
			.num_attrs = 1, .driver_id = driver,
		},
		.attr = { .attr_id = attr, .flags = UVERBS_ATTR_F_MANDATORY, .data = handle },
	};

	return ioctl(fd, RDMA_VERBS_IOCTL, &call.hdr) ? -errno : 0;
}

TEST_F(uverbs, nonsense_is_refused)
{
	int fd = self->w.ibv->cmd_fd;
	struct ibv_pd *pd = ibv_alloc_pd(self->w.ibv);

	ASSERT_NE(NULL, pd);
	EXPECT_EQ(-EPROTONOSUPPORT, method(fd, DRIVER, IB_COLLQ_UOBJECT_CONTEXT, 200,
					   IB_COLLQ_ATTR_HANDLE, 0));
	EXPECT_EQ(-EPROTONOSUPPORT, method(fd, DRIVER, IB_COLLQ_UOBJECT_CONTEXT + 100, 0,
					   IB_COLLQ_ATTR_HANDLE, 0));
	EXPECT_EQ(-EPROTONOSUPPORT, method(fd, DRIVER, 3 << 12, 0, IB_COLLQ_ATTR_HANDLE, 0));
	EXPECT_EQ(-EINVAL, method(fd, DRIVER + 1, IB_COLLQ_UOBJECT_CONTEXT, IB_COLLQ_METHOD_OPEN,
				  IB_COLLQ_ATTR_HANDLE, 0));
	/* A handle of nothing, and one of something else. */
	EXPECT_EQ(-ENOENT, method(fd, DRIVER, IB_COLLQ_UOBJECT_CONTEXT, IB_COLLQ_METHOD_CLOSE,
				  IB_COLLQ_ATTR_HANDLE, 12345));
	EXPECT_EQ(-EINVAL, method(fd, DRIVER, IB_COLLQ_UOBJECT_CONTEXT, IB_COLLQ_METHOD_CLOSE,
				  IB_COLLQ_ATTR_HANDLE, pd->handle));
	EXPECT_EQ(-EINVAL, method(fd, DRIVER, IB_COLLQ_UOBJECT_QUEUE,
				  IB_COLLQ_METHOD_QUEUE_DESTROY, IB_COLLQ_ATTR_HANDLE,
				  pd->handle));
	EXPECT_EQ(0, ibv_dealloc_pd(pd));
}

/* In a child the descriptor is there, but the context is its parent's. */
TEST_F(uverbs, child_may_not)
{
	int status;
	pid_t pid = fork();

	if (!pid)
		_exit(submit(&self->w) == -EPERM && make_objects(&self->w) == -EPERM ? 0 : 1);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_EQ(0, submit(&self->w));
}

/*
 * Whoever is given the descriptor has a context of his own, and lets go of that of a
 * process which has gone, too: see teardown.
 */
TEST_F(uverbs, descriptor_is_passed_on)
{
	struct collq_verbs *own;
	struct world w = {};
	int sockets[2], status, fd;
	pid_t pid;

	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, sockets));
	pid = fork();
	if (!pid)
		_exit(world_open(&w) || submit(&w) || !pass_fd(sockets[1], w.ibv->cmd_fd));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	ASSERT_EQ(0, status);
	fd = take_fd(sockets[0]);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, collq_verbs_open(fd, DRIVER, &own));
	w.verbs = own;
	EXPECT_EQ(0, make_counter(&w, &w.counter));
	EXPECT_EQ(0, raise_counter(&w));
	/* The graph that ran when its process ended is still there, and waits. */
	EXPECT_FALSE(usage_quiet());
	collq_verbs_close(own);
	close(fd);
	close(sockets[0]);
	close(sockets[1]);
}

/* A process that is killed while it sleeps in a method leaves nothing; see teardown. */
TEST_F(uverbs, killed_asleep)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		struct world w;

		if (!world_open(&w))
			submit_and_wait(&w, &status);
		_exit(1);
	}
	ASSERT_TRUE(RAW_EVENTUALLY(raw_asleep(pid)));
	usleep(50000);
	kill(pid, SIGKILL);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_TRUE(WIFSIGNALED(status));
}

/* The module stays as long as anybody has a context. */
TEST_F(uverbs, module_is_kept)
{
	EXPECT_EQ(-EWOULDBLOCK, raw_unload("ib_collq"));
	drop_ring(&self->w);
	EXPECT_EQ(-EWOULDBLOCK, raw_unload("ib_collq"));
	ASSERT_EQ(0, ibv_close_device(self->w.ibv));
	self->w.ibv = NULL;
	EXPECT_EQ(0, raw_unload("ib_collq"));
	EXPECT_EQ(0, system("modprobe ib_collq"));
}

/* Comes back to a device that was open all the time. */
TEST_F(uverbs, module_comes_back)
{
	struct ibv_context *ibv = verbs_device_open();
	struct collq_verbs *verbs;

	ASSERT_NE(NULL, ibv);
	drop_ring(&self->w);
	collq_verbs_close(self->w.verbs);
	ibv_close_device(self->w.ibv);
	self->w.ibv = NULL;
	ASSERT_EQ(0, raw_unload("ib_collq"));
	EXPECT_EQ(-EOPNOTSUPP, collq_verbs_open(ibv->cmd_fd, DRIVER, &verbs));
	ASSERT_EQ(0, system("modprobe ib_collq"));
	EXPECT_EQ(0, collq_verbs_open(ibv->cmd_fd, DRIVER, &verbs));
	ibv_close_device(ibv);
}

struct sleeper {
	struct world *w;
	pid_t tid;
	int ret;
	int status;
};

static void *sleep_in_method(void *arg)
{
	struct sleeper *sleeper = arg;

	__atomic_store_n(&sleeper->tid, gettid(), __ATOMIC_RELEASE);
	sleeper->ret = submit_and_wait(sleeper->w, &sleeper->status);
	return NULL;
}

/* Who sleeps is told at once; the device goes when the descriptor is closed. */
TEST_F(uverbs, device_goes)
{
	struct ib_collq_query query = { .size = sizeof(query) };
	struct sleeper sleeper = { .w = &self->w };
	pthread_t thread;
	pid_t pid;
	int status;

	ASSERT_EQ(0, pthread_create(&thread, NULL, sleep_in_method, &sleeper));
	ASSERT_TRUE(RAW_EVENTUALLY(__atomic_load_n(&sleeper.tid, __ATOMIC_ACQUIRE) &&
				   raw_asleep(sleeper.tid)));
	pid = fork();
	if (!pid) {
		ibv_close_device(self->w.ibv);
		drop_ring(&self->w);
		execlp("rdma", "rdma", "link", "delete", "rxe0", NULL);
		_exit(1);
	}
	ASSERT_EQ(0, pthread_join(thread, NULL));
	EXPECT_TRUE(sleeper.ret == -ENODEV || sleeper.status == -ENODEV);
	EXPECT_EQ(-ENODEV, command(&self->w, IB_COLLQ_QUERY, &query));
	/* Handles can be destroyed still, or left to the end. */
	EXPECT_EQ(0, destroy(&self->w, self->w.queue));
	EXPECT_EQ(0, waitpid(pid, &status, WNOHANG));
	drop_ring(&self->w);
	ASSERT_EQ(0, ibv_close_device(self->w.ibv));
	self->w.ibv = NULL;
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_EQ(0, system("rdma link add rxe0 type rxe netdev d0"));
}

TEST_HARNESS_MAIN
