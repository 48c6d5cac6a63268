// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Allocation failures: every call, in every state that it may find, with its first
 * allocation failing, then its second, and so on until it gets through without a
 * fault (fail_nth.h; a failing copy from or to user memory is one too).
 *
 * -ENOMEM says that nothing has happened: the same call must then do on the same
 * objects what it's expected to. -EFAULT may come when all is done but telling the
 * caller, so the call is made again on fresh objects; so it is where the fault made
 * no difference. At the end of a case nothing of ours is left on the device.
 *
 * Softirq and workers make no system calls; for them faults come at random, in the
 * last tests.
 */
#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kselftest.h"

#include "fail_nth.h"
#include "fail_nth_world.h"
#include "usage.h"

/* More points than any call has. */
#define MANY_POINTS	2000

/* For faults at random. */
#define PAIRS	100

static int world_open(struct world *w, int (*state)(struct world *w))
{
	int eventfd = w->eventfd, err;

	memset(w, 0, sizeof(*w));
	w->eventfd = eventfd;
	snprintf(w->node, sizeof(w->node), "%s", raw_node());
	w->holder = -1;
	err = raw_pair_open(&w->a, &w->b);
	return err || !state ? err : state(w);
}

static void world_close(struct world *w)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(w->map); i++) {
		if (w->map[i])
			munmap(w->map[i], w->map_size);
	}
	raw_pair_close(&w->a, &w->b);
	if (w->holder >= 0)
		close(w->holder);
}

/**
 * struct sweep - a call in a state
 * @name: what it is
 * @state: makes the state, or NULL
 * @call: the call
 * @expected: what it returns, which is an id or 0 if it's 0
 * @local: it's done once more, with endpoints that are local
 */
struct sweep {
	const char *name;
	int (*state)(struct world *w);
	int (*call)(struct world *w);
	int expected;
	bool local;
};

static const struct sweep sweeps[] = {
	{ "open", NULL, call_open, 0, false },
	{ "mmap", state_with_ring, call_mmap, 0, false },
	{ "mmap_again", state_with_mapped_ring, call_mmap, 0, false },
	{ "mmap_touch", state_with_mapped_ring, call_touch, 0, false },
	{ "munmap", state_with_mapped_ring, call_munmap, 0, false },
	{ "poll", NULL, call_poll, 0, false },
	{ "poll_unread", state_unread, call_poll, 0, false },
	{ "read", NULL, call_read, -EINVAL, false },
	{ "close_new", state_with_new_endpoints, call_close, 0, true },
	{ "close_idle", NULL, call_close, 0, true },
	{ "close_waiting", state_waiting, call_close, 0, true },
	{ "close_failed", state_failed, call_close, 0, true },
	{ "close_peer_closed", state_peer_closed, call_close, 0, true },
	{ "close_peer_lost", state_peer_lost, call_close, 0, true },
	{ "close_mapped", state_with_mapped_ring, call_close, 0, false },
	{ "query", NULL, call_query, 0, false },
	{ "describe_endpoint", NULL, call_describe_endpoint, 0, false },
	{ "describe_endpoint_bound", state_with_bindings, call_describe_endpoint, 0, false },
	{ "describe_endpoint_peer_closed", state_peer_closed, call_describe_endpoint, 0, false },
	{ "describe_counter", NULL, call_describe_counter, 0, false },
	{ "describe_graph", NULL, call_describe_graph, 0, false },
	{ "describe_graph_running", state_waiting, call_describe_graph, 0, false },
	{ "describe_queue", NULL, call_describe_queue, 0, false },
	{ "describe_queue_waiting", state_waiting, call_describe_queue, 0, false },
	{ "describe_queue_failed", state_failed, call_describe_queue, 0, false },
	{ "describe_ring", NULL, call_describe_ring, 0, false },
	{ "describe_next", NULL, call_describe_next, 0, false },
	{ "destroy_endpoint_new", state_with_new_endpoints, call_destroy, 0, true },
	{ "destroy_endpoint_message", state_with_messages, call_destroy, 0, true },
	{ "destroy_endpoint_peer_lost", state_peer_lost, call_destroy, 0, false },
	{ "destroy_endpoint_in_use", NULL, call_destroy_endpoint, -EBUSY, false },
	{ "destroy_counter", state_with_counter, call_destroy, 0, false },
	{ "destroy_counter_of_eventfd", state_with_eventfd_counter, call_destroy, 0, false },
	{ "destroy_counter_in_use", NULL, call_destroy_counter, -EBUSY, false },
	{ "destroy_graph", NULL, call_destroy_graph, 0, false },
	{ "destroy_graph_running", state_waiting, call_destroy_graph, -EBUSY, false },
	{ "destroy_queue_idle", state_with_idle_queue, call_destroy, 0, false },
	{ "destroy_queue_linked", NULL, call_destroy_queue, 0, false },
	{ "destroy_queue_waiting", state_two_submitted, call_destroy_queue, 0, false },
	{ "destroy_queue_failed", state_failed, call_destroy_queue, 0, false },
	{ "destroy_queue_peer_closed", state_peer_closed, call_destroy_queue, 0, false },
	{ "destroy_ring", state_with_ring, call_destroy, 0, false },
	{ "destroy_ring_mapped", state_with_mapped_ring, call_destroy, 0, false },
	{ "destroy_ring_in_use", NULL, call_destroy_ring, -EBUSY, false },
	{ "describe_context", NULL, call_describe_context, 0, false },
	{ "describe_context_next", NULL, call_describe_next_context, 0, false },
	{ "reset_endpoint_new", state_with_new_endpoints, call_reset, 0, false },
	{ "reset_endpoint_connected", NULL, call_reset_endpoint, 0, true },
	{ "reset_endpoint_message", state_with_messages, call_reset, 0, true },
	{ "reset_endpoint_waiting", state_waiting, call_reset_endpoint, -EBUSY, false },
	{ "reset_endpoint_peer_closed", state_peer_closed, call_reset_endpoint, 0, true },
	{ "reset_endpoint_peer_lost", state_peer_lost, call_reset, 0, false },
	{ "reset_queue_idle", NULL, call_reset_queue, 0, false },
	{ "reset_queue_waiting", state_waiting, call_reset_queue, -EBUSY, false },
	{ "reset_queue_failed", state_failed, call_reset_queue, 0, false },
	{ "reset_ring", state_with_ring, call_reset, -EINVAL, false },
	{ "region_create", NULL, call_region_create, 0, false },
	{ "region_create_registered", NULL, call_region_create_registered, 0, false },
	{ "region_create_list", state_with_region, call_region_create_list, 0, false },
	{ "describe_region", state_with_region, call_describe_region, 0, false },
	{ "destroy_region", state_with_region, call_destroy, 0, false },
	{ "describe_region_stale", state_with_stale_region, call_describe_region, 0, false },
	{ "destroy_region_stale", state_with_stale_region, call_destroy, 0, false },
	{ "describe_list", state_with_receive_in_list, call_describe_list, 0, false },
	{ "destroy_list", state_with_receive_in_list, call_destroy, 0, false },
	{ "destroy_region_in_use", state_receiving, call_destroy, -EBUSY, false },
	{ "graph_create_with_data", state_with_messages, call_graph_create_with_data, 0, false },
	{ "submit_copy", state_with_copy, call_submit_bound, 0, false },
	{ "submit_calc", state_with_calc, call_submit_bound, 0, false },
	{ "submit_receive", state_with_receive, call_submit_bound, 0, true },
	{ "submit_receive_in_list", state_with_receive_in_list, call_submit_bound, 0, true },
	{ "submit_copy_stale", state_with_stale_copy, call_submit_bound, -ESTALE, false },
	{ "submit_send", state_with_send, call_submit_bound, 0, true },
	{ "cancel_receiving", state_receiving, call_cancel_all, 0, true },
	{ "destroy_queue_receiving", state_receiving, call_destroy_queue, 0, true },
	{ "submit_blocked", state_blocked, call_submit, 0, false },
	{ "describe_queue_blocked", state_blocked, call_describe_queue, 0, false },
	{ "cancel_blocked", state_blocked, call_cancel_all, 0, true },
	{ "destroy_queue_blocked", state_blocked, call_destroy_queue, 0, true },
	{ "close_blocked", state_blocked, call_close, 0, true },
	{ "endpoint_create_with_zones", NULL, call_endpoint_create_with_zones, 0, false },
	{ "zone_offer", state_with_zone_endpoint, call_zone_offer, 0, false },
	{ "describe_zone", state_with_zone, call_describe_zone, 0, false },
	{ "destroy_zone", state_with_zone, call_destroy_second, 0, false },
	{ "close_with_zone", state_with_zone, call_close, 0, false },
	{ "reset_endpoint_with_zone", state_with_zone, call_reset, 0, false },
	{ "target_create", state_with_zone_endpoint, call_target_create, 0, false },
	{ "describe_target", state_with_target, call_describe_target, 0, false },
	{ "destroy_target", state_with_target, call_destroy_second, 0, false },
	{ "submit_write", state_with_write, call_submit_bound, 0, false },
	{ "endpoint_create", NULL, call_endpoint_create, 0, true },
	{ "endpoint_create_message", NULL, call_message_endpoint_create, 0, true },
	{ "endpoint_create_message_peer_closed", state_peer_closed,
	  call_message_endpoint_create, -ECONNRESET, false },
	{ "endpoint_create_with_completion_queue", state_without_completion_queue,
	  call_endpoint_create_large, 0, false },
	{ "endpoint_connect", state_with_new_endpoints, call_connect, 0, true },
	{ "endpoint_connect_message", state_with_new_messages, call_connect, 0, true },
	{ "endpoint_connect_two", state_with_new_endpoints, call_connect_two, 0, true },
	{ "endpoint_connect_again", state_peer_lost, call_connect, -EINVAL, false },
	{ "capacity_reserve", NULL, call_reserve, 0, false },
	{ "capacity_release", NULL, call_release, -EINVAL, false },
	{ "slot_bind", state_with_bindings, call_bind_in_table, 0, false },
	{ "slot_bind_beyond_table", state_with_bindings, call_bind_beyond_table, 0, false },
	{ "slot_bind_peer_closed", state_peer_closed, call_bind_in_table, -ENOENT, false },
	{ "slot_unbind", NULL, call_unbind, 0, false },
	{ "slot_unbind_waiting", state_waiting, call_unbind, -EBUSY, false },
	{ "counter_create", NULL, call_counter_create, 0, false },
	{ "counter_create_of_eventfd", NULL, state_with_eventfd_counter, 0, false },
	{ "counter_create_of_sends", NULL, call_sends_counter_create, 0, false },
	{ "counter_create_of_messages", state_with_messages,
	  call_messages_counter_create, 0, false },
	{ "counter_raise", state_with_counter, call_raise, 0, false },
	{ "counter_raise_waiting", state_waiting_for_user, call_raise, 0, false },
	{ "counter_raise_not_the_users", state_with_signal_counter, call_raise, -EINVAL, false },
	{ "counter_read", NULL, call_counter_read, 0, false },
	{ "ring_create", NULL, call_ring_create, 0, false },
	{ "ring_create_with_eventfd", NULL, call_ring_create_large, 0, false },
	{ "queue_create", NULL, call_queue_create, 0, false },
	{ "queue_create_linked", state_with_new_endpoints, call_queue_create_linked, 0, false },
	{ "graph_create", state_with_counter, call_graph_create, 0, false },
	{ "graph_create_large", NULL, call_graph_create_large, 0, false },
	{ "graph_create_refused", NULL, call_graph_create_refused, -EINVAL, false },
	{ "submit_idle", NULL, call_submit, 0, true },
	{ "submit_waiting", state_waiting, call_submit, 0, false },
	{ "submit_failed", state_failed, call_submit, -ETIMEDOUT, false },
	{ "submit_depth_full", state_depth_full, call_submit, -EBUSY, false },
	{ "submit_ring_full", state_ring_full, call_submit, -EBUSY, false },
	{ "submit_peer_closed", state_peer_closed, call_submit, 0, true },
	{ "submit_with_deadline", NULL, call_submit_with_deadline, 0, false },
	{ "wait_done", state_done, call_wait, 0, false },
	{ "wait_waiting", state_waiting, call_wait, -ETIME, false },
	{ "wait_failed", state_failed, call_wait, 0, false },
	{ "wait_for_ring", state_unread, call_wait_for_ring, 0, false },
	{ "wait_for_ring_empty", NULL, call_wait_for_ring, -ETIME, false },
	{ "submit_wait", state_peer_is_there, call_submit_wait, 0, true },
	{ "submit_wait_late", NULL, call_submit_wait, -ETIME, true },
	{ "submit_wait_failed", state_failed, call_submit_wait, -ETIMEDOUT, false },
	{ "cancel_waiting", state_waiting, call_cancel, 0, true },
	{ "cancel_queued", state_two_submitted, call_cancel, 0, false },
	{ "cancel_ended", state_done, call_cancel, -ENOENT, false },
	{ "cancel_all", state_two_submitted, call_cancel_all, 0, false },
	{ "cancel_all_idle", NULL, call_cancel_all, 0, false },
};

static bool as_expected(int expected, int ret)
{
	return expected ? ret == expected : ret >= 0;
}

/*
 * rxe makes a socket for each queue pair: -ENFILE. By uverbs libibverbs opens the device,
 * and has errors of its own if it can't read about it.
 */
static bool is_plausible(const struct sweep *sweep, int err)
{
	if (raw_by_uverbs && sweep->call == call_open)
		return err < 0;
	return err == -ENOMEM || err == -EFAULT || err == -ENFILE;
}

/* A ring of uverbs is a descriptor, which can be let go of at any time. */
static bool is_of_char_only(const struct sweep *sweep)
{
	return sweep->call == call_destroy_ring && sweep->expected == -EBUSY;
}

/**
 * struct point - what became of one
 * @happened: there was a fault
 * @first: what the call returned
 * @again: what it returned without a fault, if it had failed
 */
struct point {
	bool happened;
	int first;
	int again;
};

/* -errno where that can't even be tried. */
static int pass_point(struct world *w, const struct sweep *sweep, unsigned int n,
		      struct point *point)
{
	int err = world_open(w, sweep->state);

	if (err)
		return err;
	fail_nth_arm(n);
	point->first = sweep->call(w);
	point->happened = fail_nth_disarm();
	if (point->first == -EFAULT) {
		world_close(w);
		err = world_open(w, sweep->state);
	}
	if (!err && is_plausible(sweep, point->first))
		point->again = sweep->call(w);
	world_close(w);
	return err;
}

static bool run_sweep(struct world *w, const struct sweep *sweep, unsigned int *all)
{
	unsigned int n, points = 0, failed = 0;
	struct point point = { .happened = true };
	bool fine = true;
	int err = 0;

	for (n = 1; n < MANY_POINTS; n++) {
		err = pass_point(w, sweep, n, &point);
		if (err || !point.happened)
			break;
		points++;
		if (as_expected(sweep->expected, point.first))
			continue;
		failed++;
		if (is_plausible(sweep, point.first) &&
		    as_expected(sweep->expected, point.again))
			continue;
		ksft_print_msg("point %u: %d, then %d\n", n, point.first, point.again);
		fine = false;
	}
	*all += points;
	ksft_print_msg("%s: %u failure points passed, %u failed the call\n", sweep->name, points,
		       failed);
	if (err || point.happened || !as_expected(sweep->expected, point.first)) {
		ksft_print_msg("without a fault: %d\n", err ? err : point.first);
		fine = false;
	}
	return RAW_EVENTUALLY(usage_quiet()) && fine;
}

/* What may become of a barrier when messages can't be sent for want of memory. */
static bool is_transport_error(int status)
{
	return !status || status == -ENETDOWN || status == -EHOSTUNREACH ||
	       status == -EREMOTEIO || status == -ECONNRESET || status == -ETIMEDOUT ||
	       status == -ECANCELED;
}

/* One pair, two barriers, one of which nobody takes part in. */
static int run_pair(int *status)
{
	struct raw_side a, b;
	__u64 sequence;
	int err;

	err = raw_pair_open(&a, &b);
	if (!err)
		err = raw_submit(a.fd, a.queue, a.graph, 0, raw_in_ms(3000), &sequence);
	if (!err)
		err = raw_submit(b.fd, b.queue, b.graph, 0, raw_in_ms(3000), NULL);
	if (!err)
		err = raw_result(a.fd, a.queue, sequence, status);
	if (!err && !*status)
		err = raw_submit(a.fd, a.queue, a.graph, 0, raw_in_ms(5), &sequence);
	if (!err && !*status && raw_result(a.fd, a.queue, sequence, status) < 0)
		err = -EPROTO;
	/* b may have failed on its own: that is in order. */
	raw_pair_close(&a, &b);
	return is_transport_error(err) || err == -ENOMEM ? 0 : err;
}

/*
 * SoftRoCE sends from softirq, and what it can't get memory for fails the queue
 * pair: every allocation that may not sleep fails with a chance of one in twenty.
 */
static bool run_softirq(void)
{
	int i, err, status, failed = 0, other = 0;
	struct raw_side a, b;
	bool fine;

	fine = fail_nth_random(FAIL_NTH_ATOMIC, 5);
	for (i = 0; i < PAIRS; i++) {
		status = 0;
		err = run_pair(&status);
		failed += err || status != -ETIMEDOUT;
		other += err || !is_transport_error(status);
	}
	fail_nth_random_end();
	ksft_print_msg("%d of %d pairs failed, %d of them oddly\n", failed, PAIRS, other);

	err = raw_pair_open(&a, &b);
	if (!err)
		err = raw_pair_barrier(&a, &b);
	raw_pair_close(&a, &b);
	return fine && failed && !other && !err && RAW_EVENTUALLY(usage_quiet());
}

/* Tells all workers that their allocations may fail, or that they may not. */
static int tell_workers(const char *value)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;
	char path[300], name[32];
	FILE *file;
	int told = 0;

	while (dir && (entry = readdir(dir))) {
		snprintf(path, sizeof(path), "/proc/%s/comm", entry->d_name);
		file = fopen(path, "r");
		if (!file)
			continue;
		if (fgets(name, sizeof(name), file) && !strncmp(name, "kworker/u", 9)) {
			snprintf(path, sizeof(path), "/proc/%s/make-it-fail", entry->d_name);
			told += fail_nth_set(path, value);
		}
		fclose(file);
	}
	if (dir)
		closedir(dir);
	return told;
}

/*
 * Lingering, deadlines, events of endpoints and of eventfds: none of them may need
 * memory to be done with, so every other allocation of any worker fails.
 */
static bool run_workers(struct world *w)
{
	const __u64 count = 3;
	int i, status, failed = 0;
	bool fine;

	fine = tell_workers("1") && fail_nth_random(FAIL_NTH_TOLD, 50);
	for (i = 0; i < PAIRS; i++) {
		status = 0;
		/* The second barrier ends by its deadline. */
		failed += run_pair(&status) || status != -ETIMEDOUT;
		failed += world_open(w, state_with_eventfd_counter) ||
			  write(w->eventfd, &count, sizeof(count)) != sizeof(count) ||
			  !RAW_EVENTUALLY(raw_counter_raised(w->a.fd, w->object[0]) == count);
		world_close(w);
		failed += !!world_open(w, state_peer_lost);
		world_close(w);
		failed += !!world_open(w, state_peer_closed);
		world_close(w);
	}
	fail_nth_random_end();
	tell_workers("0");
	if (failed)
		ksft_print_msg("%d of %d went wrong\n", failed, 4 * PAIRS);
	return fine && !failed && RAW_EVENTUALLY(usage_quiet());
}

static unsigned int nr_local(void)
{
	unsigned int i, nr = 0;

	for (i = 0; i < ARRAY_SIZE(sweeps); i++)
		nr += sweeps[i].local;
	return nr;
}

static void test_sweeps(struct world *w, bool local, unsigned int *points)
{
	unsigned int i;

	raw_endpoint_flags = local ? IB_COLLQ_ENDPOINT_LOCAL : 0;
	for (i = 0; i < ARRAY_SIZE(sweeps); i++) {
		if (local && !sweeps[i].local)
			continue;
		if (raw_by_uverbs && is_of_char_only(&sweeps[i]))
			ksft_test_result_skip("%s\n", sweeps[i].name);
		else
			ksft_test_result(run_sweep(w, &sweeps[i], points), "%s%s\n",
					 sweeps[i].name, local ? " local" : "");
	}
	raw_endpoint_flags = 0;
}

int main(void)
{
	struct world world = { .eventfd = eventfd(0, EFD_CLOEXEC) };
	const unsigned int nr = ARRAY_SIZE(sweeps) + nr_local();
	const char *missing = fail_nth_prepare();
	cpu_set_t first;
	unsigned int points = 0;

	ksft_print_header();
	if (missing)
		ksft_exit_skip("%s\n", missing);
	ksft_set_plan(nr + 3);
	raw_ack_timeout = 14;
	/* Each processor has completion queues of its own. */
	CPU_ZERO(&first);
	CPU_SET(0, &first);
	sched_setaffinity(0, sizeof(first), &first);
	test_sweeps(&world, false, &points);
	test_sweeps(&world, true, &points);
	/* Each has some; a few have many. */
	ksft_test_result(points > 5 * nr, "%u failure points\n", points);
	ksft_test_result(run_softirq(), "softirq\n");
	ksft_test_result(run_workers(&world), "workers\n");
	close(world.eventfd);
	ksft_finished();
}
