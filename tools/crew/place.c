// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Which ranks are on which host: dealt in blocks, in the order of the hosts, as
 * even as it goes.
 *
 * One of the hosts may be this one, by its own name or as localhost. A name such
 * as local:x is this machine too, but as another host: that's for testing what
 * goes on between hosts where there is only one.
 */
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "place.h"

#define CHILD_PREFIX		"local:"

bool place_is_child(const char *host)
{
	return !strncmp(host, CHILD_PREFIX, strlen(CHILD_PREFIX));
}

static bool is_here(const char *name)
{
	char own[256] = "";

	gethostname(own, sizeof(own) - 1);
	return !strcmp(name, own) || !strcmp(name, "localhost");
}

static const char *add(struct options *options, const char *name)
{
	uint32_t i;

	if (!*name)
		return "an empty name";
	if (options->nr_hosts == MAX_HOSTS)
		return "too many names";
	for (i = 0; i < options->nr_hosts; i++) {
		if (!strcmp(options->hosts[i], name))
			return "a name given twice";
	}
	if (is_here(name)) {
		if (options->own_host != NO_HOST)
			return "this host given twice";
		options->own_host = options->nr_hosts;
	}
	options->hosts[options->nr_hosts++] = name;
	return NULL;
}

/* As "tools/vm --hosts" names them: only there is it known who "all" are. */
static const char *add_all(struct options *options)
{
	static char names[MAX_HOSTS][8];
	uint32_t i;

	for (i = 0; i < MAX_HOSTS; i++) {
		struct hostent *entry;

		snprintf(names[i], sizeof(names[i]), "vm%u", (i + 1) % 100);
		sethostent(1);
		while ((entry = gethostent()) && strcmp(entry->h_name, names[i]))
			;
		endhostent();
		if (!entry)
			break;
		add(options, names[i]);
	}
	return i ? NULL : "all: there is no vm1 in /etc/hosts";
}

const char *place_parse(struct options *options, char *list)
{
	const char *wrong = NULL;
	char *item;

	options->nr_hosts = 0;
	options->own_host = NO_HOST;
	if (!strcmp(list, "all"))
		return add_all(options);
	while (!wrong && (item = strsep(&list, ",")))
		wrong = add(options, item);
	return wrong;
}

uint32_t place_first(const struct options *options, uint32_t ranks, uint32_t host)
{
	return (uint64_t)ranks * host / options->nr_hosts;
}

const char *place_name(const struct options *options, uint32_t ranks, uint32_t rank)
{
	uint32_t host;

	for (host = 0; host < options->nr_hosts; host++) {
		if (rank < place_first(options, ranks, host + 1))
			return options->hosts[host];
	}
	return NULL;
}
