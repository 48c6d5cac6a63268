/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR Linux-OpenIB) */
/*
 * ib_collq on the wire: addresses, which user space carries from one endpoint to
 * the other, and immediate data.
 */
#ifndef IB_COLLQ_WIRE_H
#define IB_COLLQ_WIRE_H

#include <linux/types.h>

#define IB_COLLQ_PROTOCOL_VERSION	1

/* Length of an endpoint's address */
#define IB_COLLQ_ADDRESS_SIZE		128

/* Kinds of endpoints */
#define IB_COLLQ_ENDPOINT_SIGNAL	1
#define IB_COLLQ_ENDPOINT_MESSAGE	2

/* Capability bits of an address: what its owner understands on the wire */
#define IB_COLLQ_CAP_ABORT		(1U << 0)
#define IB_COLLQ_CAP_CLOSE		(1U << 1)
#define IB_COLLQ_CAP_LOCAL		(1U << 2)	/* IB_COLLQ_ENDPOINT_LOCAL */

/* Link layers of an address */
#define IB_COLLQ_LINK_INFINIBAND	1
#define IB_COLLQ_LINK_ETHERNET		2

/**
 * struct ib_collq_address - where an endpoint can be reached
 * @version: IB_COLLQ_PROTOCOL_VERSION
 * @kind: IB_COLLQ_ENDPOINT_*
 * @link_layer: IB_COLLQ_LINK_*
 * @capabilities: IB_COLLQ_CAP_* bits; bits unknown to the reader are ignored
 * @gid: the port's GID, in network order
 * @qpn: queue pair number, 24 bits
 * @psn: start packet sequence number, 24 bits, drawn at random
 * @lid: local identifier, or 0 on Ethernet
 * @pkey: partition key
 * @mtu: path MTU as IB_MTU_*: 1 = 256 bytes to 5 = 4096
 * @__reserved0: must be 0
 * @device: the device's node GUID
 * @netns: network namespace cookie; compared under the same @instance only
 * @instance: the module instance of the owner
 * @nonce: the endpoint, drawn at random
 * @__reserved1: must be 0
 *
 * All numbers are little-endian: an address is passed on byte by byte. It
 * comes from the network and from user space, so nothing in it is trusted: a
 * malformed one is refused, and a false one gives a transport error.
 */
struct ib_collq_address {
	__le16 version;
	__u8 kind;
	__u8 link_layer;
	__le32 capabilities;
	__u8 gid[16];
	__le32 qpn;
	__le32 psn;
	__le16 lid;
	__le16 pkey;
	__u8 mtu;
	__u8 __reserved0[3];
	__le64 device;
	__le64 netns;
	__u8 instance[16];
	__u8 nonce[16];
	__u8 __reserved1[40];
};

/* Length of what names a landing zone to the peer */
#define IB_COLLQ_ZONE_SIZE		32

/**
 * struct ib_collq_zone_name - where a peer may write
 * @version: IB_COLLQ_PROTOCOL_VERSION
 * @__reserved: must be 0
 * @key: remote key
 * @address: what the device calls the zone's first byte
 * @length: bytes, at least 1
 * @endpoint: the first 8 bytes of the nonce of the endpoint whose peer it's for
 *
 * All numbers are little-endian. As little trusted as an address: the device of the
 * zone's owner looks at each WRITE.
 */
struct ib_collq_zone_name {
	__le16 version;
	__le16 __reserved;
	__le32 key;
	__le64 address;
	__le64 length;
	__u8 endpoint[8];
};

/**
 * DOC: Wire protocol
 *
 * All messages of signal endpoints are SENDs of zero bytes, or RDMA WRITEs into a
 * landing zone, and carry 32 bits of immediate data, whose upper two bits are the
 * type:
 *
 *  - IB_COLLQ_IMM_SIGNAL: 14 bits slot, 16 bits generation.
 *  - IB_COLLQ_IMM_ABORT: 14 bits abort slot, 8 bits generation, 8 bits
 *    IB_COLLQ_ERROR_* code: a queue of the sender has failed.
 *  - IB_COLLQ_IMM_CONTROL: IB_COLLQ_CONTROL_CLOSE: nothing will follow.
 *
 * Anything else is dropped and counted.
 */
#define IB_COLLQ_IMM_SIGNAL		0U
#define IB_COLLQ_IMM_ABORT		1U
#define IB_COLLQ_IMM_CONTROL		2U
#define IB_COLLQ_IMM_TYPE_SHIFT		30
#define IB_COLLQ_IMM_SLOT_SHIFT		16
#define IB_COLLQ_IMM_SLOT_MASK		0x3fffU
#define IB_COLLQ_IMM_GENERATION_MASK	0xffffU
#define IB_COLLQ_IMM_ABORT_GEN_SHIFT	8
#define IB_COLLQ_IMM_ABORT_GEN_MASK	0xffU
#define IB_COLLQ_IMM_ERROR_MASK		0xffU
#define IB_COLLQ_IMM_CONTROL_MASK	0x3fffffffU

#define IB_COLLQ_CONTROL_CLOSE		1U

/* Error codes of ABORT, and the status that they stand for */
#define IB_COLLQ_ERROR_UNKNOWN		0	/* -EREMOTEIO */
#define IB_COLLQ_ERROR_CONNRESET	1	/* -ECONNRESET */
#define IB_COLLQ_ERROR_HOSTUNREACH	2	/* -EHOSTUNREACH */
#define IB_COLLQ_ERROR_REMOTEIO		3	/* -EREMOTEIO */
#define IB_COLLQ_ERROR_NETDOWN		4	/* -ENETDOWN */
#define IB_COLLQ_ERROR_TIMEDOUT		5	/* -ETIMEDOUT */
#define IB_COLLQ_ERROR_CANCELED		6	/* -ECANCELED */
#define IB_COLLQ_ERROR_NODEV		7	/* -ENODEV */

#endif /* IB_COLLQ_WIRE_H */
