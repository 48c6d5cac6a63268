// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The character device: /dev/infiniband/collqN, one for each RDMA device.
 *
 * This is a front end: it knows files, processes and user memory, and hands
 * resolved objects to what is below. The structure behind the file outlives
 * the RDMA device as long as a file is open. Removal marks it dead, ends all
 * that sleeps, waits for the ioctls under way (SRCU), and takes everything away
 * from the contexts; what is called after that finds it dead. Whoever hears so by
 * an ioctl hears it when all that is over: so his memory isn't touched any more.
 */
#include <linux/fs.h>
#include <linux/idr.h>
#include <linux/module.h>
#include <linux/poll.h>
#include <linux/slab.h>

#include <rdma/ib_verbs.h>

#include "compat.h"
#include "context.h"
#include "device.h"
#include "ioctl.h"
#include "linger.h"
#include "ring.h"

#define COLLQ_MAX_DEVICES	1024

static dev_t collq_first_devt;
static DEFINE_IDA(collq_ida);

static char *collq_devnode(collq_devnode_device *dev, umode_t *mode)
{
	if (mode)
		*mode = 0666;
	return kasprintf(GFP_KERNEL, "infiniband/%s", dev_name(dev));
}

/* The class is ours, and the device model may let go of it late. */
static DECLARE_COMPLETION(collq_class_released);

static void collq_class_release(collq_class_const *class)
{
	complete(&collq_class_released);
}

static struct class collq_class = {
	.name = "ib_collq",
	.devnode = collq_devnode,
	.class_release = collq_class_release,
};

/* Devices that aren't freed yet: what frees them is code of ours. */
static atomic_t collq_nr_devices;
static DECLARE_WAIT_QUEUE_HEAD(collq_devices_gone);

static ssize_t ibdev_show(struct device *dev, struct device_attribute *attr,
			  char *buf)
{
	struct collq_device *cd = container_of(dev, struct collq_device, dev);
	ssize_t len = -ENODEV;
	int idx;

	idx = srcu_read_lock(&cd->srcu);
	if (!READ_ONCE(cd->dead))
		len = sysfs_emit(buf, "%s\n", dev_name(&cd->ibdev->dev));
	srcu_read_unlock(&cd->srcu, idx);
	return len;
}
static DEVICE_ATTR_RO(ibdev);

static ssize_t abi_version_show(struct device *dev,
				struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%d\n", IB_COLLQ_ABI_VERSION);
}
static DEVICE_ATTR_RO(abi_version);

static struct attribute *collq_attrs[] = {
	&dev_attr_ibdev.attr,
	&dev_attr_abi_version.attr,
	NULL,
};
ATTRIBUTE_GROUPS(collq);

static int collq_open(struct inode *inode, struct file *file)
{
	struct collq_device *cd =
		container_of(inode->i_cdev, struct collq_device, cdev);
	struct collq_context *ctx = collq_context_open(cd);

	if (IS_ERR(ctx))
		return PTR_ERR(ctx);
	file->private_data = ctx;
	return nonseekable_open(inode, file);
}

static int collq_release(struct inode *inode, struct file *file)
{
	collq_context_close(file->private_data);
	return 0;
}

static long collq_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	return collq_ioctl_run(file->private_data, cmd, (void __user *)arg);
}

static int collq_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct collq_context *ctx = file->private_data;

	if (vma->vm_mm != ctx->mm)
		return -EPERM;
	return collq_ring_mmap_any(ctx, vma);
}

static __poll_t collq_poll(struct file *file, poll_table *wait)
{
	struct collq_context *ctx = file->private_data;
	struct collq_ring *ring;
	__poll_t events = 0;

	poll_wait(file, &ctx->poll_wait, wait);

	spin_lock_bh(&ctx->rings_lock);
	list_for_each_entry(ring, &ctx->rings, node) {
		if (collq_ring_unread(ring)) {
			events = EPOLLIN | EPOLLRDNORM;
			break;
		}
	}
	spin_unlock_bh(&ctx->rings_lock);
	if (READ_ONCE(ctx->device->dead))
		events |= EPOLLERR | EPOLLHUP;
	return events;
}

static const struct file_operations collq_fops = {
	.owner = THIS_MODULE,
	.open = collq_open,
	.release = collq_release,
	.unlocked_ioctl = collq_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.mmap = collq_mmap,
	.poll = collq_poll,
};

static void collq_device_free(struct device *dev)
{
	struct collq_device *cd = container_of(dev, struct collq_device, dev);

	ida_free(&collq_ida, MINOR(dev->devt) - MINOR(collq_first_devt));
	cleanup_srcu_struct(&cd->srcu);
	mutex_destroy(&cd->mutex);
	kfree(cd);
	if (atomic_dec_and_test(&collq_nr_devices))
		wake_up_all(&collq_devices_gone);
}

/* The longest message that every port takes, and that a length can tell. */
static int collq_device_max_message(struct ib_device *ibdev, u32 *longest)
{
	struct ib_port_attr attr;
	u32 port;
	int err;

	*longest = INT_MAX;
	rdma_for_each_port(ibdev, port) {
		err = ib_query_port(ibdev, port, &attr);
		if (err)
			return err;
		*longest = min(*longest, attr.max_msg_sz);
	}
	return 0;
}

static int collq_device_init(struct collq_device *cd, struct ib_device *ibdev)
{
	int err, minor;

	err = collq_device_max_message(ibdev, &cd->max_message);
	if (err)
		return err;
	err = init_srcu_struct(&cd->srcu);
	if (err)
		return err;
	minor = ida_alloc_max(&collq_ida, COLLQ_MAX_DEVICES - 1, GFP_KERNEL);
	if (minor < 0) {
		cleanup_srcu_struct(&cd->srcu);
		return minor;
	}
	cd->ibdev = ibdev;
	mutex_init(&cd->mutex);
	INIT_LIST_HEAD(&cd->contexts);
	collq_cq_pool_init(&cd->cqs);
	collq_linger_init(cd);
	collq_local_init(cd);
	init_waitqueue_head(&cd->verbs_gone);

	atomic_inc(&collq_nr_devices);
	device_initialize(&cd->dev);
	cd->dev.class = &collq_class;
	cd->dev.parent = ibdev->dev.parent;
	cd->dev.groups = collq_groups;
	cd->dev.release = collq_device_free;
	cd->dev.devt = collq_first_devt + minor;
	return 0;
}

/* A device for an RDMA device. May sleep. */
int collq_device_add(struct ib_device *ibdev, struct collq_device **out)
{
	struct collq_device *cd;
	int err;

	cd = kzalloc(sizeof(*cd), GFP_KERNEL);
	if (!cd)
		return -ENOMEM;
	err = collq_device_init(cd, ibdev);
	if (err) {
		kfree(cd);
		return err;
	}
	err = dev_set_name(&cd->dev, "collq%d", MINOR(cd->dev.devt) -
			   MINOR(collq_first_devt));
	if (err)
		goto err_put;
	cdev_init(&cd->cdev, &collq_fops);
	cd->cdev.owner = THIS_MODULE;
	err = cdev_device_add(&cd->cdev, &cd->dev);
	if (err)
		goto err_put;
	*out = cd;
	return 0;

err_put:
	collq_device_put(cd);
	return err;
}

/*
 * Does something with each context, none of which can be new. The mutex isn't
 * held meanwhile: a context may be busy for a while, and others want to close
 * theirs.
 */
static void collq_visit_contexts(struct collq_device *cd,
				 void (*visit)(struct collq_context *ctx))
{
	struct collq_context *ctx;
	LIST_HEAD(todo);

	mutex_lock(&cd->mutex);
	list_splice_init(&cd->contexts, &todo);
	while (!list_empty(&todo)) {
		ctx = list_first_entry(&todo, struct collq_context, node);
		list_move_tail(&ctx->node, &cd->contexts);
		collq_context_get(ctx);
		mutex_unlock(&cd->mutex);
		visit(ctx);
		collq_context_put(ctx);
		mutex_lock(&cd->mutex);
	}
	mutex_unlock(&cd->mutex);
}

/*
 * The RDMA device goes. When this returns, nothing of ours is on it any more;
 * files may still be open, and the caller has its reference. May sleep.
 */
void collq_device_remove(struct collq_device *cd)
{
	cdev_device_del(&cd->cdev, &cd->dev);

	mutex_lock(&cd->mutex);
	WRITE_ONCE(cd->dead, true);
	mutex_unlock(&cd->mutex);
	collq_visit_contexts(cd, collq_context_lose_device);
	synchronize_srcu(&cd->srcu);

	/* The port may still work: peers are told, but not waited for long. */
	collq_linger_hurry(cd);
	collq_visit_contexts(cd, collq_context_remove);
	wait_event_timeout(cd->verbs_gone, !atomic_read(&cd->nr_verbs),
			   COLLQ_HURRY);
	collq_linger_stop(cd);
	/* Contexts that are being closed. */
	wait_event(cd->verbs_gone, !atomic_read(&cd->nr_verbs));
	cancel_delayed_work_sync(&cd->linger.work);
	collq_cq_pool_destroy(&cd->cqs);
	WRITE_ONCE(cd->gone, true);
	wake_up_all(&cd->verbs_gone);
}

int collq_cdev_init(void)
{
	int err;

	err = alloc_chrdev_region(&collq_first_devt, 0, COLLQ_MAX_DEVICES,
				  "ib_collq");
	if (err)
		return err;
	err = class_register(&collq_class);
	if (err)
		unregister_chrdev_region(collq_first_devt, COLLQ_MAX_DEVICES);
	return err;
}

void collq_cdev_exit(void)
{
	wait_event(collq_devices_gone, !atomic_read(&collq_nr_devices));
	class_unregister(&collq_class);
	wait_for_completion(&collq_class_released);
	unregister_chrdev_region(collq_first_devt, COLLQ_MAX_DEVICES);
	ida_destroy(&collq_ida);
}
