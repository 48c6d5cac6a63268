// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What the fuzzer does with memory: regions of one range that is taken away, mapped
 * over and split all the time, lists that fit and some that don't, bindings.
 */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "collq_memory.h"
#include "fuzz.h"

void fuzz_make_region(struct fuzz_thread *t, struct fuzz_context *ctx)
{
	__u32 start = fuzz_below(t, FUZZ_AREA - 8192);
	struct ib_collq_region_create attr = {
		.size = sizeof(attr),
		.type = fuzz_one_in(t, 50) ? fuzz_below(t, 6) : IB_COLLQ_REGION_USER,
		.access = fuzz_one_in(t, 4) ? 0 : IB_COLLQ_ACCESS_WRITE,
		.address = (unsigned long)t->fuzz->data + start,
		.length = fuzz_one_in(t, 4) ? 1 + fuzz_below(t, 8192) : FUZZ_AREA - start,
	};

	if (fuzz_call(t, ctx->fd, IB_COLLQ_REGION_CREATE, &attr, sizeof(attr)) >= 0)
		fuzz_remember(t, ctx, ctx->region, attr.id);
}

/* Parts of regions, most of them at the borders of pages. */
void fuzz_make_list(struct fuzz_thread *t, struct fuzz_context *ctx)
{
	struct ib_collq_sge parts[FUZZ_PLACES];
	struct ib_collq_region_create attr = {
		.size = sizeof(attr),
		.type = IB_COLLQ_REGION_LIST,
		.access = fuzz_one_in(t, 2) ? 0 : IB_COLLQ_ACCESS_WRITE,
		.address = (unsigned long)parts,
		.nr_parts = 1 + fuzz_below(t, FUZZ_PLACES),
		.part_size = sizeof(parts[0]),
	};
	struct ib_collq_region_info info;
	__u32 i;

	for (i = 0; i < attr.nr_parts; i++) {
		parts[i].buffer = fuzz_id(t, ctx->region);
		info = raw_region_info(ctx->fd, parts[i].buffer);
		/* From where in the region a page begins */
		parts[i].offset = -info.create.address & (RAW_PAGE - 1);
		parts[i].offset += fuzz_below(t, 4) * RAW_PAGE;
		parts[i].length = (1 + fuzz_below(t, 3)) * RAW_PAGE;
		if (fuzz_one_in(t, 20))
			parts[i].offset += fuzz_below(t, RAW_PAGE);
		if (fuzz_one_in(t, 20) || i + 1 == attr.nr_parts)
			parts[i].length -= fuzz_below(t, RAW_PAGE);
		attr.length += parts[i].length;
	}
	if (fuzz_one_in(t, 20))
		attr.length ^= 1;
	if (fuzz_call(t, ctx->fd, IB_COLLQ_REGION_CREATE, &attr, sizeof(attr)) >= 0)
		fuzz_remember(t, ctx, ctx->region, attr.id);
}

static __u32 fuzz_endpoint_id(struct fuzz_thread *t, struct fuzz_context *ctx)
{
	return ctx->endpoint[fuzz_below(t, FUZZ_PLACES)].id;
}

void fuzz_make_zone(struct fuzz_thread *t, struct fuzz_context *ctx)
{
	struct ib_collq_zone_offer attr = {
		.size = sizeof(attr),
		.endpoint = fuzz_endpoint_id(t, ctx),
		.region = fuzz_id(t, ctx->region),
		.offset = fuzz_below(t, 4096),
		.length = 1 + fuzz_below(t, fuzz_one_in(t, 4) ? FUZZ_AREA : 4096),
	};

	if (fuzz_call(t, ctx->fd, IB_COLLQ_ZONE_OFFER, &attr, sizeof(attr)) < 0)
		return;
	memcpy(&t->fuzz->name[fuzz_below(t, FUZZ_PLACES)], attr.zone, sizeof(attr.zone));
	fuzz_remember(t, ctx, ctx->zone, attr.id);
}

/* Of a zone that was offered, to anybody; or one that is claimed to be somewhat else. */
void fuzz_make_target(struct fuzz_thread *t, struct fuzz_context *ctx)
{
	struct ib_collq_zone_name name = t->fuzz->name[fuzz_below(t, FUZZ_PLACES)];
	const struct fuzz_context *other = fuzz_any_context(t);
	struct ib_collq_target_create attr = {
		.size = sizeof(attr),
		.endpoint = fuzz_endpoint_id(t, ctx),
	};

	if (fuzz_one_in(t, 2))
		memcpy(name.endpoint, ((const struct ib_collq_address *)
		       other->endpoint[fuzz_below(t, FUZZ_PLACES)].address)->nonce,
		       sizeof(name.endpoint));
	if (fuzz_one_in(t, 8))
		name.length += fuzz_below(t, 10000);
	if (fuzz_one_in(t, 8))
		name.key ^= 1 << fuzz_below(t, 16);
	memcpy(attr.zone, &name, sizeof(attr.zone));
	if (fuzz_call(t, ctx->fd, IB_COLLQ_TARGET_CREATE, &attr, sizeof(attr)) >= 0)
		fuzz_remember(t, ctx, ctx->target, attr.id);
}

/* To a target of the same endpoint, by chance. */
void fuzz_make_write(struct fuzz_thread *t, struct fuzz_context *ctx, struct ib_collq_task *task)
{
	struct ib_collq_target_info info = {};
	__u32 target = fuzz_id(t, ctx->target);

	raw_describe(ctx->fd, target, &info, sizeof(info));
	*task = raw_write_list(info.create.endpoint, target, fuzz_below(t, 100), 0);
	task->signal_slot = fuzz_below(t, FUZZ_SLOTS);
	task->signal_generation = fuzz_below(t, FUZZ_GENERATIONS);
	task->sge_first = fuzz_below(t, FUZZ_SGES - 1);
	task->sge_count = fuzz_below(t, 3);
}

/* Does to some of the range what makes regions there stale, or should not. */
void fuzz_take_data(struct fuzz_thread *t, struct fuzz_context *ctx)
{
	size_t page = fuzz_below(t, FUZZ_AREA / RAW_PAGE) * RAW_PAGE;
	char *start = t->fuzz->data + page;

	(void)ctx;
	switch (fuzz_below(t, 8)) {
	case 0:
		madvise(start, RAW_PAGE, MADV_DONTNEED);
		break;
	case 1:
		mprotect(start, RAW_PAGE, PROT_READ);
		mprotect(start, RAW_PAGE, PROT_READ | PROT_WRITE);
		break;
	case 2:
		mmap(start, RAW_PAGE, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
		break;
	case 3:
		mmap(start, RAW_PAGE, PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
		break;
	default:
		/* By the kernel: another thread may have made it read-only just now. */
		if (pread(t->fuzz->memory, start, RAW_PAGE, fuzz_below(t, FUZZ_AREA)) < 0)
			return;
	}
}

/* One or two entries to send or to receive; or a COPY or CALC of that many. */
void fuzz_add_list(struct fuzz_thread *t, struct ib_collq_task *task)
{
	task->sge_first = fuzz_below(t, FUZZ_SGES - 1);
	task->sge_count = 1 + fuzz_below(t, 2);
	if (!fuzz_one_in(t, 3))
		return;
	*task = raw_copy(task->sge_first, task->sge_count, fuzz_below(t, FUZZ_SGES - 1),
			 task->sge_count);
	if (fuzz_one_in(t, 2)) {
		task->opcode = IB_COLLQ_TASK_CALC;
		task->calc_op = IB_COLLQ_CALC_ADD + fuzz_below(t, 8);
		task->calc_type = IB_COLLQ_TYPE_S32 + fuzz_below(t, 4);
	}
}

/* Entries of one length, so that most lists that are as many are as long. */
void fuzz_add_table(struct fuzz_thread *t, struct ib_collq_graph_create *attr)
{
	__u32 length = 16 * fuzz_below(t, 500);
	struct ib_collq_sge sges[FUZZ_SGES];
	int i;

	for (i = 0; i < FUZZ_SGES; i++) {
		sges[i] = (struct ib_collq_sge) {
			.buffer = fuzz_below(t, FUZZ_BUFFERS),
			.length = length,
			.offset = fuzz_below(t, 3000),
		};
	}
	attr->nr_sges = FUZZ_SGES;
	attr->sge_size = sizeof(sges[0]);
	attr->sges = fuzz_place(t, sges, sizeof(sges));
	attr->nr_buffers = FUZZ_BUFFERS;
}

void fuzz_bind_buffers(struct fuzz_thread *t, struct fuzz_context *ctx,
		       struct ib_collq_queue_submit *attr)
{
	struct ib_collq_buffer_bind bindings[FUZZ_BUFFERS];
	int i;

	/* Whether the graph has any isn't remembered. */
	if (fuzz_one_in(t, 2))
		return;
	for (i = 0; i < FUZZ_BUFFERS; i++) {
		bindings[i] = (struct ib_collq_buffer_bind) {
			.buffer = i,
			.region = fuzz_id(t, ctx->region),
			.offset = fuzz_one_in(t, 3) ? fuzz_below(t, 20000) : 0,
		};
	}
	attr->nr_bindings = FUZZ_BUFFERS;
	attr->binding_size = sizeof(bindings[0]);
	attr->bindings = fuzz_place(t, bindings, sizeof(bindings));
}
