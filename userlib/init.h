/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef COLLQ_INIT_H
#define COLLQ_INIT_H

struct collq_request;

/* Goes on with the initialisation of the first request of a communicator. */
void collq_init_advance(struct collq_request *req);

/* Ends it early, and the communicator's ability to have others. */
void collq_init_give_up(struct collq_request *req);

/* What links hold in memory. */
void collq_init_free(struct collq_request *req);

#endif /* COLLQ_INIT_H */
