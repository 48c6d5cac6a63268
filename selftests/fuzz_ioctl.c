// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * An ioctl fuzzer that knows the structures: it makes sequences of calls that make
 * sense, so that they get far, and then spoils some of them (fuzz_call.c). Threads
 * share three contexts; one more takes their memory away, sends them signals, and a
 * stranger speaks to their endpoints over the wire.
 *
 * It fails if a call returns an error that nobody has heard of, if nothing moves any
 * more, if fresh contexts can't pass a barrier afterwards, or if something is left
 * on the device ten seconds after everything was closed. What the kernel's log says
 * is for tools/vm to judge.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fuzz.h"
#include "usage.h"

/*
 * Areas, and memory for regions, lie in the middle of nothing: a pointer with a bit
 * too many leads nowhere.
 */
#define NOWHERE		0x200000000000UL
#define NOWHERE_SIZE	(1UL << 36)
#define NOWHERE_STEP	(1UL << 30)

/* Nobody sleeps for long; an emulated machine may stand still for a while. */
#define STUCK_MS	120000
#define REST_MS		10000

static struct fuzz fuzz = { .nr_threads = 4, .ops = 20000 };
static uint64_t seed;
static const char *sabotage = "";

static void fuzz_usage(FILE *to)
{
	fputs("Usage: fuzz_ioctl [options]\n\n"
	      "Fuzzes the ioctls of ib_collq. Prints its seed, with which a run can be repeated.\n\n"
	      "  --seed S       where all chance comes from (random)\n"
	      "  --ops N        ioctls to make (20000)\n"
	      "  --threads T    threads that make them, 1..14 (4)\n"
	      "  --sabotage W   to see that it can fail: leak, stuck, odd\n\n"
	      "Exit status: 0, or 1 if something was wrong, 2 usage error, 4 no device.\n", to);
}

static bool fuzz_options(int argc, char **argv)
{
	static const struct option options[] = {
		{ "seed", required_argument, NULL, 's' },
		{ "ops", required_argument, NULL, 'o' },
		{ "threads", required_argument, NULL, 't' },
		{ "sabotage", required_argument, NULL, 'x' },
		{ "help", no_argument, NULL, 'h' },
		{},
	};
	bool given = false;
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) >= 0) {
		switch (option) {
		case 's':
			seed = strtoull(optarg, NULL, 0);
			given = true;
			break;
		case 'o':
			fuzz.ops = strtoull(optarg, NULL, 0);
			break;
		case 't':
			fuzz.nr_threads = strtoul(optarg, NULL, 0);
			break;
		case 'x':
			sabotage = optarg;
			break;
		case 'h':
			fuzz_usage(stdout);
			exit(0);
		default:
			return false;
		}
	}
	if (!given)
		seed = raw_now() % 1000000000;
	return fuzz.nr_threads && fuzz.nr_threads <= FUZZ_THREADS - 2 && optind == argc;
}

static bool stopped(void)
{
	return __atomic_load_n(&fuzz.stop, __ATOMIC_RELAXED);
}

static void *caller(void *data)
{
	struct fuzz_thread *t = data;
	unsigned int which;

	t->tid = syscall(SYS_gettid);
	while (!strcmp(sabotage, "stuck"))
		pause();
	while (!stopped()) {
		t->placed = 0;
		which = fuzz_below(t, 100);
		if (which < 3)
			fuzz_op_pair(t);
		else if (which < 45)
			fuzz_op_objects(t);
		else if (which < 90)
			fuzz_op_run(t);
		else
			fuzz_op_files(t);
	}
	fuzz_unmap_all(t);
	return NULL;
}

/* Takes memory away, and wakes up whoever sleeps. */
static void *vandal(void *data)
{
	struct fuzz_thread *t = data;
	struct fuzz_thread *victim;

	while (!stopped()) {
		victim = &fuzz.thread[fuzz_below(t, fuzz.nr_threads)];
		if (!fuzz_one_in(t, 3))
			fuzz_vandalise(t, victim);
		/* SIGUSR2 restarts calls, SIGUSR1 doesn't. */
		pthread_kill(victim->thread, fuzz_one_in(t, 3) ? SIGUSR2 : SIGUSR1);
		usleep(fuzz_below(t, 3000));
	}
	return NULL;
}

static void *stranger(void *data)
{
	while (!stopped())
		fuzz_stranger_round(data);
	return NULL;
}

static void on_signal(int number)
{
	(void)number;
}

static bool fuzz_start(unsigned int nr, void *(*run)(void *data))
{
	struct fuzz_thread *t = &fuzz.thread[nr];
	char *area = (char *)NOWHERE + nr * NOWHERE_STEP;

	t->fuzz = &fuzz;
	t->chance = seed + nr;
	t->area = mmap(area, FUZZ_AREA, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fuzz.memory,
		       nr * FUZZ_AREA);
	t->alias = mmap(NULL, FUZZ_AREA, PROT_READ | PROT_WRITE, MAP_SHARED, fuzz.memory,
			nr * FUZZ_AREA);
	return t->area == area && t->alias != MAP_FAILED &&
	       !pthread_create(&t->thread, NULL, run, t);
}

static bool fuzz_prepare(void)
{
	struct sigaction action = { .sa_handler = on_signal };
	/* Descriptors have places above; see fuzz_duplicate(). */
	struct rlimit files = { 1024, 1024 };
	unsigned int i;
	int err = 0;

	snprintf(fuzz.node, sizeof(fuzz.node), "%s", raw_node());
	sigaction(SIGUSR1, &action, NULL);
	action.sa_flags = SA_RESTART;
	sigaction(SIGUSR2, &action, NULL);
	setrlimit(RLIMIT_NOFILE, &files);
	fuzz.eventfd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	fuzz.memory = memfd_create("fuzz", MFD_CLOEXEC);
	if (fuzz.eventfd < 0 || fuzz.memory < 0 ||
	    ftruncate(fuzz.memory, FUZZ_THREADS * FUZZ_AREA) ||
	    mmap((void *)NOWHERE, NOWHERE_SIZE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS |
		 MAP_FIXED_NOREPLACE | MAP_NORESERVE, -1, 0) != (void *)NOWHERE) {
		perror("fuzz_ioctl");
		return false;
	}
	fuzz.data = (char *)NOWHERE + FUZZ_THREADS * NOWHERE_STEP;
	if (mmap(fuzz.data, FUZZ_AREA, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != fuzz.data)
		return false;
	for (i = 0; i < FUZZ_CONTEXTS; i++) {
		fuzz.context[i].fd = -1;
		err = err ? err : fuzz_context_open(&fuzz, &fuzz.context[i]);
	}
	if (err)
		fprintf(stderr, "fuzz_ioctl: cannot open '%s': %s\n", fuzz.node, strerror(-err));
	return !err;
}

/* Where a thread is, for whoever has to find out why it's stuck. */
static void say_where(pid_t tid)
{
	static const char *const files[] = { "stat", "syscall", "stack" };
	char path[64], text[4096];
	unsigned int i;
	ssize_t length;
	int fd;

	for (i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), "/proc/self/task/%d/%s", tid, files[i]);
		fd = open(path, O_RDONLY);
		length = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);
		text[length > 0 ? length : 0] = '\0';
		fprintf(stderr, "# %s:\n%s\n", path, text);
		close(fd);
	}
}

/* Until all calls are made; false if they aren't made any more. */
static bool fuzz_watch(void)
{
	uint64_t seen = 0, now, limit = strcmp(sabotage, "stuck") ? STUCK_MS : 1000;
	__u64 until = raw_in_ms(limit);
	unsigned int i;

	while (!stopped()) {
		usleep(20000);
		now = __atomic_load_n(&fuzz.calls, __ATOMIC_RELAXED);
		if (now / 100000 != seen / 100000)
			fprintf(stderr, "# %" PRIu64 " of %" PRIu64 "\n", now, fuzz.ops);
		if (now != seen)
			until = raw_in_ms(limit);
		seen = now;
		if (raw_now() < until)
			continue;
		fprintf(stderr, "fuzz_ioctl: nothing moves any more\n");
		for (i = 0; i < fuzz.nr_threads; i++)
			say_where(fuzz.thread[i].tid);
		return false;
	}
	return true;
}

/* All threads end soon; who sleeps without a deadline is woken. */
static bool fuzz_join(unsigned int nr)
{
	__u64 until = raw_in_ms(STUCK_MS);
	unsigned int i;

	for (i = 0; i < nr; i++) {
		while (pthread_tryjoin_np(fuzz.thread[i].thread, NULL)) {
			pthread_kill(fuzz.thread[i].thread, SIGUSR1);
			usleep(10000);
			if (raw_now() < until)
				continue;
			fprintf(stderr, "fuzz_ioctl: a thread doesn't end\n");
			say_where(fuzz.thread[i].tid);
			return false;
		}
	}
	return true;
}

static bool fuzz_works_still(void)
{
	struct raw_side a, b;
	int i, err;

	raw_ack_timeout = 14;
	err = raw_pair_open(&a, &b);
	for (i = 0; i < 10 && !err; i++)
		err = raw_pair_barrier(&a, &b);
	raw_pair_close(&a, &b);
	if (err)
		fprintf(stderr, "fuzz_ioctl: a fresh pair doesn't work: %s\n", strerror(-err));
	return !err;
}

static bool fuzz_leaves_nothing(void)
{
	__u64 until = raw_in_ms(REST_MS);
	struct usage now;
	unsigned int i;

	if (!strcmp(sabotage, "leak"))
		dup(fuzz.context[0].fd);
	for (i = 0; i < FUZZ_CONTEXTS; i++)
		close(fuzz.context[i].fd);
	if (geteuid())
		return true;
	while (!usage_quiet()) {
		if (raw_now() > until) {
			usage_read(&now);
			fprintf(stderr, "fuzz_ioctl: %d s later: %ld queue pairs, %ld users\n",
				REST_MS / 1000, now.queue_pairs, now.module_users);
			return false;
		}
		usleep(50000);
	}
	return true;
}

static bool fuzz_judge(void)
{
	if (!strcmp(sabotage, "odd"))
		fuzz.odd = -EPROTO;
	if (fuzz.odd)
		fprintf(stderr, "fuzz_ioctl: command %#lx gave an odd error: %s\n",
			fuzz.odd_command, strerror(-fuzz.odd));
	return fuzz_works_still() && fuzz_leaves_nothing() && !fuzz.odd;
}

int main(int argc, char **argv)
{
	unsigned int i, nr;
	bool fine;

	if (!fuzz_options(argc, argv)) {
		fuzz_usage(stderr);
		return 2;
	}
	printf("# fuzz_ioctl --seed %" PRIu64 " --ops %" PRIu64 " --threads %u\n", seed, fuzz.ops,
	       fuzz.nr_threads);
	fflush(stdout);
	if (!fuzz_prepare())
		return 4;
	nr = fuzz.nr_threads;
	for (i = 0; i < nr; i++) {
		if (!fuzz_start(i, caller))
			return 4;
	}
	if (!fuzz_start(nr, vandal) || !fuzz_start(nr + 1, stranger))
		return 4;
	fine = fuzz_watch();
	__atomic_store_n(&fuzz.stop, true, __ATOMIC_RELAXED);
	fine = fine && fuzz_join(nr + 2) && fuzz_judge();
	printf("# %" PRIu64 " ioctls, %" PRIu64 " of them succeeded\n", fuzz.calls, fuzz.good);
	if (!fine)
		printf("# to repeat: fuzz_ioctl --seed %" PRIu64 " --ops %" PRIu64
		       " --threads %u\n", seed, fuzz.ops, fuzz.nr_threads);
	return !fine;
}
