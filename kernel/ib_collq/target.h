/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef COLLQ_TARGET_H
#define COLLQ_TARGET_H

#include <linux/container_of.h>

#include <rdma/ib_collq.h>

#include "object.h"

struct collq_endpoint;

/**
 * struct collq_target - a peer's landing zone, to write to
 * @obj: common part
 * @attr: as created, with the id
 * @endpoint: the endpoint that leads there; named until the target is destroyed,
 *	referenced until it is freed
 * @resets: of the endpoint when the target was made
 * @key: remote key
 * @address: what the device over there calls the first byte
 * @length: bytes
 */
struct collq_target {
	struct collq_object obj;
	struct ib_collq_target_create attr;
	struct collq_endpoint *endpoint;
	u32 resets;
	u32 key;
	u64 address;
	u64 length;
};

static inline struct collq_target *collq_target_of(struct collq_object *obj)
{
	return container_of(obj, struct collq_target, obj);
}

struct collq_target *collq_target_create(struct collq_context *ctx,
					 struct ib_collq_target_create *attr,
					 struct collq_endpoint *ep);
void collq_target_info(struct collq_target *target,
		       struct ib_collq_target_info *info);

#endif /* COLLQ_TARGET_H */
