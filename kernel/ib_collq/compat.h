/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What older kernels lack, so that the code reads as for the newest one. Each
 * shim names the version that makes it unnecessary. Included by name, by those
 * files only that need it.
 */
#ifndef COLLQ_COMPAT_H
#define COLLQ_COMPAT_H

#include <linux/eventfd.h>
#include <linux/mm.h>

struct device;
struct sk_buff;

/*
 * Private to ib_core (drivers/infiniband/core/core_priv.h), yet what a client
 * fills in for RDMA netlink. The layout has been this since 5.3.
 */
struct ib_client_nl_info {
	struct sk_buff *nl_msg;
	struct device *cdev;
	u32 port;
	u64 abi;
};

/* 6.8: without a count */
static inline void collq_eventfd_signal(struct eventfd_ctx *ctx)
{
#ifdef COLLQ_HAVE_EVENTFD_SIGNAL_ONE
	eventfd_signal(ctx);
#else
	eventfd_signal(ctx, 1);
#endif
}

/* 6.3 */
#ifndef COLLQ_HAVE_VM_FLAGS_SET
static inline void vm_flags_set(struct vm_area_struct *vma, vm_flags_t flags)
{
	vma->vm_flags |= flags;
}
#endif

/* 6.2: the device is const */
#ifdef COLLQ_HAVE_CONST_DEVNODE
#define collq_devnode_device	const struct device
#else
#define collq_devnode_device	struct device
#endif

/*
 * 6.2: a page that is pinned for reading stays the process' own when that writes
 * to it later. Before, a private mapping must be given its copy beforehand.
 */
#ifdef COLLQ_HAVE_UNRELIABLE_READ_PIN
#define collq_pin_reads_reliably	false
#else
#define collq_pin_reads_reliably	true
#endif

/* 6.4: the class is const */
#ifdef COLLQ_HAVE_CONST_CLASS
#define collq_class_const	const struct class
#else
#define collq_class_const	struct class
#endif

#endif /* COLLQ_COMPAT_H */
