// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The environment: one table of all variables, with what each is by default, how
 * it is read, and where in struct collq_env it ends up.
 *
 * A context reads it once, when it is opened. A variable that is set but empty
 * counts as not set.
 */
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "collq/collq.h"

#include "env.h"
#include "log.h"
#include "sized.h"

struct variable;

typedef int (*variable_parse)(const struct variable *var, const char *text,
			      void *member);

/* @choices: names of the values, ending with NULL; else @min and @max count */
struct variable {
	const char *name;
	const char *preset;
	const char *description;
	variable_parse parse;
	size_t offset;
	uint32_t min, max;
	const char * const *choices;
};

static int parse_text(const struct variable *var, const char *text, void *member)
{
	(void)var;
	*(const char **)member = text;
	return 0;
}

static int parse_number(const struct variable *var, const char *text, void *member)
{
	unsigned long value;
	char *end;

	if (*text < '0' || *text > '9')
		return -EINVAL;
	errno = 0;
	value = strtoul(text, &end, 0);
	if (*end || errno || value < var->min || value > var->max)
		return -EINVAL;
	*(uint32_t *)member = value;
	return 0;
}

/* "0" is never, also where the least number is another. */
static int parse_number_or_never(const struct variable *var, const char *text, void *member)
{
	if (strcmp(text, "0"))
		return parse_number(var, text, member);
	*(uint32_t *)member = 0;
	return 0;
}

static int parse_power_of_two(const struct variable *var, const char *text, void *member)
{
	uint32_t value;
	int err;

	err = parse_number(var, text, &value);
	if (err)
		return err;
	if (value & (value - 1))
		return -EINVAL;
	*(uint32_t *)member = value;
	return 0;
}

static int parse_number_or_auto(const struct variable *var, const char *text, void *member)
{
	if (strcmp(text, "auto"))
		return parse_number(var, text, member);
	*(uint32_t *)member = COLLQ_ENV_AUTO;
	return 0;
}

/* "auto" is 0, which stands for it in the public options too. */
static int parse_radix(const struct variable *var, const char *text, void *member)
{
	if (strcmp(text, "auto"))
		return parse_number(var, text, member);
	*(uint32_t *)member = 0;
	return 0;
}

/* The index of the choice that is @len bytes at @text, or -EINVAL. */
static int find_choice(const char * const *choices, const char *text, size_t len)
{
	int i;

	for (i = 0; choices[i]; i++)
		if (strlen(choices[i]) == len && !memcmp(choices[i], text, len))
			return i;
	return -EINVAL;
}

static int parse_choice(const struct variable *var, const char *text, void *member)
{
	int choice = find_choice(var->choices, text, strlen(text));

	if (choice < 0)
		return choice;
	*(uint32_t *)member = choice;
	return 0;
}

/* A list of choices, with commas between them: their bits. */
static int parse_choices(const struct variable *var, const char *text, void *member)
{
	uint32_t bits = 0;
	size_t len;
	int choice;

	for (;;) {
		len = strcspn(text, ",");
		choice = find_choice(var->choices, text, len);
		if (choice < 0)
			return choice;
		bits |= 1U << choice;
		if (!text[len])
			break;
		text += len + 1;
	}
	*(uint32_t *)member = bits;
	return 0;
}

static const char * const algorithm_names[] = {
	[COLLQ_BARRIER_AUTO] = "auto",
	[COLLQ_BARRIER_DISSEMINATION] = "dissemination",
	[COLLQ_BARRIER_RECURSIVE_DOUBLING] = "recursive-doubling",
	[COLLQ_BARRIER_K_NOMIAL] = "k-nomial",
	NULL
};

static const char * const long_lists_names[] = {
	[COLLQ_LONG_LISTS_AUTO] = "auto",
	[COLLQ_LONG_LISTS_PAGES] = "pages",
	[COLLQ_LONG_LISTS_NO] = "no",
	NULL
};

static const char * const layout_names[] = {
	[COLLQ_ALLTOALL_AUTO] = "auto",
	[COLLQ_ALLTOALL_A] = "A",
	[COLLQ_ALLTOALL_B] = "B",
	[COLLQ_ALLTOALL_C] = "C",
	[COLLQ_ALLTOALL_D] = "D",
	[COLLQ_ALLTOALL_E] = "E",
	[COLLQ_ALLTOALL_PAIRWISE] = "pairwise",
	NULL
};

/* In order of the bits COLLQ_TLS_* */
static const char * const transports[] = { "local", "rc", NULL };

/* In order of COLLQ_FRONT_END_* */
static const char * const front_ends[] = { "auto", "char", "uverbs", NULL };

#define MEMBER(name)	offsetof(struct collq_env, name)

static const struct variable variables[] = {
	{
		.name = "COLLQ_NET_DEVICES",
		.preset = "",
		.description = "RDMA devices to try, as in \"rxe0:1,rxe1\" (empty: all)",
		.parse = parse_text,
		.offset = MEMBER(net_devices),
	}, {
		.name = "COLLQ_GID_INDEX",
		.preset = "auto",
		.description = "index of the port's GID (auto: first RoCE v2 one, IPv4 preferred)",
		.parse = parse_number_or_auto,
		.offset = MEMBER(gid_index),
		.max = 65535,
	}, {
		.name = "COLLQ_TLS",
		.preset = "local,rc",
		.description = "transports allowed: rc, and local for ranks that share a device",
		.parse = parse_choices,
		.offset = MEMBER(tls),
		.choices = transports,
	}, {
		.name = "COLLQ_FRONT_END",
		.preset = "auto",
		.description = "where collq_open_verbs() gets to: auto, char, uverbs",
		.parse = parse_choice,
		.offset = MEMBER(front_end),
		.choices = front_ends,
	}, {
		.name = "COLLQ_LOG_LEVEL",
		.preset = "warn",
		.description = "what to say on stderr: none, error, warn, info, debug",
		.parse = parse_choice,
		.offset = MEMBER(log_level),
		.choices = collq_log_levels,
	}, {
		.name = "COLLQ_BARRIER_ALGORITHM",
		.preset = "auto",
		.description = "auto, dissemination, recursive-doubling, k-nomial",
		.parse = parse_choice,
		.offset = MEMBER(barrier_algorithm),
		.choices = algorithm_names,
	}, {
		.name = "COLLQ_BARRIER_RADIX",
		.preset = "auto",
		.description = "arity of the k-nomial tree, from 2",
		.parse = parse_radix,
		.offset = MEMBER(barrier_radix),
		.min = 2,
		.max = INT32_MAX,
	}, {
		.name = "COLLQ_ALLTOALL_ALGORITHM",
		.preset = "auto",
		.description = "auto, A, B, C, D, E (layouts of Bruck's algorithm), pairwise",
		.parse = parse_choice,
		.offset = MEMBER(alltoall_algorithm),
		.choices = layout_names,
	}, {
		.name = "COLLQ_LONG_LISTS",
		.preset = "auto",
		.description = "auto, pages, no: registering what the device's lists can't hold",
		.parse = parse_choice,
		.offset = MEMBER(long_lists),
		.choices = long_lists_names,
	}, {
		.name = "COLLQ_RC_TIMEOUT",
		.preset = "16",
		.description = "local ACK timeout, 4.096 us x 2^n",
		.parse = parse_number,
		.offset = MEMBER(rc_timeout),
		.min = 1,
		.max = 31,
	}, {
		.name = "COLLQ_RC_RETRY_COUNT",
		.preset = "6",
		.description = "transport retries",
		.parse = parse_number,
		.offset = MEMBER(rc_retry_count),
		.max = 6,
	}, {
		.name = "COLLQ_RC_RNR_RETRY",
		.preset = "7",
		.description = "retries after receiver-not-ready; 7: for ever",
		.parse = parse_number,
		.offset = MEMBER(rc_rnr_retry),
		.max = 7,
	}, {
		.name = "COLLQ_RC_SERVICE_LEVEL",
		.preset = "0",
		.description = "service level",
		.parse = parse_number,
		.offset = MEMBER(rc_service_level),
		.max = 15,
	}, {
		.name = "COLLQ_RC_TRAFFIC_CLASS",
		.preset = "0",
		.description = "traffic class; the DSCP on RoCE",
		.parse = parse_number,
		.offset = MEMBER(rc_traffic_class),
		.max = 255,
	}, {
		.name = "COLLQ_RC_CAPACITY",
		.preset = "52",
		.description = "messages that an endpoint has room for, each way",
		.parse = parse_number,
		.offset = MEMBER(rc_capacity),
		.min = 2,
		.max = 65535,
	}, {
		.name = "COLLQ_PROBE_INTERVAL",
		.preset = "1000",
		.description = "how often to probe a peer that is waited for, in ms; 0: never",
		.parse = parse_number_or_never,
		.offset = MEMBER(probe_interval),
		.min = 10,
		.max = 3600000,
	}, {
		.name = "COLLQ_RING_ENTRIES",
		.preset = "1024",
		.description = "runs under way or not yet seen to end, a power of two",
		.parse = parse_power_of_two,
		.offset = MEMBER(ring_entries),
		.min = 1,
		.max = 1U << 20,
	}, {
		.name = "COLLQ_SPIN",
		.preset = "200",
		.description = "how often collq_wait() looks before it sleeps",
		.parse = parse_number,
		.offset = MEMBER(spin),
		.max = INT32_MAX,
	},
};

#define NR_VARIABLES	(sizeof(variables) / sizeof(variables[0]))

static const char *from_environment(const struct variable *var)
{
	const char *value = secure_getenv(var->name);

	return value && *value ? value : NULL;
}

/* A malformed one must not keep the complaint about it from being seen. */
static enum collq_log_level wanted_log_level(void)
{
	const struct variable *var;
	const char *value;
	uint32_t level;

	for (var = variables; strcmp(var->name, "COLLQ_LOG_LEVEL"); var++)
		;
	value = from_environment(var);
	if (!value || var->parse(var, value, &level))
		return COLLQ_LOG_WARN;
	return (enum collq_log_level)level;
}

int collq_env_read(struct collq_env *env)
{
	const struct variable *var;
	const char *value;
	int err;

	collq_log_set_level(wanted_log_level());
	for (var = variables; var < variables + NR_VARIABLES; var++) {
		value = from_environment(var);
		if (!value)
			value = var->preset;
		err = var->parse(var, value, (char *)env + var->offset);
		if (err) {
			collq_error("%s=%s makes no sense: %s", var->name, value,
				    var->description);
			return err;
		}
	}
	return 0;
}

int collq_variable_get(uint32_t index, struct collq_variable *variable)
{
	struct collq_variable info;
	const struct variable *var;
	const char *value;

	if (index >= NR_VARIABLES)
		return -ENOENT;
	var = &variables[index];
	value = from_environment(var);
	info = (struct collq_variable){
		.name = var->name,
		.value = value ? value : var->preset,
		.source = value ? "environment" : "default",
		.preset = var->preset,
		.description = var->description,
	};
	return collq_sized_give(variable, &info, sizeof(info));
}

const char *collq_barrier_algorithm_name(uint32_t algorithm)
{
	if (algorithm > COLLQ_BARRIER_K_NOMIAL)
		return NULL;
	return algorithm_names[algorithm];
}

const char *collq_alltoall_layout_name(uint32_t layout)
{
	return layout > COLLQ_ALLTOALL_PAIRWISE ? NULL : layout_names[layout];
}
