// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Scenes for show_test to look at.
 *
 * "show_scene NAME" makes contexts and queues that wait for each other in one way
 * or another, says so on standard output with the number of a context, and keeps
 * all as it is until its standard input ends. In most of them side b waits for a
 * signal of side a, and a has one reason or another not to send it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <collq/collq.h>

#include "collq_memory.h"
#include "collq_util.h"
#include "hole.h"

#define SOMEBODY		1000

/* How long nobody answers: 4 s, 7 times */
#define LONG_TIMEOUT		20

static struct raw_side a, b;

static __attribute__((noreturn)) void fail(const char *what, int err)
{
	fprintf(stderr, "show_scene: %s: %s\n", what, strerror(-err));
	exit(EXIT_FAILURE);
}

/* The result, which is no error. */
#define NEED(expression) ({					\
	int result_ = (expression);				\
								\
	if (result_ < 0)					\
		fail(#expression, result_);			\
	result_;						\
})

static void run(struct raw_side *side, const struct ib_collq_task *tasks, __u32 nr)
{
	int graph = NEED(raw_graph_create(side->fd, tasks, nr));

	NEED(raw_submit(side->fd, side->queue, graph, 0, 0, NULL));
}

static struct ib_collq_task tell_b(void)
{
	return raw_signal(a.endpoint, RAW_SLOT, RAW_GENERATION);
}

static void b_waits(void)
{
	const struct ib_collq_task hear = raw_wait_for(b.counter, 1);

	run(&b, &hear, 1);
}

static void a_waits_for(__u32 counter)
{
	const struct ib_collq_task tasks[] = { raw_wait_for(counter, 2), tell_b() };

	run(&a, tasks, 2);
}

static void scene_raise(void)
{
	int counter = NEED(raw_counter_create(a.fd, IB_COLLQ_SOURCE_USER, 0));

	NEED(raw_counter_raise(a.fd, counter, 1));
	a_waits_for(counter);
	b_waits();
}

static void scene_eventfd(void)
{
	struct ib_collq_counter_create create = {
		.source = IB_COLLQ_SOURCE_EVENTFD,
		.eventfd = NEED(eventfd(0, 0)),
	};

	NEED(raw_batch(a.fd, IB_COLLQ_COUNTER_CREATE, &create, sizeof(create), 1, NULL));
	a_waits_for(create.id);
	b_waits();
}

static void scene_unbound(void)
{
	a_waits_for(NEED(raw_counter_create(a.fd, IB_COLLQ_SOURCE_SIGNAL, 0)));
	b_waits();
}

static void scene_circle(void)
{
	a_waits_for(a.counter);
	b_waits();
}

/* a has come to the end of its run without a word. */
static void scene_under_way_of(void (*b_waits_for_it)(void))
{
	int counter = NEED(raw_counter_create(a.fd, IB_COLLQ_SOURCE_USER, 0));
	const struct ib_collq_task task = raw_wait_for(counter, 1);

	NEED(raw_counter_raise(a.fd, counter, 1));
	run(&a, &task, 1);
	b_waits_for_it();
}

static void scene_under_way(void)
{
	scene_under_way_of(b_waits);
}

/* a has sent to another slot than b waits for, and goes on. */
static void scene_wrong_slot(void)
{
	int counter = NEED(raw_counter_create(a.fd, IB_COLLQ_SOURCE_USER, 0));
	struct ib_collq_task tasks[] = { tell_b(), raw_wait_for(counter, 1) };

	tasks[0].signal_slot++;
	run(&a, tasks, 2);
	b_waits();
}

/* A queue that doesn't say whom it works with; but there's no other. */
static void unlink_a(void)
{
	NEED(raw_destroy(a.fd, a.queue));
	a.queue = NEED(raw_queue_create(a.fd, a.ring.id, RAW_DEPTH, NULL, 0));
}

static void scene_not_linked(void)
{
	unlink_a();
	scene_raise();
}

/* Which b isn't told, and waits on. */
static void scene_failed(void)
{
	scene_not_linked();
	NEED(raw_cancel(a.fd, a.queue, 0));
}

static void scene_no_queue(void)
{
	NEED(raw_destroy(a.fd, a.queue));
	b_waits();
}

/* An endpoint of a whose sends nobody takes: the peer isn't connected. */
static __u32 deaf_endpoint(void)
{
	struct ib_collq_endpoint_create here = raw_endpoint_attr(IB_COLLQ_ENDPOINT_SIGNAL);
	struct ib_collq_endpoint_create there = here;
	int fd = NEED(raw_open());

	here.peer = 77;
	here.send_capacity = 2;
	here.timeout = LONG_TIMEOUT;
	NEED(raw_endpoint_create(a.fd, &here));
	NEED(raw_endpoint_create(fd, &there));
	NEED(raw_endpoint_connect(a.fd, here.id, there.address));
	return here.id;
}

static void scene_full(void)
{
	const struct ib_collq_task send = raw_signal(deaf_endpoint(), 1, 1);
	const struct ib_collq_task tasks[] = { send, send, send, tell_b() };

	run(&a, tasks, 4);
	b_waits();
}

static void scene_sends(void)
{
	__u32 endpoint = deaf_endpoint();
	int counter = NEED(raw_counter_create(a.fd, IB_COLLQ_SOURCE_SENDS, endpoint));
	const struct ib_collq_task tasks[] = {
		raw_signal(endpoint, 1, 1), raw_wait_for(counter, 1), tell_b(),
	};

	run(&a, tasks, 3);
	b_waits();
}

static void b_waits_for_message(void)
{
	int messages = NEED(raw_counter_create(b.fd, IB_COLLQ_SOURCE_MESSAGES,
					       b.message_endpoint));
	const struct ib_collq_task tasks[] = {
		raw_message(IB_COLLQ_TASK_RECV, b.message_endpoint), raw_wait_for(messages, 1),
	};

	run(&b, tasks, 2);
}

/* What a is to send is a message. */
static void scene_message(void)
{
	int counter = NEED(raw_counter_create(a.fd, IB_COLLQ_SOURCE_USER, 0));
	struct ib_collq_task tasks[] = { raw_wait_for(counter, 1), {} };

	NEED(raw_pair_add_messages(&a, &b));
	tasks[1] = raw_message(IB_COLLQ_TASK_SEND, a.message_endpoint);
	run(&a, tasks, 2);
	b_waits_for_message();
}

/* The first of two messages has come, and a can't get as far as the second. */
static void scene_second_message(void)
{
	int counter = NEED(raw_counter_create(a.fd, IB_COLLQ_SOURCE_USER, 0));
	struct ib_collq_task tell[3], hear[4];
	int messages;

	NEED(raw_pair_add_messages(&a, &b));
	messages = NEED(raw_counter_create(b.fd, IB_COLLQ_SOURCE_MESSAGES, b.message_endpoint));
	hear[0] = raw_message(IB_COLLQ_TASK_RECV, b.message_endpoint);
	hear[1] = hear[0];
	hear[2] = raw_wait_for(messages, 1);
	hear[3] = hear[2];
	run(&b, hear, 4);
	tell[0] = raw_message(IB_COLLQ_TASK_SEND, a.message_endpoint);
	tell[1] = raw_wait_for(counter, 1);
	tell[2] = tell[0];
	run(&a, tell, 3);
}

/* a has come to the end of its run without a message. */
static void scene_no_message(void)
{
	NEED(raw_pair_add_messages(&a, &b));
	scene_under_way_of(b_waits_for_message);
}

/* b has copied something, and waits for a message; other memory of its is gone. */
static void scene_memory(void)
{
	static const struct ib_collq_sge sges[] = {
		{ .length = 100 }, { .length = 100, .offset = 200 }, { .length = 1000 },
	};
	char *memory = raw_map(4 * RAW_PAGE), *gone = raw_map(RAW_PAGE);
	struct ib_collq_buffer_bind bind = {};
	struct ib_collq_task tasks[3];
	const struct raw_graph graph = {
		.tasks = tasks, .nr_tasks = 3, .sges = sges, .nr_sges = 3, .nr_buffers = 1,
	};
	int messages;

	NEED(raw_pair_add_messages(&a, &b));
	messages = NEED(raw_counter_create(b.fd, IB_COLLQ_SOURCE_MESSAGES, b.message_endpoint));
	bind.region = NEED(raw_region_create(b.fd, memory + 1, 5000, IB_COLLQ_ACCESS_WRITE));
	NEED(raw_region_create(b.fd, gone, RAW_PAGE, 0));
	munmap(gone, RAW_PAGE);
	tasks[0] = raw_copy(0, 1, 1, 1);
	tasks[1] = raw_recv_list(b.message_endpoint, 2, 1);
	tasks[2] = raw_wait_for(messages, 1);
	NEED(raw_submit_bound(b.fd, b.queue, NEED(raw_data_graph_create(b.fd, &graph, NULL)),
			      &bind, 1, NULL));
}

/* Somebody has heard b's address, and waits for b, which knows nothing of it. */
static void scene_impostor(void)
{
	static struct raw_side c;
	struct ib_collq_task hear;

	NEED(raw_side_open(&c));
	NEED(raw_side_connect(&c, b.attr.address));
	hear = raw_wait_for(c.counter, 1);
	run(&c, &hear, 1);
}

/* a has a call that doesn't come back. */
static void scene_busy(void)
{
	static struct hole_upload upload;
	static struct hole hole;

	b_waits();
	if (!hole_open(&hole) || !hole_upload_begin(&upload, a.fd, &hole))
		fail("a call without end", -errno);
}

/* The process that opened the contexts is gone, but not its descriptors. */
static void scene_ended(void)
{
	b_waits();
	if (NEED(fork()))
		_exit(0);
}

static const struct scene {
	const char *name;
	void (*make)(void);
} scenes[] = {
	{ "raise", scene_raise },
	{ "eventfd", scene_eventfd },
	{ "unbound", scene_unbound },
	{ "circle", scene_circle },
	{ "under-way", scene_under_way },
	{ "wrong-slot", scene_wrong_slot },
	{ "failed", scene_failed },
	{ "no-queue", scene_no_queue },
	{ "not-linked", scene_not_linked },
	{ "full", scene_full },
	{ "sends", scene_sends },
	{ "message", scene_message },
	{ "second-message", scene_second_message },
	{ "no-message", scene_no_message },
	{ "memory", scene_memory },
	{ "busy", scene_busy },
	{ "ended", scene_ended },
	{ "impostor", scene_impostor },
	/* b is another user's */
	{ "users", b_waits },
	/* The program's name is no text */
	{ "name", b_waits },
};

static void open_pair(const char *name)
{
	NEED(raw_side_open(&a));
	if (!strcmp(name, "users") && seteuid(SOMEBODY))
		fail("seteuid", -errno);
	NEED(raw_side_open(&b));
	NEED(raw_side_connect(&a, b.attr.address));
	NEED(raw_side_connect(&b, a.attr.address));
}

/* Just a context, and what libcollq says of it. */
static __u32 library_context(void)
{
	struct ib_collq_context_describe describe = {};
	struct collq_context *context;

	NEED(collq_open(NULL, &context));
	NEED(collq_context_describe(context, &describe));
	return describe.id;
}

int main(int argc, char **argv)
{
	const char *name = argc == 2 ? argv[1] : "";
	const struct scene *scene = NULL;
	__u32 context = 0;
	char byte;
	size_t i;

	for (i = 0; i < sizeof(scenes) / sizeof(scenes[0]); i++) {
		if (!strcmp(name, scenes[i].name))
			scene = &scenes[i];
	}
	if (!strcmp(name, "library")) {
		context = library_context();
	} else if (scene) {
		if (!strcmp(name, "name"))
			prctl(PR_SET_NAME, "a\033[31m\"\n\377\\b");
		open_pair(name);
		scene->make();
	} else {
		fprintf(stderr, "show_scene: no scene '%s'\n", name);
		return 2;
	}
	printf("ready %u\n", context);
	fflush(stdout);
	while (read(STDIN_FILENO, &byte, 1) > 0)
		;
	return 0;
}
