// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What keeps the memory of the ranks of several hosts in step: the part that is
 * the same at both ends.
 *
 * Ranks ring a bell when they have written something, and whoever is at the
 * bridge then looks at all of them. Of stamps only the last one matters. Of
 * blocks all do, and none is lost: a rank may be one round ahead of what has been
 * told of it (it needs the others' blocks for a round, not that its own has
 * arrived), and there are two generations.
 */
#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "bridge.h"

#define MAX_POLLED		(2 * MAX_HOSTS + 1)

int bridge_open(struct shared *shared)
{
	shared->bell = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	return shared->bell < 0 ? -errno : 0;
}

void bridge_close(struct shared *shared)
{
	if (shared->bell >= 0)
		close(shared->bell);
	shared->bell = -1;
}

void bridge_sleep(struct shared *shared, const struct link *links, uint32_t nr, int ms)
{
	struct pollfd fds[MAX_POLLED] = { { .fd = shared->bell, .events = POLLIN } };
	unsigned int nr_fds = 1;
	uint64_t rung;
	uint32_t i;

	for (i = 0; i < nr; i++)
		nr_fds += link_poll(&links[i], &fds[nr_fds]);
	/* It is silenced before the look at the ranks: no ringing is missed. */
	if (poll(fds, nr_fds, ms) > 0 && fds[0].revents &&
	    read(shared->bell, &rung, sizeof(rung)) < 0)
		return;
}

void bridge_pass(struct link *links, uint32_t nr, const struct link *but,
		 const struct record *record, const void *data)
{
	uint32_t i;

	for (i = 0; i < nr; i++) {
		if (&links[i] != but)
			link_put(&links[i], record, data);
	}
}

static void tell_comm(struct shared *shared, uint32_t rank, uint32_t comm, struct told *told,
		      struct link *links, uint32_t nr)
{
	struct oob_rank *oob = &shared->oob[comm][rank];
	struct record record = { .rank = rank, .comm = comm };
	uint64_t published = atomic_load_explicit(&oob->published, memory_order_acquire);
	uint64_t entered = atomic_load(&shared->rank[rank].entered[comm]);

	while (told->published[comm] < published) {
		record.type = RECORD_BLOCK;
		record.value = ++told->published[comm];
		record.length = oob->bytes[record.value % NR_GENERATIONS];
		bridge_pass(links, nr, NULL, &record,
			    shared_block(shared, comm, record.value, rank));
	}
	if (told->entered[comm] == entered)
		return;
	told->entered[comm] = entered;
	record.type = RECORD_ENTERED;
	record.value = entered;
	record.length = 0;
	bridge_pass(links, nr, NULL, &record, NULL);
}

void bridge_tell(struct shared *shared, uint32_t rank, struct told *told, struct link *links,
		 uint32_t nr)
{
	uint32_t comm;

	for (comm = 0; comm < NR_COMMS; comm++)
		tell_comm(shared, rank, comm, told, links, nr);
}

bool bridge_take(struct shared *shared, const struct record *record, const void *data)
{
	struct oob_rank *oob;

	if (record->rank >= shared->nr_ranks || record->comm >= NR_COMMS)
		return false;
	if (record->type == RECORD_ENTERED) {
		atomic_store(&shared->rank[record->rank].entered[record->comm], record->value);
		return true;
	}
	if (record->type != RECORD_BLOCK || record->length > MAX_BLOCK)
		return false;
	oob = &shared->oob[record->comm][record->rank];
	memcpy(shared_block(shared, record->comm, record->value, record->rank), data,
	       record->length);
	atomic_store_explicit(&oob->published, record->value, memory_order_release);
	return true;
}
