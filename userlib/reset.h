/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef COLLQ_RESET_H
#define COLLQ_RESET_H

struct collq_comm;

/*
 * Goes on with a reset, with the communicator's lock held: -EINPROGRESS, or how the
 * last one went.
 */
int collq_reset_test(struct collq_comm *comm);

/* Ends one early, and the communicator's ability to have others. */
void collq_reset_give_up(struct collq_comm *comm);

#endif /* COLLQ_RESET_H */
