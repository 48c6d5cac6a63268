/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Commands by way of a uverbs descriptor, instead of the character device: the same
 * structures, carried by methods, and ids that stand for handles.
 */
#ifndef COLLQ_VERBS_H
#define COLLQ_VERBS_H

#include <stdint.h>

struct collq_verbs;

/*
 * A context on a uverbs descriptor, which has to stay open as long as it: 0;
 * -EOPNOTSUPP where the kernel doesn't have it; or -errno.
 */
int collq_verbs_open(int fd, uint32_t driver, struct collq_verbs **verbs);

/* That descriptor. */
int collq_verbs_fd(const struct collq_verbs *verbs);

/* Destroys what is left in it, too. */
void collq_verbs_close(struct collq_verbs *verbs);

/* A command, as by ioctl() on the character device: what that returns, or -errno. */
int collq_verbs_command(struct collq_verbs *verbs, unsigned long command, void *arg);

/* A verbs object of the caller's for a new object to use: by which attribute, and handle */
struct collq_loan {
	uint16_t attr;
	uint32_t handle;
};

/* One object by one structure or entry, as the command that makes it does: 0 or -errno. */
int collq_verbs_create(struct collq_verbs *verbs, unsigned long command, void *arg,
		       uint16_t size, const struct collq_loan *loan);

/* The descriptor of a ring, which goes when the ring is destroyed; or -ENOENT. */
int collq_verbs_ring_fd(struct collq_verbs *verbs, uint32_t id);

#endif /* COLLQ_VERBS_H */
