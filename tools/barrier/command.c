// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What the command line asks for.
 *
 * --demo is nothing but other defaults and a stricter judgement at the end, so
 * that any other option can be combined with it.
 */
#include <string.h>

#include <collq/collq.h>

#include "arguments.h"
#include "command.h"

#define MAX_RADIX		MAX_RANKS

static const char usage[] =
"Usage: collq-barrier [OPTION]...\n"
"\n"
"Has processes pass barriers that the kernel carries out over an RDMA device,\n"
"checks that none leaves a barrier before all have entered it, and measures.\n"
"\n"
"  --ranks N[,N...]     number of processes, 1 to 1024 (2); a list gives several rows\n"
"  --iterations K       barriers to verify, and to time (1000)\n"
"  --algorithm NAME     dissemination, recursive-doubling, k-nomial, auto; a list of\n"
"                       these, or all for the first three (auto)\n"
"  --radix K            arity of the k-nomial tree; 0: the library chooses (0)\n"
"  --device NAME        RDMA device, such as rxe0 (the first that there is)\n"
"  --front-end NAME     char; uverbs, on kernels whose ib_uverbs has it; auto: that, or\n"
"                       else char (char)\n"
"  --communicators N    2: check barriers of two communicators in flight at once, too (1)\n"
"  --hosts all|NAME,... other hosts as well: ranks are dealt in blocks over those named,\n"
"                       and started there by collq-agent; all: those in tools/vm --hosts\n"
"  --json               print JSON instead of a table\n"
"  --demo               ranks 2,4,8,16, all algorithms, two communicators; receiver-not-\n"
"                       ready errors or a wrong number of messages are failures as well\n"
"  --leave              exit right after the last verified barrier; nothing is measured\n"
"  --seed S             seed of the random delays (differs from run to run)\n"
"  --timeout SECONDS    give up if no rank gets on for so long (60)\n"
"  --drop-wait RANK     leave one WAIT out of this rank's graph, to test the checker\n"
"  --help               this text\n"
"  --version\n"
"\n"
"Exit status: 0 if all is well, 1 on any violation or failure, 2 on wrong usage.\n";

enum own_option {
	OPTION_ALGORITHM = OPTION_OWN,
	OPTION_RADIX,
	OPTION_COMMUNICATORS,
	OPTION_LEAVE,
	OPTION_DROP_WAIT,
};

static const struct option own_options[] = {
	{ "algorithm",		required_argument,	NULL, OPTION_ALGORITHM },
	{ "radix",		required_argument,	NULL, OPTION_RADIX },
	{ "communicators",	required_argument,	NULL, OPTION_COMMUNICATORS },
	{ "leave",		no_argument,		NULL, OPTION_LEAVE },
	{ "drop-wait",		required_argument,	NULL, OPTION_DROP_WAIT },
	{ }
};

static void add_algorithm(struct options *options, uint32_t algorithm)
{
	if (options->nr_algorithms == MAX_ROWS_ALGORITHMS)
		usage_error("--algorithm: more than %d names", MAX_ROWS_ALGORITHMS);
	options->algorithms[options->nr_algorithms++] = algorithm;
}

static void add_all_algorithms(struct options *options)
{
	add_algorithm(options, COLLQ_BARRIER_DISSEMINATION);
	add_algorithm(options, COLLQ_BARRIER_RECURSIVE_DOUBLING);
	add_algorithm(options, COLLQ_BARRIER_K_NOMIAL);
}

static bool find_algorithm(const char *wanted, uint32_t *algorithm)
{
	const char *name;

	for (*algorithm = 0; (name = collq_barrier_algorithm_name(*algorithm)); (*algorithm)++) {
		if (!strcmp(wanted, name))
			return true;
	}
	return false;
}

static void parse_algorithms(struct options *options, char *list)
{
	uint32_t algorithm;
	char *item;

	options->nr_algorithms = 0;
	while ((item = strsep(&list, ","))) {
		if (!strcmp(item, "all")) {
			add_all_algorithms(options);
			continue;
		}
		if (!find_algorithm(item, &algorithm))
			usage_error("--algorithm: there is no '%s'", item);
		add_algorithm(options, algorithm);
	}
}

static void parse_option(struct options *options, int option)
{
	switch (option) {
	case OPTION_ALGORITHM:
		parse_algorithms(options, optarg);
		break;
	case OPTION_RADIX:
		options->radix = parse_number("--radix", optarg, 0, MAX_RADIX);
		if (options->radix == 1)
			usage_error("--radix: must be 0, or 2 or more");
		break;
	case OPTION_COMMUNICATORS:
		options->communicators = parse_number("--communicators", optarg, 1, NR_COMMS);
		break;
	case OPTION_LEAVE:
		options->leave = true;
		break;
	case OPTION_DROP_WAIT:
		options->spoilt = parse_number("--drop-wait", optarg, 0, MAX_RANKS - 1);
		break;
	default:
		parse_common(options, option, usage);
	}
}

static void set_defaults(struct options *options)
{
	char demo_ranks[] = "2,4,8,16", ranks[] = "2";

	if (!options->nr_ranks)
		parse_ranks(options, options->demo ? demo_ranks : ranks);
	if (!options->nr_algorithms && options->demo)
		add_all_algorithms(options);
	if (!options->nr_algorithms)
		add_algorithm(options, COLLQ_BARRIER_AUTO);
	if (!options->communicators)
		options->communicators = options->demo ? NR_COMMS : 1;
}

void options_parse(struct options *options, int argc, char **argv)
{
	int option;

	*options = (struct options) {
		.iterations = 1000,
		.spoilt = NO_RANK,
		.timeout = DEFAULT_TIMEOUT,
		.seed = any_seed(),
	};
	while ((option = next_option(argc, argv, own_options)) != -1)
		parse_option(options, option);
	if (optind < argc)
		usage_error("unexpected argument '%s'", argv[optind]);
	set_defaults(options);
	check_spoilt(options, "--drop-wait", "a barrier of one rank has no WAIT");
}
