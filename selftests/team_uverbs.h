/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Linked to a test of teams with --wrap=collq_open,--wrap=collq_close, this has their
 * ranks go by uverbs descriptors instead of the character device: what the test asserts
 * must hold with them, too. While COLLQ_FRONT_END is "char" they don't.
 */
#ifndef TEAM_UVERBS_H
#define TEAM_UVERBS_H

#include <collq/collq.h>

int __wrap_collq_open(const char *device, struct collq_context **context);
int __wrap_collq_close(struct collq_context *context);
int __real_collq_open(const char *device, struct collq_context **context);
int __real_collq_close(struct collq_context *context);

#endif
