// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * For people: a line for each context and queue, and at the end a sentence on each
 * who holds others up.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "names.h"
#include "output.h"

#define PERIOD_SIZE	32

/* Tenths of a second matter in the first minute only. */
static const char *period(double seconds, char text[PERIOD_SIZE])
{
	uint64_t s = seconds;

	if (s < 60)
		snprintf(text, PERIOD_SIZE, "%.1f s", seconds);
	else if (s < 3600)
		snprintf(text, PERIOD_SIZE, "%" PRIu64 " min %" PRIu64 " s", s / 60, s % 60);
	else if (s < 86400)
		snprintf(text, PERIOD_SIZE, "%" PRIu64 " h %" PRIu64 " min", s / 3600,
			 s / 60 % 60);
	else
		snprintf(text, PERIOD_SIZE, "%" PRIu64 " d %" PRIu64 " h", s / 86400,
			 s / 3600 % 24);
	return text;
}

/* Only what is out of the ordinary is worth a word. */
static void print_process(const struct context *context)
{
	static const char * const odd[] = { "stopped", "traced", "ended" };
	size_t i;

	if (context->info.pid)
		printf("pid %u, ", context->info.pid);
	printf("%s", context->comm);
	for (i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
		if (!strcmp(context->process, odd[i]))
			printf(", %s", odd[i]);
	}
}

static void print_counter(const struct queue *queue)
{
	const struct ib_collq_counter_info *info = &queue->counter->info;
	const struct ib_collq_task *task = snapshot_task(queue);

	printf("counter %u: %" PRIu64, info->create.id, (uint64_t)(info->raised - info->consumed));
	if (task)
		printf(" of %" PRIu64, (uint64_t)task->count);
}

static void print_wait(const struct queue *queue)
{
	const struct endpoint *endpoint = queue->endpoint;

	if (!queue->counter) {
		printf(": for counter %u, which has gone", queue->info.object);
		return;
	}
	switch (queue->counter->info.create.source) {
	case IB_COLLQ_SOURCE_USER:
		printf(": for its process to raise a counter (");
		break;
	case IB_COLLQ_SOURCE_EVENTFD:
		printf(": for a write to an eventfd (");
		break;
	case IB_COLLQ_SOURCE_SENDS:
		printf(": for sends ");
		if (endpoint)
			printf("to rank %u to arrive (endpoint %u, ", endpoint->info.create.peer,
			       endpoint->info.create.id);
		else
			printf("to arrive (");
		break;
	default:
		if (!endpoint)
			printf(": for a signal in no slot (");
		else if (queue->counter->info.create.source == IB_COLLQ_SOURCE_SIGNAL)
			printf(": for rank %u (endpoint %u, slot %u, ", endpoint->info.create.peer,
			       endpoint->info.create.id, queue->counter->info.bound_slot);
		else
			printf(": for a message from rank %u (endpoint %u, ",
			       endpoint->info.create.peer, endpoint->info.create.id);
	}
	print_counter(queue);
	putchar(')');
}

static void print_queue(const struct snapshot *snapshot, const struct queue *queue)
{
	const struct ib_collq_queue_info *info = &queue->info;
	char text[PERIOD_SIZE];

	printf("  queue %u", info->id);
	if (queue->rank != NO_RANK)
		printf(" rank %u", queue->rank);
	printf(" %s %s", name_of_queue_state(info->state),
	       period(snapshot_age(snapshot, info->since), text));
	if (info->graph)
		printf("  graph %u", info->graph);
	if (info->task != IB_COLLQ_NO_TASK)
		printf(" task %u round %u", info->task, info->label);
	if (info->state == IB_COLLQ_QUEUE_WAITING)
		print_wait(queue);
	else if (info->state == IB_COLLQ_QUEUE_BLOCKED && queue->endpoint)
		printf(": endpoint %u to rank %u takes no more", queue->endpoint->info.create.id,
		       queue->endpoint->info.create.peer);
	else if (info->state == IB_COLLQ_QUEUE_FAILED)
		printf(": %s", strerror(-info->error));
	printf("; %" PRIu64 " of %" PRIu64 " done", (uint64_t)info->completed,
	       (uint64_t)info->submitted);
	if (info->copied || info->sges)
		printf(", %" PRIu64 " bytes copied, %" PRIu64 " list entries",
		       (uint64_t)info->copied, (uint64_t)info->sges);
	putchar('\n');
}

static void print_endpoint(const struct endpoint *endpoint)
{
	const struct ib_collq_endpoint_info *info = &endpoint->info;
	char address[PEER_ADDRESS_SIZE];

	printf("  endpoint %u to rank %u %s", info->create.id, info->create.peer,
	       name_of_endpoint_state(info->state));
	if (info->create.signal_endpoint)
		printf(" beside endpoint %u", info->create.signal_endpoint);
	if (info->error)
		printf(" (%s)", strerror(-info->error));
	printf("  sends %" PRIu64 " acknowledged %" PRIu64, (uint64_t)info->sends,
	       (uint64_t)info->sends_done);
	printf(" messages %" PRIu64 " dropped %" PRIu64, (uint64_t)info->messages,
	       (uint64_t)info->dropped);
	if (info->is_local)
		printf("  local: sends %" PRIu64 " messages %" PRIu64,
		       (uint64_t)info->local_sends, (uint64_t)info->local_messages);
	if (endpoint->peer) {
		printf("  peer %s context %u endpoint %u",
		       endpoint->peer->context->device->name,
		       endpoint->peer->context->info.id, endpoint->peer->info.create.id);
	} else if (info->state != IB_COLLQ_ENDPOINT_NEW) {
		name_of_peer_address(endpoint, address);
		printf("  peer %s", address);
	}
	putchar('\n');
}

static void print_place(const struct ib_collq_region_create *region)
{
	if (region->type == IB_COLLQ_REGION_LIST)
		printf("of %u parts of others", region->nr_parts);
	else
		printf("%s 0x%" PRIx64, region->type == IB_COLLQ_REGION_MR ? "of an MR from" : "at",
		       (uint64_t)region->address);
}

static void print_region(const struct region *region)
{
	const struct ib_collq_region_info *info = &region->info;

	printf("  region %u of %" PRIu64 " bytes ", info->create.id,
	       (uint64_t)info->create.length);
	print_place(&info->create);
	printf(" %s%s  pinned %" PRIu64 " KiB registrations %u uses %u\n",
	       info->create.access & IB_COLLQ_ACCESS_WRITE ? "writable" : "read-only",
	       info->stale ? " stale" : "", snapshot_pinned(region) / 1024, info->registrations,
	       info->uses);
}

static void print_details(const struct context *context)
{
	uint32_t i;

	for (i = 0; i < context->nr_endpoints; i++)
		print_endpoint(&context->endpoints[i]);
	for (i = 0; i < context->nr_rings; i++)
		printf("  ring %u entries %u reserved %u unread %u\n",
		       context->rings[i].info.create.id, context->rings[i].info.create.entries,
		       context->rings[i].info.reserved, context->rings[i].info.unread);
	for (i = 0; i < context->nr_regions; i++)
		print_region(&context->regions[i]);
}

static void print_context(const struct snapshot *snapshot, const struct context *context,
			  bool details)
{
	char text[PERIOD_SIZE];
	uint32_t i;

	printf("%s context %u: ", context->device->name, context->info.id);
	print_process(context);
	printf(", user %s, open for %s", context->user,
	       period(snapshot_age(snapshot, context->info.created), text));
	if (context->nr_regions)
		printf(", %u region%s with %" PRIu64 " KiB pinned", context->nr_regions,
		       context->nr_regions > 1 ? "s" : "", context->pinned / 1024);
	if (context->busy)
		printf(", busy with a call that keeps its queues from sight");
	putchar('\n');
	for (i = 0; i < context->nr_queues; i++)
		print_queue(snapshot, &context->queues[i]);
	if (details)
		print_details(context);
}

static void print_reason(const struct blame *blame)
{
	const struct queue *queue = blame->queue;
	char address[PEER_ADDRESS_SIZE];

	switch (blame->reason) {
	case REASON_NOT_STARTED:
		printf("it has not started run %" PRIu64 " of queue %u", blame_next_run(queue),
		       queue->info.id);
		break;
	case REASON_FAILED:
		printf("its queue %u has failed: %s", queue->info.id,
		       strerror(-queue->info.error));
		break;
	case REASON_NO_QUEUE:
		printf("it has no queue that works with theirs");
		break;
	case REASON_ELSEWHERE:
		name_of_peer_address(blame->endpoint, address);
		printf("what it waits for can't be seen from here (%s)", address);
		break;
	case REASON_UNDER_WAY:
		printf("what its queue %u was to send is under way, lost, or not in its graph",
		       queue->info.id);
		break;
	case REASON_RUNNING:
		printf("its queue %u is between two tasks", queue->info.id);
		break;
	case REASON_FULL:
		printf("its queue %u can't send: the endpoint takes no more", queue->info.id);
		break;
	case REASON_SENDS:
		printf("its queue %u waits for its sends to arrive", queue->info.id);
		break;
	case REASON_RAISE:
		printf("its queue %u waits for its process to raise a counter", queue->info.id);
		break;
	case REASON_EVENTFD:
		printf("its queue %u waits for a write to an eventfd", queue->info.id);
		break;
	case REASON_UNBOUND:
		printf("its queue %u waits for a signal in no slot", queue->info.id);
		break;
	default:
		printf("they wait for each other");
	}
}

static void print_blame(const struct snapshot *snapshot, const struct blame *blame)
{
	char text[PERIOD_SIZE];

	if (blame->rank == NO_RANK)
		printf("somebody");
	else
		printf("rank %u", blame->rank);
	if (blame->context) {
		printf(" (");
		print_process(blame->context);
		putchar(')');
	}
	printf(" holds up %u other%s for %s: ", blame->nr_victims,
	       blame->nr_victims > 1 ? "s" : "",
	       period(snapshot_age(snapshot, blame->since), text));
	print_reason(blame);
	putchar('\n');
}

void output_text(const struct snapshot *snapshot, const struct blame *blames, unsigned int nr,
		 bool details)
{
	unsigned int i;

	if (!snapshot->nr)
		printf("No contexts\n");
	for (i = 0; i < snapshot->nr; i++)
		print_context(snapshot, snapshot->contexts[i], details);
	if (nr)
		putchar('\n');
	for (i = 0; i < nr; i++)
		print_blame(snapshot, &blames[i]);
}
