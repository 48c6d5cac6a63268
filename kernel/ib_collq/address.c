// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Addresses: what endpoints know of each other, as an opaque blob that user
 * space carries from one to the other.
 *
 * Nothing in a peer's address is trusted. The check here is of form only; what
 * is well-formed but false leads to a queue pair that doesn't answer, or not to
 * this one.
 */
#include <linux/netdevice.h>
#include <linux/nsproxy.h>
#include <linux/random.h>
#include <linux/string.h>

#include <rdma/ib_addr.h>
#include <rdma/ib_cache.h>
#include <rdma/ib_verbs.h>

#include "address.h"
#include "device.h"
#include "verbs.h"

/* The GID, if the caller's network namespace may use it. */
static int collq_address_gid(struct ib_device *ibdev,
			     const struct ib_collq_endpoint_create *attr,
			     struct ib_collq_address *address)
{
	bool ethernet = rdma_port_get_link_layer(ibdev, attr->port) ==
			IB_LINK_LAYER_ETHERNET;
	const struct ib_gid_attr *gid;
	struct net_device *ndev;
	int err = 0;

	gid = rdma_get_gid_attr(ibdev, attr->port, attr->gid_index);
	if (IS_ERR(gid))
		return PTR_ERR(gid) == -ENODATA ? -EINVAL : PTR_ERR(gid);
	memcpy(address->gid, gid->gid.raw, sizeof(address->gid));

	rcu_read_lock();
	ndev = rdma_read_gid_attr_ndev_rcu(gid);
	if (!IS_ERR(ndev) &&
	    net_eq(dev_net(ndev), current->nsproxy->net_ns))
		address->netns = cpu_to_le64(dev_net(ndev)->net_cookie);
	else if (!IS_ERR(ndev) || ethernet)
		err = -EACCES;
	rcu_read_unlock();
	rdma_put_gid_attr(gid);
	return err;
}

/* Whether the GID is what it was when the endpoint was made: 0 or -EADDRNOTAVAIL. */
int collq_address_still_ours(struct ib_device *ibdev,
			     const struct ib_collq_endpoint_create *attr)
{
	const struct ib_collq_address *own = (const void *)attr->address;
	struct ib_collq_address now;

	if (collq_address_gid(ibdev, attr, &now) ||
	    memcmp(now.gid, own->gid, sizeof(now.gid)))
		return -EADDRNOTAVAIL;
	return 0;
}

/**
 * collq_address_make - the address of a new endpoint
 * @verbs: what it's made from
 * @attr: what the endpoint is
 * @qpn: number of its queue pair
 * @address: the result
 *
 * May sleep.
 *
 * Return: 0, -EINVAL if port, GID or P_Key aren't there, -EACCES if the GID
 * belongs to another network namespace.
 */
int collq_address_make(struct collq_verbs *verbs,
		       const struct ib_collq_endpoint_create *attr, u32 qpn,
		       struct ib_collq_address *address)
{
	struct ib_device *ibdev = verbs->pd->device;
	u16 pkey;
	int err;

	memset(address, 0, sizeof(*address));
	/* -EINVAL for an index beyond the table. */
	err = ib_get_cached_pkey(ibdev, attr->port, attr->pkey_index, &pkey);
	if (err)
		return err;
	err = collq_verbs_look_at_port(verbs, attr->port);
	if (err)
		return err;
	err = collq_address_gid(ibdev, attr, address);
	if (err)
		return err;
	if (attr->mtu > verbs->port_mtu)
		return -EINVAL;

	address->version = cpu_to_le16(IB_COLLQ_PROTOCOL_VERSION);
	address->kind = attr->kind;
	address->link_layer =
		rdma_port_get_link_layer(ibdev, attr->port) ==
		IB_LINK_LAYER_ETHERNET ? IB_COLLQ_LINK_ETHERNET :
					 IB_COLLQ_LINK_INFINIBAND;
	address->capabilities = cpu_to_le32(IB_COLLQ_CAP_ABORT |
					    IB_COLLQ_CAP_CLOSE);
	if (attr->flags & IB_COLLQ_ENDPOINT_LOCAL)
		address->capabilities |= cpu_to_le32(IB_COLLQ_CAP_LOCAL);
	address->qpn = cpu_to_le32(qpn);
	address->psn = cpu_to_le32(get_random_u32() & 0xffffff);
	if (address->link_layer == IB_COLLQ_LINK_INFINIBAND)
		address->lid = cpu_to_le16(verbs->port_lid);
	address->pkey = cpu_to_le16(pkey);
	address->mtu = attr->mtu ?: verbs->port_mtu;
	address->device = cpu_to_le64(be64_to_cpu(ibdev->node_guid));
	memcpy(address->instance, collq_instance, sizeof(address->instance));
	get_random_bytes(address->nonce, sizeof(address->nonce));
	return 0;
}

static bool collq_address_reserved_zero(const struct ib_collq_address *address)
{
	return !memchr_inv(address->__reserved0, 0,
			   sizeof(address->__reserved0)) &&
	       !memchr_inv(address->__reserved1, 0,
			   sizeof(address->__reserved1));
}

/* Whether a peer's address is well-formed and fits our own: 0 or -EINVAL. */
int collq_address_check(const struct ib_collq_address *peer,
			const struct ib_collq_address *own)
{
	if (peer->version != own->version || peer->kind != own->kind ||
	    peer->link_layer != own->link_layer ||
	    !collq_address_reserved_zero(peer))
		return -EINVAL;
	if (peer->link_layer == IB_COLLQ_LINK_ETHERNET && peer->lid)
		return -EINVAL;
	if (le32_to_cpu(peer->qpn) > 0xffffff ||
	    le32_to_cpu(peer->psn) > 0xffffff)
		return -EINVAL;
	if (peer->mtu < IB_MTU_256 || peer->mtu > IB_MTU_4096)
		return -EINVAL;
	if (!memchr_inv(peer->gid, 0, sizeof(peer->gid)) ||
	    rdma_is_multicast_addr((struct in6_addr *)peer->gid) ||
	    !memchr_inv(peer->nonce, 0, sizeof(peer->nonce)))
		return -EINVAL;
	return 0;
}
