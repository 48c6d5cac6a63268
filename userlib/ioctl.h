/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef COLLQ_IOCTL_H
#define COLLQ_IOCTL_H

#include <stddef.h>
#include <stdint.h>

struct collq_context;
struct collq_loan;

/* One command, on a structure or an array; as the functions of raw.h. */
int collq_ioctl(const struct collq_context *ctx, unsigned long command, void *arg);
int collq_ioctl_batch(const struct collq_context *ctx, unsigned long command, void *entries,
		      size_t entry_size, uint32_t nr);

/* One object that uses a verbs object of the caller's: -EOPNOTSUPP by character device. */
int collq_ioctl_lend(const struct collq_context *ctx, unsigned long command, void *arg,
		     size_t size, const struct collq_loan *loan);

/*
 * The same on any number of entries: 0 once all are done, else the error of the
 * one that failed. @done is how many were, either way.
 */
int collq_ioctl_all(const struct collq_context *ctx, unsigned long command, void *entries,
		    size_t entry_size, uint32_t nr, uint32_t *done);

#endif /* COLLQ_IOCTL_H */
