// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * collq-alltoall - processes exchange blocks in all-to-alls that the kernel carries out
 *
 * Checks from outside that every byte arrives where it should, and tells what each
 * layout and packing costs: bytes copied by the CPU, messages, entries of lists, time.
 *
 *	main -> (demo) -> row -> crew -> (fork) rank -> libcollq
 *	           \-> report
 *
 * The crew is that of all tools, and so are the workers on other hosts: see ../crew.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <collq/collq.h>

#include "alltoall.h"
#include "crew.h"
#include "progress.h"
#include "worker.h"

const char * const tool_name = "collq-alltoall", * const tool_unit = "all-to-alls";

static unsigned int count_rows(const struct wanted *wanted)
{
	return wanted->common.nr_ranks * wanted->nr_bytes * wanted->common.nr_algorithms *
	       wanted->nr_packings;
}

/* The last of these changes from row to row. */
static enum row_end run_row(const struct wanted *wanted, unsigned int i, struct result *result)
{
	struct options options = wanted->common;
	unsigned int packing = i % wanted->nr_packings, rest = i / wanted->nr_packings;
	uint32_t layout = options.algorithms[rest % options.nr_algorithms], ranks;
	char title[128];

	rest /= options.nr_algorithms;
	options.packing = wanted->packings[packing];
	options.bytes = wanted->bytes[rest % wanted->nr_bytes];
	ranks = options.ranks[rest / wanted->nr_bytes];
	snprintf(title, sizeof(title), "[%u/%u] %" PRIu32 " rank%s, %" PRIu64 " bytes, %s, %s",
		 i + 1, count_rows(wanted), ranks, ranks > 1 ? "s" : "", options.bytes,
		 collq_alltoall_layout_name(layout), packing_name(options.packing));
	return row_run(&options, ranks, layout, title, result);
}

/* Rows that were done are worth showing even if a later one failed. */
static enum row_end run_rows(const struct wanted *wanted)
{
	struct result *results = calloc(count_rows(wanted), sizeof(*results));
	enum row_end worst = ROW_GOOD, end;
	unsigned int i;
	int rc;

	if (!results) {
		perror(tool_name);
		return ROW_FAILED;
	}
	for (i = 0; i < count_rows(wanted) && worst != ROW_FAILED; i++) {
		end = run_row(wanted, i, &results[i]);
		if (end > worst)
			worst = end;
	}
	i -= worst == ROW_FAILED;
	rc = wanted->common.json ? report_json(stdout, &wanted->common, results, i) :
	     i ? report_table(stdout, results, i) : 0;
	if (rc) {
		complain("can't print the results: %s", strerror(-rc));
		worst = ROW_FAILED;
	}
	free(results);
	return worst;
}

int main(int argc, char **argv)
{
	struct wanted wanted;
	enum row_end end;

	if (argc == 2 && !strcmp(argv[1], WORKER_OPTION))
		return worker_main();
	wanted_parse(&wanted, argc, argv);
	crew_block_signals();
	fprintf(stderr, "%s: seed %" PRIu32 "\n", tool_name, wanted.common.seed);
	end = wanted.common.demo ? demo_run(&wanted) : run_rows(&wanted);
	return end == ROW_GOOD ? EXIT_SUCCESS : EXIT_FAILURE;
}
