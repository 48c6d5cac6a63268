// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * ib_collq: an ib_client that makes a character device for every RDMA device
 * which can carry out graphs of communication tasks.
 *
 * That takes kernel verbs with reliable connections, immediate data and memory
 * management extensions: InfiniBand and RoCE. Others are refused here.
 */
#include <linux/module.h>
#include <linux/random.h>

#include <rdma/ib_verbs.h>
#include <rdma/rdma_netlink.h>

#include <rdma/ib_collq.h>

#include "compat.h"
#include "device.h"
#include "engine.h"
#include "uverbs.h"

u8 collq_instance[16];
struct workqueue_struct *collq_wq;
struct workqueue_struct *collq_run_wq;
struct workqueue_struct *collq_memory_wq;

static const char *collq_unsuitable(struct ib_device *ibdev)
{
	u32 port;

	if (!ibdev->kverbs_provider)
		return "no kernel verbs";
	if (!(ibdev->attrs.device_cap_flags & IB_DEVICE_MEM_MGT_EXTENSIONS))
		return "no memory management extensions";
	rdma_for_each_port(ibdev, port) {
		if (!rdma_protocol_ib(ibdev, port) &&
		    !rdma_protocol_roce(ibdev, port))
			return "neither InfiniBand nor RoCE";
	}
	return NULL;
}

static struct ib_client collq_client;

/* The device that we have for an RDMA device that is there. */
struct collq_device *collq_device_of(struct ib_device *ibdev)
{
	return ib_get_client_data(ibdev, &collq_client);
}

static int collq_add_one(struct ib_device *ibdev)
{
	const char *why = collq_unsuitable(ibdev);
	struct collq_device *cd;
	int err;

	if (why) {
		dev_info(&ibdev->dev, "ib_collq: not supported: %s\n", why);
		return -EOPNOTSUPP;
	}
	err = collq_device_add(ibdev, &cd);
	if (err)
		return err;
	ib_set_client_data(ibdev, &collq_client, cd);
	/* For those who want it; the character device is there in any case. */
	cd->uverbs = collq_uverbs_add(ibdev);
	return 0;
}

static void collq_remove_one(struct ib_device *ibdev, void *client_data)
{
	struct collq_device *cd = client_data;

	collq_device_remove(cd);
	collq_uverbs_remove(cd->uverbs);
	collq_device_put(cd);
}

/* Answers RDMA netlink's GET_CHARDEV. There's one node for all ports. */
static int collq_get_nl_info(struct ib_device *ibdev, void *client_data,
			     struct ib_client_nl_info *res)
{
	struct collq_device *cd = client_data;

	if (res->port != -1)
		return -EINVAL;
	res->abi = IB_COLLQ_ABI_VERSION;
	res->cdev = &cd->dev;
	return 0;
}

static struct ib_client collq_client = {
	.name = "collq",
	.add = collq_add_one,
	.remove = collq_remove_one,
	.get_nl_info = collq_get_nl_info,
};
MODULE_ALIAS_RDMA_CLIENT("collq");

static int __init collq_init(void)
{
	int err;

	get_random_bytes(collq_instance, sizeof(collq_instance));
	collq_engine_init();

	collq_wq = alloc_workqueue("ib_collq", WQ_UNBOUND, 0);
	if (!collq_wq)
		return -ENOMEM;
	err = -ENOMEM;
	collq_run_wq = alloc_workqueue("ib_collq_run", WQ_UNBOUND, 0);
	if (!collq_run_wq)
		goto err_destroy_wq;
	collq_memory_wq = alloc_workqueue("ib_collq_memory", WQ_UNBOUND,
					  WQ_MAX_ACTIVE);
	if (!collq_memory_wq)
		goto err_destroy_run_wq;
	err = collq_cdev_init();
	if (err)
		goto err_destroy_memory_wq;
	err = ib_register_client(&collq_client);
	if (err)
		goto err_cdev_exit;
	return 0;

err_cdev_exit:
	collq_cdev_exit();
err_destroy_memory_wq:
	destroy_workqueue(collq_memory_wq);
err_destroy_run_wq:
	destroy_workqueue(collq_run_wq);
err_destroy_wq:
	destroy_workqueue(collq_wq);
	return err;
}

static void __exit collq_exit(void)
{
	ib_unregister_client(&collq_client);
	/* Waits for the last references, which work of each kind may put. */
	collq_cdev_exit();
	destroy_workqueue(collq_memory_wq);
	destroy_workqueue(collq_run_wq);
	destroy_workqueue(collq_wq);
}

module_init(collq_init);
module_exit(collq_exit);

MODULE_DESCRIPTION("Collectives carried out by the kernel over RDMA");
MODULE_AUTHOR("The ib_collq authors");
MODULE_LICENSE("Dual BSD/GPL");
