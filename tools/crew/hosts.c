// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The other hosts of a row, as the tool sees them.
 *
 * A worker that ends while it still has ranks, a connection that breaks, and a
 * host that says nothing for SILENCE_MS (a worker says at least twice a second
 * that it is there) are the end of the row: the ranks that are left would wait
 * for ever. Most often they hear of it before, from their devices.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "hosts.h"
#include "place.h"
#include "progress.h"
#include "worker.h"

#define SILENCE_MS		20000
#define NOTEWORTHY_MS		2500
#define COUNTERS_MS		20000
#define SERVE_MS		10

/* A rank, and the hosts that have its stamps */
struct remote {
	bool ended;
	bool told;
	int status;
	uint64_t acks[NR_COMMS];
};

int hosts_prepare(struct hosts *hosts, const struct options *options, struct shared *shared)
{
	uint32_t ranks = shared->nr_ranks, own = options->own_host;

	*hosts = (struct hosts) {
		.options = options,
		.shared = shared,
		.nr_local = options->nr_hosts ? 0 : ranks,
	};
	if (!options->nr_hosts)
		return 0;
	if (own != NO_HOST) {
		hosts->first = place_first(options, ranks, own);
		hosts->nr_local = place_first(options, ranks, own + 1) - hosts->first;
	}
	if (hosts->nr_local == ranks)
		return 0;
	signal(SIGPIPE, SIG_IGN);
	hosts->told = calloc(ranks, sizeof(*hosts->told));
	hosts->remote = calloc(ranks, sizeof(*hosts->remote));
	if (!hosts->told || !hosts->remote)
		return -ENOMEM;
	return bridge_open(shared);
}

static void put_start(const struct hosts *hosts, struct link *link, uint32_t algorithm,
		      uint32_t first, uint32_t nr)
{
	const struct options *options = hosts->options;
	struct record record = { .type = RECORD_START, .length = sizeof(struct start) };
	struct start start = {
		.size = sizeof(start),
		.ranks = hosts->shared->nr_ranks,
		.algorithm = algorithm,
		.first = first,
		.nr = nr,
		.iterations = options->iterations,
		.radix = options->radix,
		.communicators = options->communicators,
		.spoilt = options->spoilt,
		.seed = options->seed,
		.leave = options->leave,
		.packing = options->packing,
		.front_end = options->front_end,
		.bytes = options->bytes,
	};

	strncpy(start.version, TOOL_VERSION, sizeof(start.version) - 1);
	if (options->device)
		strncpy(start.device, options->device, sizeof(start.device) - 1);
	link_put(link, &record, &start);
}

static int start_worker(struct hosts *hosts, const char *name, struct link *link)
{
	static char program[4096];
	char option[] = WORKER_OPTION, *argv[] = { program, option, NULL };
	int rc;

	if (readlink("/proc/self/exe", program, sizeof(program) - 1) < 0)
		return -errno;
	rc = place_is_child(name) ? link_fork(link, name, argv) : link_start(link, name, argv);
	hosts->nr++;
	return rc;
}

int hosts_start(struct hosts *hosts, uint32_t algorithm)
{
	const struct options *options = hosts->options;
	uint32_t ranks = hosts->shared->nr_ranks, host, first, nr;
	int rc;

	for (host = 0; host < options->nr_hosts; host++) {
		first = place_first(options, ranks, host);
		nr = place_first(options, ranks, host + 1) - first;
		if (!nr || host == options->own_host)
			continue;
		hosts->nr_running[hosts->nr] = nr;
		rc = start_worker(hosts, options->hosts[host], &hosts->links[hosts->nr]);
		if (rc) {
			complain("host %s: can't start ranks there: %s", options->hosts[host],
				 strerror(-rc));
			return rc;
		}
		put_start(hosts, &hosts->links[hosts->nr - 1], algorithm, first, nr);
	}
	return 0;
}

void hosts_stop(struct hosts *hosts)
{
	uint32_t i;

	for (i = 0; i < hosts->nr; i++)
		link_close(&hosts->links[i]);
	hosts->nr = 0;
	free(hosts->told);
	free(hosts->remote);
	hosts->told = NULL;
	hosts->remote = NULL;
	if (hosts->shared)
		bridge_close(hosts->shared);
}

void hosts_put(struct hosts *hosts, enum record_type type, uint64_t value)
{
	const struct record record = { .type = type, .value = value };

	bridge_pass(hosts->links, hosts->nr, NULL, &record, NULL);
}

static bool is_local(const struct hosts *hosts, uint32_t rank)
{
	return rank - hosts->first < hosts->nr_local;
}

/* The link to the host of a rank that isn't ours. */
static struct link *link_of(struct hosts *hosts, uint32_t rank)
{
	const char *name = place_name(hosts->options, hosts->shared->nr_ranks, rank);
	uint32_t i;

	for (i = 0; i < hosts->nr; i++) {
		if (hosts->links[i].name == name)
			return &hosts->links[i];
	}
	return NULL;
}

/* All hosts have it: that of the rank, this one, and those that have said so. */
static void confirm(struct hosts *hosts, const struct record *stamp)
{
	struct record record = *stamp;

	if (is_local(hosts, stamp->rank)) {
		stamp_confirm(hosts->shared, stamp->rank, stamp->comm, stamp->value);
		return;
	}
	record.type = RECORD_CONFIRMED;
	link_put(link_of(hosts, stamp->rank), &record, NULL);
}

/* There is never more than one stamp of a rank and communicator under way. */
static void take_ack(struct hosts *hosts, const struct record *record)
{
	uint32_t needed = is_local(hosts, record->rank) ? hosts->nr : hosts->nr - 1;
	uint64_t *acks = &hosts->remote[record->rank].acks[record->comm];

	if (++*acks < needed)
		return;
	*acks = 0;
	confirm(hosts, record);
}

static void take_state(struct hosts *hosts, const struct record *record, const void *data)
{
	struct rank_state *state = &hosts->shared->rank[record->rank];
	uint32_t nobody = NO_RANK;

	memcpy((char *)state + STATE_OFFSET, data, STATE_SIZE);
	if (state->error)
		atomic_compare_exchange_strong(&hosts->shared->first_failed, &nobody,
					       record->rank);
}

static void take_counters(struct hosts *hosts, const void *data)
{
	struct counters counters;

	memcpy(&counters, data, sizeof(counters));
	counters_add(&hosts->counters, &counters);
	hosts->nr_counters++;
}

/* From one of the others to all of us */
static bool take_shared(struct hosts *hosts, const struct link *link,
			const struct record *record, const void *data)
{
	if (!bridge_take(hosts->shared, record, data))
		return false;
	bridge_pass(hosts->links, hosts->nr, link, record, data);
	if (record->type == RECORD_ENTERED && hosts->nr == 1)
		confirm(hosts, record);
	return true;
}

/* False if it makes no sense. */
static bool take(struct hosts *hosts, uint32_t i, const struct record *record, const void *data)
{
	struct shared *shared = hosts->shared;

	if (record->rank >= shared->nr_ranks || record->comm >= NR_COMMS)
		return false;
	switch (record->type) {
	case RECORD_ALIVE:
		return true;
	case RECORD_ACK:
		take_ack(hosts, record);
		return true;
	case RECORD_STATE:
		if (record->length == STATE_SIZE)
			take_state(hosts, record, data);
		return record->length == STATE_SIZE;
	case RECORD_LATENCIES:
		if (record->value + record->length / sizeof(uint64_t) > shared->iterations)
			return false;
		memcpy(shared_latencies(shared, record->rank) + record->value, data,
		       record->length);
		return true;
	case RECORD_COUNTERS:
		if (record->length == sizeof(struct counters))
			take_counters(hosts, data);
		return record->length == sizeof(struct counters);
	case RECORD_ENDED:
		hosts->remote[record->rank].ended = true;
		hosts->remote[record->rank].status = record->value;
		hosts->nr_running[i]--;
		return true;
	default:
		return take_shared(hosts, &hosts->links[i], record, data);
	}
}

static bool gone(const struct hosts *hosts, uint32_t i)
{
	const struct link *link = &hosts->links[i];

	if (!hosts->nr_running[i])
		return false;
	if (link->ended && link->status > 128)
		complain("host %s: %s there was killed: %s", link->name, tool_name,
			 strsignal(link->status - 128));
	else if (link->ended)
		complain("host %s: %s there ended early, with status %d", link->name, tool_name,
			 link->status);
	else if (link->error)
		complain("host %s: lost: %s", link->name, strerror(-link->error));
	else if (now_ms() - link->heard_ms > SILENCE_MS)
		complain("host %s: lost: nothing heard for %d s", link->name, SILENCE_MS / 1000);
	else
		return false;
	return true;
}

/* One look at everything; false if a host is lost. */
static bool look(struct hosts *hosts)
{
	struct record record;
	const void *data;
	uint32_t i;

	for (i = hosts->first; i < hosts->first + hosts->nr_local; i++)
		bridge_tell(hosts->shared, i, &hosts->told[i], hosts->links, hosts->nr);
	for (i = 0; i < hosts->nr; i++) {
		struct link *link = &hosts->links[i];

		link_move(link);
		while (link_next(link, &record, &data)) {
			if (take(hosts, i, &record, data))
				continue;
			complain("host %s: no sense in record %u", link->name, record.type);
			return false;
		}
		if (gone(hosts, i))
			return false;
	}
	/* What has come of that should not wait for the next time. */
	for (i = 0; i < hosts->nr; i++)
		link_move(&hosts->links[i]);
	return true;
}

bool hosts_serve(struct hosts *hosts, int ms)
{
	uint64_t end = now_ms() + ms, now = end - ms;

	do {
		bridge_sleep(hosts->shared, hosts->links, hosts->nr, end - now);
		if (!look(hosts))
			return false;
		now = now_ms();
	} while (now < end);
	return true;
}

bool hosts_next_end(struct hosts *hosts, uint32_t *rank, int *status)
{
	uint32_t i;

	for (i = 0; hosts->remote && i < hosts->shared->nr_ranks; i++) {
		struct remote *remote = &hosts->remote[i];

		if (!remote->ended || remote->told)
			continue;
		remote->told = true;
		*rank = i;
		*status = remote->status;
		return true;
	}
	return false;
}

bool hosts_add_counters(struct hosts *hosts, struct counters *counters)
{
	uint64_t deadline = now_ms() + COUNTERS_MS;
	uint32_t i;

	/* A host that is none has no device of its own. */
	for (i = 0; i < hosts->nr; i++) {
		if (!hosts->links[i].agent)
			*counters = (struct counters) { };
	}
	if (!hosts->nr)
		return true;
	hosts->nr_counters = 0;
	hosts->counters = *counters;
	hosts_put(hosts, RECORD_COUNT, 0);
	while (hosts->nr_counters < hosts->nr && now_ms() < deadline) {
		if (!hosts_serve(hosts, SERVE_MS))
			return false;
	}
	*counters = hosts->counters;
	return true;
}

void hosts_say_silent(const struct hosts *hosts)
{
	uint64_t now = now_ms();
	uint32_t i;

	for (i = 0; i < hosts->nr; i++) {
		if (now - hosts->links[i].heard_ms > NOTEWORTHY_MS)
			complain("host %s: nothing heard for %.1f s", hosts->links[i].name,
				 (now - hosts->links[i].heard_ms) / 1000.);
	}
}
