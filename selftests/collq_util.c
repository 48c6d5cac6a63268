// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The raw ioctls, one function each. See collq_util.h.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "collq_util.h"

#define CLASS_DIR	"/sys/class/ib_collq"

__u64 raw_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

__u64 raw_in_ms(unsigned int ms)
{
	return raw_now() + ms * 1000000ULL;
}

/* Between two looks at something that will happen. */
void raw_nap(void)
{
	nanosleep(&(struct timespec) { .tv_nsec = 1000000 }, NULL);
}

/* Whether a thread sleeps, in what can be interrupted. */
bool raw_asleep(pid_t tid)
{
	char path[64], stat[512] = "", *state;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", tid);
	file = fopen(path, "r");
	if (!file)
		return false;
	state = fgets(stat, sizeof(stat), file) ? strrchr(stat, ')') : NULL;
	fclose(file);
	return state && state[2] == 'S';
}

int raw_exit_status(pid_t pid)
{
	int status;

	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int raw_unload(const char *module)
{
	return syscall(SYS_delete_module, module, O_NONBLOCK) ? -errno : 0;
}

/* Whether a class device is that of the RDMA device under test. */
static bool raw_is_device(const char *name)
{
	char path[512], device[64] = "";
	FILE *file;

	snprintf(path, sizeof(path), CLASS_DIR "/%s/ibdev", name);
	file = fopen(path, "r");
	if (!file)
		return false;
	if (!fgets(device, sizeof(device), file))
		device[0] = '\0';
	fclose(file);
	device[strcspn(device, "\n")] = '\0';
	return !strcmp(device, RAW_DEVICE);
}

/* The device's node as of now, or an empty string. */
const char *raw_node(void)
{
	static char node[300];
	struct dirent *entry;
	DIR *dir;

	node[0] = '\0';
	dir = opendir(CLASS_DIR);
	if (!dir)
		return node;
	while ((entry = readdir(dir))) {
		if (!raw_is_device(entry->d_name))
			continue;
		snprintf(node, sizeof(node), "/dev/infiniband/%s", entry->d_name);
		break;
	}
	closedir(dir);
	return node;
}

int raw_open(void)
{
	int fd = open(raw_node(), O_RDWR | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

int raw_ioctl(int fd, unsigned long cmd, void *arg)
{
	int ret = ioctl(fd, cmd, arg);

	return ret < 0 ? -errno : ret;
}

/* Number of entries done, or -errno; @error may be NULL. */
int raw_batch(int fd, unsigned long cmd, void *entries, __u32 entry_size,
	      __u32 nr, int *error)
{
	struct ib_collq_batch batch = {
		.size = sizeof(batch),
		.nr = nr,
		.entry_size = entry_size,
		.entries = (unsigned long)entries,
	};
	int ret = raw_ioctl(fd, cmd, &batch);

	if (error)
		*error = batch.error;
	return ret;
}

/* A batch of one: 0 or -errno. */
static int raw_one(int fd, unsigned long cmd, void *entry, __u32 entry_size)
{
	int error, ret = raw_batch(fd, cmd, entry, entry_size, 1, &error);

	if (ret < 0)
		/* The two ways to tell of it must agree. */
		return error && error != ret ? -EPROTO : ret;
	return ret == 1 && !error ? 0 : -EPROTO;
}

int raw_query(int fd, struct ib_collq_query *query)
{
	*query = (struct ib_collq_query) { .size = sizeof(*query) };
	return raw_ioctl(fd, IB_COLLQ_QUERY, query);
}

int raw_destroy(int fd, __u32 id)
{
	struct ib_collq_object_destroy entry = { .id = id };

	return raw_one(fd, IB_COLLQ_OBJECT_DESTROY, &entry, sizeof(entry));
}

int raw_reset(int fd, __u32 id, __u8 *address)
{
	struct ib_collq_object_reset reset = { .size = sizeof(reset), .id = id };
	int err = raw_ioctl(fd, IB_COLLQ_OBJECT_RESET, &reset);

	if (address)
		memcpy(address, reset.address, sizeof(reset.address));
	return err;
}

int raw_describe(int fd, __u32 id, void *info, __u32 info_size)
{
	struct ib_collq_object_describe describe = {
		.size = sizeof(describe),
		.id = id,
		.info = (unsigned long)info,
		.info_size = info_size,
	};

	return raw_ioctl(fd, IB_COLLQ_OBJECT_DESCRIBE, &describe);
}

bool raw_by_uverbs;
__u8 raw_ack_timeout = 16;
__u32 raw_endpoint_flags;

struct ib_collq_endpoint_create raw_endpoint_attr(__u32 kind)
{
	return (struct ib_collq_endpoint_create) {
		.kind = kind,
		.flags = raw_endpoint_flags,
		.peer = 42,
		.port = 1,
		.gid_index = 1,
		.timeout = raw_ack_timeout,
		.retry_cnt = 6,
		.rnr_retry = 7,
		.send_capacity = RAW_CAPACITY,
		.recv_capacity = RAW_CAPACITY,
		.max_send_sge = kind == IB_COLLQ_ENDPOINT_MESSAGE,
		.max_recv_sge = kind == IB_COLLQ_ENDPOINT_MESSAGE,
	};
}

int raw_endpoint_create(int fd, struct ib_collq_endpoint_create *attr)
{
	int err = raw_one(fd, IB_COLLQ_ENDPOINT_CREATE, attr, sizeof(*attr));

	return err ? err : (int)attr->id;
}

int raw_endpoint_connect(int fd, __u32 endpoint, const __u8 *address)
{
	struct ib_collq_endpoint_connect entry = { .endpoint = endpoint };

	memcpy(entry.address, address, sizeof(entry.address));
	return raw_one(fd, IB_COLLQ_ENDPOINT_CONNECT, &entry, sizeof(entry));
}

int raw_capacity(int fd, unsigned long cmd, __u32 endpoint, __u32 recvs)
{
	struct ib_collq_capacity entry = { .endpoint = endpoint, .recvs = recvs };

	return raw_one(fd, cmd, &entry, sizeof(entry));
}

int raw_counter_create(int fd, __u32 source, __u32 endpoint)
{
	struct ib_collq_counter_create entry = {
		.source = source,
		.endpoint = endpoint,
	};
	int err = raw_one(fd, IB_COLLQ_COUNTER_CREATE, &entry, sizeof(entry));

	return err ? err : (int)entry.id;
}

int raw_counter_raise(int fd, __u32 counter, __u64 count)
{
	struct ib_collq_counter_raise raise = {
		.size = sizeof(raise),
		.counter = counter,
		.count = count,
	};

	return raw_ioctl(fd, IB_COLLQ_COUNTER_RAISE, &raise);
}

int raw_counter_read(int fd, __u32 counter, struct ib_collq_counter_read *read)
{
	*read = (struct ib_collq_counter_read) {
		.size = sizeof(*read),
		.counter = counter,
	};
	return raw_ioctl(fd, IB_COLLQ_COUNTER_READ, read);
}

/* What was counted, or all ones if that can't be read. */
__u64 raw_counter_raised(int fd, __u32 counter)
{
	struct ib_collq_counter_read read;

	return raw_counter_read(fd, counter, &read) ? ~0ULL : read.raised;
}

int raw_slot_bind(int fd, __u32 endpoint, __u16 slot, __u16 generation,
		  __u32 counter)
{
	struct ib_collq_slot_bind entry = {
		.endpoint = endpoint,
		.slot = slot,
		.generation = generation,
		.counter = counter,
	};

	return raw_one(fd, IB_COLLQ_SLOT_BIND, &entry, sizeof(entry));
}

int raw_slot_unbind(int fd, __u32 endpoint, __u16 slot, __u16 generation)
{
	struct ib_collq_slot_bind entry = {
		.endpoint = endpoint,
		.slot = slot,
		.generation = generation,
	};

	return raw_one(fd, IB_COLLQ_SLOT_UNBIND, &entry, sizeof(entry));
}

int raw_queue_create(int fd, __u32 ring, __u32 depth,
		     const struct ib_collq_queue_endpoint *links, __u32 nr)
{
	struct ib_collq_queue_create create = {
		.size = sizeof(create),
		.ring = ring,
		.depth = depth,
		.nr_endpoints = nr,
		.entry_size = sizeof(*links),
		.endpoints = (unsigned long)links,
	};
	int err = raw_ioctl(fd, IB_COLLQ_QUEUE_CREATE, &create);

	return err ? err : (int)create.id;
}

int raw_queue_behind_gap(const struct raw_side *side)
{
	int gap = raw_counter_create(side->fd, IB_COLLQ_SOURCE_USER, 0);
	int queue = raw_queue_create(side->fd, side->ring.id, RAW_DEPTH, NULL, 0);
	int err = raw_destroy(side->fd, gap);

	return err ? err : queue;
}

int raw_graph_create(int fd, const struct ib_collq_task *tasks, __u32 nr)
{
	struct ib_collq_graph_create create = {
		.size = sizeof(create),
		.nr_tasks = nr,
		.task_size = sizeof(*tasks),
		.tasks = (unsigned long)tasks,
	};
	int err = raw_ioctl(fd, IB_COLLQ_GRAPH_CREATE, &create);

	return err ? err : (int)create.id;
}

struct ib_collq_task raw_signal(__u32 endpoint, __u16 slot, __u16 generation)
{
	return (struct ib_collq_task) {
		.opcode = IB_COLLQ_TASK_SEND,
		.flags = IB_COLLQ_TASK_SIGNAL,
		.object = endpoint,
		.signal_slot = slot,
		.signal_generation = generation,
	};
}

struct ib_collq_task raw_message(__u32 opcode, __u32 endpoint)
{
	return (struct ib_collq_task) { .opcode = opcode, .object = endpoint };
}

struct ib_collq_task raw_wait_for(__u32 counter, __u64 count)
{
	return (struct ib_collq_task) {
		.opcode = IB_COLLQ_TASK_WAIT,
		.object = counter,
		.count = count,
	};
}

int raw_submit(int fd, __u32 queue, __u32 graph, __u64 user_data, __u64 deadline,
	       __u64 *sequence)
{
	struct ib_collq_queue_submit submit = {
		.size = sizeof(submit),
		.queue = queue,
		.graph = graph,
		.user_data = user_data,
		.deadline = deadline,
	};
	int err = raw_ioctl(fd, IB_COLLQ_QUEUE_SUBMIT, &submit);

	if (sequence)
		*sequence = submit.sequence;
	return err;
}

int raw_wait(int fd, __u32 queue, __u64 sequence, __u64 deadline,
	     struct ib_collq_queue_wait *wait)
{
	*wait = (struct ib_collq_queue_wait) {
		.size = sizeof(*wait),
		.queue = queue,
		.sequence = sequence,
		.deadline = deadline,
	};
	return raw_ioctl(fd, IB_COLLQ_QUEUE_WAIT, wait);
}

/* How a submission ends, which should be soon. */
int raw_result(int fd, __u32 queue, __u64 sequence, int *status)
{
	struct ib_collq_queue_wait wait;
	int err = raw_wait(fd, queue, sequence, raw_in_ms(RAW_PATIENCE_MS), &wait);

	*status = wait.status;
	return err;
}

/* Submits and waits, in one call. */
int raw_run(int fd, __u32 queue, __u32 graph, int *status)
{
	struct ib_collq_queue_submit_wait run = {
		.size = sizeof(run),
		.queue = queue,
		.graph = graph,
		.wait_deadline = raw_in_ms(RAW_PATIENCE_MS),
	};
	int err = raw_ioctl(fd, IB_COLLQ_QUEUE_SUBMIT_WAIT, &run);

	*status = run.status;
	return err;
}

int raw_cancel(int fd, __u32 queue, __u64 sequence)
{
	struct ib_collq_queue_cancel cancel = {
		.size = sizeof(cancel),
		.queue = queue,
		.sequence = sequence,
	};

	return raw_ioctl(fd, IB_COLLQ_QUEUE_CANCEL, &cancel);
}

bool raw_queue_in_state(int fd, __u32 queue, __u32 state)
{
	struct ib_collq_queue_info info = {};

	return !raw_describe(fd, queue, &info, sizeof(info)) && info.state == state;
}

/* All zeros, whose state is none of an endpoint's, if there is none. */
struct ib_collq_endpoint_info raw_endpoint_info(int fd, __u32 endpoint)
{
	struct ib_collq_endpoint_info info = {};

	if (raw_describe(fd, endpoint, &info, sizeof(info)))
		memset(&info, 0, sizeof(info));
	return info;
}
