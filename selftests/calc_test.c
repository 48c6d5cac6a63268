// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * COPY and CALC: what the CPU does with data in a graph, for lists that are cut at
 * other places on either side, and at any alignment.
 *
 * What comes out is compared with what is computed here, plainly.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "chance.h"
#include "collq_memory.h"

#define WRITE		IB_COLLQ_ACCESS_WRITE
#define CANARY		0x3c
#define AREA		(4UL << 20)
#define MAX_ENTRIES	40

/* A list, and the bytes that it stands for. */
struct list {
	struct ib_collq_sge sges[MAX_ENTRIES];
	__u32 nr;
	__u32 length;
};

struct world {
	int fd;
	int queue;
	struct raw_ring ring;
	int regions[2];
	unsigned char *areas[2];
	unsigned char *expected;
};

static int world_open(struct world *w)
{
	int i, err;

	w->fd = raw_open();
	if (w->fd < 0)
		return w->fd;
	err = raw_ring_create(w->fd, 8, &w->ring);
	if (err)
		return err;
	w->queue = raw_queue_create(w->fd, w->ring.id, 4, NULL, 0);
	if (w->queue < 0)
		return w->queue;
	w->expected = raw_map(AREA);
	for (i = 0; i < 2; i++) {
		w->areas[i] = raw_map(AREA);
		if (!w->areas[i] || !w->expected)
			return -ENOMEM;
		w->regions[i] = raw_region_create(w->fd, w->areas[i], AREA, i ? WRITE : 0);
		if (w->regions[i] < 0)
			return w->regions[i];
	}
	return 0;
}

static void world_close(struct world *w)
{
	raw_ring_unmap(&w->ring);
	close(w->fd);
	munmap(w->areas[0], AREA);
	munmap(w->areas[1], AREA);
	munmap(w->expected, AREA);
}

FIXTURE(calc) {
	struct world w;
};

FIXTURE_SETUP(calc)
{
	ASSERT_EQ(0, world_open(&self->w));
}

FIXTURE_TEARDOWN(calc)
{
	world_close(&self->w);
}

/* Runs one task on a list of the first area and one of the second: 0, or why not. */
static int run(struct world *w, struct ib_collq_task task, const struct list *src,
	       const struct list *dst)
{
	const struct ib_collq_buffer_bind bindings[] = {
		{ .buffer = 0, .region = w->regions[0] },
		{ .buffer = 1, .region = w->regions[1] },
	};
	struct ib_collq_sge sges[2 * MAX_ENTRIES];
	const struct raw_graph graph = {
		.tasks = &task, .nr_tasks = 1, .sges = sges, .nr_sges = src->nr + dst->nr,
		.nr_buffers = 2,
	};
	struct ib_collq_completion completion;
	int id, err, status;
	__u32 i;

	memcpy(sges, src->sges, src->nr * sizeof(sges[0]));
	for (i = 0; i < dst->nr; i++) {
		sges[src->nr + i] = dst->sges[i];
		sges[src->nr + i].buffer = 1;
	}
	task.sge_count = src->nr;
	task.dst_first = src->nr;
	task.dst_count = dst->nr;
	id = raw_data_graph_create(w->fd, &graph, NULL);
	if (id < 0)
		return id;
	err = raw_run_bound(w->fd, w->queue, id, bindings, 2, &status);
	if (err)
		return err;
	raw_ring_take(&w->ring, &completion);
	err = raw_destroy(w->fd, id);
	return err ? err : status;
}

static void gather(const unsigned char *area, const struct list *list, unsigned char *to)
{
	__u32 i;

	for (i = 0; i < list->nr; i++) {
		memcpy(to, area + list->sges[i].offset, list->sges[i].length);
		to += list->sges[i].length;
	}
}

static void scatter(unsigned char *area, const struct list *list, const unsigned char *from)
{
	__u32 i;

	for (i = 0; i < list->nr; i++) {
		memcpy(area + list->sges[i].offset, from, list->sges[i].length);
		from += list->sges[i].length;
	}
}

/* A list of so many bytes, cut and placed at random; parts don't overlap. */
static struct list random_list(uint64_t *chance, __u32 length)
{
	struct list list = { .length = length };
	__u64 at = chance_below(chance, 5000);
	__u32 part;

	while (length && list.nr < MAX_ENTRIES - 1) {
		part = chance_below(chance, 1 + 2 * length / 5);
		list.sges[list.nr++] = (struct ib_collq_sge) { .offset = at, .length = part };
		at += part + chance_below(chance, 3000);
		length -= part;
	}
	list.sges[list.nr++] = (struct ib_collq_sge) { .offset = at, .length = length };
	return list;
}

/* Copies, and looks at the whole area. */
static int check_copy(struct world *w, const struct list *src, const struct list *dst,
		      unsigned int seed)
{
	unsigned char *stream = malloc(src->length + 1);
	int err;

	if (!stream)
		return -ENOMEM;
	raw_fill(w->areas[0], AREA, seed);
	memset(w->areas[1], CANARY, AREA);
	memset(w->expected, CANARY, AREA);
	gather(w->areas[0], src, stream);
	scatter(w->expected, dst, stream);
	free(stream);
	err = run(w, raw_copy(0, 0, 0, 0), src, dst);
	if (!err && memcmp(w->expected, w->areas[1], AREA))
		err = -EBADMSG;
	if (!err && raw_count_wrong(w->areas[0], AREA, seed))
		err = -EOVERFLOW;
	return err;
}

TEST_F(calc, copies)
{
	uint64_t chance = 1;
	struct list src, dst;
	__u32 length;
	int i;

	for (i = 0; i < 30; i++) {
		length = chance_below(&chance, 1U << chance_below(&chance, 18));
		src = random_list(&chance, length);
		dst = random_list(&chance, length);
		ASSERT_EQ(0, check_copy(&self->w, &src, &dst, i)) TH_LOG("length %u", length);
	}
}

TEST_F(calc, empty)
{
	const struct list nothing = {}, empty = { .nr = 3 };

	EXPECT_EQ(0, check_copy(&self->w, &nothing, &nothing, 1));
	EXPECT_EQ(0, check_copy(&self->w, &empty, &nothing, 2));
	EXPECT_EQ(0, check_copy(&self->w, &nothing, &empty, 3));
	EXPECT_EQ(0, check_copy(&self->w, &empty, &empty, 4));
}

/* More than any budget: it's carried on by others, and counted. */
TEST_F(calc, large_copy)
{
	const struct list list = { .sges = { { .length = AREA } }, .nr = 1, .length = AREA };
	struct ib_collq_queue_info info;

	EXPECT_EQ(0, check_copy(&self->w, &list, &list, 5));
	ASSERT_EQ(0, raw_describe(self->w.fd, self->w.queue, &info, sizeof(info)));
	EXPECT_EQ(AREA, info.copied);
	EXPECT_EQ(0, info.sges);
}

/* One queue's large copies don't keep another one from running, or from failing. */
TEST_F(calc, cancelled_copy)
{
	const struct ib_collq_buffer_bind binding = { .region = self->w.regions[1] };
	const struct ib_collq_sge sges[] = {
		{ .length = AREA / 2 }, { .length = AREA / 2, .offset = AREA / 2 },
	};
	struct ib_collq_task tasks[64];
	const struct raw_graph graph = {
		.tasks = tasks, .nr_tasks = 64, .sges = sges, .nr_sges = 2, .nr_buffers = 1,
	};
	__u64 sequence;
	int i, id, status;

	for (i = 0; i < 64; i++)
		tasks[i] = raw_copy(0, 1, 1, 1);
	id = raw_data_graph_create(self->w.fd, &graph, NULL);
	ASSERT_LT(0, id);
	ASSERT_EQ(0, raw_submit_bound(self->w.fd, self->w.queue, id, &binding, 1, &sequence));
	ASSERT_EQ(0, raw_cancel(self->w.fd, self->w.queue, sequence));
	ASSERT_EQ(0, raw_result(self->w.fd, self->w.queue, sequence, &status));
	EXPECT_EQ(-ECANCELED, status);
	EXPECT_EQ(0, raw_destroy(self->w.fd, self->w.regions[1]));
}

/* Copies of half an area, together far more than can be done in LATE_MS */
#define NR_COPIES	8192
#define LATE_MS		100

/* A deadline passes in the midst of them. After a reset the queue is as good as before. */
TEST_F(calc, late_copy)
{
	const struct list list = { .sges = { { .length = 100000 } }, .nr = 1, .length = 100000 };
	const struct ib_collq_buffer_bind binding = { .region = self->w.regions[1] };
	const struct ib_collq_sge sges[] = {
		{ .length = AREA / 2 }, { .length = AREA / 2, .offset = AREA / 2 },
	};
	static struct ib_collq_task tasks[NR_COPIES];
	const struct raw_graph graph = {
		.tasks = tasks, .nr_tasks = NR_COPIES, .sges = sges, .nr_sges = 2,
		.nr_buffers = 1,
	};
	struct ib_collq_completion completion;
	struct ib_collq_queue_info info;
	__u64 deadline;
	int i, id;

	for (i = 0; i < NR_COPIES; i++)
		tasks[i] = raw_copy(0, 1, 1, 1);
	id = raw_data_graph_create(self->w.fd, &graph, NULL);
	ASSERT_LT(0, id);
	deadline = raw_in_ms(LATE_MS);
	ASSERT_EQ(0, raw_submit_bound_by(self->w.fd, self->w.queue, id, &binding, 1, deadline,
					 NULL));
	ASSERT_EQ(0, raw_ring_next(self->w.fd, &self->w.ring, &completion));
	EXPECT_LE(deadline, raw_now());
	EXPECT_EQ(-ETIMEDOUT, completion.status);
	EXPECT_GT(NR_COPIES, completion.task);
	ASSERT_EQ(0, raw_describe(self->w.fd, self->w.queue, &info, sizeof(info)));
	EXPECT_LT(0, info.copied);
	EXPECT_GT(NR_COPIES * (AREA / 2), info.copied);

	ASSERT_EQ(0, raw_reset(self->w.fd, self->w.queue, NULL));
	EXPECT_EQ(0, check_copy(&self->w, &list, &list, 6));
	EXPECT_EQ(0, raw_destroy(self->w.fd, self->w.regions[1]));
}

FIXTURE(op) {
	struct world w;
};

FIXTURE_VARIANT(op) {
	__u16 type;
};

FIXTURE_VARIANT_ADD(op, s32) {
	.type = IB_COLLQ_TYPE_S32,
};

FIXTURE_VARIANT_ADD(op, u32) {
	.type = IB_COLLQ_TYPE_U32,
};

FIXTURE_VARIANT_ADD(op, s64) {
	.type = IB_COLLQ_TYPE_S64,
};

FIXTURE_VARIANT_ADD(op, u64) {
	.type = IB_COLLQ_TYPE_U64,
};

FIXTURE_SETUP(op)
{
	ASSERT_EQ(0, world_open(&self->w));
}

FIXTURE_TEARDOWN(op)
{
	world_close(&self->w);
}

/* Numbers as 64 bits, those that are signed with their sign. */
static __u64 number_at(const unsigned char *from, __u16 type)
{
	__u64 wide;
	__u32 narrow;

	memcpy(&wide, from, type >= IB_COLLQ_TYPE_S64 ? 8 : 4);
	memcpy(&narrow, from, sizeof(narrow));
	switch (type) {
	case IB_COLLQ_TYPE_S32:
		return (__s64)(__s32)narrow;
	case IB_COLLQ_TYPE_U32:
		return narrow;
	default:
		return wide;
	}
}

static bool is_signed(__u16 type)
{
	return type == IB_COLLQ_TYPE_S32 || type == IB_COLLQ_TYPE_S64;
}

static bool less(__u64 a, __u64 b, __u16 type)
{
	return is_signed(type) ? (__s64)a < (__s64)b : a < b;
}

static __u64 combine(__u64 dst, __u64 src, __u16 op, __u16 type)
{
	switch (op) {
	case IB_COLLQ_CALC_ADD:
		return dst + src;
	case IB_COLLQ_CALC_MIN:
		return less(src, dst, type) ? src : dst;
	case IB_COLLQ_CALC_MAX:
		return less(dst, src, type) ? src : dst;
	case IB_COLLQ_CALC_AND:
		return dst & src;
	case IB_COLLQ_CALC_OR:
		return dst | src;
	default:
		return dst ^ src;
	}
}

/* Whether the source's pair takes the place of the other. */
static bool pair_wins(const unsigned char *dst, const unsigned char *src, __u16 op, __u16 type,
		      size_t size)
{
	__u64 here = number_at(dst, type), there = number_at(src, type);

	if (here == there)
		return less(number_at(src + size, type), number_at(dst + size, type), type);
	return less(there, here, type) == (op == IB_COLLQ_CALC_MINLOC);
}

static void combine_all(unsigned char *dst, const unsigned char *src, __u32 length, __u16 op,
			__u16 type)
{
	const size_t size = type >= IB_COLLQ_TYPE_S64 ? 8 : 4;
	__u32 i;
	__u64 result;

	if (op >= IB_COLLQ_CALC_MINLOC) {
		for (i = 0; i < length; i += 2 * size) {
			if (pair_wins(dst + i, src + i, op, type, size))
				memcpy(dst + i, src + i, 2 * size);
		}
		return;
	}
	for (i = 0; i < length; i += size) {
		result = combine(number_at(dst + i, type), number_at(src + i, type), op, type);
		memcpy(dst + i, &result, size);
	}
}

/* Numbers of all sizes and signs, many of which are equal. */
static void random_numbers(uint64_t *chance, unsigned char *bytes, size_t length)
{
	__s32 number;
	size_t i;

	for (i = 0; i + 4 <= length; i += 4) {
		number = (int)chance_below(chance, 7) - 3;
		if (!chance_below(chance, 3))
			number = chance_below(chance, 1U << 31) * 2 + 1;
		memcpy(bytes + i, &number, 4);
	}
}

/* One task on numbers of so many bytes: 0, or what is wrong. */
static int check_calc(struct world *w, __u16 op, __u16 type, __u32 length, uint64_t *chance)
{
	const struct ib_collq_task task = {
		.opcode = IB_COLLQ_TASK_CALC, .calc_op = op, .calc_type = type,
	};
	const struct list src = random_list(chance, length), dst = random_list(chance, length);
	unsigned char *src_bytes = malloc(length + 1), *dst_bytes = malloc(length + 1);
	int err;

	if (!src_bytes || !dst_bytes)
		return -ENOMEM;
	random_numbers(chance, src_bytes, length);
	random_numbers(chance, dst_bytes, length);
	memset(w->areas[1], CANARY, AREA);
	memset(w->expected, CANARY, AREA);
	scatter(w->areas[0], &src, src_bytes);
	scatter(w->areas[1], &dst, dst_bytes);
	combine_all(dst_bytes, src_bytes, length, op, type);
	scatter(w->expected, &dst, dst_bytes);
	err = run(w, task, &src, &dst);
	if (!err && memcmp(w->expected, w->areas[1], AREA))
		err = -EBADMSG;
	free(src_bytes);
	free(dst_bytes);
	return err;
}

TEST_F(op, random)
{
	uint64_t chance = variant->type;
	__u32 length;
	__u16 op;
	int i;

	for (op = IB_COLLQ_CALC_ADD; op <= IB_COLLQ_CALC_MAXLOC; op++) {
		for (i = 0; i < 8; i++) {
			length = 16 * chance_below(&chance, i == 7 ? 60000 : 1000);
			ASSERT_EQ(0, check_calc(&self->w, op, variant->type, length, &chance))
				TH_LOG("operation %u, length %u", op, length);
		}
	}
}

TEST_HARNESS_MAIN
