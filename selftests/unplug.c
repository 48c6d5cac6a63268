// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Taking the device away under load: see unplug.h.
 *
 * Each rank passes barriers and exchanges data in start_wait and initialises requests,
 * and has a thread that keeps the device busy in a way of its own. The parent takes the
 * device away when all are at it. Each of them then must get -ENODEV, soon and
 * for good, also once there's another device; half of the ranks let go of the
 * old one before that. Memory is theirs again when they hear of it, and isn't pinned
 * much longer.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "collq_memory.h"
#include "collq_util.h"
#include "exchanges.h"
#include "team.h"
#include "unplug.h"

#define RANKS		6

/*
 * Removal is much work, and kernels that check what they do may take a while.
 * Beyond it somebody hangs.
 */
#define PATIENCE_MS	120000

/* What a rank is at */
#define BUSY		1
#define LOST		2

/*
 * @calls: done by ranks and threads; @at: of the main thread and the other one;
 * @lost: not all ranks take part any more
 */
struct scene {
	_Atomic uint64_t calls[RANKS][2];
	_Atomic uint32_t at[RANKS][2];
	_Atomic bool lost;
	_Atomic bool back;
};

static struct scene *scene;
static struct unplug_plan plan;
static uint64_t took_ns;

static void count(struct team_member *me, uint32_t thread)
{
	if (atomic_fetch_add(&scene->calls[me->rank][thread], 1) == 3)
		atomic_store(&scene->at[me->rank][thread], BUSY);
}

/*
 * While the network device goes the port may fail before the device does: then
 * what needs it gives that first.
 */
static bool may_fail_first(int err)
{
	return plan.way == UNPLUG_NETDEV &&
	       (err == -ENETDOWN || err == -EHOSTUNREACH || err == -EADDRNOTAVAIL);
}

/* Why something has failed; soon all will. */
static void check_loss(struct team_member *me, int err, int fd)
{
	if (!may_fail_first(err))
		CHECK_IS(-ENODEV, err);
	CHECK(RAW_WITHIN(PATIENCE_MS, raw_query(fd, &(struct ib_collq_query) {}) == -ENODEV));
}

/* Whatever is asked of a descriptor. */
static void check_lost(struct team_member *me, int fd, const struct raw_side *side)
{
	struct ib_collq_endpoint_create attr = raw_endpoint_attr(IB_COLLQ_ENDPOINT_SIGNAL);
	struct pollfd pollfd = { .fd = fd, .events = POLLIN };
	struct ib_collq_query query;
	struct ib_collq_queue_wait wait;
	struct raw_ring ring;

	CHECK_IS(-ENODEV, raw_query(fd, &query));
	CHECK_IS(-ENODEV, raw_endpoint_create(fd, &attr));
	CHECK_IS(-ENODEV, raw_ring_create(fd, 4, &ring));
	CHECK_IS(-ENODEV, raw_destroy(fd, 1));
	CHECK_IS(1, poll(&pollfd, 1, RAW_PATIENCE_MS));
	CHECK_IS(POLLERR | POLLHUP, pollfd.revents & (POLLERR | POLLHUP));
	if (!side)
		return;
	CHECK_IS(-ENODEV, raw_submit(fd, side->queue, side->graph, 0, 0, NULL));
	CHECK_IS(-ENODEV, raw_wait(fd, side->queue, 1, 0, &wait));
	CHECK_IS(-ENODEV, raw_describe(fd, side->endpoint, NULL, 0));
}

static void lose(struct team_member *me, uint32_t thread)
{
	atomic_store(&scene->at[me->rank][thread], LOST);
	/* The others go before there's a new device. */
	if (me->rank % 2)
		CHECK(RAW_WITHIN(PATIENCE_MS, atomic_load(&scene->back) ||
				 atomic_load(&me->team->failed)));
}

static void lose_pair(struct team_member *me, struct raw_side *a, struct raw_side *b)
{
	check_lost(me, a->fd, a);
	check_lost(me, b->fd, b);
	lose(me, 1);
	check_lost(me, a->fd, a);
	raw_pair_close(a, b);
}

/* Graphs that run and that are queued, and somebody who sleeps. */
static void blocked(struct team_member *me)
{
	struct ib_collq_completion completion;
	struct ib_collq_queue_wait wait;
	struct raw_side a, b;
	int err, i;

	CHECK_IS(0, raw_pair_open(&a, &b));
	for (i = 0; i < 4; i++)
		CHECK_IS(0, raw_pair_barrier(&a, &b));
	CHECK_IS(0, raw_submit(a.fd, a.queue, a.graph, 1, 0, NULL));
	CHECK_IS(0, raw_submit(a.fd, a.queue, a.graph, 2, 0, NULL));
	for (i = 0; i < 4; i++)
		count(me, 1);
	err = raw_wait(a.fd, a.queue, 5, 0, &wait);
	check_loss(me, err ? err : wait.status, a.fd);
	/* The ring outlives the device. */
	for (i = 1; i <= 2; i++) {
		CHECK(raw_ring_take(&a.ring, &completion));
		CHECK_IS(i, completion.user_data);
		CHECK(completion.status == -ENODEV || may_fail_first(completion.status));
	}
	lose_pair(me, &a, &b);
}

/* Barriers between two contexts, and their rings. */
static void barriers(struct team_member *me)
{
	struct raw_side a, b;
	int err;

	CHECK_IS(0, raw_pair_open(&a, &b));
	while (!(err = raw_pair_barrier(&a, &b)))
		count(me, 1);
	check_loss(me, err, a.fd);
	lose_pair(me, &a, &b);
}

static int connect_two(int fd)
{
	struct ib_collq_endpoint_create attr[2];
	int i, err, ends = 0;

	for (i = 0; i < 2; i++) {
		attr[i] = raw_endpoint_attr(IB_COLLQ_ENDPOINT_SIGNAL);
		err = raw_endpoint_create(fd, &attr[i]);
		/* There's no such GID any more. */
		if (err == -EINVAL && plan.way == UNPLUG_NETDEV)
			err = -EADDRNOTAVAIL;
		if (err < 0)
			goto destroy;
		ends++;
	}
	for (i = 0; i < 2; i++) {
		err = raw_endpoint_connect(fd, attr[i].id, attr[!i].address);
		if (err)
			goto destroy;
	}
destroy:
	while (ends--)
		raw_destroy(fd, attr[ends].id);
	return err;
}

/* Endpoints that are made, connected and destroyed, on and on. */
static void connections(struct team_member *me)
{
	int err, fd = raw_open();

	CHECK(fd >= 0);
	while ((err = connect_two(fd)) != -ENODEV) {
		CHECK(!err || may_fail_first(err));
		count(me, 1);
	}
	check_loss(me, err, fd);
	check_lost(me, fd, NULL);
	lose(me, 1);
	close(fd);
}

/* Contexts that are opened and closed. */
static void contexts(struct team_member *me)
{
	struct ib_collq_query query;
	int err, fd;

	do {
		fd = raw_open();
		if (fd < 0) {
			CHECK(fd == -ENODEV || fd == -ENOENT || fd == -ENXIO);
			continue;
		}
		err = raw_query(fd, &query);
		CHECK(!err || err == -ENODEV);
		close(fd);
		count(me, 1);
	} while (fd >= 0);
	lose(me, 1);
}

/* A landing zone in a region, if the endpoint may have such. */
static int offer(const struct raw_side *side, __u32 region)
{
	struct ib_collq_zone_name name;
	int zone;

	if (!(side->attr.flags & IB_COLLQ_ENDPOINT_ZONES))
		return 0;
	zone = raw_zone_offer(side->fd, side->endpoint, region, 5, 2 * RAW_PAGE, &name);
	return zone < 0 ? zone : raw_destroy(side->fd, zone);
}

static int make_objects(const struct raw_side *side)
{
	const struct ib_collq_queue_endpoint link = {
		.endpoint = side->endpoint,
		.abort_slot = 99,
	};
	const struct ib_collq_task task = raw_signal(side->endpoint, 0, 0);
	static char memory[3 * RAW_PAGE];
	int err, counter, graph, queue, region;

	region = raw_region_create(side->fd, memory + 1, sizeof(memory) - 1, IB_COLLQ_ACCESS_WRITE);
	if (region < 0)
		return region;
	err = offer(side, region);
	if (err)
		return err;
	counter = raw_counter_create(side->fd, IB_COLLQ_SOURCE_SIGNAL, 0);
	if (counter < 0)
		return counter;
	graph = raw_graph_create(side->fd, &task, 1);
	if (graph < 0)
		return graph;
	queue = raw_queue_create(side->fd, side->ring.id, 4, &link, 1);
	if (queue < 0)
		return queue;
	return raw_slot_bind(side->fd, side->endpoint, 77, 0, counter) ?:
	       raw_slot_unbind(side->fd, side->endpoint, 77, 0) ?:
	       raw_destroy(side->fd, queue) ?: raw_destroy(side->fd, graph) ?:
	       raw_destroy(side->fd, counter) ?: raw_destroy(side->fd, region);
}

/* Objects of all other types. */
static void objects(struct team_member *me)
{
	struct ib_collq_endpoint_create own = raw_endpoint_attr(IB_COLLQ_ENDPOINT_SIGNAL);
	struct ib_collq_endpoint_create peer = own;
	struct raw_side a, b;
	int err;

	/* Those that are local to their peers have no zones. */
	if (!(own.flags & IB_COLLQ_ENDPOINT_LOCAL))
		own.flags = IB_COLLQ_ENDPOINT_ZONES;
	CHECK_IS(0, raw_pair_open_with(&a, &own, &b, &peer));
	while (!(err = make_objects(&a)))
		count(me, 1);
	check_loss(me, err, a.fd);
	lose_pair(me, &a, &b);
}

/* Graphs that are started and cancelled; the queue has failed then. */
static void cancellations(struct team_member *me)
{
	struct ib_collq_task task;
	int err, queue, graph;
	struct raw_side a, b;

	CHECK_IS(0, raw_pair_open(&a, &b));
	task = raw_wait_for(a.counter, 1);
	graph = raw_graph_create(a.fd, &task, 1);
	CHECK(graph > 0);
	do {
		queue = raw_queue_create(a.fd, a.ring.id, 4, NULL, 0);
		err = queue < 0 ? queue : 0;
		if (err)
			break;
		err = raw_submit(a.fd, queue, graph, 0, 0, NULL) ?:
		      raw_cancel(a.fd, queue, 0) ?: raw_destroy(a.fd, queue);
		while (raw_ring_take(&a.ring, &(struct ib_collq_completion) {}))
			;
		count(me, 1);
	} while (!err);
	check_loss(me, err, a.fd);
	lose_pair(me, &a, &b);
}

static void *load(void *data)
{
	static void (*const loads[RANKS])(struct team_member *me) = {
		blocked, barriers, connections, contexts, objects, cancellations,
	};
	struct team_member *me = data;

	loads[me->rank](me);
	return NULL;
}

/* One initialisation; -ENODEV also if it came to nothing because of that. */
static int init_and_free(struct team_member *me)
{
	struct collq_request *request;
	int err;

	CHECK_IS(0, collq_barrier_init(me->comm[1], NULL, &request));
	do
		err = collq_init_test(request);
	while (err == -EINPROGRESS && !atomic_load(&scene->lost));
	collq_request_free(request);
	return err == -EINPROGRESS ? -ENODEV : err;
}

/* What a rank runs in turn; in the first all-to-all receives are posted between runs too. */
struct business {
	struct collq_request *barrier;
	struct exchange exchanges[2];
	struct reduction reduction;
};

static void begin_business(struct team_member *me, struct business *business)
{
	business->barrier = team_barrier(me, 0, 0, 0);
	exchange_new(me, 0, &business->exchanges[0], 500, COLLQ_ALLTOALL_E, COLLQ_PACKING_SG, 2,
		     false);
	exchange_new(me, 0, &business->exchanges[1], 20000, COLLQ_ALLTOALL_PAIRWISE, 0, 0, false);
	reduction_new(me, 0, &business->reduction);
}

static int run_barrier(struct team_member *me, const struct business *business)
{
	int err;

	team_enter(me, 0);
	err = collq_start_wait(business->barrier, 0);
	if (!err)
		team_check_left(me, 0);
	return err;
}

static int run_exchange(struct team_member *me, struct exchange *exchange)
{
	int err;

	exchange_fill(exchange);
	err = collq_start_wait(exchange->request, 0);
	if (!err)
		exchange_check(me, exchange);
	exchange_mark(exchange);
	return err;
}

/* Until something fails, and what did that was run. */
static int be_busy(struct team_member *me, struct business *business,
		   struct collq_request **failed)
{
	uint64_t turn = 0;
	int err = 0;

	while (!err) {
		if (turn % 4 == 3) {
			*failed = business->reduction.request;
			err = reduction_run(me, &business->reduction, turn, 0);
		} else if (turn % 4 == 2) {
			*failed = business->barrier;
			err = run_barrier(me, business);
		} else {
			*failed = business->exchanges[turn % 4].request;
			err = run_exchange(me, &business->exchanges[turn % 4]);
		}
		count(me, 0);
		if (!err && !(++turn % 5))
			err = init_and_free(me);
	}
	return err;
}

/* Nothing has come any more, and all pages are free again. */
static void end_business(struct team_member *me, struct business *business)
{
	uint32_t i;

	CHECK(RAW_WITHIN(PATIENCE_MS, !raw_status_kb("VmPin")));
	for (i = 0; i < 2; i++) {
		exchange_check_mark(me, &business->exchanges[i]);
		exchange_free(&business->exchanges[i]);
	}
	collq_request_free(business->barrier);
	collq_request_free(business->reduction.request);
}

static void member(struct team_member *me)
{
	struct collq_request *failed, *other;
	struct business business;
	pthread_t thread;
	int err, again;

	begin_business(me, &business);
	CHECK_IS(0, pthread_create(&thread, NULL, load, me));
	err = be_busy(me, &business, &failed);
	atomic_store(&scene->lost, true);
	check_loss(me, err, collq_fd(me->ctx));
	check_lost(me, collq_fd(me->ctx), NULL);
	/*
	 * The one error may have come from an initialisation; or from the wait,
	 * when the run hadn't ended yet.
	 */
	again = collq_start_wait(failed, 0);
	if (again == -EBUSY)
		CHECK(RAW_EVENTUALLY(collq_test(failed) != -EINPROGRESS));
	else if (again != err)
		CHECK_IS(-ENODEV, again);
	lose(me, 0);
	check_lost(me, collq_fd(me->ctx), NULL);
	if (!collq_barrier_init(me->comm[0], NULL, &other))
		collq_request_free(other);
	CHECK_IS(0, pthread_join(thread, NULL));
	end_business(me, &business);
}

static bool all_at(uint32_t what)
{
	uint32_t i;

	for (i = 0; i < RANKS; i++)
		if (atomic_load(&scene->at[i][0]) < what || atomic_load(&scene->at[i][1]) < what)
			return false;
	return true;
}

static const char *const commands[UNPLUG_WAYS] = {
	[UNPLUG_LINK] = "rdma link delete rxe0",
	[UNPLUG_NETDEV] = "ip link delete d0",
	[UNPLUG_MODULE] = "rmmod rdma_rxe",
};

/* Only what was loaded has a count of who uses it. */
bool unplug_possible(uint32_t way)
{
	return way != UNPLUG_MODULE || !access("/sys/module/rdma_rxe/refcnt", F_OK);
}

static bool run(const char *command)
{
	if (!system(command))
		return true;
	printf("# failed: %s\n", command);
	return false;
}

bool unplug_take(uint32_t way)
{
	return run(commands[way]);
}

bool unplug_undo(void)
{
	if (!run("modprobe -a rdma_rxe ib_collq"))
		return false;
	if (access("/sys/class/net/d0", F_OK) &&
	    !(run("ip link add d0 type dummy") && run("ip addr add 10.9.9.1/24 dev d0") &&
	      run("ip link set d0 up")))
		return false;
	return raw_node()[0] || run("rdma link add rxe0 type rxe netdev d0");
}

/* Takes it away, when all are at it, and brings another one: what went wrong. */
static const char *act(struct team *team)
{
	const struct timespec delay = { .tv_nsec = plan.delay_ns };
	uint64_t begin;
	bool gone;

	if (!RAW_WITHIN(PATIENCE_MS, all_at(BUSY) || atomic_load(&team->failed)))
		return "not all are busy";
	nanosleep(&delay, NULL);
	begin = raw_now();
	gone = unplug_take(plan.way);
	took_ns = raw_now() - begin;
	if (!gone)
		return "the device doesn't go";
	if (!RAW_WITHIN(PATIENCE_MS, all_at(LOST) || atomic_load(&team->failed)))
		return "not all have lost the device";
	if (!unplug_undo())
		return "no new device";
	return RAW_EVENTUALLY(!raw_try_new_pair()) ? NULL : "the new device is of no use";
}

static void unplug(struct team *team, const pid_t pids[])
{
	const char *what = act(team);
	uint32_t i;

	atomic_store(&scene->back, true);
	if (!what)
		return;
	printf("# %s\n", what);
	for (i = 0; i < RANKS; i++) {
		if (atomic_load(&scene->at[i][0]) != LOST || atomic_load(&scene->at[i][1]) != LOST)
			printf("# rank %u is at %u, its thread at %u\n", i,
			       atomic_load(&scene->at[i][0]), atomic_load(&scene->at[i][1]));
		kill(pids[i], SIGKILL);
	}
	atomic_store(&team->failed, true);
}

unsigned int unplug_run(const struct unplug_plan *what, struct unplug_result *result)
{
	unsigned int failed;
	uint32_t i;

	plan = *what;
	scene = mmap(NULL, sizeof(*scene), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		     -1, 0);
	if (scene == MAP_FAILED)
		return RANKS;
	failed = team_run_directed(RANKS, member, unplug);
	*result = (struct unplug_result){ .took_ns = took_ns };
	for (i = 0; i < RANKS; i++)
		result->calls += scene->calls[i][0] + scene->calls[i][1];
	munmap(scene, sizeof(*scene));
	return failed;
}
