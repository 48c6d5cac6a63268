/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef NAMES_H
#define NAMES_H

#include <stdint.h>

#include "blame.h"

/* Words for the kernel's numbers, the same in text and in JSON */
const char *name_of_queue_state(uint32_t state);
const char *name_of_endpoint_state(uint32_t state);
const char *name_of_source(uint32_t source);
const char *name_of_reason(enum reason reason);

/* Where an endpoint leads: GID and queue pair number, as text */
#define PEER_ADDRESS_SIZE	80
void name_of_peer_address(const struct endpoint *endpoint, char text[PEER_ADDRESS_SIZE]);

#endif /* NAMES_H */
