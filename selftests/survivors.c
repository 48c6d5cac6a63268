// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * survivors - who of several hosts' ranks gets which error, and when: see survivors.h
 *
 * Runs on vm1 of "tools/vm --hosts". Starts the ranks by the hosts' agents and brings their
 * addresses together; when all are at it, the last of the hosts dies or loses its device.
 * Prints a line for each rank and way: RANK HOST WAY ERROR MILLISECONDS, from when that was
 * asked for to when the rank's word has come: by the clock of this host alone.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../tools/agent/client.h"
#include "clock.h"
#include "link.h"
#include "shared.h"
#include "survivors.h"

#define MAX_HOSTS	4
#define START_MS	180000	/* until all are at it */
#define RESULTS_MS	30000	/* far beyond what is right */

static struct {
	const char *hosts[MAX_HOSTS];
	uint32_t nr_hosts, nr_ranks, doomed;
	bool crash;
	struct link links[SURVIVORS_MAX];
	struct link unplug;
	char gathered[SURVIVORS_MAX * MAX_BLOCK];
	uint32_t nr_gathered, nr_ready, nr_started, nr_results;
	uint64_t since;
} all;

void survivors_fail(const char *what, int err)
{
	fprintf(stderr, "survivors: %s: %s\n", what, strerror(-err));
	exit(1);
}

static void tell_all(enum survivors_record type, const void *data, uint32_t length)
{
	const struct record record = { .type = type, .length = length };
	uint32_t i;

	for (i = 0; i < all.nr_ranks; i++)
		link_put(&all.links[i], &record, data);
}

static void gather(const struct record *record, const void *data)
{
	if (record->length > MAX_BLOCK)
		survivors_fail("an address is too long", -EPROTO);
	memcpy(all.gathered + record->rank * record->length, data, record->length);
	if (++all.nr_gathered < all.nr_ranks)
		return;
	all.nr_gathered = 0;
	tell_all(SURVIVORS_GATHER, all.gathered, all.nr_ranks * record->length);
}

/* One that has come before anything has happened has come after -1 ms. */
static void print_result(const struct record *record)
{
	const char *name = strerrorname_np(-(int64_t)record->value);

	printf("%u %s %s %s %lld\n", record->rank, all.links[record->rank].name,
	       survivors_ways[record->comm].name, name ? name : "?",
	       all.since ? (long long)(now_ms() - all.since) : -1LL);
	all.nr_results++;
}

static void take(uint32_t rank)
{
	struct record record;
	const void *data;

	while (link_next(&all.links[rank], &record, &data)) {
		if (record.rank != rank)
			survivors_fail("a rank takes itself for another", -EPROTO);
		switch (record.type) {
		case SURVIVORS_GATHER:
			gather(&record, data);
			break;
		case SURVIVORS_READY:
			if (++all.nr_ready == all.nr_ranks)
				tell_all(SURVIVORS_READY, NULL, 0);
			break;
		case SURVIVORS_STARTED:
			all.nr_started++;
			break;
		case SURVIVORS_RESULT:
			print_result(&record);
			break;
		}
	}
}

/* A rank ends before us only if something is wrong, or with its host. */
static void check_link(const struct link *link, uint32_t rank)
{
	if ((link->error || link->ended) && !(all.since && all.crash && rank >= all.doomed))
		survivors_fail(link->name, link->error ? link->error : -ECHILD);
}

static void serve(void)
{
	struct pollfd fds[SURVIVORS_MAX * 2 + 2];
	uint32_t i, nr = 0;

	for (i = 0; i < all.nr_ranks; i++) {
		link_move(&all.links[i]);
		take(i);
		check_link(&all.links[i], i);
		nr += link_poll(&all.links[i], fds + nr);
	}
	if (all.unplug.agent) {
		link_move(&all.unplug);
		if (all.unplug.error || (all.unplug.ended && all.unplug.status))
			survivors_fail("rdma link delete", all.unplug.error);
		nr += link_poll(&all.unplug, fds + nr);
	}
	poll(fds, nr, 100);
}

static void start_ranks(char *self)
{
	char option[] = "--rank", rank[16], size[16], doomed[16],
	     *argv[] = { self, option, rank, size, doomed, NULL };
	uint32_t i;
	int err;

	snprintf(size, sizeof(size), "%u", all.nr_ranks);
	snprintf(doomed, sizeof(doomed), "%u", all.doomed);
	for (i = 0; i < all.nr_ranks; i++) {
		snprintf(rank, sizeof(rank), "%u", i);
		err = link_start(&all.links[i],
				 all.hosts[i / (all.nr_ranks / all.nr_hosts)], argv);
		if (err)
			survivors_fail(all.links[i].name, err);
	}
}

static const char *lost_host(void)
{
	return all.hosts[all.nr_hosts - 1];
}

/* What takes the device away is there before, so that it does so at once. */
static void start_unplug(void)
{
	char shell[] = "sh", option[] = "-c",
	     command[] = "rdma link >/dev/null; read -r now; exec rdma link delete rxe0",
	     *argv[] = { shell, option, command, NULL };
	int err = link_start(&all.unplug, lost_host(), argv);

	if (err)
		survivors_fail(lost_host(), err);
}

static void strike(void)
{
	int err;

	all.since = now_ms();
	err = all.crash ? agent_crash_host(lost_host()) :
			  agent_process_input(all.unplug.agent, "now\n", 4);
	if (err)
		survivors_fail(lost_host(), err);
}

/* A host that is dead says nothing; one that has lost its device knows it, where it runs. */
static uint32_t results_due(void)
{
	uint32_t i, due = all.doomed * survivors_nr_ways;

	for (i = 0; i < survivors_nr_ways && !all.crash; i++)
		due += survivors_ways[i].endless ? all.nr_ranks - all.doomed : 0;
	return due;
}

static void run(char *self)
{
	uint64_t begin = now_ms();

	start_ranks(self);
	if (!all.crash)
		start_unplug();
	while (all.nr_started < all.nr_ranks) {
		serve();
		if (now_ms() - begin > START_MS)
			survivors_fail("not all are at it", -ETIMEDOUT);
	}
	strike();
	while (all.nr_results < results_due() || (all.unplug.agent && !all.unplug.ended)) {
		serve();
		if (now_ms() - all.since > RESULTS_MS)
			survivors_fail("not all have heard of it", -ETIMEDOUT);
	}
}

static bool parse(char **argv)
{
	char *name;

	if (!argv[1] || !argv[2] || !argv[3] || argv[4])
		return false;
	all.crash = !strcmp(argv[1], "--crash");
	if (!all.crash && strcmp(argv[1], "--unplug"))
		return false;
	for (name = strtok(argv[2], ","); name && all.nr_hosts < MAX_HOSTS;
	     name = strtok(NULL, ","))
		all.hosts[all.nr_hosts++] = name;
	all.nr_ranks = atoi(argv[3]);
	if (name || all.nr_hosts < 2 || !all.nr_ranks || all.nr_ranks > SURVIVORS_MAX ||
	    all.nr_ranks % all.nr_hosts)
		return false;
	all.doomed = all.nr_ranks - all.nr_ranks / all.nr_hosts;
	return true;
}

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc == 5 && !strcmp(argv[1], "--rank"))
		return survivors_rank(atoi(argv[2]), atoi(argv[3]), atoi(argv[4]));
	if (!parse(argv)) {
		fputs("Usage: survivors --crash|--unplug HOST,HOST[,HOST...] RANKS\n", stderr);
		return 2;
	}
	run(realpath("/proc/self/exe", NULL));
	return 0;
}
