// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A counter that an eventfd raises: whatever can write to one (a thread, a GPU
 * driver's callback, io_uring) can trigger a graph without knowing of it.
 *
 * The listener sits in the eventfd's wait queue. It's called back with that
 * queue's lock held and interrupts off, possibly in hardirq, and beside all others that
 * listen to the same eventfd; so all it does is to call a worker, which takes the count and
 * raises the counter. The listener holds the file, so the eventfd can't go first.
 */
#include <linux/eventfd.h>
#include <linux/file.h>
#include <linux/poll.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "counter.h"
#include "device.h"
#include "engine.h"

/*
 * An eventfd in semaphore mode gives out one at a time. The worker takes so many, and
 * comes back a jiffy later if there's still more, so that a large count costs a little
 * for a while.
 */
#define COLLQ_EVENTFD_READS	256

/**
 * struct collq_eventfd - a listener on an eventfd
 * @counter: the counter; it outlives the listener
 * @file: the eventfd's file; referenced
 * @eventfd: the same, as its own interface wants it; referenced
 * @head: the eventfd's wait queue
 * @wait: our entry there
 * @poll: how it gets there
 * @work: takes the count, and raises the counter
 */
struct collq_eventfd {
	struct collq_counter *counter;
	struct file *file;
	struct eventfd_ctx *eventfd;
	wait_queue_head_t *head;
	wait_queue_entry_t wait;
	poll_table poll;
	struct delayed_work work;
};

/*
 * Takes what is in the eventfd, or some of it, and lets those write who have waited for
 * room. Called with the wait queue's lock held. True if there may be more.
 */
static bool collq_eventfd_take(struct collq_eventfd *listener, u64 *sum)
{
	int reads = COLLQ_EVENTFD_READS;
	u64 count;

	*sum = 0;
	do {
		eventfd_ctx_do_read(listener->eventfd, &count);
		*sum += count;
	} while (count && --reads);
	/*
	 * Who waits is in the queue under this lock. And who is woken mustn't signal an
	 * eventfd from there, which may be this one: as when it is read.
	 */
	if (*sum && waitqueue_active(listener->head)) {
		current->in_eventfd = 1;
		wake_up_locked_poll(listener->head, EPOLLOUT);
		current->in_eventfd = 0;
	}
	return count;
}

static int collq_eventfd_wakeup(wait_queue_entry_t *wait, unsigned int mode,
				int sync, void *key)
{
	struct collq_eventfd *listener =
		container_of(wait, struct collq_eventfd, wait);

	if (key_to_poll(key) & EPOLLIN)
		mod_delayed_work(collq_run_wq, &listener->work, 0);
	return 0;
}

static void collq_eventfd_work(struct work_struct *work)
{
	struct collq_eventfd *listener =
		container_of(to_delayed_work(work), struct collq_eventfd, work);
	bool more;
	u64 count;

	spin_lock_irq(&listener->head->lock);
	more = collq_eventfd_take(listener, &count);
	spin_unlock_irq(&listener->head->lock);

	if (count) {
		collq_engine_enter_bh();
		/* Fails if the counter's own count would wrap: it's lost then. */
		collq_counter_raise(listener->counter, count);
		collq_engine_exit_bh();
	}
	if (more)
		queue_delayed_work(collq_run_wq, &listener->work, 1);
}

static void collq_eventfd_queue(struct file *file, wait_queue_head_t *head,
				poll_table *poll)
{
	struct collq_eventfd *listener =
		container_of(poll, struct collq_eventfd, poll);

	listener->head = head;
	add_wait_queue(head, &listener->wait);
}

/* May sleep. */
struct collq_eventfd *collq_eventfd_listen(int fd, struct collq_counter *counter)
{
	struct collq_eventfd *listener;
	int err;

	listener = kzalloc(sizeof(*listener), GFP_KERNEL_ACCOUNT);
	if (!listener)
		return ERR_PTR(-ENOMEM);

	listener->counter = counter;
	INIT_DELAYED_WORK(&listener->work, collq_eventfd_work);
	init_waitqueue_func_entry(&listener->wait, collq_eventfd_wakeup);
	init_poll_funcptr(&listener->poll, collq_eventfd_queue);

	listener->file = eventfd_fget(fd);
	if (IS_ERR(listener->file)) {
		err = PTR_ERR(listener->file);
		goto err_free;
	}
	listener->eventfd = eventfd_ctx_fileget(listener->file);
	if (IS_ERR(listener->eventfd)) {
		err = PTR_ERR(listener->eventfd);
		goto err_fput;
	}

	if (vfs_poll(listener->file, &listener->poll) & EPOLLIN)
		mod_delayed_work(collq_run_wq, &listener->work, 0);
	return listener;

err_fput:
	fput(listener->file);
err_free:
	kfree(listener);
	return ERR_PTR(err);
}

/* What was written before is counted or stays there, as what is written after does. */
void collq_eventfd_stop(struct collq_eventfd *listener)
{
	remove_wait_queue(listener->head, &listener->wait);
	cancel_delayed_work_sync(&listener->work);
	eventfd_ctx_put(listener->eventfd);
	fput(listener->file);
	kfree(listener);
}
