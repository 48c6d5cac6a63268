// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What libcollq does without a device: numbering slots, agreeing on endpoints, the
 * environment, structures of other versions.
 */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include <collq/collq.h>

#include "env.h"
#include "pair.h"
#include "slots.h"

TEST(slots_are_the_lowest_free)
{
	struct collq_slots slots = { .max = 40 };
	uint32_t slot, i;
	uint16_t generation;

	for (i = 0; i < 40; i++) {
		ASSERT_EQ(0, collq_slots_get(&slots, &slot, &generation));
		EXPECT_EQ(i, slot);
		EXPECT_EQ(1, generation);
	}
	EXPECT_EQ(-ENOSPC, collq_slots_get(&slots, &slot, &generation));
	collq_slots_put(&slots, 17);
	collq_slots_put(&slots, 3);
	ASSERT_EQ(0, collq_slots_get(&slots, &slot, &generation));
	EXPECT_EQ(3, slot);
	EXPECT_EQ(2, generation);
	EXPECT_EQ(2, collq_slots_generation(&slots, 3));
	ASSERT_EQ(0, collq_slots_get(&slots, &slot, &generation));
	EXPECT_EQ(17, slot);
	EXPECT_EQ(-ENOSPC, collq_slots_get(&slots, &slot, &generation));
	collq_slots_destroy(&slots);
}

TEST(generation_tells_old_from_new)
{
	struct collq_slots slots = { .max = 1 };
	uint16_t generation = 0, first;
	uint32_t slot, i;

	EXPECT_FALSE(collq_slots_is(&slots, 0, 0));
	ASSERT_EQ(0, collq_slots_get(&slots, &slot, &first));
	EXPECT_TRUE(collq_slots_is(&slots, 0, first));
	EXPECT_FALSE(collq_slots_is(&slots, 0, first + 1));
	EXPECT_FALSE(collq_slots_is(&slots, 1, first));
	for (i = 1; i < 65536; i++) {
		collq_slots_put(&slots, 0);
		EXPECT_FALSE(collq_slots_is(&slots, 0, generation));
		ASSERT_EQ(0, collq_slots_get(&slots, &slot, &generation));
		ASSERT_NE(first, generation);
	}
	collq_slots_put(&slots, 0);
	ASSERT_EQ(0, collq_slots_get(&slots, &slot, &generation));
	EXPECT_EQ(first, generation);
	collq_slots_destroy(&slots);
}

/*
 * Both sides of a pair, and what init.c does to them: random requests, each freed
 * at random times at either side, some initialisations that fail.
 */
#define CAPACITY	12
#define NR_ENDPOINTS	64

struct side {
	struct collq_pair *pair;
	struct collq_lease *held[256];
	struct collq_lease *latest;
	bool fresh;
};

static uint32_t below(uint32_t n)
{
	return (uint32_t)random() % n;
}

static int begin_init(struct side *side, uint32_t init, uint32_t here, uint32_t there,
		      uint32_t nr_slots)
{
	uint32_t choice = collq_pair_choose(side->pair, here, there);
	struct collq_pair_endpoint *ep;
	int err;

	side->fresh = choice == side->pair->nr;
	if (side->fresh) {
		err = collq_pair_add(side->pair, 100);
		if (err)
			return err;
		ep = &side->pair->endpoints[choice];
		ep->capacity_here = CAPACITY;
		ep->capacity_there = CAPACITY;
	}
	return collq_pair_lease(side->pair, choice, init, nr_slots, &side->latest);
}

static uint32_t tell(struct side *from, struct side *to)
{
	struct collq_lease *lease;
	uint32_t told = 0, nr = collq_pair_tell(from->pair);

	for (lease = from->pair->leases; lease; lease = lease->next) {
		if (!lease->telling)
			continue;
		collq_pair_hear(to->pair, lease->init);
		told++;
	}
	return nr == told ? nr : UINT32_MAX;
}

static void end_init(struct side *side, uint32_t init, uint32_t here, uint32_t there, bool good)
{
	if (good) {
		collq_pair_use(side->pair, side->latest, here, there);
		collq_pair_settle(side->pair, true);
		side->held[init % 256] = side->latest;
		return;
	}
	collq_pair_settle(side->pair, false);
	collq_pair_end(side->pair, side->latest);
	if (side->fresh)
		collq_pair_remove(side->pair);
}

static void free_some(struct side *side, uint32_t init)
{
	uint32_t i, which;

	/* The oldest in any case, so that numbers can come again. */
	for (i = 0; i < 2; i++) {
		which = i ? below(256) : (init + 1) % 256;
		if (side->held[which])
			side->held[which]->freed = true;
		side->held[which] = NULL;
	}
}

TEST(both_sides_choose_the_same_endpoint)
{
	struct side sides[2] = { { 0 } };
	uint32_t init, i, here, there, most = 0;
	struct collq_pair_endpoint *a, *b;
	bool good;

	srandom(1);
	for (i = 0; i < 2; i++) {
		sides[i].pair = calloc(1, sizeof(*sides[i].pair));
		ASSERT_NE(NULL, sides[i].pair);
	}
	for (init = 1; init < 20000; init++) {
		here = 2 * below(4);
		there = 2 * below(4);
		good = below(10);
		ASSERT_EQ(0, begin_init(&sides[0], init, here, there, below(3)));
		ASSERT_EQ(0, begin_init(&sides[1], init, there, here, below(3)));
		ASSERT_EQ(sides[0].fresh, sides[1].fresh);
		ASSERT_EQ(sides[0].latest->endpoint, sides[1].latest->endpoint);
		ASSERT_NE(UINT32_MAX, tell(&sides[0], &sides[1]));
		ASSERT_NE(UINT32_MAX, tell(&sides[1], &sides[0]));
		end_init(&sides[0], init, here, there, good);
		end_init(&sides[1], init, there, here, good);
		ASSERT_EQ(sides[0].pair->nr, sides[1].pair->nr);
		for (i = 0; i < sides[0].pair->nr; i++) {
			a = &sides[0].pair->endpoints[i];
			b = &sides[1].pair->endpoints[i];
			ASSERT_EQ(a->used_here, b->used_there);
			ASSERT_EQ(a->used_there, b->used_here);
			ASSERT_LE(a->used_here, CAPACITY);
			ASSERT_LE(a->used_there, CAPACITY);
		}
		if (sides[0].pair->nr > most)
			most = sides[0].pair->nr;
		free_some(&sides[0], init);
		free_some(&sides[1], init);
	}
	/* Capacity comes back, or there'd be thousands. */
	EXPECT_GT(most, 1);
	EXPECT_LT(most, NR_ENDPOINTS);
	for (i = 0; i < 2; i++)
		collq_pair_destroy(sides[i].pair);
}

TEST(lease_lasts_until_both_sides_know)
{
	struct collq_pair *pair = calloc(1, sizeof(*pair));
	struct collq_lease *lease;

	ASSERT_NE(NULL, pair);
	ASSERT_EQ(0, collq_pair_add(pair, 10));
	pair->endpoints[0].capacity_here = 4;
	pair->endpoints[0].capacity_there = 4;
	ASSERT_EQ(0, collq_pair_lease(pair, 0, 1, 2, &lease));
	collq_pair_use(pair, lease, 4, 2);
	EXPECT_EQ(1, collq_pair_choose(pair, 2, 2));
	EXPECT_EQ(0, collq_pair_choose(pair, 0, 2));

	lease->freed = true;
	EXPECT_EQ(1, collq_pair_choose(pair, 2, 2));
	EXPECT_EQ(1, collq_pair_tell(pair));
	collq_pair_settle(pair, false);
	EXPECT_EQ(1, collq_pair_tell(pair));
	collq_pair_settle(pair, true);
	EXPECT_EQ(0, collq_pair_tell(pair));
	EXPECT_EQ(1, collq_pair_choose(pair, 2, 2));
	collq_pair_hear(pair, 1);
	collq_pair_settle(pair, false);
	EXPECT_EQ(1, collq_pair_choose(pair, 2, 2));
	collq_pair_hear(pair, 1);
	collq_pair_settle(pair, true);
	EXPECT_EQ(NULL, pair->leases);
	EXPECT_EQ(0, collq_pair_choose(pair, 2, 2));
	EXPECT_EQ(0, collq_pair_choose(pair, 4, 4));
	collq_pair_destroy(pair);
}

/* Both must know, and an initialisation that fails leaves them as they were. */
TEST(failed_endpoint_is_not_chosen)
{
	struct collq_pair *pair = calloc(1, sizeof(*pair));
	struct collq_lease *lease;
	uint32_t i;

	ASSERT_NE(NULL, pair);
	for (i = 0; i < 3; i++) {
		ASSERT_EQ(0, collq_pair_add(pair, 10));
		pair->endpoints[i].capacity_here = 4;
		pair->endpoints[i].capacity_there = 4;
	}
	EXPECT_EQ(0, collq_pair_tell_failed(pair));
	pair->endpoints[0].failed_here = true;
	EXPECT_EQ(1, collq_pair_tell_failed(pair));
	collq_pair_settle_failed(pair, false);
	EXPECT_EQ(0, collq_pair_choose(pair, 2, 2));
	EXPECT_EQ(1, collq_pair_tell_failed(pair));
	EXPECT_TRUE(pair->endpoints[0].telling);
	collq_pair_settle_failed(pair, true);
	EXPECT_EQ(1, collq_pair_choose(pair, 2, 2));
	EXPECT_EQ(0, collq_pair_tell_failed(pair));

	collq_pair_hear_failed(pair, 1);
	collq_pair_hear_failed(pair, 3);
	collq_pair_hear_failed(pair, UINT32_MAX);
	collq_pair_settle_failed(pair, false);
	EXPECT_EQ(1, collq_pair_choose(pair, 2, 2));
	collq_pair_hear_failed(pair, 1);
	collq_pair_settle_failed(pair, true);
	EXPECT_EQ(2, collq_pair_choose(pair, 2, 2));

	ASSERT_EQ(0, collq_pair_lease(pair, 2, 1, 0, &lease));
	EXPECT_TRUE(collq_pair_is_unused(pair, 1));
	EXPECT_FALSE(collq_pair_is_unused(pair, 2));
	collq_pair_destroy(pair);
}

TEST(generations_fit_the_wire)
{
	struct collq_pair *pair = calloc(1, sizeof(*pair));
	struct collq_lease *lease;
	uint32_t i;

	ASSERT_NE(NULL, pair);
	ASSERT_EQ(0, collq_pair_add(pair, 10));
	for (i = 1; i < 600; i++) {
		ASSERT_EQ(0, collq_pair_lease(pair, 0, i, 1, &lease));
		EXPECT_EQ(i % 256, collq_pair_abort_generation(pair, lease));
		EXPECT_EQ(i, collq_pair_generation(pair, lease, 0));
		collq_pair_end(pair, lease);
	}
	collq_pair_destroy(pair);
}

/* The environment */
static int read_with(const char *name, const char *value, struct collq_env *env)
{
	int err;

	setenv(name, value, 1);
	err = collq_env_read(env);
	unsetenv(name);
	return err;
}

TEST(environment_has_defaults)
{
	struct collq_variable variable = { .size = sizeof(variable) };
	struct collq_env env;
	uint32_t i;

	for (i = 0; !collq_variable_get(i, &variable); i++) {
		unsetenv(variable.name);
		ASSERT_EQ(0, collq_variable_get(i, &variable));
		EXPECT_EQ(0, strncmp(variable.name, "COLLQ_", 6));
		EXPECT_STREQ("default", variable.source);
		EXPECT_STREQ(variable.preset, variable.value);
		EXPECT_NE(0, strlen(variable.description));
	}
	EXPECT_LE(14, i);
	EXPECT_EQ(-ENOENT, collq_variable_get(i, &variable));
	EXPECT_EQ(-ENOENT, collq_variable_get(UINT32_MAX, &variable));

	ASSERT_EQ(0, collq_env_read(&env));
	EXPECT_STREQ("", env.net_devices);
	EXPECT_EQ(COLLQ_ENV_AUTO, env.gid_index);
	EXPECT_EQ(COLLQ_TLS_LOCAL | COLLQ_TLS_RC, env.tls);
	EXPECT_EQ(COLLQ_LOG_WARN, env.log_level);
	EXPECT_EQ(COLLQ_BARRIER_AUTO, env.barrier_algorithm);
	EXPECT_EQ(0, env.barrier_radix);
	EXPECT_EQ(16, env.rc_timeout);
	EXPECT_EQ(6, env.rc_retry_count);
	EXPECT_EQ(7, env.rc_rnr_retry);
	EXPECT_EQ(0, env.rc_service_level);
	EXPECT_EQ(0, env.rc_traffic_class);
	EXPECT_EQ(52, env.rc_capacity);
	EXPECT_EQ(1000, env.probe_interval);
	EXPECT_EQ(1024, env.ring_entries);
}

TEST(environment_is_heeded)
{
	struct collq_variable variable = { .size = sizeof(variable) };
	struct collq_env env;
	uint32_t i;

	ASSERT_EQ(0, read_with("COLLQ_NET_DEVICES", "rxe0:1", &env));
	EXPECT_STREQ("rxe0:1", env.net_devices);
	ASSERT_EQ(0, read_with("COLLQ_GID_INDEX", "0", &env));
	EXPECT_EQ(0, env.gid_index);
	ASSERT_EQ(0, read_with("COLLQ_TLS", "rc", &env));
	EXPECT_EQ(COLLQ_TLS_RC, env.tls);
	ASSERT_EQ(0, read_with("COLLQ_TLS", "rc,local", &env));
	EXPECT_EQ(COLLQ_TLS_LOCAL | COLLQ_TLS_RC, env.tls);
	ASSERT_EQ(0, read_with("COLLQ_BARRIER_ALGORITHM", "k-nomial", &env));
	EXPECT_EQ(COLLQ_BARRIER_K_NOMIAL, env.barrier_algorithm);
	ASSERT_EQ(0, read_with("COLLQ_BARRIER_RADIX", "4", &env));
	EXPECT_EQ(4, env.barrier_radix);
	ASSERT_EQ(0, read_with("COLLQ_ALLTOALL_ALGORITHM", "E", &env));
	EXPECT_EQ(COLLQ_ALLTOALL_E, env.alltoall_algorithm);
	ASSERT_EQ(0, read_with("COLLQ_ALLTOALL_ALGORITHM", "pairwise", &env));
	EXPECT_EQ(COLLQ_ALLTOALL_PAIRWISE, env.alltoall_algorithm);
	ASSERT_EQ(0, read_with("COLLQ_LONG_LISTS", "", &env));
	EXPECT_EQ(COLLQ_LONG_LISTS_AUTO, env.long_lists);
	ASSERT_EQ(0, read_with("COLLQ_LONG_LISTS", "pages", &env));
	EXPECT_EQ(COLLQ_LONG_LISTS_PAGES, env.long_lists);
	ASSERT_EQ(0, read_with("COLLQ_LONG_LISTS", "no", &env));
	EXPECT_EQ(COLLQ_LONG_LISTS_NO, env.long_lists);
	ASSERT_EQ(0, read_with("COLLQ_RC_TIMEOUT", "0x12", &env));
	EXPECT_EQ(18, env.rc_timeout);
	ASSERT_EQ(0, read_with("COLLQ_RC_TIMEOUT", "", &env));
	EXPECT_EQ(16, env.rc_timeout);

	ASSERT_EQ(0, read_with("COLLQ_PROBE_INTERVAL", "0", &env));
	EXPECT_EQ(0, env.probe_interval);
	ASSERT_EQ(0, read_with("COLLQ_PROBE_INTERVAL", "10", &env));
	EXPECT_EQ(10, env.probe_interval);

	setenv("COLLQ_LOG_LEVEL", "debug", 1);
	for (i = 0; !collq_variable_get(i, &variable); i++) {
		if (strcmp(variable.name, "COLLQ_LOG_LEVEL"))
			continue;
		EXPECT_STREQ("environment", variable.source);
		EXPECT_STREQ("debug", variable.value);
		EXPECT_STREQ("warn", variable.preset);
	}
}

TEST(environment_is_checked)
{
	static const char * const bad[][2] = {
		{ "COLLQ_GID_INDEX", "-1" }, { "COLLQ_GID_INDEX", "65536" },
		{ "COLLQ_GID_INDEX", "1x" }, { "COLLQ_TLS", "rc,tcp" }, { "COLLQ_TLS", "rc," },
		{ "COLLQ_TLS", "r" }, { "COLLQ_BARRIER_ALGORITHM", "tree" },
		{ "COLLQ_BARRIER_ALGORITHM", "k-nomia" }, { "COLLQ_BARRIER_RADIX", "1" },
		{ "COLLQ_BARRIER_RADIX", "0" }, { "COLLQ_RC_TIMEOUT", "0" },
		{ "COLLQ_RC_TIMEOUT", "32" }, { "COLLQ_RC_RETRY_COUNT", "7" },
		{ "COLLQ_RC_RNR_RETRY", "8" }, { "COLLQ_RC_SERVICE_LEVEL", "16" },
		{ "COLLQ_RC_TRAFFIC_CLASS", "256" }, { "COLLQ_RC_CAPACITY", "1" },
		{ "COLLQ_PROBE_INTERVAL", "9" }, { "COLLQ_PROBE_INTERVAL", "3600001" },
		{ "COLLQ_RING_ENTRIES", "3" }, { "COLLQ_RING_ENTRIES", "0" },
		{ "COLLQ_SPIN", "99999999999999999999" }, { "COLLQ_SPIN", " 1" },
		{ "COLLQ_LOG_LEVEL", "loud" }, { "COLLQ_ALLTOALL_ALGORITHM", "F" },
		{ "COLLQ_LONG_LISTS", "yes" },
	};
	struct collq_env env;
	size_t i;

	/* A malformed level must not matter to the complaint about itself. */
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		setenv("COLLQ_LOG_LEVEL", "none", 1);
		EXPECT_EQ(-EINVAL, read_with(bad[i][0], bad[i][1], &env)) {
			TH_LOG("%s=%s was taken", bad[i][0], bad[i][1]);
		}
	}
	ASSERT_EQ(0, collq_env_read(&env));
}

/* What is said on stderr in the meantime: the number of bytes. */
static long said(enum collq_log_level level)
{
	int kept = dup(STDERR_FILENO), file = memfd_create("said", 0);
	long size;

	dup2(file, STDERR_FILENO);
	collq_log(level, "something");
	dup2(kept, STDERR_FILENO);
	size = lseek(file, 0, SEEK_END);
	close(kept);
	close(file);
	return size;
}

/* Another thread may be changing the environment while something is said. */
TEST(log_level_is_looked_up_once)
{
	struct collq_env env;

	ASSERT_EQ(0, read_with("COLLQ_LOG_LEVEL", "info", &env));
	setenv("COLLQ_LOG_LEVEL", "debug", 1);
	EXPECT_LT(0, said(COLLQ_LOG_INFO));
	EXPECT_EQ(0, said(COLLQ_LOG_DEBUG));
	ASSERT_EQ(0, collq_env_read(&env));
	EXPECT_LT(0, said(COLLQ_LOG_DEBUG));
	unsetenv("COLLQ_LOG_LEVEL");
}

TEST(algorithms_have_names)
{
	EXPECT_STREQ("auto", collq_barrier_algorithm_name(COLLQ_BARRIER_AUTO));
	EXPECT_STREQ("dissemination", collq_barrier_algorithm_name(COLLQ_BARRIER_DISSEMINATION));
	EXPECT_STREQ("recursive-doubling",
		     collq_barrier_algorithm_name(COLLQ_BARRIER_RECURSIVE_DOUBLING));
	EXPECT_STREQ("k-nomial", collq_barrier_algorithm_name(COLLQ_BARRIER_K_NOMIAL));
	EXPECT_EQ(NULL, collq_barrier_algorithm_name(COLLQ_BARRIER_K_NOMIAL + 1));
	EXPECT_EQ(NULL, collq_barrier_algorithm_name(UINT32_MAX));
}

TEST(deadline_is_never_never)
{
	uint64_t now = collq_deadline_in(0);

	EXPECT_LT(0, now);
	EXPECT_LE(now + 1000, collq_deadline_in(1000));
	EXPECT_EQ(UINT64_MAX, collq_deadline_in(UINT64_MAX));
}

/* A program that was compiled with an older header, or with one yet to come. */
TEST(what_is_given_fits_the_callers_structure)
{
	struct collq_variable whole = { .size = sizeof(whole) };
	union {
		struct collq_variable variable;
		unsigned char bytes[4100];
	} old, newer;
	size_t i;

	ASSERT_EQ(0, collq_variable_get(1, &whole));
	memset(&old, 0xa5, sizeof(old));
	old.variable.size = offsetof(struct collq_variable, preset);
	ASSERT_EQ(0, collq_variable_get(1, &old.variable));
	EXPECT_EQ(offsetof(struct collq_variable, preset), old.variable.size);
	EXPECT_STREQ("COLLQ_GID_INDEX", old.variable.name);
	for (i = old.variable.size; i < sizeof(old); i++)
		ASSERT_EQ(0xa5, old.bytes[i]);

	memset(&newer, 0xa5, sizeof(newer));
	newer.variable.size = 4096;
	ASSERT_EQ(0, collq_variable_get(1, &newer.variable));
	EXPECT_EQ(4096, newer.variable.size);
	EXPECT_EQ(whole.description, newer.variable.description);
	for (i = sizeof(whole); i < 4096; i++)
		ASSERT_EQ(0, newer.bytes[i]);
	EXPECT_EQ(0xa5, newer.bytes[4096]);

	newer.variable.size = 4097;
	EXPECT_EQ(-E2BIG, collq_variable_get(1, &newer.variable));
	newer.variable.size = 3;
	EXPECT_EQ(-EINVAL, collq_variable_get(1, &newer.variable));
	newer.variable.size = 0;
	EXPECT_EQ(-EINVAL, collq_variable_get(1, &newer.variable));
}

TEST(version_is_that_of_the_header)
{
	EXPECT_EQ(COLLQ_MAKE_VERSION(0U, 1U), COLLQ_VERSION);
	EXPECT_EQ(COLLQ_VERSION, collq_version());
	EXPECT_GT(COLLQ_MAKE_VERSION(1U, 0U), COLLQ_MAKE_VERSION(0U, 65535U));
}

static int gather(void *arg, const void *send, void *recv, size_t bytes)
{
	int *calls = arg;

	++*calls;
	memcpy(recv, send, bytes);
	return *calls > 1 ? -EIO : 0;
}

TEST(blocking_allgather_is_wrapped)
{
	int calls = 0, in = 5, out = 0;
	struct collq_oob_blocking blocking = { sizeof(blocking), &calls, gather };
	struct collq_oob oob = { .size = sizeof(oob) };
	void *request = &oob;

	ASSERT_EQ(0, collq_oob_from_blocking(&oob, &blocking));
	ASSERT_EQ(0, oob.allgather(oob.arg, &in, &out, sizeof(in), &request));
	EXPECT_EQ(1, calls);
	EXPECT_EQ(5, out);
	EXPECT_EQ(0, oob.test(oob.arg, request));
	oob.req_free(oob.arg, request);
	EXPECT_EQ(-EIO, oob.allgather(oob.arg, &in, &out, sizeof(in), &request));
}

TEST(what_is_taken_may_be_of_other_versions)
{
	struct {
		struct collq_oob_blocking known;
		uint64_t more[2];
	} blocking = {
		.known = { .size = sizeof(blocking), .allgather = gather },
	};
	struct collq_oob oob = { .size = sizeof(oob) };

	EXPECT_EQ(0, collq_oob_from_blocking(&oob, &blocking.known));
	blocking.more[1] = 1ULL << 56;
	EXPECT_EQ(-E2BIG, collq_oob_from_blocking(&oob, &blocking.known));
	blocking.known.size = sizeof(blocking) - 8;
	EXPECT_EQ(0, collq_oob_from_blocking(&oob, &blocking.known));
	/* Without its last member it's one without a function. */
	blocking.known.size = offsetof(struct collq_oob_blocking, allgather);
	EXPECT_EQ(-EINVAL, collq_oob_from_blocking(&oob, &blocking.known));
	blocking.known.size = 0;
	EXPECT_EQ(-EINVAL, collq_oob_from_blocking(&oob, &blocking.known));
	/* As on a stack that nobody has cleared. */
	blocking.known.size = 0x7fff1234;
	EXPECT_EQ(-E2BIG, collq_oob_from_blocking(&oob, &blocking.known));
	blocking.known.size = sizeof(blocking.known);
	oob.size = 0;
	EXPECT_EQ(-EINVAL, collq_oob_from_blocking(&oob, &blocking.known));
}

/* This machine may or may not have a device; either way, these are refused. */
TEST(open_says_what_is_wrong)
{
	struct collq_context *ctx;

	EXPECT_EQ(-ENODEV, collq_open("nosuch0", &ctx));
	EXPECT_EQ(-EINVAL, collq_open("", &ctx));
	EXPECT_EQ(-EINVAL, collq_open(":1", &ctx));
	EXPECT_EQ(-EINVAL, collq_open("nosuch0:0", &ctx));
	EXPECT_EQ(-EINVAL, collq_open("nosuch0:1:1", &ctx));
	EXPECT_EQ(-EINVAL, collq_open("a/b", &ctx));
	EXPECT_EQ(0, collq_close(NULL));
}

TEST_HARNESS_MAIN
