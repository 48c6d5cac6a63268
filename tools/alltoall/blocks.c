// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * See blocks.h.
 */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "blocks.h"

#define CANARY_BYTES	192
#define CANARY		0xc5
#define RUBBISH		0x5a

/* Buffers end up to twice this before where they could. */
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

static void pages_free(const struct blocks_pages *pages)
{
	size_t page = sysconf(_SC_PAGESIZE);

	if (pages->start)
		munmap(pages->start - page, pages->bytes + 2 * page);
}

/* Whole pages, filled with canaries, between two that can't be touched. */
static bool pages_new(struct blocks_pages *pages, size_t bytes)
{
	size_t page = sysconf(_SC_PAGESIZE);
	unsigned char *memory;

	bytes = (bytes + page - 1) / page * page;
	memory = mmap(NULL, bytes + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return false;
	if (mprotect(memory + page, bytes, PROT_READ | PROT_WRITE)) {
		munmap(memory, bytes + 2 * page);
		return false;
	}
	pages->start = memory + page;
	pages->bytes = bytes;
	memset(pages->start, CANARY, bytes);
	return true;
}

/* The smaller @odd, the nearer its end is to the page behind. */
static unsigned char *new_buffer(struct blocks *blocks, struct blocks_pages *pages, size_t odd)
{
	if (!pages_new(pages, bytes_of(blocks) + 2 * CANARY_BYTES + 2 * ODD))
		return NULL;
	return pages->start + pages->bytes - CANARY_BYTES - odd - bytes_of(blocks);
}

bool blocks_new(struct blocks *blocks, uint32_t rank, uint32_t nr, uint64_t bytes, bool in_place)
{
	size_t odd = rank % ODD;

	*blocks = (struct blocks){ .rank = rank, .nr = nr, .bytes = bytes, .in_place = in_place };
	blocks->recv = new_buffer(blocks, &blocks->recv_pages, odd);
	blocks->send = in_place ? blocks->recv :
				  new_buffer(blocks, &blocks->send_pages, ODD + odd);
	return blocks->send && blocks->recv;
}

void blocks_free(struct blocks *blocks)
{
	pages_free(&blocks->send_pages);
	pages_free(&blocks->recv_pages);
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

static uint64_t count_wrong_canaries(const struct blocks *blocks,
				     const struct blocks_pages *pages,
				     const unsigned char *buffer)
{
	const unsigned char *end = pages->start + pages->bytes, *at;
	uint64_t nr = 0;

	for (at = pages->start; at < buffer; at++)
		nr += *at != CANARY;
	for (at = buffer + bytes_of(blocks); at < end; at++)
		nr += *at != CANARY;
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
	uint64_t nr = count_wrong_canaries(blocks, &blocks->recv_pages, blocks->recv), wrong;
	uint32_t other;

	*from = blocks->rank;
	if (!blocks->in_place)
		nr += count_wrong_canaries(blocks, &blocks->send_pages, blocks->send);
	for (other = 0; other < blocks->nr; other++) {
		wrong = count_wrong_block(blocks, other, run);
		if (wrong && !nr)
			*from = other;
		nr += wrong;
	}
	return nr;
}
