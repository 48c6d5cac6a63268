// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * One row of the table: one number of ranks, block size, layout and packing.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "alltoall.h"
#include "crew.h"
#include "progress.h"

#define MAX_SHOWN	4

static bool phases(struct crew *crew)
{
	if (!crew_await(crew, PHASE_CONNECTED, "connecting"))
		return false;
	crew_open_gate(crew, PHASE_CONNECTED);
	if (!crew_await(crew, PHASE_VERIFIED, "verifying"))
		return false;
	crew_open_gate(crew, PHASE_VERIFIED);
	if (!crew_await(crew, PHASE_FINISHED, "timing"))
		return false;
	crew_open_gate(crew, PHASE_FINISHED);
	return crew_await_exit(crew, "ending");
}

static void count_wrong(const struct shared *shared, struct result *result)
{
	uint32_t rank, shown = 0;

	for (rank = 0; rank < shared->nr_ranks; rank++) {
		const struct rank_state *state = &shared->rank[rank];

		if (!state->violations)
			continue;
		result->wrong_bytes += state->violations;
		if (shown++ < MAX_SHOWN)
			complain("wrong: rank %" PRIu32 ", start %" PRIu64 ": the block from rank %"
				 PRIu32 " isn't what was sent (first of %" PRIu64
				 " bytes at this rank)", rank, state->first.barrier,
				 state->first.missing, (uint64_t)state->violations);
	}
}

/* What the module has counted in each start has to be what the graphs come to. */
static bool counts_differ(const struct result *result)
{
	if (result->copied != result->to_copy)
		complain("%" PRIu64 " bytes copied in each start, not %" PRIu64
			 " as by the graphs", result->copied, result->to_copy);
	if (result->messages != result->to_send)
		complain("%" PRIu64 " messages in each start, not %" PRIu64 " as by the graphs",
			 result->messages, result->to_send);
	return result->copied != result->to_copy || result->messages != result->to_send;
}

static enum row_end judge(const struct shared *shared, const struct options *options,
			  struct result *result)
{
	uint32_t rank;
	bool odd;

	for (rank = 0; rank < shared->nr_ranks; rank++) {
		result->copied += shared->rank[rank].tally[TALLY_COPIED];
		result->to_copy += shared->rank[rank].tally[TALLY_TO_COPY];
		result->to_send += shared->rank[rank].tally[TALLY_TO_SEND];
		result->messages += shared->rank[rank].tally[TALLY_MESSAGES];
		result->local_messages += shared->rank[rank].tally[TALLY_LOCAL];
		result->sges += shared->rank[rank].tally[TALLY_SGES];
	}
	result->layout = shared->rank[0].tally[TALLY_LAYOUT];
	memcpy(result->front_end, shared->rank[0].front_end, sizeof(result->front_end));
	count_wrong(shared, result);
	odd = counts_differ(result);
	if (result->wrong_bytes)
		progress_end("%" PRIu64 " wrong bytes", result->wrong_bytes);
	else if (!options->demo)
		progress_end("every byte right, median %.1f us", result->latency.median);
	return result->wrong_bytes || odd ? ROW_BAD : ROW_GOOD;
}

static enum row_end run_with_memory(struct crew *crew, const struct options *options,
				    struct shared *shared, uint32_t layout,
				    struct result *result)
{
	enum row_end end = ROW_FAILED;
	int rc;

	if (crew_start_all(crew, options, shared, layout) && phases(crew)) {
		rc = options->demo ? 0 : latency_sum_up(shared, &result->latency);
		if (rc)
			complain("%s", strerror(-rc));
		else
			end = judge(shared, options, result);
	}
	crew_kill(crew);
	return end;
}

enum row_end row_run(const struct options *options, uint32_t ranks, uint32_t layout,
		     const char *title, struct result *result)
{
	static const struct crew nobody;
	struct crew crew = nobody;
	struct shared *shared;
	enum row_end end;

	*result = (struct result) {
		.ranks = ranks,
		.bytes = options->bytes,
		.layout = layout,
		.packing = options->packing,
		.iterations = options->iterations,
	};
	shared = shared_map(ranks, options->iterations);
	if (!shared) {
		complain("can't map memory for %" PRIu32 " ranks and %" PRIu64 " starts: %s", ranks,
			 options->iterations, strerror(errno));
		return ROW_FAILED;
	}
	progress_begin(title);
	end = run_with_memory(&crew, options, shared, layout, result);
	shared_unmap(shared);
	crew_pass_on_signal(&crew);
	return end;
}
