// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The way to an address, as a queue pair wants it.
 *
 * ib_modify_qp() doesn't find out the peer's Ethernet address for a caller in
 * the kernel, and an address of zeros would hang in silence. Making an address
 * handle does, and fills it into the attributes; so one is made and thrown
 * away.
 */
#include <linux/etherdevice.h>

#include <rdma/ib_addr.h>

#include "route.h"

/**
 * collq_route_resolve - find the way
 * @pd: any protection domain of the device
 * @route: where to
 * @path: the way
 *
 * Sleeps, up to a second if nobody answers for the address.
 *
 * Return: 0, -ENOMEM, -ETIMEDOUT or -EHOSTUNREACH.
 */
int collq_route_resolve(struct ib_pd *pd, const struct collq_route *route,
			struct rdma_ah_attr *path)
{
	union ib_gid gid = route->gid;
	struct ib_ah *ah;

	memset(path, 0, sizeof(*path));
	path->type = rdma_ah_find_type(pd->device, route->port);
	rdma_ah_set_port_num(path, route->port);
	rdma_ah_set_sl(path, route->sl);
	if (path->type == RDMA_AH_ATTR_TYPE_ROCE ||
	    rdma_cap_eth_ah(pd->device, route->port) || !route->lid)
		rdma_ah_set_grh(path, &gid, 0, route->gid_index, 64,
				route->traffic_class);
	if (path->type == RDMA_AH_ATTR_TYPE_IB)
		rdma_ah_set_dlid(path, route->lid);
	if (path->type != RDMA_AH_ATTR_TYPE_ROCE)
		return 0;

	ah = rdma_create_user_ah(pd, path, NULL);
	if (IS_ERR(ah)) {
		int err = PTR_ERR(ah);

		/* Routing has many errors, some with another meaning here. */
		if (err == -ENOBUFS)
			err = -ENOMEM;
		return err == -ETIMEDOUT || err == -ENOMEM ? err : -EHOSTUNREACH;
	}
	rdma_destroy_ah(ah, RDMA_DESTROY_AH_SLEEPABLE);
	if (is_zero_ether_addr(rdma_ah_retrieve_dmac(path)))
		return -EHOSTUNREACH;
	return 0;
}
