/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Which ranks are on which host.
 */
#ifndef CREW_PLACE_H
#define CREW_PLACE_H

#include "options.h"

#define NO_HOST			UINT32_MAX

/*
 * Names from a list, which is taken apart, or from /etc/hosts if it is "all".
 * Returns NULL, or what is wrong with it.
 */
const char *place_parse(struct options *options, char *list);

/* A name that stands for this host once more: see link_fork(). */
bool place_is_child(const char *host);

/* The first rank on a host: that of the host behind the last one is their number. */
uint32_t place_first(const struct options *options, uint32_t ranks, uint32_t host);

/* Where a rank is, by name; NULL if hosts have none. */
const char *place_name(const struct options *options, uint32_t ranks, uint32_t rank);

#endif
