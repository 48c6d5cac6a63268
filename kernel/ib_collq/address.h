/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef COLLQ_ADDRESS_H
#define COLLQ_ADDRESS_H

#include <rdma/ib_collq.h>

struct collq_endpoint;
struct collq_verbs;

int collq_address_make(struct collq_verbs *verbs,
		       const struct ib_collq_endpoint_create *attr, u32 qpn,
		       struct ib_collq_address *address);
int collq_address_still_ours(struct ib_device *ibdev,
			     const struct ib_collq_endpoint_create *attr);
int collq_address_check(const struct ib_collq_address *peer,
			const struct ib_collq_address *own);

#endif /* COLLQ_ADDRESS_H */
