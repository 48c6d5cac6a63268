// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Structures of the API that start with their size.
 *
 * A program may have been compiled with an older header than this library, or a
 * newer one. Members that only one of the two knows are at the end. Those that a
 * caller doesn't know count as 0, and those that this library doesn't know must be
 * 0, as in the kernel's ABI.
 *
 * A size beyond all reason is that of a structure that nobody has filled in.
 */
#include <errno.h>
#include <string.h>

#include "sized.h"

#define MAX_SIZE	4096

static int check(uint32_t size, uint32_t least)
{
	if (size < least)
		return -EINVAL;
	return size > MAX_SIZE ? -E2BIG : 0;
}

static uint32_t size_of(const void *sized)
{
	uint32_t size;

	memcpy(&size, sized, sizeof(size));
	return size;
}

int collq_sized_take_element(void *own, uint32_t own_size, const void *given, uint32_t size)
{
	const unsigned char *bytes = given;
	uint32_t i;
	int err;

	err = check(size, 1);
	if (err)
		return err;
	for (i = own_size; i < size; i++)
		if (bytes[i])
			return -E2BIG;
	memset(own, 0, own_size);
	memcpy(own, given, size < own_size ? size : own_size);
	return 0;
}

int collq_sized_take(void *own, uint32_t own_size, const void *given)
{
	uint32_t size = size_of(given);
	int err;

	err = check(size, sizeof(size));
	if (!err)
		err = collq_sized_take_element(own, own_size, given, size);
	if (!err)
		memcpy(own, &own_size, sizeof(own_size));
	return err;
}

int collq_sized_give(void *wanted, const void *own, uint32_t own_size)
{
	uint32_t size = size_of(wanted);
	int err;

	err = check(size, sizeof(size));
	if (err)
		return err;
	memset(wanted, 0, size);
	memcpy(wanted, own, size < own_size ? size : own_size);
	memcpy(wanted, &size, sizeof(size));
	return 0;
}
