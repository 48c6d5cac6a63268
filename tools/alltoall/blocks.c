// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * See blocks.h.
 */
#include <stdlib.h>
#include <string.h>

#include "blocks.h"

#define CANARY_BYTES	192
#define CANARY		0xc5
#define RUBBISH		0x5a

/* Buffers begin up to twice this behind where the allocator would have them begin. */
#define ODD		13

static size_t bytes_of(const struct blocks *blocks)
{
	return blocks->nr * blocks->bytes;
}

/* Of one block: where it starts, and a pattern that isn't the same for long. */
static unsigned char byte_of(uint32_t from, uint32_t to, uint32_t run, uint64_t i)
{
	uint32_t seed = ((from * 61 + to) * 61 + run) * 2654435761U;

	return (seed >> 24) + i * 167 + (i >> 8) * 59;
}

static unsigned char *new_buffer(struct blocks *blocks, int which)
{
	size_t bytes = bytes_of(blocks) + 2 * CANARY_BYTES + 2 * ODD;

	blocks->memory[which] = malloc(bytes);
	if (!blocks->memory[which])
		return NULL;
	memset(blocks->memory[which], CANARY, bytes);
	return blocks->memory[which] + CANARY_BYTES + (which ? ODD : 0) +
	       blocks->rank % ODD;
}

bool blocks_new(struct blocks *blocks, uint32_t rank, uint32_t nr, uint64_t bytes, bool in_place)
{
	*blocks = (struct blocks){ .rank = rank, .nr = nr, .bytes = bytes, .in_place = in_place };
	blocks->recv = new_buffer(blocks, 1);
	blocks->send = in_place ? blocks->recv : new_buffer(blocks, 0);
	return blocks->send && blocks->recv;
}

void blocks_free(struct blocks *blocks)
{
	free(blocks->memory[0]);
	free(blocks->memory[1]);
}

void blocks_fill(struct blocks *blocks, uint32_t run)
{
	uint64_t i;
	uint32_t to;

	if (!blocks->in_place)
		memset(blocks->recv, RUBBISH, bytes_of(blocks));
	for (to = 0; to < blocks->nr; to++)
		for (i = 0; i < blocks->bytes; i++)
			blocks->send[to * blocks->bytes + i] = byte_of(blocks->rank, to, run, i);
}

static uint64_t count_wrong_canaries(const struct blocks *blocks, const unsigned char *buffer)
{
	const unsigned char *end = buffer + bytes_of(blocks);
	uint64_t nr = 0;
	uint32_t i;

	for (i = 0; i < CANARY_BYTES; i++)
		nr += (buffer[-1 - (int)i] != CANARY) + (end[i] != CANARY);
	return nr;
}

/* What came from a rank, or what it was sent, which is to be as it was. */
static uint64_t count_wrong_block(const struct blocks *blocks, uint32_t other, uint32_t run)
{
	const unsigned char *recv = blocks->recv + other * blocks->bytes;
	const unsigned char *send = blocks->send + other * blocks->bytes;
	uint64_t i, nr = 0;

	for (i = 0; i < blocks->bytes; i++)
		nr += recv[i] != byte_of(other, blocks->rank, run, i);
	for (i = 0; !blocks->in_place && i < blocks->bytes; i++)
		nr += send[i] != byte_of(blocks->rank, other, run, i);
	return nr;
}

uint64_t blocks_count_wrong(const struct blocks *blocks, uint32_t run, uint32_t *from)
{
	uint64_t nr = count_wrong_canaries(blocks, blocks->recv), wrong;
	uint32_t other;

	*from = blocks->rank;
	if (!blocks->in_place)
		nr += count_wrong_canaries(blocks, blocks->send);
	for (other = 0; other < blocks->nr; other++) {
		wrong = count_wrong_block(blocks, other, run);
		if (wrong && !nr)
			*from = other;
		nr += wrong;
	}
	return nr;
}
