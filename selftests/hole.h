/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Memory that doesn't come, and a call that waits for it.
 */
#ifndef HOLE_H
#define HOLE_H

#include <pthread.h>
#include <stdbool.h>

/* A page that isn't there: whoever touches it sleeps until it is, or until he's killed. */
struct hole {
	int fd;
	char *page;
};

bool hole_open(struct hole *hole);
/* Until somebody has touched it */
bool hole_is_felt(const struct hole *hole);
bool hole_fill(const struct hole *hole);
void hole_close(struct hole *hole);

/* A thread that uploads a graph from there: meanwhile it keeps its context's mutex. */
struct hole_upload {
	pthread_t thread;
	int fd;
	const void *tasks;
	int result;
};

/* It sleeps by then. */
bool hole_upload_begin(struct hole_upload *upload, int fd, const struct hole *hole);
/* What it came to: the page is of zeroes, which are no task. */
int hole_upload_end(struct hole_upload *upload);

#endif /* HOLE_H */
