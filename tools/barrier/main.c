// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * collq-barrier - processes pass barriers that the kernel carries out
 *
 * Checks from outside what ib_collq promises: that no process leaves a barrier
 * before all have entered it, that a barrier takes each of them one system
 * call, and how many messages and how much time. It uses the library as any
 * program would.
 *
 *	main -> row -> crew -> (fork) rank -> verify, measure -> libcollq
 *	           \-> witness, counters, expect, report
 *
 * With ranks on other hosts, the tool is there too, as a worker:
 *
 *	crew -> hosts -> link ~ (agent) ~ link <- worker -> crew -> (fork) rank
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <collq/collq.h>

#include "command.h"
#include "crew.h"
#include "progress.h"
#include "report.h"
#include "row.h"
#include "worker.h"

const char * const tool_name = "collq-barrier", * const tool_unit = "barriers";

static enum row_end run_rows(const struct options *options, struct result *results,
			     unsigned int *nr_done)
{
	unsigned int nr = options->nr_ranks * options->nr_algorithms, i;
	enum row_end worst = ROW_GOOD, end;
	char title[96];

	for (i = 0; i < nr && worst != ROW_FAILED; i++) {
		uint32_t ranks = options->ranks[i / options->nr_algorithms];
		uint32_t algorithm = options->algorithms[i % options->nr_algorithms];

		snprintf(title, sizeof(title), "[%u/%u] %" PRIu32 " rank%s, %s", i + 1, nr,
			 ranks, ranks > 1 ? "s" : "", collq_barrier_algorithm_name(algorithm));
		end = row_run(options, ranks, algorithm, title, &results[i]);
		if (end > worst)
			worst = end;
	}
	*nr_done = i - (worst == ROW_FAILED);
	return worst;
}

/* Rows that were done are worth showing even if a later one failed. */
int main(int argc, char **argv)
{
	struct options options;
	struct result *results;
	unsigned int nr_done;
	enum row_end end;
	int rc;

	if (argc == 2 && !strcmp(argv[1], WORKER_OPTION))
		return worker_main();
	options_parse(&options, argc, argv);
	results = calloc(options.nr_ranks * options.nr_algorithms, sizeof(*results));
	if (!results) {
		perror("collq-barrier");
		return EXIT_FAILURE;
	}
	crew_block_signals();
	fprintf(stderr, "collq-barrier: seed %" PRIu32 "\n", options.seed);

	end = run_rows(&options, results, &nr_done);
	rc = options.json ? report_json(stdout, &options, results, nr_done) :
	     nr_done ? report_table(stdout, results, nr_done) : 0;
	if (rc)
		complain("can't print the results: %s", strerror(-rc));
	free(results);
	return end == ROW_GOOD && !rc ? EXIT_SUCCESS : EXIT_FAILURE;
}
