/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef COLLQ_ROUTE_H
#define COLLQ_ROUTE_H

#include <rdma/ib_verbs.h>

/**
 * struct collq_route - where to, and from where
 * @port: own port
 * @gid_index: index of the own GID
 * @sl: service level
 * @traffic_class: traffic class
 * @gid: GID to go to
 * @lid: LID to go to, on InfiniBand
 */
struct collq_route {
	u32 port;
	u32 gid_index;
	u8 sl;
	u8 traffic_class;
	union ib_gid gid;
	u16 lid;
};

int collq_route_resolve(struct ib_pd *pd, const struct collq_route *route,
			struct rdma_ah_attr *path);

#endif /* COLLQ_ROUTE_H */
