// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What the module has counted of messages, but for those that only ask whether somebody who
 * takes his time is still there.
 */
#include "sends.h"

void count_sends(struct collq_context *context, struct sends *sends)
{
	struct ib_collq_object_describe describe = { .flags = IB_COLLQ_DESCRIBE_NEXT };
	struct ib_collq_endpoint_info info;

	*sends = (struct sends) { };
	for (;; describe.id++) {
		info = (struct ib_collq_endpoint_info) { };
		describe.info = (uintptr_t)&info;
		describe.info_size = sizeof(info);
		describe.nr = 0;
		describe.entry_size = 0;
		if (collq_object_describe(context, &describe))
			return;
		if (describe.type != IB_COLLQ_OBJECT_ENDPOINT)
			continue;
		sends->wire += info.sends - info.probes;
		sends->local += info.local_sends;
	}
}
