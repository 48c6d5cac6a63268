// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The demonstration: every layout with every packing, for numbers of ranks and block
 * sizes of which each gives a part of the table. A part tells what the CPU copies where
 * it packs, and how much of that is saved where the adapter works off lists.
 *
 * A check that finds nothing proves little unless it can find something. So last the
 * tool runs itself once more, with two blocks swapped in the graph of a rank.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <collq/collq.h>

#include "alltoall.h"
#include "arguments.h"
#include "clock.h"
#include "crew.h"
#include "progress.h"
#include "table.h"

#define NR_LAYOUTS	(COLLQ_ALLTOALL_PAIRWISE - COLLQ_ALLTOALL_A + 1)
#define NR_PACKINGS	(COLLQ_PACKING_SELECTIVE - COLLQ_PACKING_CPU + 1)

/* Pairwise exchange has no packing. */
#define NR_WAYS		((NR_LAYOUTS - 1) * NR_PACKINGS + 1)

struct demo {
	const struct wanted *wanted;
	struct table table;
	uint64_t checked;		/* bytes */
	enum row_end worst;
};

/* One number of ranks with one size, all ways */
struct part {
	uint32_t ranks;
	uint64_t bytes;
	struct result results[NR_LAYOUTS][NR_PACKINGS];
};

static bool is_way(unsigned int layout, unsigned int packing)
{
	return layout + COLLQ_ALLTOALL_A != COLLQ_ALLTOALL_PAIRWISE || !packing;
}

static void put_heads(struct table *table)
{
	unsigned int i;

	table->columns = 3 + NR_LAYOUTS;
	table->left = 1U << 2;
	table_put(table, "ranks");
	table_put(table, "bytes");
	table_put(table, "packing");
	for (i = 0; i < NR_LAYOUTS; i++)
		table_put(table, "%s", collq_alltoall_layout_name(COLLQ_ALLTOALL_A + i));
}

/* What the CPU copies, or how much less that is than if it packs. */
static void put_cell(struct table *table, const struct part *part, unsigned int layout,
		     unsigned int packing)
{
	uint64_t all = part->results[layout][0].copied;
	uint64_t copied = part->results[layout][packing].copied;

	if (!is_way(layout, packing))
		table_put(table, "-");
	else if (!packing)
		table_put(table, "%" PRIu64, copied);
	else
		table_put(table, "%.1f %%", all ? 100 - 100.0 * copied / all : 0);
}

static void put_part(struct table *table, const struct part *part)
{
	unsigned int layout, packing;

	for (packing = 0; packing < NR_PACKINGS; packing++) {
		table_put(table, "%" PRIu32, part->ranks);
		table_put(table, "%" PRIu64, part->bytes);
		table_put(table, "%s", packing_name(COLLQ_PACKING_CPU + packing));
		for (layout = 0; layout < NR_LAYOUTS; layout++)
			put_cell(table, part, layout, packing);
	}
}

static enum row_end run_way(struct demo *demo, struct part *part, unsigned int layout,
			    unsigned int packing, const char *title)
{
	struct options options = demo->wanted->common;

	options.bytes = part->bytes;
	options.packing = COLLQ_PACKING_CPU + packing;
	demo->checked += options.iterations * part->ranks * part->ranks * part->bytes;
	return row_run(&options, part->ranks, COLLQ_ALLTOALL_A + layout, title,
		       &part->results[layout][packing]);
}

/* False if there's nothing to show. */
static bool run_part(struct demo *demo, struct part *part, unsigned int number, unsigned int of)
{
	uint64_t begun_ms = now_ms();
	unsigned int layout, packing;
	enum row_end worst = ROW_GOOD, end;
	char title[96];

	snprintf(title, sizeof(title), "[%u/%u] %" PRIu32 " ranks, %" PRIu64 " bytes", number, of,
		 part->ranks, part->bytes);
	for (layout = 0; layout < NR_LAYOUTS; layout++) {
		for (packing = 0; packing < NR_PACKINGS && is_way(layout, packing); packing++) {
			end = run_way(demo, part, layout, packing, title);
			if (end > worst)
				worst = end;
			if (end == ROW_FAILED)
				break;
		}
	}
	if (worst > demo->worst)
		demo->worst = worst;
	if (worst == ROW_GOOD)
		progress_end("%d ways, every byte right, %.1f s", NR_WAYS,
			     (now_ms() - begun_ms) / 1000.0);
	return worst != ROW_FAILED;
}

/* With D the adapter can do all. */
static bool nothing_copied(const struct part *part)
{
	unsigned int d = COLLQ_ALLTOALL_D - COLLQ_ALLTOALL_A;
	uint64_t copied = part->results[d][COLLQ_PACKING_SG - COLLQ_PACKING_CPU].copied;

	if (copied)
		complain("D with sg has copied %" PRIu64 " bytes, not 0", copied);
	return !copied;
}

static void run_parts(struct demo *demo)
{
	const struct wanted *wanted = demo->wanted;
	unsigned int nr = wanted->common.nr_ranks * wanted->nr_bytes, i;

	for (i = 0; i < nr && demo->worst != ROW_FAILED; i++) {
		struct part part = {
			.ranks = wanted->common.ranks[i / wanted->nr_bytes],
			.bytes = wanted->bytes[i % wanted->nr_bytes],
		};

		if (!run_part(demo, &part, i + 1, nr))
			break;
		put_part(&demo->table, &part);
		if (!nothing_copied(&part))
			demo->worst = ROW_BAD;
	}
}

static _Noreturn void become_swapped(const char * const *words, int out, pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() == parent && dup2(out, STDOUT_FILENO) >= 0)
		execv("/proc/self/exe", (char * const *)words);
	_exit(EXIT_FAILURE);
}

/*
 * Runs the tool in a process of its own, on the device that was asked for; returns its
 * end of a pipe, or -1.
 */
static int run_swapped(const struct options *common, pid_t *pid)
{
	char timeout[16];
	const char *words[24] = {
		"collq-alltoall", "--ranks", "4", "--bytes", "1024", "--layout", "E",
		"--packing", "sg", "--iterations", "3", "--swap", "1",
		"--front-end", front_end_name(common->front_end), "--timeout", timeout,
	};
	pid_t parent = getpid();
	unsigned int i = 0;
	int ends[2];

	snprintf(timeout, sizeof(timeout), "%" PRIu32, common->timeout);
	while (words[i])
		i++;
	if (common->device) {
		words[i++] = "--device";
		words[i] = common->device;
	}

	printf("\n$");
	for (i = 0; words[i]; i++)
		printf(" %s", words[i]);
	printf("\n");
	if (fflush(stdout) || pipe2(ends, O_CLOEXEC))
		return -1;
	/* A signal ends both of us. */
	crew_unblock_signals();
	*pid = fork();
	if (!*pid)
		become_swapped(words, ends[1], parent);
	close(ends[1]);
	if (*pid > 0)
		return ends[0];
	close(ends[0]);
	return -1;
}

/*
 * True if it has found wrong bytes: its exit status would be the same if a rank had
 * failed, but then there would be no table.
 */
static bool swap_is_found(const struct options *common)
{
	char text[4096];
	bool table = false;
	int status, from;
	ssize_t nr;
	pid_t pid;

	from = run_swapped(common, &pid);
	if (from < 0) {
		complain("can't run with blocks swapped: %s", strerror(errno));
		return false;
	}
	while ((nr = read(from, text, sizeof(text))) > 0) {
		fwrite(text, 1, nr, stdout);
		table = true;
	}
	close(from);
	if (waitpid(pid, &status, 0) != pid || !table || !WIFEXITED(status) ||
	    WEXITSTATUS(status) != EXIT_FAILURE) {
		complain("that two blocks were swapped wasn't found");
		return false;
	}
	printf("Exit status %d, as it should be: two blocks were swapped.\n\n", EXIT_FAILURE);
	return true;
}

enum row_end demo_run(const struct wanted *wanted)
{
	const struct options *common = &wanted->common;
	struct demo demo = { .wanted = wanted };
	int rc;

	put_heads(&demo.table);
	run_parts(&demo);
	printf("Bytes that the CPU copies in one all-to-all, of all ranks but without what each\n"
	       "has for itself; where lists are used, how much of that is saved:\n\n");
	rc = table_print(&demo.table, stdout);
	if (rc) {
		complain("can't print the results: %s", strerror(-rc));
		demo.worst = ROW_FAILED;
	}
	if (demo.worst != ROW_GOOD || !swap_is_found(common))
		return demo.worst == ROW_GOOD ? ROW_BAD : demo.worst;
	printf("All-to-alls: %u rows of %d ways, each %" PRIu64 " times: %" PRIu64
	       " bytes received, 0 wrong.\n", common->nr_ranks * wanted->nr_bytes, NR_WAYS,
	       common->iterations, demo.checked);
	return fflush(stdout) ? ROW_FAILED : ROW_GOOD;
}
