// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Linked to a test that knows nothing of local endpoints, this makes all its
 * endpoints such: what it asserts must hold with them, too.
 */
#include "collq_util.h"

__attribute__((constructor)) static void make_all_local(void)
{
	raw_endpoint_flags = IB_COLLQ_ENDPOINT_LOCAL;
}
