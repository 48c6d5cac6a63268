/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The device of the tests as a program of libibverbs opens it.
 */
#ifndef VERBS_DEVICE_H
#define VERBS_DEVICE_H

struct ibv_context;

/* RAW_DEVICE, or NULL. */
struct ibv_context *verbs_device_open(void);

#endif /* VERBS_DEVICE_H */
