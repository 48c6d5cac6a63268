// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Layout of the ABI, asserted at compile time from user space, for every word
 * size that this is built for. The kernel's side has a file like this one.
 */
#include <assert.h>
#include <stddef.h>

#include <rdma/ib_collq.h>

#define STRUCT(name, bytes)						\
	static_assert(sizeof(struct ib_collq_##name) == (bytes), "size")
#define MEMBER(type, name, offset)					\
	static_assert(offsetof(struct ib_collq_##type, name) == (offset), "offset")
#define VALUE(name, value)						\
	static_assert((name) == (value), "value")

#include "abi_layout.h"
