// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * link_echo HOST - a link of the tools to a worker by way of its agent, when it is full
 *
 * For agent_test. A worker that sends all back (cat) gets far more than is under way at
 * any time, and it must come back as it was. One that reads nothing must not keep the
 * tool busy.
 */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "link.h"

#define NR_RECORDS	4000
#define LIMIT_MS	20000
#define QUIET_MS	500

static char data[5000];

static const char *put_all(struct link *link)
{
	struct record record = {};

	for (; record.value < NR_RECORDS; record.value++) {
		record.length = record.value % (sizeof(data) + 1);
		memset(data, record.value, record.length);
		link_put(link, &record, data);
	}
	return link->error ? "no memory" : NULL;
}

static const char *check(const struct record *record, const void *got, uint64_t nr)
{
	if (record->value != nr || record->length != nr % (sizeof(data) + 1))
		return "another record came back";
	memset(data, nr, record->length);
	return memcmp(got, data, record->length) ? "other data came back" : NULL;
}

static const char *get_all(struct link *link)
{
	struct record record;
	struct pollfd fds[2];
	const char *wrong = NULL;
	const void *got;
	uint64_t nr = 0;

	while (nr < NR_RECORDS && !wrong) {
		if (!poll(fds, link_poll(link, fds), LIMIT_MS))
			return "nothing comes back any more";
		if (link_move(link) || link->ended)
			return "the worker is gone";
		while (!wrong && link_next(link, &record, &got))
			wrong = check(&record, got, nr++);
	}
	return wrong;
}

/* What it hears of once it's full is nothing, and it does not ask for more. */
static const char *stay_full(struct link *link)
{
	struct pollfd fds[2];
	int tries;

	for (tries = 0; tries < NR_RECORDS; tries++) {
		if (!poll(fds, link_poll(link, fds), QUIET_MS))
			return link->outgoing.start < link->outgoing.end ? NULL : "all was taken";
		if (link_move(link) || link->ended)
			return "the worker is gone";
	}
	return "it is never quiet";
}

static int run(const char *host, char *const *argv, const char *(*then)(struct link *link))
{
	struct link link;
	const char *wrong;

	if (link_start(&link, host, argv)) {
		fputs("no agent\n", stderr);
		return 1;
	}
	wrong = put_all(&link);
	if (!wrong)
		wrong = then(&link);
	if (wrong)
		fprintf(stderr, "%s: %s\n", argv[0], wrong);
	link_close(&link);
	return !!wrong;
}

int main(int argc, char **argv)
{
	char *const echo[] = { "cat", NULL }, *const deaf[] = { "sleep", "1000", NULL };

	if (argc != 2)
		return 2;
	signal(SIGPIPE, SIG_IGN);
	return run(argv[1], echo, get_all) || run(argv[1], deaf, stay_full);
}
