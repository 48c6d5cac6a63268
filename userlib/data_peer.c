// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Message endpoints, as they are told the peers and heard of from them: see data.h.
 */
#include <errno.h>
#include <string.h>

#include "data.h"
#include "pair.h"
#include "request.h"

uint32_t collq_data_nr_told(const struct collq_request *req, uint32_t link)
{
	const struct collq_data *data = req->data;
	uint32_t i, nr = 0;

	for (i = 0; data && i < data->nr_channels; i++)
		nr += data->channels[i].endpoint && data->channels[i].link == link;
	return nr;
}

void collq_data_tell(const struct collq_request *req, uint32_t link,
		     struct collq_writer *records)
{
	struct collq_message_endpoint told = { .init = req->links[link].lease->init };
	const struct collq_data *data = req->data;
	uint32_t i;

	for (i = 0; data && i < data->nr_channels; i++) {
		if (!data->channels[i].endpoint || data->channels[i].link != link)
			continue;
		told.tag = data->channels[i].tag;
		told.sends = data->channels[i].sends;
		told.recvs = data->channels[i].recvs;
		memcpy(told.address, data->channels[i].address, sizeof(told.address));
		collq_write_endpoint(records, &told);
	}
}

/* What the peer's endpoint is for must fit to what this one is for. */
static int hear(struct collq_request *req, uint32_t link,
		const struct collq_message_endpoint *told)
{
	struct collq_data_channel *channel = req->data->channels;
	struct collq_data_channel *end = channel + req->data->nr_channels;

	for (; channel < end; channel++) {
		if (channel->link != link || channel->tag != told->tag)
			continue;
		if (channel->heard || channel->sends != told->recvs ||
		    channel->recvs != told->sends)
			return -EINVAL;
		memcpy(channel->address, told->address, sizeof(channel->address));
		channel->heard = true;
		return 0;
	}
	return -EINVAL;
}

int collq_data_hear(struct collq_request *req, uint32_t link, const struct collq_found *found)
{
	uint32_t i, init = req->links[link].lease->init;
	struct collq_message_endpoint told;
	int err = 0;

	for (i = 0; i < found->record.nr_messages && !err; i++) {
		collq_found_endpoint(found, i, &told);
		if (told.init == init)
			err = req->data ? hear(req, link, &told) : -EINVAL;
	}
	return err;
}
