// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Lists of more pieces than the device takes: kernel regions of the pieces, so that one
 * entry stands for them.
 *
 * The builder of an all-to-all is told that lists may be longer than they may, if all ranks
 * can do with that: the limits that ranks agree on are the least of all, as ever. When a
 * graph is there, folding replaces each list that is too long by one entry of a buffer of its
 * own, or of one that several share. Behind these buffers are, once there's memory, regions
 * of the type IB_COLLQ_REGION_LIST.
 *
 * What has gaps between pieces that aren't whole pages takes a device that can do that.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agree.h"
#include "alloc.h"
#include "alltoall_plan.h"
#include "data.h"
#include "graph_internal.h"
#include "region.h"
#include "request.h"

static uint64_t page_size(void)
{
	return sysconf(_SC_PAGESIZE);
}

static bool takes_gaps(const struct collq_request *req)
{
	return req->ctx->limits.features & IB_COLLQ_FEATURE_GAPS;
}

/* Whether lists are to become regions, of any pieces or of whole pages. */
static bool is_wanted(const struct collq_request *req)
{
	const struct collq_data *data = req->data;

	if (!data || data->send.mr || data->recv.mr)
		return false;
	switch (req->ctx->env.long_lists) {
	case COLLQ_LONG_LISTS_AUTO:
		return takes_gaps(req);
	case COLLQ_LONG_LISTS_PAGES:
		return true;
	default:
		return false;
	}
}

static bool is_page(const void *address)
{
	return (uintptr_t)address % page_size() == 0;
}

static bool are_pages(const struct collq_data *data, const struct ib_collq_sge *sge)
{
	const uint64_t page = page_size();

	if (sge->offset % page || sge->length % page)
		return false;
	switch (sge->buffer) {
	case COLLQ_BUFFER_SEND:
		return is_page(data->in_place ? data->recv.address : data->send.address);
	case COLLQ_BUFFER_RECV:
		return is_page(data->recv.address);
	default:
		return data->generations == 1 || data->scratch_bytes % page == 0;
	}
}

/* Pages that a piece may touch, also if other buffers are bound later */
static uint64_t pages_of(const struct collq_request *req, uint64_t bytes)
{
	if (takes_gaps(req))
		return (bytes - 1) / page_size() + 2;
	return bytes / page_size();
}

/* Entries of all steps together, in one direction */
static uint64_t count_entries(const struct collq_alltoall *what)
{
	uint64_t size = what->nr_ranks, radix = what->radix > 1 ? what->radix : 2, sum = 0;
	uint64_t unit, digit;

	for (unit = 1; unit < size; unit *= radix)
		for (digit = 1; digit < radix && digit * unit < size; digit++)
			sum += collq_step_entries(size, radix, unit, digit);
	return sum;
}

/*
 * No list takes more than half of what a region has room for, and all of one direction not
 * more than two and a half. First fit leaves no two regions that would fit into one, so
 * there are at most five of them, whatever limit below that the ranks agree on.
 */
uint32_t collq_lists_most(const struct collq_request *req)
{
	const uint64_t room = req->ctx->limits.max_list_pages;
	const struct collq_alltoall *what;
	uint64_t pages;

	if (req->algorithm != COLLQ_MESSAGE_ALLTOALL || !is_wanted(req))
		return 0;
	what = &req->terms->alltoall;
	if (!what->block)
		return 0;
	if (!takes_gaps(req) && !(what->block % page_size() == 0 &&
				  collq_lists_allow(req, req->data->recv.address) &&
				  collq_lists_allow(req, req->data->send.address)))
		return 0;
	pages = pages_of(req, what->block);
	return 2 * count_entries(what) * pages <= 5 * room ? room / 2 / pages : 0;
}

bool collq_lists_allow(const struct collq_request *req, const void *address)
{
	return takes_gaps(req) || is_page(address);
}

/* The one that has room for so many more pages, or a new one; NULL: there's no room. */
static struct collq_list *find_list(struct collq_request *req, bool writable, uint64_t pages)
{
	const struct ib_collq_query *limits = &req->ctx->limits;
	struct collq_data *data = req->data;
	const uint32_t nr = COLLQ_NR_BUFFERS + data->nr_lists;
	struct collq_list *list;

	for (list = data->lists; list < data->lists + data->nr_lists; list++)
		if (list->writable == writable && list->pages + pages <= limits->max_list_pages)
			return list;
	if (pages > limits->max_list_pages || nr >= limits->max_buffers ||
	    nr >= COLLQ_MOST_BUFFERS)
		return NULL;
	data->nr_lists++;
	*list = (struct collq_list){ .writable = writable };
	return list;
}

/* Pieces become part of one, and one entry of the buffer that stands for that. */
static int fold_pieces(struct collq_request *req, uint32_t node,
		       const struct collq_graph_node_info *info, const struct ib_collq_sge *sges)
{
	struct ib_collq_sge *parts;
	struct collq_list *list;
	uint64_t pages = 0;
	uint32_t i;
	int err;

	if (info->bytes > UINT32_MAX)
		return 0;
	for (i = 0; i < info->nr_sges; i++) {
		if (!takes_gaps(req) && !are_pages(req->data, &sges[i]))
			return 0;
		pages += pages_of(req, sges[i].length);
	}
	list = find_list(req, info->opcode == IB_COLLQ_TASK_RECV, pages);
	if (!list)
		return 0;
	parts = realloc(list->parts, (list->nr + (size_t)info->nr_sges) * sizeof(*parts));
	if (!parts)
		return -ENOMEM;
	list->parts = parts;
	err = collq_graph_fold(req->graph, node,
			       COLLQ_NR_BUFFERS + (uint32_t)(list - req->data->lists),
			       list->bytes);
	if (err)
		return err;
	memcpy(parts + list->nr, sges, info->nr_sges * sizeof(*sges));
	for (i = 0; i < info->nr_sges; i++)
		list->has_scratch |= sges[i].buffer == COLLQ_BUFFER_SCRATCH;
	list->nr += info->nr_sges;
	list->pages += pages;
	list->bytes += info->bytes;
	return 0;
}

static int fold(struct collq_request *req, uint32_t node, const struct collq_graph_node_info *info)
{
	struct ib_collq_sge *sges;
	uint32_t i;
	int err = 0;

	sges = collq_new_entries(info->nr_sges, sizeof(*sges));
	if (!sges)
		return -ENOMEM;
	for (i = 0; i < info->nr_sges && !err; i++)
		err = collq_graph_sge(req->graph, (int)node, i, &sges[i]);
	if (!err)
		err = fold_pieces(req, node, info, sges);
	free(sges);
	return err;
}

/*
 * Whether a node's list is too long for the device, by its pieces or, if @borders, as
 * memory that is registered in parts may make it. @agreed: what its builder has kept to.
 */
static bool is_long(const struct collq_request *req, const struct collq_graph_node_info *info,
		    const struct collq_message_terms *agreed, bool borders)
{
	const struct ib_collq_query *limits = &req->ctx->limits;
	const bool send = info->opcode == IB_COLLQ_TASK_SEND;
	const uint32_t most = send ? limits->max_send_sge : limits->max_recv_sge;
	uint64_t nr = info->nr_sges;

	if (agreed && (send ? agreed->max_send_sge : agreed->max_recv_sge) <= most)
		return false;
	if (borders)
		nr = collq_data_entries(req, info->nr_sges, info->bytes);
	return info->nr_sges > 1 && nr > most;
}

static int fold_long(struct collq_request *req, const struct collq_message_terms *agreed,
		     bool borders)
{
	struct collq_graph_node_info info = { .size = sizeof(info) };
	uint32_t i, nr = collq_graph_nr_nodes(req->graph);
	int err = 0;

	for (i = 0; i < nr && !err; i++)
		if (!collq_graph_node(req->graph, (int)i, &info) && info.message >= 0 &&
		    info.opcode != IB_COLLQ_TASK_WAIT && is_long(req, &info, agreed, borders))
			err = fold(req, i, &info);
	return err;
}

/* First what there's no other way for. */
int collq_lists_fold(struct collq_request *req, const struct collq_message_terms *agreed)
{
	int err;

	if (!is_wanted(req))
		return 0;
	err = fold_long(req, agreed, false);
	if (!err)
		err = fold_long(req, agreed, true);
	if (req->data->nr_lists)
		collq_graph_recount(req->graph);
	return err;
}

/* The parts of a list in one generation. */
static struct ib_collq_sge *parts_in(const struct collq_data *data, const struct collq_list *list,
				     uint32_t generation)
{
	struct ib_collq_sge *parts = collq_new_entries(list->nr, sizeof(*parts));
	uint32_t i;

	for (i = 0; parts && i < list->nr; i++) {
		parts[i] = list->parts[i];
		if (parts[i].buffer == COLLQ_BUFFER_SCRATCH)
			parts[i].offset += generation * data->scratch_bytes;
		parts[i].buffer = data->bindings[parts[i].buffer].region;
	}
	return parts;
}

/* All generations are alike where there's no scratch memory in it. */
static uint32_t nr_regions(const struct collq_data *data, const struct collq_list *list)
{
	return list->has_scratch ? data->generations : 1;
}

static int make(struct collq_request *req, struct collq_list *list, uint32_t generation)
{
	struct ib_collq_sge *parts = parts_in(req->data, list, generation);
	int err;

	if (!parts)
		return -ENOMEM;
	err = collq_region_list(req->ctx, parts, list->nr, list->bytes, list->writable,
				&list->regions[generation]);
	free(parts);
	return err;
}

int collq_lists_make(struct collq_request *req)
{
	struct collq_data *data = req->data;
	uint32_t i, generation;
	int err = 0;

	for (i = 0; i < data->nr_lists; i++)
		for (generation = 0; generation < nr_regions(data, &data->lists[i]) && !err;
		     generation++)
			err = make(req, &data->lists[i], generation);
	return err;
}

/* Other regions for all, or none. */
int collq_lists_remake(struct collq_request *req)
{
	struct collq_region *old[COLLQ_MOST_BUFFERS][2];
	struct collq_data *data = req->data;
	uint32_t i;
	int err;

	for (i = 0; i < data->nr_lists; i++) {
		memcpy(old[i], data->lists[i].regions, sizeof(old[i]));
		memset(data->lists[i].regions, 0, sizeof(old[i]));
	}
	err = collq_lists_make(req);
	if (err)
		collq_lists_put(req);
	for (i = 0; i < data->nr_lists; i++) {
		if (err) {
			memcpy(data->lists[i].regions, old[i], sizeof(old[i]));
		} else {
			collq_region_put(req->ctx, old[i][0]);
			collq_region_put(req->ctx, old[i][1]);
		}
	}
	return err;
}

void collq_lists_put(struct collq_request *req)
{
	struct collq_data *data = req->data;
	struct collq_list *list;

	for (list = data->lists; list < data->lists + data->nr_lists; list++) {
		collq_region_put(req->ctx, list->regions[0]);
		collq_region_put(req->ctx, list->regions[1]);
		memset(list->regions, 0, sizeof(list->regions));
	}
}

void collq_lists_bind(struct collq_data *data)
{
	const struct collq_region *region;
	const struct collq_list *list;
	uint32_t i;

	for (i = 0; i < data->nr_lists; i++) {
		list = &data->lists[i];
		region = list->regions[data->generation % nr_regions(data, list)];
		data->bindings[COLLQ_NR_BUFFERS + i] = (struct ib_collq_buffer_bind){
			.buffer = COLLQ_NR_BUFFERS + i,
			.region = region ? collq_region_id(region) : 0,
		};
	}
}

void collq_lists_visit(struct collq_data *data, void (*visit)(uint32_t *id, void *arg), void *arg)
{
	struct collq_region **region;
	struct collq_list *list;

	for (list = data->lists; list < data->lists + data->nr_lists; list++)
		for (region = list->regions; region < list->regions + 2; region++)
			if (*region)
				visit(collq_region_place(*region), arg);
}

void collq_lists_free(struct collq_data *data)
{
	uint32_t i;

	for (i = 0; i < data->nr_lists; i++)
		free(data->lists[i].parts);
	data->nr_lists = 0;
}
