/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Buffers of an all-to-all whose every byte is known: of which rank, for which rank and
 * in which run it was sent. Around them lie canaries, and around those pages that nobody
 * may touch.
 */
#ifndef ALLTOALL_BLOCKS_H
#define ALLTOALL_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The pages that a buffer lies in, without those around them; NULL for none */
struct blocks_pages {
	unsigned char *start;
	size_t bytes;
};

struct blocks {
	uint32_t rank, nr;
	uint64_t bytes;			/* of a block */
	bool in_place;			/* @send is @recv */
	unsigned char *send, *recv;
	struct blocks_pages send_pages, recv_pages;
};

/* Buffers at odd addresses; false: out of memory. */
bool blocks_new(struct blocks *blocks, uint32_t rank, uint32_t nr, uint64_t bytes,
		bool in_place);
void blocks_free(struct blocks *blocks);

/* Before run number @run: what to send, and rubbish where something is to arrive. */
void blocks_fill(struct blocks *blocks, uint32_t run);

/*
 * After it: how many bytes aren't as they should be, canaries and the send buffer too.
 * If there are any, @from is the rank that the first of them is of.
 */
uint64_t blocks_count_wrong(const struct blocks *blocks, uint32_t run, uint32_t *from);

#endif
