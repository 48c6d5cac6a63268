// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Words for numbers.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <stdio.h>
#include <string.h>

#include "names.h"

#define NR(array)	(sizeof(array) / sizeof((array)[0]))

static const char *pick(const char * const *names, size_t nr, uint32_t number)
{
	return number < nr && names[number] ? names[number] : "unknown";
}

const char *name_of_queue_state(uint32_t state)
{
	static const char * const names[] = {
		[IB_COLLQ_QUEUE_IDLE] = "idle",
		[IB_COLLQ_QUEUE_RUNNING] = "running",
		[IB_COLLQ_QUEUE_WAITING] = "waiting",
		[IB_COLLQ_QUEUE_BLOCKED] = "blocked",
		[IB_COLLQ_QUEUE_FAILED] = "failed",
	};

	return pick(names, NR(names), state);
}

const char *name_of_endpoint_state(uint32_t state)
{
	static const char * const names[] = {
		[IB_COLLQ_ENDPOINT_NEW] = "new",
		[IB_COLLQ_ENDPOINT_CONNECTED] = "connected",
		[IB_COLLQ_ENDPOINT_PEER_CLOSED] = "peer-closed",
		[IB_COLLQ_ENDPOINT_ERROR] = "error",
		[IB_COLLQ_ENDPOINT_CLOSED] = "closed",
	};

	return pick(names, NR(names), state);
}

const char *name_of_source(uint32_t source)
{
	static const char * const names[] = {
		[IB_COLLQ_SOURCE_USER] = "user",
		[IB_COLLQ_SOURCE_EVENTFD] = "eventfd",
		[IB_COLLQ_SOURCE_SENDS] = "sends",
		[IB_COLLQ_SOURCE_MESSAGES] = "messages",
		[IB_COLLQ_SOURCE_SIGNAL] = "signal",
	};

	return pick(names, NR(names), source);
}

const char *name_of_reason(enum reason reason)
{
	static const char * const names[NR_REASONS] = {
		[REASON_NOT_STARTED] = "not-started",
		[REASON_FAILED] = "failed",
		[REASON_NO_QUEUE] = "no-queue",
		[REASON_ELSEWHERE] = "elsewhere",
		[REASON_UNDER_WAY] = "under-way",
		[REASON_RUNNING] = "running",
		[REASON_FULL] = "full",
		[REASON_SENDS] = "sends",
		[REASON_RAISE] = "raise",
		[REASON_EVENTFD] = "eventfd",
		[REASON_UNBOUND] = "unbound",
		[REASON_CIRCLE] = "circle",
	};

	return pick(names, NR(names), reason);
}

void name_of_peer_address(const struct endpoint *endpoint, char text[PEER_ADDRESS_SIZE])
{
	struct ib_collq_address address;
	char gid[INET6_ADDRSTRLEN];

	memcpy(&address, endpoint->info.peer_address, sizeof(address));
	inet_ntop(AF_INET6, address.gid, gid, sizeof(gid));
	snprintf(text, PEER_ADDRESS_SIZE, "%s qpn %u", gid, le32toh(address.qpn));
}
