// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* See place.h. */
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>

#include "context.h"
#include "place.h"
#include "sysfs.h"

#define BOOT_ID		"/proc/sys/kernel/random/boot_id"
#define NET_NAMESPACE	"/proc/self/ns/net"

/* FNV-1a (Fowler, Noll and Vo), 64 bits */
#define FNV_BASIS	0xcbf29ce484222325ULL
#define FNV_PRIME	0x100000001b3ULL

static uint64_t add(uint64_t hash, const void *bytes, size_t nr)
{
	const unsigned char *byte = bytes;

	while (nr--)
		hash = (hash ^ *byte++) * FNV_PRIME;
	return hash;
}

uint64_t collq_context_place(const struct collq_context *ctx)
{
	uint64_t hash = FNV_BASIS;
	struct stat netns;
	char boot[64];

	if (!collq_context_is_local(ctx) || collq_sysfs_read(boot, sizeof(boot), BOOT_ID) ||
	    stat(NET_NAMESPACE, &netns))
		return 0;
	hash = add(hash, boot, strlen(boot));
	hash = add(hash, ctx->device, strlen(ctx->device));
	return add(hash, &netns.st_ino, sizeof(netns.st_ino));
}
