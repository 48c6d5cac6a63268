// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * One row of the table: one number of ranks with one algorithm.
 *
 * The parent forks the ranks, leads them through the phases and observes them
 * from outside: the kernel's tracepoint for their system calls, the device's
 * counters for their messages. Both cover just the counted phase. The order at
 * its edges matters: the device's counters are read while the ranks sleep at a
 * gate, and the witness is switched while they spin, so that neither sees
 * anything but barriers.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "counters.h"
#include "crew.h"
#include "expect.h"
#include "progress.h"
#include "rank.h"
#include "row.h"
#include "witness.h"

#define MAX_VIOLATIONS_SHOWN	4

struct row {
	const struct options *options;
	struct result *result;
	struct shared *shared;
	struct crew crew;
	struct witness *witness;
	struct counters at_start;	/* ranks are connected */
	struct counters before;		/* the counted phase */
	struct counters after;
};

/* A row is as long as the table has others like it: say a thing only once. */
static void say_unwitnessed(const char *why)
{
	static bool said;

	if (!said)
		complain("system calls can't be witnessed as this user: %s", why);
	said = true;
}

static const char *device_of(const struct row *row)
{
	return row->shared->rank[0].device;
}

/* Of the devices of all hosts; false if one was lost. */
static bool read_counters(struct row *row, struct counters *counters)
{
	const struct rank_state *state = &row->shared->rank[row->crew.first];

	*counters = (struct counters) { .have_received = true, .have_rnr = true };
	if (row->crew.nr_local)
		counters_read_quiet(state->device, state->port, counters);
	return hosts_add_counters(&row->crew.hosts, counters);
}

static void set_syscalls(struct row *row, uint64_t calls)
{
	double barriers = (double)counted_barriers(row->options) * row->crew.nr;

	row->result->syscalls_per_barrier = calls / barriers;
}

static void set_local_messages(struct row *row)
{
	uint64_t sends = 0;
	uint32_t rank;

	for (rank = 0; rank < row->crew.nr; rank++)
		sends += row->shared->rank[rank].tally[TALLY_LOCAL];
	row->result->local_messages_per_barrier =
		(double)sends / counted_barriers(row->options);
}

static void set_messages(struct row *row)
{
	if (!row->before.have_received || !row->after.have_received)
		return;
	row->result->messages_per_barrier =
		(double)(row->after.received - row->before.received) /
		counted_barriers(row->options);
}

/* While the ranks pass barriers between go and stop; false if there was an end. */
static bool count_calls(struct row *row)
{
	uint64_t calls;
	bool ok;

	ok = row->witness && witness_start(row->witness);
	crew_raise_go(&row->crew);
	if (!crew_await(&row->crew, PHASE_COUNTED, "counting"))
		return false;
	if (ok && witness_stop(row->witness, &calls))
		set_syscalls(row, calls);
	else if (row->witness)
		say_unwitnessed(strerror(errno));
	crew_raise_stop(&row->crew);
	return true;
}

/* Nobody can witness what goes on in the kernel of another host. */
static void take_post(struct row *row)
{
	const char *why;

	if (row->crew.nr_local < row->crew.nr)
		return;
	row->witness = witness_open(row->crew.pids, row->crew.nr, &why);
	if (!row->witness)
		say_unwitnessed(why);
}

/* From the ranks asleep at one gate to the ranks asleep at the next. */
static bool counted_phase(struct row *row)
{
	if (!read_counters(row, &row->before))
		return false;
	take_post(row);
	crew_open_gate(&row->crew, PHASE_TIMED);
	if (!crew_await(&row->crew, PHASE_ARMED, "lining up") || !count_calls(row) ||
	    !crew_await(&row->crew, PHASE_FINISHED, "counting"))
		return false;
	if (!read_counters(row, &row->after))
		return false;
	set_messages(row);
	set_local_messages(row);
	return true;
}

static bool phases(struct row *row)
{
	if (!crew_await(&row->crew, PHASE_CONNECTED, "connecting") ||
	    !read_counters(row, &row->at_start))
		return false;
	crew_open_gate(&row->crew, PHASE_CONNECTED);
	if (row->options->leave)
		return crew_await_exit(&row->crew, "verifying");
	if (!crew_await(&row->crew, PHASE_VERIFIED, "verifying"))
		return false;
	witness_fade();
	crew_open_gate(&row->crew, PHASE_VERIFIED);
	if (!crew_await(&row->crew, PHASE_TIMED, "timing") || !counted_phase(row))
		return false;
	crew_open_gate(&row->crew, PHASE_FINISHED);
	return crew_await_exit(&row->crew, "ending");
}

static void count_violations(struct row *row)
{
	uint32_t rank, shown = 0;

	for (rank = 0; rank < row->crew.nr; rank++) {
		const struct rank_state *state = &row->shared->rank[rank];

		if (!state->violations)
			continue;
		row->result->violations += state->violations;
		if (shown++ < MAX_VIOLATIONS_SHOWN)
			complain("violation: rank %" PRIu32 " left barrier %" PRIu64
				 " of communicator %" PRIu32 " before rank %" PRIu32
				 " had entered it (first of %" PRIu64 " by this rank)",
				 rank, state->first.barrier, state->first.comm,
				 state->first.missing, (uint64_t)state->violations);
	}
}

/* Receiver not ready: a message came before a receive was posted for it. */
static bool rnr_grew(const struct row *row)
{
	bool grew = false;
	unsigned int i;

	if (!row->at_start.have_rnr || !row->after.have_rnr)
		return false;
	for (i = 0; i < NR_RNR_COUNTERS; i++) {
		if (row->after.rnr[i] == row->at_start.rnr[i])
			continue;
		complain("%s of %s has grown by %" PRIu64, rnr_counter_names[i], device_of(row),
			 row->after.rnr[i] - row->at_start.rnr[i]);
		grew = true;
	}
	return grew;
}

static bool messages_differ(const struct row *row)
{
	const struct result *result = row->result;
	double expected = expected_messages(result->ranks, result->algorithm,
					    row->options->radix);
	double sent = result->messages_per_barrier + result->local_messages_per_barrier;

	if (isnan(sent) || isnan(expected) || sent == expected)
		return false;
	complain("%.10g messages per barrier, not %.10g: is there other traffic on %s?",
		 sent, expected, device_of(row));
	return true;
}

/* collq_start_wait() is one. */
static bool syscalls_differ(const struct row *row)
{
	double witnessed = row->result->syscalls_per_barrier;

	if (isnan(witnessed) || witnessed == 1)
		return false;
	complain("%.10g system calls per barrier and rank, not 1", witnessed);
	return true;
}

static enum row_end judge(struct row *row)
{
	bool odd;

	count_violations(row);
	memcpy(row->result->front_end, row->shared->rank[0].front_end,
	       sizeof(row->result->front_end));
	odd = rnr_grew(row);
	odd |= messages_differ(row);
	odd |= syscalls_differ(row);
	if (row->result->violations)
		progress_end("%" PRIu64 " violations", row->result->violations);
	else if (row->options->leave)
		progress_end("no violation");
	else
		progress_end("no violation, median %.1f us", row->result->latency.median);
	return row->result->violations || (odd && row->options->demo) ? ROW_BAD : ROW_GOOD;
}

static enum row_end run_with_memory(struct row *row, uint32_t algorithm)
{
	enum row_end end = ROW_FAILED;
	int rc;

	if (crew_start_all(&row->crew, row->options, row->shared, algorithm) && phases(row)) {
		rc = row->options->leave ? 0 : latency_sum_up(row->shared, &row->result->latency);
		if (rc)
			complain("%s", strerror(-rc));
		else
			end = judge(row);
	}
	crew_kill(&row->crew);
	witness_close(row->witness);
	return end;
}

enum row_end row_run(const struct options *options, uint32_t ranks, uint32_t algorithm,
		     const char *title, struct result *result)
{
	struct row row = { .options = options, .result = result };
	enum row_end end;

	*result = (struct result) {
		.ranks = ranks,
		.algorithm = algorithm,
		.iterations = options->iterations,
		.syscalls_per_barrier = NAN,
		.messages_per_barrier = NAN,
		.local_messages_per_barrier = NAN,
		.latency = { NAN, NAN, NAN },
	};
	row.shared = shared_map(ranks, options->iterations);
	if (!row.shared) {
		complain("can't map memory for %" PRIu32 " ranks and %" PRIu64 " barriers: %s",
			 ranks, options->iterations, strerror(errno));
		return ROW_FAILED;
	}
	progress_begin(title);
	end = run_with_memory(&row, algorithm);
	shared_unmap(row.shared);
	crew_pass_on_signal(&row.crew);
	return end;
}
