// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What abi_layout.c can't say at compile time, as it is on this word size: that
 * structures have no holes, so that no byte goes without a name; and that
 * ioctls are told apart.
 */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "kselftest_harness.h"

#include <rdma/ib_collq.h>

/* Where one has come to in a structure, and how much of it can't be explained. */
struct walk {
	const char *type;
	size_t size;
	size_t end;
	unsigned int nr;
	unsigned int holes;
};

static void walk_to(struct walk *walk, const char *name, size_t offset)
{
	if (walk->end != offset) {
		fprintf(stderr, "# %s: hole before %s\n", walk->type, name);
		walk->holes++;
	}
}

static void walk_struct(struct walk *walk, const char *type, size_t size)
{
	walk_to(walk, "its end", walk->size);
	walk->type = type;
	walk->size = size;
	walk->end = 0;
	walk->nr++;
}

static void walk_member(struct walk *walk, const char *name, size_t offset, size_t size)
{
	walk_to(walk, name, offset);
	walk->end = offset + size;
}

TEST(structures_have_no_holes)
{
	struct walk walk = { .type = "none" };

#define STRUCT(name, bytes)	walk_struct(&walk, #name, bytes)
#define MEMBER(type, name, offset)					\
	walk_member(&walk, #name, offset, sizeof(((struct ib_collq_##type) {}).name))
#define VALUE(name, value)
#include "abi_layout.h"
#undef STRUCT
#undef MEMBER
#undef VALUE
	walk_to(&walk, "its end", walk.size);

	ASSERT_EQ(39, walk.nr);
	ASSERT_EQ(0, walk.holes);
}

/* 8 on 32-bit too, where a plain 64-bit integer has 4. */
TEST(structures_have_the_same_alignment_everywhere)
{
	EXPECT_EQ(8, __alignof__(struct ib_collq_query));
	EXPECT_EQ(8, __alignof__(struct ib_collq_batch));
	EXPECT_EQ(8, __alignof__(struct ib_collq_counter_create));
	EXPECT_EQ(8, __alignof__(struct ib_collq_completion));
	EXPECT_EQ(8, __alignof__(struct ib_collq_task));
	EXPECT_EQ(8, __alignof__(struct ib_collq_sge));
	EXPECT_EQ(4, __alignof__(struct ib_collq_slot_bind));
}

/* How many constants have each number of an ioctl; more than one is said. */
static void note_ioctl(unsigned char *seen, const char *name, unsigned long long value)
{
	if (_IOC_TYPE(value) != IB_COLLQ_IOCTL_TYPE || value >> 16)
		return;
	if (seen[_IOC_NR(value)]++)
		fprintf(stderr, "# %s: number is taken\n", name);
}

TEST(ioctls_are_told_apart)
{
	unsigned char seen[256] = {};
	unsigned int i, nr = 0;

#define STRUCT(name, bytes)
#define MEMBER(type, name, offset)
#define VALUE(name, value)	note_ioctl(seen, #name, value)
#include "abi_layout.h"

	for (i = 0; i < ARRAY_SIZE(seen); i++) {
		EXPECT_GE(1, seen[i]);
		nr += seen[i];
	}
	ASSERT_EQ(24, nr);
}

/* Both are on cache lines of their own, also where these come in pairs. */
TEST(ring_header_keeps_head_and_tail_apart)
{
	size_t tail = offsetof(struct ib_collq_ring_header, tail);
	size_t head = offsetof(struct ib_collq_ring_header, head);

	EXPECT_NE(tail / 128, head / 128);
	EXPECT_EQ(0, sizeof(struct ib_collq_ring_header) % 128);
	EXPECT_EQ(64, sizeof(struct ib_collq_completion));
}

TEST_HARNESS_MAIN
