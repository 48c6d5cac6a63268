// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Commands as the rest of the library wants them, whichever way they take: errors
 * returned, errno left alone; and arrays of any length, cut to what the kernel takes at
 * a time.
 */
#include <errno.h>
#include <sys/ioctl.h>

#include "collq/collq.h"

#include "context.h"
#include "ioctl.h"
#include "verbs.h"

int collq_ioctl(const struct collq_context *ctx, unsigned long command, void *arg)
{
	int saved = errno, ret;

	if (ctx->verbs)
		return collq_verbs_command(ctx->verbs, command, arg);
	ret = ioctl(ctx->fd, command, arg);
	if (ret < 0) {
		ret = -errno;
		errno = saved;
	}
	return ret;
}

int collq_ioctl_batch(const struct collq_context *ctx, unsigned long command, void *entries,
		      size_t entry_size, uint32_t nr)
{
	struct ib_collq_batch batch = {
		.size = sizeof(batch),
		.nr = nr,
		.entry_size = entry_size,
		.entries = (uintptr_t)entries,
	};

	return collq_ioctl(ctx, command, &batch);
}

int collq_ioctl_lend(const struct collq_context *ctx, unsigned long command, void *arg,
		     size_t size, const struct collq_loan *loan)
{
	if (!ctx->verbs)
		return -EOPNOTSUPP;
	return collq_verbs_create(ctx->verbs, command, arg, (uint16_t)size, loan);
}

int collq_ioctl_all(const struct collq_context *ctx, unsigned long command, void *entries,
		    size_t entry_size, uint32_t nr, uint32_t *done)
{
	uint32_t max = ctx->limits.max_batch;
	int ret;

	for (*done = 0; *done < nr; *done += ret) {
		ret = collq_ioctl_batch(ctx, command, (char *)entries + *done * entry_size,
					entry_size, nr - *done < max ? nr - *done : max);
		if (ret == -EINTR)
			ret = 0;
		if (ret < 0)
			return ret;
	}
	return 0;
}
