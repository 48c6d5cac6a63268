// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * pthread-barrier RANKS ITERATIONS - what processes of one host have without us: a
 * process-shared barrier of the C library, in microseconds.
 *
 * Timed as collq-barrier does it: the clock is read once between two barriers, and
 * the median is that of the barriers' means over all ranks.
 */
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MAX_RANKS	1024
#define MAX_ITERATIONS	1000000

struct shared {
	pthread_barrier_t barrier;
	uint64_t ns[];			/* of all ranks together, by barrier */
};

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * UINT64_C(1000000000) + now.tv_nsec;
}

/* The first barrier, which isn't timed, lines up the ranks. */
static _Noreturn void pass(struct shared *shared, uint64_t *ns, unsigned long nr)
{
	uint64_t last, now;
	unsigned long i;

	memset(ns, 0xff, nr * sizeof(*ns));
	pthread_barrier_wait(&shared->barrier);
	last = now_ns();
	for (i = 0; i < nr; i++) {
		pthread_barrier_wait(&shared->barrier);
		now = now_ns();
		ns[i] = now - last;
		last = now;
	}
	for (i = 0; i < nr; i++)
		__atomic_fetch_add(&shared->ns[i], ns[i], __ATOMIC_RELAXED);
	_exit(0);
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void init_barrier(pthread_barrier_t *barrier, unsigned long ranks)
{
	pthread_barrierattr_t attr;

	pthread_barrierattr_init(&attr);
	pthread_barrierattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_barrier_init(barrier, &attr, ranks);
	pthread_barrierattr_destroy(&attr);
}

static unsigned long parse(const char *text, unsigned long max)
{
	unsigned long value;
	char *end;

	value = strtoul(text, &end, 10);
	if (*end || !value || value > max) {
		fprintf(stderr, "pthread-barrier: '%s' is not a number from 1 to %lu\n", text, max);
		exit(2);
	}
	return value;
}

static _Noreturn void die(const char *what)
{
	fprintf(stderr, "pthread-barrier: %s: %s\n", what, strerror(errno));
	exit(1);
}

int main(int argc, char **argv)
{
	unsigned long ranks, nr, i;
	struct shared *shared;
	double median;
	uint64_t *ns;
	int status;
	pid_t pid;

	if (argc != 3) {
		fputs("Usage: pthread-barrier RANKS ITERATIONS\n", stderr);
		return 2;
	}
	ranks = parse(argv[1], MAX_RANKS);
	nr = parse(argv[2], MAX_ITERATIONS);
	shared = mmap(NULL, sizeof(*shared) + nr * sizeof(*shared->ns), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ns = calloc(nr, sizeof(*ns));
	if (shared == MAP_FAILED || !ns)
		die("memory");
	init_barrier(&shared->barrier, ranks);
	for (i = 0; i < ranks; i++) {
		pid = fork();
		if (pid < 0)
			die("fork");
		if (!pid)
			pass(shared, ns, nr);
	}
	while (wait(&status) > 0) {
		if (!WIFEXITED(status) || WEXITSTATUS(status))
			return 1;
	}
	qsort(shared->ns, nr, sizeof(*shared->ns), compare);
	median = (double)(shared->ns[(nr - 1) / 2] + shared->ns[nr / 2]) / 2;
	printf("%.1f\n", median / ranks / 1000);
	return 0;
}
