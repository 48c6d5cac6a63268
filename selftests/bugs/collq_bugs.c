// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * One deliberate bug of each kind that the debug kernels find, to show that the
 * check of the kernel log can fail.  Loading the module with bug=NAME commits
 * that bug, once, in the context of insmod; "none" commits none.  gate_test loads
 * it in a VM, and nothing else ever should.
 *
 * Each bug does as little harm as it can, so that the next one in the same boot
 * finds a kernel that works.  OPTIMIZER_HIDE_VAR() keeps the compiler from seeing
 * through them.
 */
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/refcount.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/timer.h>

static char *bug = "none";
module_param(bug, charp, 0444);
MODULE_PARM_DESC(bug, "the name of the bug to commit");

static void none(void)
{
}

static void warning(void)
{
	WARN_ON(1);
}

static void use_after_free(void)
{
	char *p = kmalloc(64, GFP_KERNEL);

	if (!p)
		return;
	kfree(p);
	READ_ONCE(*p);
}

static void heap_overflow(void)
{
	char *p = kmalloc(60, GFP_KERNEL);

	if (!p)
		return;
	OPTIMIZER_HIDE_VAR(p);
	/* In the padding of the object. */
	WRITE_ONCE(p[60], 1);
	kfree(p);
}

/* Both orders, one after the other: nobody waits, but somebody might have. */
static void lock_inversion(void)
{
	static DEFINE_MUTEX(first);
	static DEFINE_MUTEX(second);

	mutex_lock(&first);
	mutex_lock(&second);
	mutex_unlock(&second);
	mutex_unlock(&first);
	mutex_lock(&second);
	mutex_lock(&first);
	mutex_unlock(&first);
	mutex_unlock(&second);
}

static void sleep_in_atomic(void)
{
	static DEFINE_SPINLOCK(lock);

	spin_lock(&lock);
	might_sleep();
	spin_unlock(&lock);
}

/* Several, as one may have left its address on a stack. */
static void leak(void)
{
	int i;

	for (i = 0; i < 16; i++) {
		void *p = kmalloc(192, GFP_KERNEL);

		OPTIMIZER_HIDE_VAR(p);
	}
}

static void shift_overflow(void)
{
	unsigned int bits = 40, result;

	OPTIMIZER_HIDE_VAR(bits);
	result = 1U << bits;
	OPTIMIZER_HIDE_VAR(result);
}

static void array_overflow(void)
{
	static struct {
		int few[4];
		int more[4];
	} row;
	unsigned int at = 5;

	OPTIMIZER_HIDE_VAR(at);
	WRITE_ONCE(row.few[at], 1);
}

static void refcount_underflow(void)
{
	static refcount_t count = REFCOUNT_INIT(1);

	if (refcount_dec_and_test(&count))
		refcount_dec(&count);
}

static void list_corruption(void)
{
	static LIST_HEAD(list);
	static struct list_head entry;

	list_add(&entry, &list);
	list_add(&entry, &list);
}

static void timer_expired(struct timer_list *timer)
{
}

static void freed_in_use(void)
{
	struct timer_list *timer = kmalloc(sizeof(*timer), GFP_KERNEL);

	if (!timer)
		return;
	timer_setup(timer, timer_expired, 0);
	mod_timer(timer, jiffies + 3600 * HZ);
	kfree(timer);
}

static unsigned long shared;

static int count_up(void *unused)
{
	while (!kthread_should_stop()) {
		int i;

		for (i = 0; i < 1000; i++) {
			shared++;
			barrier();
		}
		cond_resched();
	}
	return 0;
}

static void race(void)
{
	struct task_struct *task[2];
	int i;

	for (i = 0; i < 2; i++)
		task[i] = kthread_run(count_up, NULL, "collq-bugs/%d", i);
	msleep(3000);
	for (i = 0; i < 2; i++) {
		if (!IS_ERR(task[i]))
			kthread_stop(task[i]);
	}
}

static const struct {
	const char *name;
	void (*commit)(void);
} bugs[] = {
	{ "none", none },
	{ "warning", warning },
	{ "use_after_free", use_after_free },
	{ "heap_overflow", heap_overflow },
	{ "lock_inversion", lock_inversion },
	{ "sleep_in_atomic", sleep_in_atomic },
	{ "leak", leak },
	{ "shift_overflow", shift_overflow },
	{ "array_overflow", array_overflow },
	{ "refcount_underflow", refcount_underflow },
	{ "list_corruption", list_corruption },
	{ "freed_in_use", freed_in_use },
	{ "race", race },
};

static int __init collq_bugs_init(void)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(bugs); i++) {
		if (!strcmp(bug, bugs[i].name)) {
			bugs[i].commit();
			return 0;
		}
	}
	return -EINVAL;
}

static void __exit collq_bugs_exit(void)
{
}

module_init(collq_bugs_init);
module_exit(collq_bugs_exit);

MODULE_DESCRIPTION("Deliberate bugs, to test the tests");
MODULE_LICENSE("Dual BSD/GPL");
