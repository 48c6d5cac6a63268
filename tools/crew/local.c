// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What the module has counted of messages that didn't take the wire.
 */
#include "local.h"

uint64_t local_sends(struct collq_context *context)
{
	struct ib_collq_object_describe describe = { .flags = IB_COLLQ_DESCRIBE_NEXT };
	struct ib_collq_endpoint_info info;
	uint64_t sends = 0;

	for (;; describe.id++) {
		info = (struct ib_collq_endpoint_info) { };
		describe.info = (uintptr_t)&info;
		describe.info_size = sizeof(info);
		describe.nr = 0;
		describe.entry_size = 0;
		if (collq_object_describe(context, &describe))
			return sends;
		if (describe.type == IB_COLLQ_OBJECT_ENDPOINT)
			sends += info.local_sends;
	}
}
