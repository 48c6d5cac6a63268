// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Regions, and graphs with data. See collq_memory.h.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "collq_memory.h"

int raw_region_create(int fd, const void *memory, size_t length, __u32 access)
{
	struct ib_collq_region_create create = {
		.size = sizeof(create),
		.type = IB_COLLQ_REGION_USER,
		.access = access,
		.address = (unsigned long)memory,
		.length = length,
	};
	int err = raw_ioctl(fd, IB_COLLQ_REGION_CREATE, &create);

	return err ? err : (int)create.id;
}

int raw_list_create(int fd, const struct ib_collq_sge *parts, __u32 nr, __u32 access)
{
	struct ib_collq_region_create create = {
		.size = sizeof(create),
		.type = IB_COLLQ_REGION_LIST,
		.access = access,
		.address = (unsigned long)parts,
		.nr_parts = nr,
		.part_size = sizeof(*parts),
		.length = raw_length(parts, nr),
	};
	int err = raw_ioctl(fd, IB_COLLQ_REGION_CREATE, &create);

	return err ? err : (int)create.id;
}

/* All zeros if there is none. */
struct ib_collq_region_info raw_region_info(int fd, __u32 region)
{
	struct ib_collq_region_info info = {};

	if (raw_describe(fd, region, &info, sizeof(info)))
		memset(&info, 0, sizeof(info));
	return info;
}

/* Where @refused isn't NULL, it's what the kernel has written back. */
int raw_data_graph_create(int fd, const struct raw_graph *graph,
			  struct ib_collq_graph_create *refused)
{
	struct ib_collq_graph_create create = {
		.size = sizeof(create),
		.nr_tasks = graph->nr_tasks,
		.task_size = sizeof(*graph->tasks),
		.tasks = (unsigned long)graph->tasks,
		.nr_sges = graph->nr_sges,
		.sge_size = sizeof(*graph->sges),
		.sges = (unsigned long)graph->sges,
		.nr_buffers = graph->nr_buffers,
	};
	int err = raw_ioctl(fd, IB_COLLQ_GRAPH_CREATE, &create);

	if (refused)
		*refused = create;
	return err ? err : (int)create.id;
}

int raw_submit_bound(int fd, __u32 queue, __u32 graph,
		     const struct ib_collq_buffer_bind *bindings, __u32 nr,
		     __u64 *sequence)
{
	return raw_submit_bound_by(fd, queue, graph, bindings, nr, 0, sequence);
}

int raw_submit_bound_by(int fd, __u32 queue, __u32 graph,
			const struct ib_collq_buffer_bind *bindings, __u32 nr,
			__u64 deadline, __u64 *sequence)
{
	struct ib_collq_queue_submit submit = {
		.size = sizeof(submit),
		.queue = queue,
		.graph = graph,
		.deadline = deadline,
		.nr_bindings = nr,
		.binding_size = sizeof(*bindings),
		.bindings = (unsigned long)bindings,
	};
	int err = raw_ioctl(fd, IB_COLLQ_QUEUE_SUBMIT, &submit);

	if (sequence)
		*sequence = submit.sequence;
	return err;
}

int raw_run_bound(int fd, __u32 queue, __u32 graph,
		  const struct ib_collq_buffer_bind *bindings, __u32 nr,
		  int *status)
{
	struct ib_collq_queue_submit_wait run = {
		.size = sizeof(run),
		.queue = queue,
		.graph = graph,
		.nr_bindings = nr,
		.binding_size = sizeof(*bindings),
		.bindings = (unsigned long)bindings,
		.wait_deadline = raw_in_ms(RAW_PATIENCE_MS),
	};
	int err = raw_ioctl(fd, IB_COLLQ_QUEUE_SUBMIT_WAIT, &run);

	*status = run.status;
	return err;
}

struct ib_collq_task raw_send_list(__u32 endpoint, __u32 first, __u32 count)
{
	return (struct ib_collq_task) {
		.opcode = IB_COLLQ_TASK_SEND,
		.object = endpoint,
		.sge_first = first,
		.sge_count = count,
	};
}

struct ib_collq_task raw_recv_list(__u32 endpoint, __u32 first, __u32 count)
{
	return (struct ib_collq_task) {
		.opcode = IB_COLLQ_TASK_RECV,
		.object = endpoint,
		.sge_first = first,
		.sge_count = count,
	};
}

struct ib_collq_task raw_copy(__u32 src, __u32 src_count, __u32 dst, __u32 dst_count)
{
	return (struct ib_collq_task) {
		.opcode = IB_COLLQ_TASK_COPY,
		.sge_first = src,
		.sge_count = src_count,
		.dst_first = dst,
		.dst_count = dst_count,
	};
}

int raw_zone_offer(int fd, __u32 endpoint, __u32 region, __u64 offset, __u64 length,
		   struct ib_collq_zone_name *name)
{
	struct ib_collq_zone_offer offer = {
		.size = sizeof(offer),
		.endpoint = endpoint,
		.region = region,
		.offset = offset,
		.length = length,
	};
	int err = raw_ioctl(fd, IB_COLLQ_ZONE_OFFER, &offer);

	memcpy(name, offer.zone, sizeof(*name));
	return err ? err : (int)offer.id;
}

int raw_target_create(int fd, __u32 endpoint, const struct ib_collq_zone_name *name)
{
	struct ib_collq_target_create create = {
		.size = sizeof(create),
		.endpoint = endpoint,
	};
	int err;

	memcpy(create.zone, name, sizeof(*name));
	err = raw_ioctl(fd, IB_COLLQ_TARGET_CREATE, &create);
	return err ? err : (int)create.id;
}

/* A WRITE of the first entries of the table, with the signal that a pair waits for. */
struct ib_collq_task raw_write_list(__u32 endpoint, __u32 target, __u64 offset, __u32 count)
{
	return (struct ib_collq_task) {
		.opcode = IB_COLLQ_TASK_WRITE,
		.flags = IB_COLLQ_TASK_SIGNAL,
		.object = endpoint,
		.signal_slot = RAW_SLOT,
		.signal_generation = RAW_GENERATION,
		.zone = target,
		.zone_offset = offset,
		.sge_count = count,
	};
}

/* Memory of its own, of which nothing is there yet; NULL if there is none. */
void *raw_map(size_t length)
{
	void *memory = mmap(NULL, length, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

void *raw_map_apart(size_t length)
{
	char *memory = raw_map(length);
	size_t first, at;

	if (!memory)
		return NULL;
	madvise(memory, length, MADV_NOHUGEPAGE);
	for (first = 0; first < 2; first++)
		for (at = first * RAW_PAGE; at < length; at += 2 * RAW_PAGE)
			memory[at] = 1;
	return memory;
}

size_t raw_length(const struct ib_collq_sge *sges, __u32 nr)
{
	size_t length = 0;

	while (nr--)
		length += sges++->length;
	return length;
}

void raw_scatter(void *area, const struct ib_collq_sge *sges, __u32 nr, const void *stream)
{
	for (; nr--; stream += sges++->length)
		memcpy(area + sges->offset, stream, sges->length);
}

void raw_gather(const void *area, const struct ib_collq_sge *sges, __u32 nr, void *stream)
{
	for (; nr--; stream += sges++->length)
		memcpy(stream, area + sges->offset, sges->length);
}

/* Every byte depends on where it is and on the seed. */
static unsigned char raw_pattern(size_t i, unsigned int seed)
{
	return (i * 131 + (i >> 8) * 17 + seed * 59 + 1) % 251;
}

void raw_fill(void *memory, size_t length, unsigned int seed)
{
	unsigned char *bytes = memory;
	size_t i;

	for (i = 0; i < length; i++)
		bytes[i] = raw_pattern(i, seed);
}

/* Bytes that are not as raw_fill() makes them. */
size_t raw_count_wrong(const void *memory, size_t length, unsigned int seed)
{
	const unsigned char *bytes = memory;
	size_t i, wrong = 0;

	for (i = 0; i < length; i++)
		wrong += bytes[i] != raw_pattern(i, seed);
	return wrong;
}

/* Bytes that are not this one. */
size_t raw_count_other(const void *memory, size_t length, unsigned char byte)
{
	const unsigned char *bytes = memory;
	size_t i, other = 0;

	for (i = 0; i < length; i++)
		other += bytes[i] != byte;
	return other;
}

/* A line of /proc/self/status that is in kB, such as VmPin; -1 without it. */
long raw_status_kb(const char *name)
{
	char line[256];
	size_t len = strlen(name);
	long kb = -1;
	FILE *file;

	file = fopen("/proc/self/status", "r");
	if (!file)
		return -1;
	while (fgets(line, sizeof(line), file)) {
		if (strncmp(line, name, len) || line[len] != ':')
			continue;
		kb = strtol(line + len + 1, NULL, 10);
		break;
	}
	fclose(file);
	return kb;
}
