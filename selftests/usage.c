// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What the kernel has in use: see usage.h.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collq_memory.h"
#include "collq_util.h"
#include "usage.h"

#define DEVICE		"rxe0"
#define NOBODY		65534

/* Something that each round makes and keeps would show twice over. */
#define TOLERATED	2

/* What other parts of the kernel come to have meanwhile, in one cache. */
#define NOISE		1024

/* Completion queues are shared by contexts, and a few are kept for the next. */
#define SPARE_QUEUES	4
#define SPARE_KIB	8192

/* The number behind a label in a file of lines "label: number". */
static long number_in(const char *path, const char *label)
{
	FILE *file = fopen(path, "r");
	char line[256];
	long value = -1;

	if (!file)
		return -1;
	while (value < 0 && fgets(line, sizeof(line), file)) {
		if (!strncmp(line, label, strlen(label)))
			value = atol(line + strlen(label));
	}
	fclose(file);
	return value;
}

static bool read_slabs(struct usage *usage)
{
	FILE *file = fopen("/proc/slabinfo", "r");
	char line[512];

	if (!file)
		return false;
	usage->nr = 0;
	while (usage->nr < USAGE_CACHES && fgets(line, sizeof(line), file)) {
		/* Given back when there are very many of them; see vmalloc. */
		if (!strncmp(line, "vmap_area", 9))
			continue;
		if (sscanf(line, "%47s %ld", usage->cache[usage->nr].name,
			   &usage->cache[usage->nr].objects) == 2)
			usage->nr++;
	}
	fclose(file);
	return usage->nr;
}

/* "... pd 1 cq 1 qp 1 ..." */
static long resource(const char *line, const char *name)
{
	const char *found = strstr(line, name);

	return found ? atol(found + strlen(name)) : -1;
}

static bool read_resources(struct usage *usage)
{
	FILE *pipe = popen("rdma resource show " DEVICE, "r");
	char line[256] = "";

	if (!pipe)
		return false;
	if (!fgets(line, sizeof(line), pipe))
		line[0] = '\0';
	pclose(pipe);
	usage->queue_pairs = resource(line, " qp ");
	usage->completion_queues = resource(line, " cq ");
	usage->protection_domains = resource(line, " pd ");
	usage->memory_regions = resource(line, " mr ");
	return usage->queue_pairs >= 0;
}

/* Each processor keeps what it has counted for a while, unless it's told not to. */
static long read_pins(void)
{
	number_in("/proc/sys/vm/stat_refresh", "");
	return number_in("/proc/vmstat", "nr_foll_pin_acquired") -
	       number_in("/proc/vmstat", "nr_foll_pin_released");
}

bool usage_read(struct usage *usage)
{
	usage->vmalloc = number_in("/proc/meminfo", "VmallocUsed:");
	usage->percpu = number_in("/proc/meminfo", "Percpu:");
	usage->unreclaimable = number_in("/proc/meminfo", "SUnreclaim:");
	usage->available = number_in("/proc/meminfo", "MemAvailable:");
	usage->pinned = number_in("/proc/self/status", "VmPin:");
	usage->pins = read_pins();
	usage->module_users = number_in("/sys/module/ib_collq/refcnt", "");
	return read_slabs(usage) && read_resources(usage);
}

bool usage_is_exact(void)
{
	return access("/sys/kernel/debug/kmemleak", F_OK);
}

bool usage_quiet(void)
{
	static struct usage now;

	return usage_read(&now) && now.queue_pairs == 1 && now.protection_domains == 1 &&
	       !now.module_users && !now.pins;
}

static void say_growth(const struct usage *before, const struct usage *now)
{
	fprintf(stderr, "# vmalloc %ld -> %ld KiB, percpu %ld -> %ld KiB\n", before->vmalloc,
		now->vmalloc, before->percpu, now->percpu);
	fprintf(stderr, "# pinned by the test %ld -> %ld KiB, by all %ld -> %ld pages\n",
		before->pinned, now->pinned, before->pins, now->pins);
	fprintf(stderr, "# qp %ld -> %ld, cq %ld -> %ld, pd %ld -> %ld, mr %ld -> %ld\n",
		before->queue_pairs, now->queue_pairs, before->completion_queues,
		now->completion_queues, before->protection_domains, now->protection_domains,
		before->memory_regions, now->memory_regions);
	fprintf(stderr, "# users of the module %ld -> %ld\n", before->module_users,
		now->module_users);
}

static unsigned int slab_growth(const struct usage *before, const struct usage *now, int rounds,
				bool say)
{
	long had, tolerated = rounds / TOLERATED > NOISE ? rounds / TOLERATED : NOISE;
	unsigned int i, k, leaks = 0;

	for (i = 0; i < now->nr; i++) {
		for (k = 0; k < before->nr; k++) {
			if (!strcmp(now->cache[i].name, before->cache[k].name))
				break;
		}
		had = k < before->nr ? before->cache[k].objects : 0;
		if (now->cache[i].objects - had <= tolerated)
			continue;
		leaks++;
		if (say)
			fprintf(stderr, "# cache %s: %ld -> %ld objects\n", now->cache[i].name,
				had, now->cache[i].objects);
	}
	return leaks;
}

unsigned int usage_growth(const struct usage *before, int rounds, bool say)
{
	static struct usage now;
	unsigned int leaks = 0;

	if (!usage_read(&now))
		return 1;
	if (usage_is_exact())
		leaks += slab_growth(before, &now, rounds, say);
	/* A page each round. */
	leaks += now.vmalloc - before->vmalloc > rounds * 4 / TOLERATED + SPARE_KIB;
	leaks += now.percpu - before->percpu > rounds / TOLERATED;
	leaks += now.pinned != before->pinned;
	leaks += now.pins != before->pins;
	leaks += now.queue_pairs != before->queue_pairs;
	leaks += now.completion_queues > before->completion_queues + SPARE_QUEUES;
	leaks += now.protection_domains != before->protection_domains;
	leaks += now.memory_regions != before->memory_regions;
	leaks += now.module_users != before->module_users;
	if (say && leaks)
		say_growth(before, &now);
	return leaks;
}

/* The user stays who he is, but may no longer lock any amount. */
static bool may_lock_a_page(void)
{
	const struct rlimit page = { RAW_PAGE, RAW_PAGE };
	void *memory = raw_map(RAW_PAGE);

	return memory && !setrlimit(RLIMIT_MEMLOCK, &page) && !seteuid(NOBODY) &&
	       raw_region_create(raw_open(), memory, RAW_PAGE, 0) > 0;
}

bool usage_uncharged(void)
{
	pid_t pid = fork();
	int status;

	if (!pid)
		_exit(!may_lock_a_page());
	return waitpid(pid, &status, 0) == pid && !status;
}
