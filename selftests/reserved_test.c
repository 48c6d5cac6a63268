// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The rules of the ABI that hold for every command: sizes, flags, members that
 * are reserved, pointers that lead nowhere; and what is promised for later.
 *
 * commands[] has a good call of each command. What a test does to it is the only
 * thing that is wrong with it, and the call is made as it is afterwards, to see
 * that it is good, and that the wrong ones have done nothing.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "collq_memory.h"

/* Objects of a context that was just opened have the ids 1, 2, ... */
enum {
	RING = 1,
	ENDPOINT,
	PEER,		/* an endpoint that nothing has been done with */
	USER_COUNTER,
	GRAPH,		/* waits for one of USER_COUNTER */
	QUEUE,
	SIGNAL_COUNTER,	/* bound to slot 1 of ENDPOINT */
	FREE_COUNTER,	/* bound to nothing */
	OWNER,		/* an endpoint that may have landing zones */
	WRITER,		/* connected to it */
	REGION,
	ZONE,		/* of OWNER, in REGION */
	NEXT,
};

/*
 * A command: its structure, or its entry if it takes a batch of them; and where the
 * first version of it ended, if it has grown since.
 */
struct command {
	const char *name;
	unsigned int cmd;
	size_t size;
	size_t least;
	bool batch;
	int ret;
	union {
		struct ib_collq_query query;
		struct ib_collq_object_describe describe;
		struct ib_collq_object_destroy destroy;
		struct ib_collq_endpoint_create endpoint;
		struct ib_collq_endpoint_connect connect;
		struct ib_collq_capacity capacity;
		struct ib_collq_slot_bind bind;
		struct ib_collq_counter_create counter;
		struct ib_collq_counter_raise raise;
		struct ib_collq_counter_read read;
		struct ib_collq_ring_create ring;
		struct ib_collq_queue_create queue;
		struct ib_collq_graph_create graph;
		struct ib_collq_queue_submit submit;
		struct ib_collq_queue_wait wait;
		struct ib_collq_queue_submit_wait submit_wait;
		struct ib_collq_queue_cancel cancel;
		struct ib_collq_object_reset reset;
		struct ib_collq_context_describe context;
		struct ib_collq_region_create region;
		struct ib_collq_zone_offer zone;
		struct ib_collq_target_create target;
	};
};

static const struct ib_collq_task wait_task = {
	.opcode = IB_COLLQ_TASK_WAIT,
	.object = USER_COUNTER,
	.count = 1,
};

/* What a region is made of. */
static char memory[4096];

/* The name of ZONE */
static struct ib_collq_zone_name zone_name;

#define TOP(command, type)	\
	.name = #command, .cmd = IB_COLLQ_##command, .size = sizeof(struct ib_collq_##type)
#define ENTRY(command, type)	TOP(command, type), .batch = true, .ret = 1

/* In an order in which they can be carried out. */
static struct command commands[] = {
	{ TOP(QUERY, query), .least = offsetof(struct ib_collq_query, max_region) },
	{ TOP(OBJECT_DESCRIBE, object_describe), .describe = { .id = RING } },
	{ TOP(COUNTER_RAISE, counter_raise), .raise = { .counter = USER_COUNTER, .count = 3 } },
	{ TOP(COUNTER_READ, counter_read), .read = { .counter = USER_COUNTER } },
	{ TOP(QUEUE_SUBMIT, queue_submit), .submit = { .queue = QUEUE, .graph = GRAPH } },
	{ TOP(QUEUE_WAIT, queue_wait), .wait = { .queue = QUEUE, .sequence = 1 } },
	{ TOP(QUEUE_SUBMIT_WAIT, queue_submit_wait),
	  .submit_wait = { .queue = QUEUE, .graph = GRAPH } },
	{ TOP(QUEUE_CANCEL, queue_cancel), .cancel = { .queue = QUEUE } },
	{ TOP(RING_CREATE, ring_create), .ring = { .entries = 1, .eventfd = -1 } },
	{ TOP(QUEUE_CREATE, queue_create), .queue = { .ring = RING, .depth = 1 } },
	{ TOP(GRAPH_CREATE, graph_create),
	  .graph = { .nr_tasks = 1, .task_size = sizeof(wait_task) } },
	{ ENTRY(ENDPOINT_CREATE, endpoint_create),
	  .endpoint = { .kind = IB_COLLQ_ENDPOINT_SIGNAL, .port = 1, .gid_index = 1,
			.timeout = 14, .send_capacity = 1, .recv_capacity = 1 } },
	{ ENTRY(ENDPOINT_CONNECT, endpoint_connect), .connect = { .endpoint = PEER } },
	{ ENTRY(CAPACITY_RESERVE, capacity), .capacity = { ENDPOINT, 1 } },
	{ ENTRY(CAPACITY_RELEASE, capacity), .capacity = { ENDPOINT, 1 } },
	{ ENTRY(SLOT_BIND, slot_bind),
	  .bind = { .endpoint = ENDPOINT, .counter = FREE_COUNTER } },
	{ ENTRY(SLOT_UNBIND, slot_bind), .bind = { .endpoint = ENDPOINT, .slot = 1 } },
	{ ENTRY(COUNTER_CREATE, counter_create), .counter = { .source = IB_COLLQ_SOURCE_USER } },
	{ ENTRY(OBJECT_DESTROY, object_destroy), .destroy = { .id = SIGNAL_COUNTER } },
	{ TOP(OBJECT_RESET, object_reset), .reset = { .id = QUEUE } },
	{ TOP(CONTEXT_DESCRIBE, context_describe) },
	{ TOP(REGION_CREATE, region_create),
	  .region = { .type = IB_COLLQ_REGION_USER, .length = 4096 } },
	{ TOP(ZONE_OFFER, zone_offer),
	  .zone = { .endpoint = OWNER, .region = REGION, .length = 64 } },
	{ TOP(TARGET_CREATE, target_create), .target = { .endpoint = WRITER } },
	{ .name = NULL },
};

FIXTURE(abi) {
	int fd;
};

/* From OWNER to ZONE. */
static int open_zone(int fd)
{
	struct ib_collq_endpoint_create owner = raw_endpoint_attr(IB_COLLQ_ENDPOINT_SIGNAL);
	struct ib_collq_endpoint_create writer = owner;
	int err;

	owner.flags = IB_COLLQ_ENDPOINT_ZONES;
	if (raw_endpoint_create(fd, &owner) != OWNER || raw_endpoint_create(fd, &writer) != WRITER)
		return -EPROTO;
	err = raw_endpoint_connect(fd, WRITER, owner.address);
	if (err)
		return err;
	if (raw_region_create(fd, memory, sizeof(memory), IB_COLLQ_ACCESS_WRITE) != REGION)
		return -EPROTO;
	return raw_zone_offer(fd, OWNER, REGION, 0, 1, &zone_name) == ZONE ? 0 : -EPROTO;
}

FIXTURE_SETUP(abi)
{
	struct ib_collq_endpoint_create attr[2];
	struct raw_ring ring;
	struct command *command;
	int fd, i;

	fd = raw_open();
	ASSERT_LE(0, fd);
	self->fd = fd;
	ASSERT_EQ(0, raw_ring_create(fd, 64, &ring));
	ASSERT_EQ(RING, ring.id);
	for (i = 0; i < 2; i++) {
		attr[i] = raw_endpoint_attr(IB_COLLQ_ENDPOINT_SIGNAL);
		ASSERT_EQ(ENDPOINT + i, raw_endpoint_create(fd, &attr[i]));
	}
	ASSERT_EQ(USER_COUNTER, raw_counter_create(fd, IB_COLLQ_SOURCE_USER, 0));
	ASSERT_EQ(GRAPH, raw_graph_create(fd, &wait_task, 1));
	ASSERT_EQ(QUEUE, raw_queue_create(fd, RING, 8, NULL, 0));
	ASSERT_EQ(SIGNAL_COUNTER, raw_counter_create(fd, IB_COLLQ_SOURCE_SIGNAL, 0));
	ASSERT_EQ(FREE_COUNTER, raw_counter_create(fd, IB_COLLQ_SOURCE_SIGNAL, 0));
	ASSERT_EQ(0, raw_slot_bind(fd, ENDPOINT, 1, 0, SIGNAL_COUNTER));
	ASSERT_EQ(0, open_zone(fd));

	for (command = commands; command->name; command++) {
		if (!command->batch)
			command->query.size = command->size;
		if (command->cmd == IB_COLLQ_ENDPOINT_CONNECT)
			memcpy(command->connect.address, attr[0].address, sizeof(attr[0].address));
		if (command->cmd == IB_COLLQ_REGION_CREATE)
			command->region.address = (unsigned long)memory;
		if (command->cmd == IB_COLLQ_TARGET_CREATE)
			memcpy(command->target.zone, &zone_name, sizeof(zone_name));
		if (command->cmd == IB_COLLQ_GRAPH_CREATE)
			command->graph.tasks = (unsigned long)&wait_task;
	}
}

FIXTURE_TEARDOWN(abi)
{
	close(self->fd);
}

/* Makes a call with a structure or entry that lies at @where and has this size. */
static int call_at(int fd, const struct command *command, void *where, __u32 size)
{
	if (command->batch)
		return raw_batch(fd, command->cmd, where, size, 1, NULL);
	return raw_ioctl(fd, command->cmd, where);
}

/* The call of a command, behind which there are @more bytes, the last being @last. */
static int call_longer(int fd, const struct command *command, size_t more, char last)
{
	char buffer[8192] = {};
	__u32 size = command->size + more;

	memcpy(buffer, &command->query, command->size);
	buffer[size - 1] = last;
	if (!command->batch)
		memcpy(buffer, &size, sizeof(size));
	return call_at(fd, command, buffer, size);
}

static int call_good(int fd, const struct command *command)
{
	char buffer[512];

	memcpy(buffer, &command->query, command->size);
	return call_at(fd, command, buffer, command->size);
}

/* Objects of the context, each counted. */
static int count_objects(int fd)
{
	struct ib_collq_object_describe describe = { .size = sizeof(describe) };
	int nr = 0;

	for (;;) {
		describe.flags = IB_COLLQ_DESCRIBE_NEXT;
		if (raw_ioctl(fd, IB_COLLQ_OBJECT_DESCRIBE, &describe))
			return nr;
		nr++;
		describe.id++;
	}
}

/* What a call of a command gives. */
static void expect(struct __test_metadata *_metadata, const struct command *command,
		   int expected, int seen)
{
	EXPECT_EQ(expected, seen)
		TH_LOG("%s", command->name);
}

#define EXPECT_RET(_ret, _call)	expect(_metadata, command, _ret, _call)

TEST_F(abi, good)
{
	struct command *command;

	for (command = commands; command->name; command++)
		EXPECT_RET(command->ret, call_good(self->fd, command));
	/* Each created one of its kind; one was destroyed. */
	EXPECT_EQ(NEXT - 1 + 8 - 1, count_objects(self->fd));
}

TEST_F(abi, too_short)
{
	struct command *command;
	char buffer[512];
	__u32 sizes[3];
	int i;

	for (command = commands; command->name; command++) {
		sizes[0] = 0;
		sizes[1] = 4;
		sizes[2] = (command->least ? command->least : command->size) - 1;
		for (i = 0; i < 3; i++) {
			memcpy(buffer, &command->query, command->size);
			if (!command->batch)
				memcpy(buffer, &sizes[i], sizeof(sizes[i]));
			EXPECT_RET(-EINVAL, call_at(self->fd, command, buffer, sizes[i]));
		}
		EXPECT_RET(command->ret, call_good(self->fd, command));
	}
}

/* A later version of a structure, of which nothing is used that is new. */
TEST_F(abi, longer)
{
	struct command *command;

	for (command = commands; command->name; command++)
		EXPECT_RET(command->ret, call_longer(self->fd, command, 24, 0));
}

/* And one of which something is. */
TEST_F(abi, longer_and_not_zero)
{
	struct command *command;

	for (command = commands; command->name; command++) {
		EXPECT_RET(-E2BIG, call_longer(self->fd, command, 1, 1));
		EXPECT_RET(-E2BIG, call_longer(self->fd, command, 24, 1));
		EXPECT_RET(-E2BIG, call_longer(self->fd, command, 24, -128));
		EXPECT_RET(command->ret, call_good(self->fd, command));
	}
}

/* Nobody's structure is longer than a page. */
TEST_F(abi, much_too_long)
{
	struct command *command;

	for (command = commands; command->name; command++)
		EXPECT_RET(-E2BIG, call_longer(self->fd, command, 4096, 0));
}

/* All of it is nowhere, then only its end is. */
TEST_F(abi, pointers)
{
	char *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct command *command;
	char *edge;

	ASSERT_NE(MAP_FAILED, pages);
	ASSERT_EQ(0, munmap(pages + 4096, 4096));
	for (command = commands; command->name; command++) {
		EXPECT_RET(-EFAULT, call_at(self->fd, command, NULL, command->size));
		EXPECT_RET(-EFAULT, call_at(self->fd, command, pages + 4096, command->size));
		EXPECT_RET(-EFAULT, call_at(self->fd, command, (void *)-4096L, command->size));
		edge = pages + 4096 - command->size + 4;
		memcpy(edge, &command->query, command->size - 4);
		EXPECT_RET(-EFAULT, call_at(self->fd, command, edge, command->size));
		EXPECT_RET(command->ret, call_good(self->fd, command));
	}
}

/* What can't be told to the caller is not made: it would be there for ever. */
TEST_F(abi, read_only)
{
	char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct command *command;

	for (command = commands; command->name; command++) {
		if (command->cmd != IB_COLLQ_RING_CREATE && command->cmd != IB_COLLQ_QUEUE_CREATE &&
		    command->cmd != IB_COLLQ_GRAPH_CREATE &&
		    command->cmd != IB_COLLQ_REGION_CREATE &&
		    command->cmd != IB_COLLQ_ZONE_OFFER &&
		    command->cmd != IB_COLLQ_TARGET_CREATE &&
		    command->cmd != IB_COLLQ_ENDPOINT_CREATE &&
		    command->cmd != IB_COLLQ_COUNTER_CREATE)
			continue;
		ASSERT_EQ(0, mprotect(page, 4096, PROT_READ | PROT_WRITE));
		memcpy(page, &command->query, command->size);
		ASSERT_EQ(0, mprotect(page, 4096, PROT_READ));
		EXPECT_RET(-EFAULT, call_at(self->fd, command, page, command->size));
		EXPECT_EQ(NEXT - 1, count_objects(self->fd)) TH_LOG("%s", command->name);
	}
	EXPECT_EQ(-EBUSY, raw_destroy(self->fd, USER_COUNTER));
	ASSERT_EQ(0, raw_destroy(self->fd, GRAPH));
	EXPECT_EQ(0, raw_destroy(self->fd, USER_COUNTER));
}

/* A batch that runs into nowhere has done what lies before that. */
TEST_F(abi, batch_to_the_edge)
{
	char *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct ib_collq_counter_create *entries = (void *)(pages + 4096 - 2 * sizeof(*entries));
	int error, i;

	ASSERT_EQ(0, munmap(pages + 4096, 4096));
	for (i = 0; i < 2; i++)
		entries[i] = (struct ib_collq_counter_create) { .source = IB_COLLQ_SOURCE_USER };
	EXPECT_EQ(2, raw_batch(self->fd, IB_COLLQ_COUNTER_CREATE, entries, sizeof(*entries), 5,
			       &error));
	EXPECT_EQ(-EFAULT, error);
	EXPECT_EQ(NEXT, entries[0].id);
	EXPECT_EQ(NEXT + 1, entries[1].id);
	EXPECT_EQ(NEXT + 1, count_objects(self->fd));
}

TEST_F(abi, unknown_commands)
{
	unsigned int nr, known;
	struct command *command;
	char buffer[512] = {};

	for (nr = 0; nr < 256; nr++) {
		known = 0;
		for (command = commands; command->name; command++)
			known += command->cmd == _IO(IB_COLLQ_IOCTL_TYPE, nr);
		if (known)
			continue;
		EXPECT_EQ(-ENOTTY, raw_ioctl(self->fd, _IO(IB_COLLQ_IOCTL_TYPE, nr), buffer));
	}
	EXPECT_EQ(-ENOTTY, raw_ioctl(self->fd, _IO(0x1b, 0), buffer));
	EXPECT_EQ(-ENOTTY, raw_ioctl(self->fd, _IOWR(IB_COLLQ_IOCTL_TYPE, 0, __u32), buffer));
	EXPECT_EQ(-ENOTTY, raw_ioctl(self->fd, 0, buffer));
}

/* What isn't an ioctl. */
TEST_F(abi, other_operations)
{
	char byte = 0;

	EXPECT_EQ(-1, read(self->fd, &byte, 1));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(-1, write(self->fd, &byte, 1));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(-1, lseek(self->fd, 0, SEEK_SET));
	EXPECT_EQ(ESPIPE, errno);
}

TEST_F(abi, destroy_types)
{
	static const struct {
		__u32 type;
		int err;
	} types[] = {
		{ IB_COLLQ_OBJECT_REGION, -ENOENT }, { IB_COLLQ_OBJECT_ZONE, -ENOENT },
		{ IB_COLLQ_OBJECT_TARGET, -ENOENT }, { IB_COLLQ_OBJECT_TARGET + 1, -EINVAL },
		{ ~0U, -EINVAL }, { IB_COLLQ_OBJECT_RING, -ENOENT },
	};
	struct ib_collq_object_destroy destroy = { .id = FREE_COUNTER };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(types); i++) {
		destroy.type = types[i].type;
		EXPECT_EQ(types[i].err, raw_batch(self->fd, IB_COLLQ_OBJECT_DESTROY, &destroy,
						  sizeof(destroy), 1, NULL));
	}
	EXPECT_EQ(0, raw_destroy(self->fd, FREE_COUNTER));
}

/* A member of a command's structure or entry that must be as it is. */
FIXTURE(member) {
	int fd;
};

FIXTURE_VARIANT(member) {
	unsigned int cmd;
	size_t offset;
	__u32 value;
	int err;
};

#define AT(type, member)	offsetof(struct ib_collq_##type, member)

FIXTURE_VARIANT_ADD(member, query_flags) {
	IB_COLLQ_QUERY, AT(query, flags), 1, -EOPNOTSUPP,
};

FIXTURE_VARIANT_ADD(member, query_last_flag) {
	IB_COLLQ_QUERY, AT(query, flags), 1U << 31, -EOPNOTSUPP,
};

FIXTURE_VARIANT_ADD(member, counter_raise_flags) {
	IB_COLLQ_COUNTER_RAISE, AT(counter_raise, flags), 1, -EOPNOTSUPP,
};

FIXTURE_VARIANT_ADD(member, counter_raise_last_flag) {
	IB_COLLQ_COUNTER_RAISE, AT(counter_raise, flags), 1U << 31, -EOPNOTSUPP,
};

FIXTURE_VARIANT_ADD(member, counter_read_flags) {
	IB_COLLQ_COUNTER_READ, AT(counter_read, flags), 1, -EOPNOTSUPP,
};

FIXTURE_VARIANT_ADD(member, counter_read_last_flag) {
	IB_COLLQ_COUNTER_READ, AT(counter_read, flags), 1U << 31, -EOPNOTSUPP,
};

FIXTURE_VARIANT_ADD(member, queue_submit_flags) {
	IB_COLLQ_QUEUE_SUBMIT, AT(queue_submit, flags), 1, -EOPNOTSUPP,
};

FIXTURE_VARIANT_ADD(member, queue_submit_last_flag) {
	IB_COLLQ_QUEUE_SUBMIT, AT(queue_submit, flags), 1U << 31, -EOPNOTSUPP,
};

FIXTURE_VARIANT_ADD(member, queue_wait_flags) {
	IB_COLLQ_QUEUE_WAIT, AT(queue_wait, flags), 1, -EOPNOTSUPP,
};

FIXTURE_VARIANT_ADD(member, queue_wait_last_flag) {
	IB_COLLQ_QUEUE_WAIT, AT(queue_wait, flags), 1U << 31, -EOPNOTSUPP,
};

FIXTURE_VARIANT_ADD(member, queue_submit_wait_flags) {
	IB_COLLQ_QUEUE_SUBMIT_WAIT, AT(queue_submit_wait, flags), 2, -EOPNOTSUPP,
};

FIXTURE_VARIANT_ADD(member, queue_submit_wait_last_flag) {
	IB_COLLQ_QUEUE_SUBMIT_WAIT, AT(queue_submit_wait, flags), 1U << 31, -EOPNOTSUPP,
};

FIXTURE_VARIANT_ADD(member, queue_cancel_flags) {
	IB_COLLQ_QUEUE_CANCEL, AT(queue_cancel, flags), 1, -EOPNOTSUPP,
};

FIXTURE_VARIANT_ADD(member, queue_cancel_last_flag) {
	IB_COLLQ_QUEUE_CANCEL, AT(queue_cancel, flags), 1U << 31, -EOPNOTSUPP,
};

FIXTURE_VARIANT_ADD(member, ring_create_flags) {
	IB_COLLQ_RING_CREATE, AT(ring_create, flags), 1, -EOPNOTSUPP,
};

FIXTURE_VARIANT_ADD(member, ring_create_last_flag) {
	IB_COLLQ_RING_CREATE, AT(ring_create, flags), 1U << 31, -EOPNOTSUPP,
};

FIXTURE_VARIANT_ADD(member, queue_create_flags) {
	IB_COLLQ_QUEUE_CREATE, AT(queue_create, flags), 1, -EOPNOTSUPP,
};

FIXTURE_VARIANT_ADD(member, queue_create_last_flag) {
	IB_COLLQ_QUEUE_CREATE, AT(queue_create, flags), 1U << 31, -EOPNOTSUPP,
};

FIXTURE_VARIANT_ADD(member, graph_create_flags) {
	IB_COLLQ_GRAPH_CREATE, AT(graph_create, flags), 1, -EOPNOTSUPP,
};

FIXTURE_VARIANT_ADD(member, graph_create_last_flag) {
	IB_COLLQ_GRAPH_CREATE, AT(graph_create, flags), 1U << 31, -EOPNOTSUPP,
};

FIXTURE_VARIANT_ADD(member, endpoint_create_flags) {
	IB_COLLQ_ENDPOINT_CREATE, AT(endpoint_create, flags), 8, -EOPNOTSUPP,
};

FIXTURE_VARIANT_ADD(member, endpoint_create_last_flag) {
	IB_COLLQ_ENDPOINT_CREATE, AT(endpoint_create, flags), 1U << 31, -EOPNOTSUPP,
};

FIXTURE_VARIANT_ADD(member, endpoint_connect_flags) {
	IB_COLLQ_ENDPOINT_CONNECT, AT(endpoint_connect, flags), 1, -EOPNOTSUPP,
};

FIXTURE_VARIANT_ADD(member, endpoint_connect_last_flag) {
	IB_COLLQ_ENDPOINT_CONNECT, AT(endpoint_connect, flags), 1U << 31, -EOPNOTSUPP,
};

FIXTURE_VARIANT_ADD(member, counter_create_flags) {
	IB_COLLQ_COUNTER_CREATE, AT(counter_create, flags), 1, -EOPNOTSUPP,
};

FIXTURE_VARIANT_ADD(member, counter_create_last_flag) {
	IB_COLLQ_COUNTER_CREATE, AT(counter_create, flags), 1U << 31, -EOPNOTSUPP,
};

FIXTURE_VARIANT_ADD(member, object_reset_id) {
	IB_COLLQ_OBJECT_RESET, AT(object_reset, id), 1U << 31, -ENOENT,
};

FIXTURE_VARIANT_ADD(member, object_reset_reserved) {
	IB_COLLQ_OBJECT_RESET, AT(object_reset, __reserved), 1, -EINVAL,
};

FIXTURE_VARIANT_ADD(member, context_describe_flags) {
	IB_COLLQ_CONTEXT_DESCRIBE, AT(context_describe, flags), 2, -EOPNOTSUPP,
};

FIXTURE_VARIANT_ADD(member, context_describe_id) {
	IB_COLLQ_CONTEXT_DESCRIBE, AT(context_describe, id), 1U << 31, -ENOENT,
};

FIXTURE_VARIANT_ADD(member, object_reset_flags) {
	IB_COLLQ_OBJECT_RESET, AT(object_reset, flags), 1, -EOPNOTSUPP,
};

FIXTURE_VARIANT_ADD(member, object_reset_last_flag) {
	IB_COLLQ_OBJECT_RESET, AT(object_reset, flags), 1U << 31, -EOPNOTSUPP,
};

FIXTURE_VARIANT_ADD(member, region_create_flags) {
	IB_COLLQ_REGION_CREATE, AT(region_create, flags), 1, -EOPNOTSUPP,
};

FIXTURE_VARIANT_ADD(member, region_create_last_flag) {
	IB_COLLQ_REGION_CREATE, AT(region_create, flags), 1U << 31, -EOPNOTSUPP,
};

FIXTURE_VARIANT_ADD(member, region_create_type) {
	IB_COLLQ_REGION_CREATE, AT(region_create, type), 0, -EINVAL,
};

FIXTURE_VARIANT_ADD(member, region_create_type_dmabuf) {
	IB_COLLQ_REGION_CREATE, AT(region_create, type), IB_COLLQ_REGION_DMABUF, -EOPNOTSUPP,
};

FIXTURE_VARIANT_ADD(member, region_create_type_unknown) {
	IB_COLLQ_REGION_CREATE, AT(region_create, type), 5, -EINVAL,
};

FIXTURE_VARIANT_ADD(member, region_create_access) {
	IB_COLLQ_REGION_CREATE, AT(region_create, access), 2, -EOPNOTSUPP,
};

FIXTURE_VARIANT_ADD(member, region_create_fd) {
	IB_COLLQ_REGION_CREATE, AT(region_create, fd), 1, -EINVAL,
};

FIXTURE_VARIANT_ADD(member, region_create_nr_parts) {
	IB_COLLQ_REGION_CREATE, AT(region_create, nr_parts), 1, -EINVAL,
};

FIXTURE_VARIANT_ADD(member, region_create_part_size) {
	IB_COLLQ_REGION_CREATE, AT(region_create, part_size), 16, -EINVAL,
};

FIXTURE_VARIANT_ADD(member, region_create_length) {
	IB_COLLQ_REGION_CREATE, AT(region_create, length), 0, -EINVAL,
};

FIXTURE_VARIANT_ADD(member, queue_submit_bindings) {
	IB_COLLQ_QUEUE_SUBMIT, AT(queue_submit, nr_bindings), 1, -EINVAL,
};

FIXTURE_VARIANT_ADD(member, zone_offer_flags) {
	IB_COLLQ_ZONE_OFFER, AT(zone_offer, flags), 1, -EOPNOTSUPP,
};

FIXTURE_VARIANT_ADD(member, zone_offer_reserved) {
	IB_COLLQ_ZONE_OFFER, AT(zone_offer, __reserved), 1U << 31, -EINVAL,
};

FIXTURE_VARIANT_ADD(member, target_create_flags) {
	IB_COLLQ_TARGET_CREATE, AT(target_create, flags), 1, -EOPNOTSUPP,
};

FIXTURE_VARIANT_ADD(member, target_create_last_flag) {
	IB_COLLQ_TARGET_CREATE, AT(target_create, flags), 1U << 31, -EOPNOTSUPP,
};

FIXTURE_VARIANT_ADD(member, zone_offer_last_flag) {
	IB_COLLQ_ZONE_OFFER, AT(zone_offer, flags), 1U << 31, -EOPNOTSUPP,
};

FIXTURE_VARIANT_ADD(member, object_describe_flags) {
	IB_COLLQ_OBJECT_DESCRIBE, AT(object_describe, flags), 4, -EOPNOTSUPP,
};

FIXTURE_VARIANT_ADD(member, object_describe_last_flag) {
	IB_COLLQ_OBJECT_DESCRIBE, AT(object_describe, flags), 1U << 31, -EOPNOTSUPP,
};

FIXTURE_VARIANT_ADD(member, counter_raise_reserved) {
	IB_COLLQ_COUNTER_RAISE, AT(counter_raise, __reserved), 1U << 31, -EINVAL,
};

FIXTURE_VARIANT_ADD(member, queue_cancel_reserved) {
	IB_COLLQ_QUEUE_CANCEL, AT(queue_cancel, __reserved), 1U << 31, -EINVAL,
};

FIXTURE_VARIANT_ADD(member, ring_create_reserved) {
	IB_COLLQ_RING_CREATE, AT(ring_create, __reserved), 1U << 31, -EINVAL,
};

FIXTURE_VARIANT_ADD(member, queue_create_reserved) {
	IB_COLLQ_QUEUE_CREATE, AT(queue_create, __reserved), 1U << 31, -EINVAL,
};

FIXTURE_VARIANT_ADD(member, object_describe_context) {
	IB_COLLQ_OBJECT_DESCRIBE, AT(object_describe, context), 1U << 31, -ENOENT,
};

FIXTURE_VARIANT_ADD(member, counter_create_reserved) {
	IB_COLLQ_COUNTER_CREATE, AT(counter_create, __reserved), 1U << 31, -EINVAL,
};

FIXTURE_VARIANT_ADD(member, endpoint_create_reserved0) {
	IB_COLLQ_ENDPOINT_CREATE, AT(endpoint_create, __reserved[0]), 1U << 31, -EINVAL,
};

FIXTURE_VARIANT_ADD(member, endpoint_create_reserved1) {
	IB_COLLQ_ENDPOINT_CREATE, AT(endpoint_create, __reserved[1]), 1U << 31, -EINVAL,
};

FIXTURE_VARIANT_ADD(member, endpoint_create_probems) {
	IB_COLLQ_ENDPOINT_CREATE, AT(endpoint_create, probe_ms), 1, -EINVAL,
};

FIXTURE_SETUP(member)
{
	struct _test_data_abi abi = {};

	abi_setup(_metadata, &abi, NULL);
	self->fd = abi.fd;
}

FIXTURE_TEARDOWN(member)
{
	close(self->fd);
}

TEST_F(member, refused)
{
	struct command *command, bad;

	command = commands;
	while (command->cmd != variant->cmd)
		command++;
	bad = *command;
	memcpy((char *)&bad.query + variant->offset, &variant->value, sizeof(variant->value));
	EXPECT_EQ(variant->err, call_good(self->fd, &bad));
	EXPECT_EQ(NEXT - 1, count_objects(self->fd));
}

TEST_HARNESS_MAIN
