/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef COLLQ_DEVICE_H
#define COLLQ_DEVICE_H

#include <linux/cdev.h>
#include <linux/device.h>
#include <linux/mutex.h>
#include <linux/srcu.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "cq_pool.h"
#include "local.h"

struct ib_device;
struct uverbs_extension;

/* Users are told apart by so many bits of a hash. */
#define COLLQ_LINGER_USER_BITS	8

/**
 * struct collq_linger_list - endpoints that see their last messages delivered
 * @lock: protects @endpoints and @nr; nests inside nothing but endpoint locks
 * @endpoints: oldest first
 * @nr: how many
 * @nr_of_user: how many of them by a hash of who opened their context
 * @hurry: the device goes: only wait for the last message, and not for long
 * @stop: the device goes: end them all, take no more
 * @work: ends those whose time is over
 */
struct collq_linger_list {
	spinlock_t lock;		/* all of it, and linger_until */
	struct list_head endpoints;
	unsigned int nr;
	unsigned int nr_of_user[1 << COLLQ_LINGER_USER_BITS];
	bool hurry;
	bool stop;
	struct delayed_work work;
};

/**
 * struct collq_device - one RDMA device, as long as anything knows of it
 * @dev: the character device; its reference count is the lifetime of this. Each
 *	open file holds a reference, and so does the client until it's removed
 * @cdev: file operations
 * @ibdev: the RDMA device; used only under @srcu while @dead is not set, or by
 *	what &struct collq_verbs waits for
 * @srcu: every ioctl is a reader; removal waits for them
 * @dead: the RDMA device goes or is gone; set once, under @mutex
 * @uverbs: by which it can be reached by uverbs, too, or NULL
 * @gone: nothing of ours is on it any more; set once, after @dead
 * @mutex: protects @contexts, and opening against removal. Taken before a
 *	context's mutex
 * @contexts: open contexts
 * @max_message: bytes of the longest message that every port takes
 * @last_context: id of the latest one, under @mutex
 * @cqs: completion queues
 * @linger: endpoints that were destroyed but linger
 * @local: endpoints whose peer may be on this device too
 * @nr_verbs: protection domains that are still there
 * @verbs_gone: woken when @nr_verbs drops to zero, and when @gone is set
 */
struct collq_device {
	struct device dev;
	struct cdev cdev;
	struct ib_device *ibdev;
	struct srcu_struct srcu;
	struct uverbs_extension *uverbs;
	bool dead;
	bool gone;
	struct mutex mutex;		/* contexts, dead */
	struct list_head contexts;
	u32 max_message;
	u32 last_context;
	struct collq_cq_pool cqs;
	struct collq_linger_list linger;
	struct collq_local_table local;
	atomic_t nr_verbs;
	wait_queue_head_t verbs_gone;
};

/* Drawn when the module is loaded: tells "the same module" from "another". */
extern u8 collq_instance[16];

/* For what may sleep. */
extern struct workqueue_struct *collq_wq;
/*
 * For what is too much for softirq, or due: it never sleeps nor waits, so that no user's
 * failures hold up what runs for another, and collq_wq may wait for it.
 */
extern struct workqueue_struct *collq_run_wq;
/* For what a process can hold up as long as it likes: nobody else may wait for it. */
extern struct workqueue_struct *collq_memory_wq;

struct collq_device *collq_device_of(struct ib_device *ibdev);
int collq_device_add(struct ib_device *ibdev, struct collq_device **out);
void collq_device_remove(struct collq_device *cd);
int collq_cdev_init(void);
void collq_cdev_exit(void);

static inline struct collq_device *collq_device_get(struct collq_device *cd)
{
	get_device(&cd->dev);
	return cd;
}

static inline void collq_device_put(struct collq_device *cd)
{
	put_device(&cd->dev);
}

#endif /* COLLQ_DEVICE_H */
