/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Regions: memory that the kernel holds on to, and how to let go of it.
 *
 * A message that's still on its way may touch a region, even after its endpoint was
 * destroyed; such a region can't be destroyed yet. The kernel holds the pages, so the
 * memory may be unmapped all the same. What is left over is tried again when another
 * region is made, and goes with the context at last.
 */
#ifndef COLLQ_REGION_H
#define COLLQ_REGION_H

#include <stdbool.h>
#include <stdint.h>

struct collq_context;
struct collq_region;
struct ibv_mr;

/*
 * A new region of so much memory, at least a byte: 0 or -errno. @mr is where it's
 * registered already, or NULL.
 */
int collq_region_new(struct collq_context *ctx, const struct ibv_mr *mr, const void *address,
		     uint64_t bytes, bool writable, struct collq_region **region);
uint32_t collq_region_id(const struct collq_region *region);
/* Where the id is kept. */
uint32_t *collq_region_place(struct collq_region *region);

/*
 * Another region, in a context that is on another device by now: the id becomes that
 * one's, if all goes well. 0 or -errno.
 */
int collq_region_remake(struct collq_context *ctx, struct collq_region *region,
			const void *address, uint64_t bytes, bool writable);

/*
 * A region of parts of regions, which their entries name by id; @bytes is all of it. What
 * @place points to becomes a new one, or if there's one its id that of another, as above.
 */
int collq_region_list(struct collq_context *ctx, const struct ib_collq_sge *parts, uint32_t nr,
		      uint64_t bytes, bool writable, struct collq_region **place);

/* Destroys it now or later; NULL is none. */
void collq_region_put(struct collq_context *ctx, struct collq_region *region);

/* Destroys those that are left over as far as that's possible. */
uint32_t collq_region_sweep(struct collq_context *ctx);
/* Forgets those that are left over: their context is gone. */
void collq_region_forget(struct collq_context *ctx);

#endif /* COLLQ_REGION_H */
