/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef COLLQ_OBJECTS_H
#define COLLQ_OBJECTS_H

#include <stdbool.h>
#include <stdint.h>

struct collq_graph;
struct collq_link;
struct collq_request;

/*
 * What a request has in the kernel. First all that can be made without knowing
 * anything of the peers: fresh endpoints, room for messages, counters in slots.
 */
int collq_objects_prepare(struct collq_request *req);

/* Then the rest: fresh endpoints connected, the graph, the queue. */
int collq_objects_complete(struct collq_request *req);

/* Finds out which endpoints of the pairs that it needs have failed. */
void collq_objects_look(struct collq_request *req);
/* Destroys those of them that are known to both sides, and not used any more. */
void collq_objects_retire(struct collq_request *req);

/*
 * Makes all of it once more, but endpoints, which are there, in a context that has
 * moved. The ids of what was before are overwritten.
 */
int collq_objects_rebuild(struct collq_request *req);

/* Takes away what there is, except endpoints; and those that are fresh. */
void collq_objects_destroy(struct collq_request *req);
void collq_objects_destroy_fresh(struct collq_request *req);

/* Takes away one object, if @id isn't 0; says @what if it can't be done. */
void collq_objects_destroy_one(struct collq_request *req, uint32_t type, uint32_t *id,
			       const char *what);

/* Whether a graph has anything to do. */
bool collq_objects_has_nodes(const struct collq_graph *graph);

/* The id of a link's signal endpoint. */
uint32_t collq_link_endpoint(const struct collq_link *link);

#endif /* COLLQ_OBJECTS_H */
