// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A peer that has vanished without a word, found out by who only waits for it: as
 * libcollq's endpoints probe.
 *
 * The one that vanishes gives its peers addresses of queue pairs that aren't
 * there. So nothing ever comes back from it, as if its host had lost its power.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "kselftest_harness.h"

#include "kill.h"
#include "team.h"

#define RANKS		4
#define VANISHED	2
#define LIMIT_S		120

/* Beyond all that rxe gives */
#define OTHER_QPN	0x800000U

struct found {
	_Atomic int error[RANKS];
	_Atomic uint64_t took_ns[RANKS];
};

static struct found *found;
static uint64_t patience_ns;
static struct collq_oob honest;

/* Addresses are found by what never changes in those of one context's endpoints. */
static bool is_address(const unsigned char *bytes, const struct ib_collq_address *like)
{
	struct ib_collq_address address;

	memcpy(&address, bytes, sizeof(address));
	return address.kind == like->kind && address.device == like->device &&
	       !memcmp(address.gid, like->gid, sizeof(address.gid)) &&
	       !memcmp(address.instance, like->instance, sizeof(address.instance));
}

static void sample_address(struct collq_context *ctx, struct ib_collq_address *address)
{
	struct ib_collq_endpoint_create endpoint;
	struct ib_collq_object_destroy entry = { .type = IB_COLLQ_OBJECT_ENDPOINT };

	collq_endpoint_defaults(ctx, 0, &endpoint);
	if (collq_endpoint_create(ctx, &endpoint, 1) != 1)
		return;
	memcpy(address, endpoint.address, sizeof(*address));
	entry.id = endpoint.id;
	collq_object_destroy(ctx, &entry, 1);
}

static struct ib_collq_address sample;

static int false_allgather(void *arg, const void *send, void *recv, size_t bytes, void **request)
{
	unsigned char block[TEAM_BLOCK];
	struct ib_collq_address address;
	size_t i;

	if (bytes > sizeof(block))
		return -EINVAL;
	memcpy(block, send, bytes);
	for (i = 0; i + sizeof(address) <= bytes; i++) {
		if (!is_address(block + i, &sample))
			continue;
		memcpy(&address, block + i, sizeof(address));
		address.qpn ^= OTHER_QPN;
		memcpy(block + i, &address, sizeof(address));
	}
	return honest.allgather(arg, block, recv, bytes, request);
}

static struct collq_request *fan_in(struct team_member *me)
{
	const struct collq_barrier_options options = {
		.size = sizeof(options),
		.algorithm = COLLQ_BARRIER_K_NOMIAL,
		.radix = RANKS,
	};
	struct collq_oob oob = team_oob(me, 0);
	struct collq_request *request;

	honest = oob;
	if (me->rank == VANISHED) {
		sample_address(me->ctx, &sample);
		CHECK(sample.version);
		oob.allgather = false_allgather;
	}
	CHECK_IS(0, collq_comm_destroy(me->comm[0]));
	CHECK_IS(0, collq_comm_create(me->ctx, me->rank, me->size, &oob, &me->comm[0]));
	CHECK_IS(0, collq_barrier_init(me->comm[0], &options, &request));
	CHECK_IS(0, collq_init_wait(request, team_deadline()));
	return request;
}

static void member(struct team_member *me)
{
	struct collq_request *request = fan_in(me);
	struct collq_failure failure = { .size = sizeof(failure) };
	uint64_t begin;
	int err;

	team_meet(me);
	if (me->rank != VANISHED) {
		begin = collq_deadline_in(0);
		err = collq_start_wait(request, begin + patience_ns);
		atomic_store(&found->took_ns[me->rank], collq_deadline_in(0) - begin);
		atomic_store(&found->error[me->rank], err);
		CHECK_IS(0, collq_request_failure(request, &failure));
		/* Rank 0 knows whom it has missed. */
		if (!me->rank && err == -EHOSTUNREACH)
			CHECK_IS(VANISHED, failure.peer);
	}
	team_meet(me);
	collq_request_free(request);
}

FIXTURE(vanished) {
};

FIXTURE_VARIANT(vanished) {
	const char *interval, *timeout;	/* of the environment */
	int expected;
	uint64_t least_ns, most_ns;
};

/* As when nobody says anything */
FIXTURE_VARIANT_ADD(vanished, by_default) {
	.expected = -EHOSTUNREACH,
	.least_ns = KILL_RETRIES_NS / 2,
	.most_ns = KILL_DETECTION_NS,
};

/* 4.096 us x 2^14, seven times */
FIXTURE_VARIANT_ADD(vanished, quickly) {
	.interval = "50",
	.timeout = "14",
	.expected = -EHOSTUNREACH,
	.least_ns = 7 * 67108864ULL / 2,
	.most_ns = 50000000 + 7 * 67108864ULL,
};

/* Without probing there's only the deadline. */
FIXTURE_VARIANT_ADD(vanished, unnoticed) {
	.interval = "0",
	.timeout = "14",
	.expected = -ETIMEDOUT,
	.least_ns = 3000000000ULL,
	.most_ns = 3000000000ULL,
};

FIXTURE_SETUP(vanished)
{
	found = mmap(NULL, sizeof(*found), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		     -1, 0);
	ASSERT_NE(MAP_FAILED, found);
	if (variant->interval)
		setenv("COLLQ_PROBE_INTERVAL", variant->interval, 1);
	if (variant->timeout)
		setenv("COLLQ_RC_TIMEOUT", variant->timeout, 1);
	patience_ns = variant->expected == -ETIMEDOUT ? variant->least_ns : TEAM_PATIENCE_NS;
}

FIXTURE_TEARDOWN(vanished)
{
	munmap(found, sizeof(*found));
}

/* The root hears nothing by itself; the others hear of it from the root. */
TEST_F_TIMEOUT(vanished, whom_the_root_waits_for, LIMIT_S)
{
	uint32_t i;

	ASSERT_EQ(0, team_run(RANKS, member));
	for (i = 0; i < RANKS; i++) {
		if (i == VANISHED)
			continue;
		EXPECT_EQ(variant->expected, found->error[i])
			TH_LOG("rank %u", i);
		EXPECT_LE(variant->least_ns, found->took_ns[i] + 10000000);
		EXPECT_GE(variant->most_ns + team_grace_ns(), found->took_ns[i]);
	}
	TH_LOG("%.3f s", found->took_ns[0] / 1e9);
}

TEST_HARNESS_MAIN
