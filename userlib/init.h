/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef COLLQ_INIT_H
#define COLLQ_INIT_H

#include <stdint.h>

struct collq_request;

/* Goes on with the initialisation of the first request of a communicator. */
void collq_init_advance(struct collq_request *req);

/* Ends it early, and the communicator's ability to have others. */
void collq_init_give_up(struct collq_request *req);

/* Index of the link to a peer, added if need be: 0, -EINVAL or -ENOMEM. */
int collq_init_find_link(struct collq_request *req, uint32_t peer, uint32_t *index);

/* What links hold in memory. */
void collq_init_free(struct collq_request *req);

#endif /* COLLQ_INIT_H */
