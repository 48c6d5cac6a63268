// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The tool's hand on another host: has the ranks there, for one row.
 *
 * It learns from standard input which row, forks the ranks, and from then on is
 * a bridge between their memory and the tool. It doesn't judge anything: that a
 * rank has ended is told like all else, and when all have, and the tool has been
 * told, it ends. If the tool goes away, so do it and its ranks.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bridge.h"
#include "clock.h"
#include "counters.h"
#include "crew.h"
#include "progress.h"
#include "worker.h"

/* Nothing rings when a rank ends or passes a barrier that isn't verified. */
#define LOOK_INTERVAL_MS	20
#define STEPS_INTERVAL_MS	100
#define ALIVE_INTERVAL_MS	500

/* What the tool knows of a rank here */
struct known {
	struct told told;
	uint32_t phase;
	int error;
	uint64_t steps;
	bool latencies;
};

struct worker {
	struct options options;
	struct start start;
	struct link link;
	struct shared *shared;
	struct crew crew;
	struct known *known;
	uint64_t spoken_ms;
	bool stopped;		/* the tool is gone, or wants it to end */
};

static void put(struct worker *worker, enum record_type type, uint32_t rank, uint64_t value,
		const void *data, uint32_t length)
{
	const struct record record = {
		.type = type,
		.rank = rank,
		.value = value,
		.length = length,
	};

	link_put(&worker->link, &record, data);
	worker->spoken_ms = now_ms();
}

static void tell_latencies(struct worker *worker, uint32_t rank)
{
	const uint64_t *ns = shared_latencies(worker->shared, rank);
	uint64_t nr = worker->start.iterations, at, part;

	for (at = 0; at < nr; at += part) {
		part = nr - at < MAX_BLOCK / sizeof(*ns) ? nr - at : MAX_BLOCK / sizeof(*ns);
		put(worker, RECORD_LATENCIES, rank, at, ns + at, part * sizeof(*ns));
	}
}

/* Of all that a rank has written its phase was last: what comes before is there. */
static void tell_state(struct worker *worker, uint32_t rank, struct known *known, bool always)
{
	struct rank_state *state = &worker->shared->rank[rank], copy;
	uint32_t phase = atomic_load_explicit(&state->phase, memory_order_acquire);
	uint64_t steps = atomic_load_explicit(&state->steps, memory_order_relaxed);
	bool slowly = now_ms() - worker->spoken_ms >= STEPS_INTERVAL_MS;

	if (!always && phase == known->phase && state->error == known->error &&
	    (steps == known->steps || !slowly))
		return;
	if (phase >= PHASE_TIMED && !known->latencies) {
		known->latencies = true;
		tell_latencies(worker, rank);
	}
	memcpy(&copy, state, sizeof(copy));
	copy.phase = phase;
	known->phase = phase;
	known->error = copy.error;
	known->steps = steps;
	put(worker, RECORD_STATE, rank, 0, (char *)&copy + STATE_OFFSET, STATE_SIZE);
}

/* Of a rank that has ended, what it wrote last is told before. */
static void tell_ends(struct worker *worker)
{
	struct crew *crew = &worker->crew;
	uint32_t i;
	int status;

	for (i = crew->first; i < crew->first + crew->nr_local; i++) {
		if (!crew->pids[i] || waitpid(crew->pids[i], &status, WNOHANG) <= 0)
			continue;
		crew->pids[i] = 0;
		crew->nr_left--;
		tell_state(worker, i, &worker->known[i - crew->first], true);
		put(worker, RECORD_ENDED, i, (uint32_t)status, NULL, 0);
	}
}

static void tell_all(struct worker *worker)
{
	uint32_t i;

	for (i = 0; i < worker->start.nr; i++) {
		struct known *known = &worker->known[i];
		uint32_t rank = worker->start.first + i;

		bridge_tell(worker->shared, rank, &known->told, &worker->link, 1);
		tell_state(worker, rank, known, false);
	}
	tell_ends(worker);
	if (now_ms() - worker->spoken_ms >= ALIVE_INTERVAL_MS)
		put(worker, RECORD_ALIVE, 0, 0, NULL, 0);
}

/* The ranks are asleep at a gate, and nobody waits for anything but this. */
static void tell_counters(struct worker *worker)
{
	const struct rank_state *state = &worker->shared->rank[worker->start.first];
	struct counters counters;

	counters_read_quiet(state->device, state->port, &counters);
	put(worker, RECORD_COUNTERS, 0, 0, &counters, sizeof(counters));
}

static void obey(struct worker *worker, const struct record *record, const void *data)
{
	struct shared *shared = worker->shared;
	struct record ack = *record;

	switch (record->type) {
	case RECORD_CONFIRMED:
		stamp_confirm(shared, record->rank, record->comm, record->value);
		break;
	case RECORD_GATE:
		gate_open(shared, record->value);
		break;
	case RECORD_GO:
		flag_raise(&shared->go);
		break;
	case RECORD_STOP:
		flag_raise(&shared->stop);
		break;
	case RECORD_COUNT:
		tell_counters(worker);
		break;
	default:
		if (!bridge_take(shared, record, data)) {
			complain("no sense in record %u", record->type);
			worker->stopped = true;
		}
		ack.type = RECORD_ACK;
		if (record->type == RECORD_ENTERED)
			link_put(&worker->link, &ack, NULL);
	}
}

/* The first record says what the row is. */
static int read_start(struct worker *worker)
{
	struct pollfd fds[2];
	struct record record;
	const void *data;

	while (!link_next(&worker->link, &record, &data)) {
		poll(fds, link_poll(&worker->link, fds), -1);
		if (link_move(&worker->link))
			return worker->link.error;
	}
	if (record.type != RECORD_START || record.length != sizeof(worker->start))
		return -EPROTO;
	memcpy(&worker->start, data, sizeof(worker->start));
	if (worker->start.size != sizeof(worker->start) ||
	    strncmp(worker->start.version, TOOL_VERSION, sizeof(worker->start.version)))
		return -EPROTO;
	return 0;
}

static int start_ranks(struct worker *worker)
{
	const struct start *start = &worker->start;
	int rc;

	worker->options = (struct options) {
		.iterations = start->iterations,
		.radix = start->radix,
		.device = start->device[0] ? start->device : NULL,
		.front_end = start->front_end,
		.communicators = start->communicators,
		.spoilt = start->spoilt,
		.seed = start->seed,
		.leave = start->leave,
		.packing = start->packing,
		.bytes = start->bytes,
	};
	worker->known = calloc(start->nr, sizeof(*worker->known));
	worker->shared = shared_map(start->ranks, start->iterations);
	if (!worker->known || !worker->shared)
		return -ENOMEM;
	rc = bridge_open(worker->shared);
	if (rc)
		return rc;
	return crew_start(&worker->crew, &worker->options, worker->shared, start->algorithm,
			  start->first, start->nr);
}

static void serve(struct worker *worker)
{
	struct record record;
	const void *data;

	while (!worker->stopped &&
	       (worker->crew.nr_left || worker->link.outgoing.start < worker->link.outgoing.end)) {
		bridge_sleep(worker->shared, &worker->link, 1, LOOK_INTERVAL_MS);
		tell_all(worker);
		if (link_move(&worker->link))
			return;
		while (!worker->stopped && link_next(&worker->link, &record, &data))
			obey(worker, &record, data);
	}
}

/* What is freed at the end of the process is left to that. */
int worker_main(void)
{
	static struct worker worker;
	int rc;

	signal(SIGPIPE, SIG_IGN);
	signal(SIGCHLD, SIG_DFL);
	rc = link_standard(&worker.link);
	if (!rc)
		rc = read_start(&worker);
	if (!rc)
		rc = start_ranks(&worker);
	if (rc) {
		complain("%s", strerror(-rc));
		return EXIT_FAILURE;
	}
	serve(&worker);
	rc = worker.crew.nr_left || worker.link.error;
	crew_kill(&worker.crew);
	return rc ? EXIT_FAILURE : EXIT_SUCCESS;
}
