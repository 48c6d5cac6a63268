// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What the command line asks for.
 */
#include <string.h>

#include <collq/collq.h>

#include "alltoall.h"
#include "arguments.h"

static const char usage[] =
"Usage: collq-alltoall [OPTION]...\n"
"\n"
"Has processes exchange blocks in all-to-alls that the kernel carries out over an RDMA\n"
"device, checks every byte, and measures. What is counted is of all ranks in one start.\n"
"\n"
"  --ranks N[,N...]     number of processes, 1 to 1024 (2); a list gives several rows\n"
"  --iterations K       all-to-alls to verify, and to time (100)\n"
"  --bytes B[,B...]     bytes from each rank to each (64)\n"
"  --layout NAME        A, B, C, D, E, pairwise, auto; a list of these, or all for the\n"
"                       first six (auto)\n"
"  --packing NAME       cpu, sg, selective; a list of these, or all (selective)\n"
"  --radix R            base of the digits that a block travels by (2)\n"
"  --device NAME        RDMA device, such as rxe0 (the first that there is)\n"
"  --front-end NAME     char; uverbs, on kernels whose ib_uverbs has it; auto: that, or\n"
"                       else char (char)\n"
"  --hosts all|NAME,... other hosts as well: ranks are dealt in blocks over those named,\n"
"                       and started there by collq-agent; all: those in tools/vm --hosts\n"
"  --json               print JSON instead of a table\n"
"  --demo               every layout and packing for 2, 4, 7, 8 and 16 ranks, with 8, 16,\n"
"                       1024 and 65536 bytes, 3 times each, unless --ranks, --bytes or\n"
"                       --iterations say otherwise; how much less the CPU copies with\n"
"                       lists; and that two blocks which were swapped are found\n"
"  --seed S             seed of the random delays (differs from run to run)\n"
"  --timeout SECONDS    give up if no rank gets on for so long (60)\n"
"  --swap RANK          swap two blocks in this rank's graph, to test the checker\n"
"  --help               this text\n"
"  --version\n"
"\n"
"Exit status: 0 if all is well, 1 on any wrong byte or failure, 2 on wrong usage.\n";

enum own_option {
	OPTION_BYTES = OPTION_OWN,
	OPTION_LAYOUT,
	OPTION_PACKING,
	OPTION_RADIX,
	OPTION_SWAP,
};

static const struct option own_options[] = {
	{ "bytes",		required_argument,	NULL, OPTION_BYTES },
	{ "layout",		required_argument,	NULL, OPTION_LAYOUT },
	{ "packing",		required_argument,	NULL, OPTION_PACKING },
	{ "radix",		required_argument,	NULL, OPTION_RADIX },
	{ "swap",		required_argument,	NULL, OPTION_SWAP },
	{ }
};

const char *packing_name(uint32_t packing)
{
	static const char * const names[] = {
		[COLLQ_PACKING_CPU] = "cpu",
		[COLLQ_PACKING_SG] = "sg",
		[COLLQ_PACKING_SELECTIVE] = "selective",
	};

	return names[packing];
}

static void parse_bytes(struct wanted *wanted, char *list)
{
	char *item;

	wanted->nr_bytes = 0;
	while ((item = strsep(&list, ","))) {
		if (wanted->nr_bytes == MAX_ROWS_BYTES)
			usage_error("--bytes: more than %d numbers", MAX_ROWS_BYTES);
		wanted->bytes[wanted->nr_bytes++] = parse_number("--bytes", item, 0, MAX_BYTES);
	}
}

static void add_layout(struct options *options, uint32_t layout)
{
	if (options->nr_algorithms == MAX_ROWS_ALGORITHMS)
		usage_error("--layout: more than %d names", MAX_ROWS_ALGORITHMS);
	options->algorithms[options->nr_algorithms++] = layout;
}

static uint32_t find_layout(const char *wanted)
{
	const char *name;
	uint32_t layout;

	for (layout = 0; (name = collq_alltoall_layout_name(layout)); layout++) {
		if (!strcmp(wanted, name))
			return layout;
	}
	usage_error("--layout: there is no '%s'", wanted);
}

static void parse_layouts(struct options *options, char *list)
{
	uint32_t layout;
	char *item;

	options->nr_algorithms = 0;
	while ((item = strsep(&list, ","))) {
		if (strcmp(item, "all")) {
			add_layout(options, find_layout(item));
			continue;
		}
		for (layout = COLLQ_ALLTOALL_A; layout <= COLLQ_ALLTOALL_PAIRWISE; layout++)
			add_layout(options, layout);
	}
}

static void add_packing(struct wanted *wanted, uint32_t packing)
{
	if (wanted->nr_packings == MAX_ROWS_PACKINGS)
		usage_error("--packing: more than %d names", MAX_ROWS_PACKINGS);
	wanted->packings[wanted->nr_packings++] = packing;
}

static void parse_packings(struct wanted *wanted, char *list)
{
	uint32_t packing;
	bool found;
	char *item;

	wanted->nr_packings = 0;
	while ((item = strsep(&list, ","))) {
		found = false;
		for (packing = COLLQ_PACKING_CPU; packing <= COLLQ_PACKING_SELECTIVE; packing++) {
			if (strcmp(item, "all") && strcmp(item, packing_name(packing)))
				continue;
			add_packing(wanted, packing);
			found = true;
		}
		if (!found)
			usage_error("--packing: there is no '%s'", item);
	}
}

static void parse_option(struct wanted *wanted, int option)
{
	struct options *options = &wanted->common;

	switch (option) {
	case OPTION_BYTES:
		parse_bytes(wanted, optarg);
		break;
	case OPTION_LAYOUT:
		parse_layouts(options, optarg);
		break;
	case OPTION_PACKING:
		parse_packings(wanted, optarg);
		break;
	case OPTION_RADIX:
		options->radix = parse_number("--radix", optarg, 2, UINT32_MAX);
		break;
	case OPTION_SWAP:
		options->spoilt = parse_number("--swap", optarg, 0, MAX_RANKS - 1);
		break;
	default:
		parse_common(options, option, usage);
	}
}

/* It shows all that these choose from, in a table of its own. */
static void check_demo(const struct wanted *wanted)
{
	const struct options *options = &wanted->common;

	if (options->demo && (options->nr_algorithms || wanted->nr_packings || options->json ||
			      options->nr_hosts || options->spoilt != NO_RANK))
		usage_error("--demo: not with --layout, --packing, --hosts, --json, --swap");
}

static void set_defaults(struct wanted *wanted)
{
	char demo_ranks[] = "2,4,7,8,16", ranks[] = "2";
	char demo_bytes[] = "8,16,1024,65536", bytes[] = "64";
	bool demo = wanted->common.demo;

	if (!wanted->common.nr_ranks)
		parse_ranks(&wanted->common, demo ? demo_ranks : ranks);
	if (!wanted->nr_bytes)
		parse_bytes(wanted, demo ? demo_bytes : bytes);
	if (!wanted->common.iterations)
		wanted->common.iterations = demo ? 3 : 100;
	if (!wanted->common.nr_algorithms)
		add_layout(&wanted->common, COLLQ_ALLTOALL_AUTO);
	if (!wanted->nr_packings)
		add_packing(wanted, COLLQ_PACKING_SELECTIVE);
}

static void check_swap(const struct wanted *wanted)
{
	unsigned int i;

	check_spoilt(&wanted->common, "--swap", "one rank has only one block");
	for (i = 0; wanted->common.spoilt != NO_RANK && i < wanted->nr_bytes; i++) {
		if (!wanted->bytes[i])
			usage_error("--swap: blocks of no bytes are all alike");
	}
}

void wanted_parse(struct wanted *wanted, int argc, char **argv)
{
	int option;

	*wanted = (struct wanted) {
		.common.communicators = 1,
		.common.spoilt = NO_RANK,
		.common.timeout = DEFAULT_TIMEOUT,
		.common.seed = any_seed(),
	};
	while ((option = next_option(argc, argv, own_options)) != -1)
		parse_option(wanted, option);
	if (optind < argc)
		usage_error("unexpected argument '%s'", argv[optind]);
	check_demo(wanted);
	set_defaults(wanted);
	check_swap(wanted);
}
