// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * alltoall-counts - what all-to-alls come to, as tables
 *
 * Builds the graphs of all ranks, without a device, and adds up what they do in one run.
 * Documentation/alltoall-counts.rst is made with it, see tools/render-counts.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <collq/collq.h>

#define NR_SIZES	5

static const uint32_t sizes[NR_SIZES] = { 4, 7, 8, 16, 64 };

/* A row of each table */
static const struct way {
	const char *name;
	uint32_t layout;
	uint32_t packing;
} ways[] = {
	{ "A cpu", COLLQ_ALLTOALL_A, COLLQ_PACKING_CPU },
	{ "A sg", COLLQ_ALLTOALL_A, COLLQ_PACKING_SG },
	{ "A selective", COLLQ_ALLTOALL_A, COLLQ_PACKING_SELECTIVE },
	{ "B cpu", COLLQ_ALLTOALL_B, COLLQ_PACKING_CPU },
	{ "B sg", COLLQ_ALLTOALL_B, COLLQ_PACKING_SG },
	{ "B selective", COLLQ_ALLTOALL_B, COLLQ_PACKING_SELECTIVE },
	{ "C cpu", COLLQ_ALLTOALL_C, COLLQ_PACKING_CPU },
	{ "C sg", COLLQ_ALLTOALL_C, COLLQ_PACKING_SG },
	{ "C selective", COLLQ_ALLTOALL_C, COLLQ_PACKING_SELECTIVE },
	{ "D cpu", COLLQ_ALLTOALL_D, COLLQ_PACKING_CPU },
	{ "D sg", COLLQ_ALLTOALL_D, COLLQ_PACKING_SG },
	{ "D selective", COLLQ_ALLTOALL_D, COLLQ_PACKING_SELECTIVE },
	{ "E cpu", COLLQ_ALLTOALL_E, COLLQ_PACKING_CPU },
	{ "E sg", COLLQ_ALLTOALL_E, COLLQ_PACKING_SG },
	{ "E selective", COLLQ_ALLTOALL_E, COLLQ_PACKING_SELECTIVE },
	{ "pairwise", COLLQ_ALLTOALL_PAIRWISE, COLLQ_PACKING_SG },
};

#define NR_WAYS		(sizeof(ways) / sizeof(ways[0]))

/* Of all ranks in one run; scratch memory of all generations of the rank with the most */
struct counts {
	uint64_t messages;
	uint64_t copied;
	uint64_t sges;
	uint64_t scratch;
};

static int count_rank(const struct collq_alltoall *what, struct counts *counts)
{
	struct collq_graph_totals totals = { .size = sizeof(totals) };
	struct collq_needs needs = { .size = sizeof(needs) };
	struct collq_graph *graph;
	int err;

	err = collq_graph_new(&graph);
	if (err)
		return err;
	err = collq_alltoall_graph(graph, what, &needs);
	if (!err)
		err = collq_graph_totals(graph, &totals);
	collq_graph_free(graph);
	if (err)
		return err;
	counts->messages += totals.sends + totals.signals;
	counts->copied += totals.copied_bytes - needs.own_bytes;
	counts->sges += totals.send_sges + totals.recv_sges;
	if (counts->scratch < needs.generations * needs.scratch)
		counts->scratch = needs.generations * needs.scratch;
	return 0;
}

/* @what: what is common to all tables */
static int count(const struct collq_alltoall *common, const struct way *way, uint32_t size,
		 struct counts *counts)
{
	struct collq_alltoall what = *common;
	int err = 0;

	what.nr_ranks = size;
	what.layout = way->layout;
	what.packing = way->packing;
	memset(counts, 0, sizeof(*counts));
	for (; what.rank < size && !err; what.rank++)
		err = count_rank(&what, counts);
	return err;
}

static void print_line(void)
{
	uint32_t i;

	printf("===========");
	for (i = 0; i < NR_SIZES; i++)
		printf("  ==========");
	printf("\n");
}

/* @member is an offset into struct counts. */
static void print_table(const struct counts counts[NR_WAYS][NR_SIZES], const char *title,
			size_t member)
{
	uint64_t value;
	size_t i, j;

	printf("\n%s\n", title);
	for (i = 0; i < strlen(title); i++)
		putchar('=');
	printf("\n\n");
	print_line();
	printf("ranks      ");
	for (j = 0; j < NR_SIZES; j++)
		printf("  %10" PRIu32, sizes[j]);
	printf("\n");
	print_line();
	for (i = 0; i < NR_WAYS; i++) {
		printf("%-11s", ways[i].name);
		for (j = 0; j < NR_SIZES; j++) {
			memcpy(&value, (const char *)&counts[i][j] + member, sizeof(value));
			printf("  %10" PRIu64, value);
		}
		printf("\n");
	}
	print_line();
}

static int refuse(const char *program)
{
	fprintf(stderr, "usage: %s [--bytes BYTES] [--sges ENTRIES] [--local]\n", program);
	return 2;
}

static int take_number(const char *text, uint32_t *number)
{
	unsigned long value;
	char *end;

	errno = 0;
	value = strtoul(text, &end, 10);
	if (errno || end == text || *end || !value || value > UINT32_MAX)
		return -EINVAL;
	*number = value;
	return 0;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "bytes", required_argument, NULL, 'b' },
		{ "sges", required_argument, NULL, 's' },
		{ "local", no_argument, NULL, 'l' },
		{ 0 }
	};
	static struct counts counts[NR_WAYS][NR_SIZES];
	struct collq_alltoall common = { .size = sizeof(common), .max_message = UINT32_MAX };
	uint32_t bytes = 1024, sges = 32;
	int option, err = 0;
	size_t i, j;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (option == 'l')
			common.flags = COLLQ_ALLTOALL_LOCAL;
		else if (option == '?' ||
			 take_number(optarg, option == 'b' ? &bytes : &sges))
			return refuse(argv[0]);
	}
	if (optind < argc)
		return refuse(argv[0]);
	common.block = bytes;
	common.max_send_sge = sges;
	common.max_recv_sge = sges;
	for (i = 0; i < NR_WAYS && !err; i++)
		for (j = 0; j < NR_SIZES && !err; j++)
			err = count(&common, &ways[i], sizes[j], &counts[i][j]);
	if (err) {
		fprintf(stderr, "%s: %s\n", argv[0], strerror(-err));
		return 1;
	}
	printf("%" PRIu32 " bytes from each rank to each; at most %" PRIu32 " entries in a list.\n",
	       bytes, sges);
	print_table(counts, "Messages, clear-to-send signals among them",
		    offsetof(struct counts, messages));
	print_table(counts, "Bytes copied, but for what ranks have for themselves",
		    offsetof(struct counts, copied));
	print_table(counts, "Entries of lists sent and received into",
		    offsetof(struct counts, sges));
	print_table(counts, "Bytes of scratch memory of a rank",
		    offsetof(struct counts, scratch));
	return 0;
}
