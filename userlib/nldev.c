// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * RDMA netlink: which RDMA devices there are, and what ib_collq's character
 * device for one is. The kernel loads the module that answers to "collq" when
 * the latter is asked and there is none yet, so nobody else has to.
 *
 * One socket per question: they are asked once per collq_open().
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <netlink/attr.h>
#include <netlink/errno.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <netlink/socket.h>
#include <rdma/rdma_netlink.h>

#include "nldev.h"

static struct nla_policy policy[RDMA_NLDEV_ATTR_MAX] = {
	[RDMA_NLDEV_ATTR_DEV_INDEX] = { .type = NLA_U32 },
	[RDMA_NLDEV_ATTR_DEV_NAME] = { .type = NLA_NUL_STRING },
	[RDMA_NLDEV_ATTR_CHARDEV] = { .type = NLA_U64 },
	[RDMA_NLDEV_ATTR_CHARDEV_NAME] = { .type = NLA_NUL_STRING },
	[RDMA_NLDEV_ATTR_UVERBS_DRIVER_ID] = { .type = NLA_U32 },
};

/* libnl has errors of its own; those that matter come from the kernel. */
static int from_libnl(int err)
{
	static const struct {
		int libnl, error;
	} table[] = {
		{ NLE_NOMEM, -ENOMEM },
		{ NLE_NODEV, -ENODEV },
		{ NLE_PERM, -EPERM },
		{ NLE_NOACCESS, -EACCES },
		{ NLE_OPNOTSUPP, -EOPNOTSUPP },
		{ NLE_OBJ_NOTFOUND, -ENOENT },
	};
	size_t i;

	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (-err == table[i].libnl)
			return table[i].error;
	return -EIO;
}

static int parse(struct nl_msg *msg, struct nlattr **attrs)
{
	return nlmsg_parse(nlmsg_hdr(msg), 0, attrs, RDMA_NLDEV_ATTR_MAX - 1, policy);
}

/*
 * Asks, and calls @handle for each answer. With an index, about that device's node
 * of a type; else about all devices.
 */
static int ask(int command, const uint32_t *index, const char *type,
	       nl_recvmsg_msg_cb_t handle, void *arg)
{
	int flags = index ? NLM_F_ACK : NLM_F_DUMP;
	struct nl_sock *sock;
	struct nl_msg *msg = NULL;
	int err = -NLE_NOMEM;

	sock = nl_socket_alloc();
	if (!sock)
		return -ENOMEM;
	err = nl_connect(sock, NETLINK_RDMA);
	if (err)
		goto out;
	err = -NLE_NOMEM;
	msg = nlmsg_alloc_simple(RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, command), flags);
	if (!msg)
		goto out;
	if (index && (nla_put_u32(msg, RDMA_NLDEV_ATTR_DEV_INDEX, *index) ||
		      nla_put_string(msg, RDMA_NLDEV_ATTR_CHARDEV_TYPE, type)))
		goto out;
	err = nl_socket_modify_cb(sock, NL_CB_VALID, NL_CB_CUSTOM, handle, arg);
	if (err)
		goto out;
	err = nl_send_auto(sock, msg);
	if (err < 0)
		goto out;
	err = nl_recvmsgs_default(sock);
	if (err > 0)
		err = 0;
out:
	nlmsg_free(msg);
	nl_socket_free(sock);
	return err ? from_libnl(err) : 0;
}

struct list {
	struct collq_nldev *devices;
	uint32_t nr;
	bool no_memory;
};

static int handle_device(struct nl_msg *msg, void *arg)
{
	struct nlattr *attrs[RDMA_NLDEV_ATTR_MAX];
	struct list *list = arg;
	struct collq_nldev *device;

	if (parse(msg, attrs) || !attrs[RDMA_NLDEV_ATTR_DEV_INDEX] ||
	    !attrs[RDMA_NLDEV_ATTR_DEV_NAME])
		return NL_SKIP;
	device = realloc(list->devices, (list->nr + 1) * sizeof(*device));
	if (!device) {
		list->no_memory = true;
		return NL_STOP;
	}
	list->devices = device;
	device += list->nr++;
	device->index = nla_get_u32(attrs[RDMA_NLDEV_ATTR_DEV_INDEX]);
	nla_strlcpy(device->name, attrs[RDMA_NLDEV_ATTR_DEV_NAME], sizeof(device->name));
	return NL_OK;
}

int collq_nldev_list(struct collq_nldev **devices, uint32_t *nr)
{
	struct list list = { 0 };
	int err;

	err = ask(RDMA_NLDEV_CMD_GET, NULL, NULL, handle_device, &list);
	if (!err && list.no_memory)
		err = -ENOMEM;
	if (err) {
		free(list.devices);
		return err;
	}
	*devices = list.devices;
	*nr = list.nr;
	return 0;
}

struct chardev {
	char *name;
	dev_t *number;
	bool found;
};

static int handle_chardev(struct nl_msg *msg, void *arg)
{
	struct nlattr *attrs[RDMA_NLDEV_ATTR_MAX];
	struct chardev *chardev = arg;

	if (parse(msg, attrs) || !attrs[RDMA_NLDEV_ATTR_CHARDEV] ||
	    !attrs[RDMA_NLDEV_ATTR_CHARDEV_NAME])
		return NL_SKIP;
	nla_strlcpy(chardev->name, attrs[RDMA_NLDEV_ATTR_CHARDEV_NAME], COLLQ_NAME_SIZE);
	/* The kernel's encoding is that of a 64-bit dev_t. */
	*chardev->number = nla_get_u64(attrs[RDMA_NLDEV_ATTR_CHARDEV]);
	chardev->found = true;
	return NL_OK;
}

int collq_nldev_chardev(uint32_t index, char name[COLLQ_NAME_SIZE], dev_t *number)
{
	struct chardev chardev = { .name = name, .number = number };
	int err;

	err = ask(RDMA_NLDEV_CMD_GET_CHARDEV, &index, "collq", handle_chardev, &chardev);
	if (err)
		return err;
	return chardev.found ? 0 : -ENXIO;
}

struct driver {
	uint32_t id;
	bool found;
};

static int handle_driver(struct nl_msg *msg, void *arg)
{
	struct nlattr *attrs[RDMA_NLDEV_ATTR_MAX];
	struct driver *driver = arg;

	if (parse(msg, attrs) || !attrs[RDMA_NLDEV_ATTR_UVERBS_DRIVER_ID])
		return NL_SKIP;
	driver->id = nla_get_u32(attrs[RDMA_NLDEV_ATTR_UVERBS_DRIVER_ID]);
	driver->found = true;
	return NL_OK;
}

int collq_nldev_uverbs_driver(uint32_t index, uint32_t *id)
{
	struct driver driver = { 0 };
	int err;

	err = ask(RDMA_NLDEV_CMD_GET_CHARDEV, &index, "uverbs", handle_driver, &driver);
	if (err)
		return err;
	*id = driver.id;
	return driver.found ? 0 : -EOPNOTSUPP;
}
