// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What the RDMA device counts by itself, from sysfs.
 *
 * Of the drivers in the kernel only rxe has rdma_recvs. The kernel reads a
 * device's counters at most once in 10 ms and repeats itself in between; hence
 * two readings that are further apart than that must agree before one is
 * believed. The counters are the device's, not a process's: other traffic is
 * counted too.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "counters.h"

#define QUIET_NS		20000000
#define MAX_TRIES		100

const char * const rnr_counter_names[NR_RNR_COUNTERS] = {
	"rcvd_rnr_err", "send_rnr_err", "retry_rnr_exceeded_err",
};

static bool read_number(const char *path, uint64_t *value)
{
	FILE *file = fopen(path, "re");
	bool ok;

	if (!file)
		return false;
	ok = fscanf(file, "%" SCNu64, value) == 1;
	fclose(file);
	return ok;
}

static bool read_counter(const char *device, uint32_t port, const char *name, uint64_t *value)
{
	char path[256];

	snprintf(path, sizeof(path), "/sys/class/infiniband/%s/ports/%" PRIu32 "/hw_counters/%s",
		 device, port, name);
	if (read_number(path, value))
		return true;
	/* Some drivers count for the device as a whole */
	snprintf(path, sizeof(path), "/sys/class/infiniband/%s/hw_counters/%s", device, name);
	return read_number(path, value);
}

static void read_all(const char *device, uint32_t port, struct counters *counters)
{
	unsigned int i;

	memset(counters, 0, sizeof(*counters));
	counters->have_received = read_counter(device, port, "rdma_recvs", &counters->received);
	counters->have_rnr = true;
	for (i = 0; i < NR_RNR_COUNTERS; i++)
		counters->have_rnr &= read_counter(device, port, rnr_counter_names[i],
						   &counters->rnr[i]);
}

void counters_read_quiet(const char *device, uint32_t port, struct counters *counters)
{
	const struct timespec pause = { .tv_nsec = QUIET_NS };
	uint64_t before;
	int tries;

	nanosleep(&pause, NULL);
	read_all(device, port, counters);
	for (tries = 0; tries < MAX_TRIES && counters->have_received; tries++) {
		before = counters->received;
		nanosleep(&pause, NULL);
		read_all(device, port, counters);
		if (counters->received == before)
			return;
	}
	counters->have_received = false;
}

void counters_add(struct counters *sum, const struct counters *other)
{
	unsigned int i;

	sum->have_received &= other->have_received;
	sum->received += other->received;
	sum->have_rnr &= other->have_rnr;
	for (i = 0; i < NR_RNR_COUNTERS; i++)
		sum->rnr[i] += other->rnr[i];
}
