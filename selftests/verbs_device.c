// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * See verbs_device.h.
 */
#include <string.h>

#include <infiniband/verbs.h>

#include "collq_util.h"
#include "verbs_device.h"

struct ibv_context *verbs_device_open(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *context = NULL;
	int i;

	for (i = 0; list && list[i]; i++) {
		if (!strcmp(ibv_get_device_name(list[i]), RAW_DEVICE))
			context = ibv_open_device(list[i]);
	}
	if (list)
		ibv_free_device_list(list);
	return context;
}
