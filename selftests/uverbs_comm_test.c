// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A verbs program's collectives: with the context, the protection domain and the memory
 * regions that it has already, barriers and all-to-alls run, and nothing is pinned twice.
 * Where the kernel doesn't have that front end they run all the same.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/verbs.h>

#include "kselftest_harness.h"

#include "blocks.h"
#include "collq_memory.h"
#include "team.h"
#include "verbs_device.h"

#define RUNS	5

/* What a verbs program has, and a communicator beside that */
struct program {
	struct team_member *me;
	struct ibv_context *ibv;
	struct ibv_pd *pd;
	struct ibv_mr *send, *recv;
	struct blocks blocks;
	struct collq_context *ctx;
	struct collq_comm *comm;
};

static struct ibv_mr *registered(struct ibv_pd *pd, void *memory, const struct blocks *blocks)
{
	return ibv_reg_mr(pd, memory, blocks->nr * blocks->bytes, IBV_ACCESS_LOCAL_WRITE);
}

/* Whether the kernel has that front end: it's asked for, and no other. */
static bool has_uverbs(void)
{
	struct ibv_context *ibv = verbs_device_open();
	struct collq_context *ctx;
	int err = -ENODEV;

	setenv("COLLQ_FRONT_END", "uverbs", 1);
	if (ibv)
		err = collq_open_verbs(ibv, &ctx);
	if (!err)
		collq_close(ctx);
	if (ibv)
		ibv_close_device(ibv);
	return !err;
}

/* @front_end: what is asked for, and got */
static void begin(struct team_member *me, struct program *program, uint64_t bytes,
		  const char *front_end)
{
	struct collq_oob oob = team_oob(me, 0);

	program->me = me;
	CHECK(program->ibv = verbs_device_open());
	CHECK(program->pd = ibv_alloc_pd(program->ibv));
	CHECK(blocks_new(&program->blocks, me->rank, me->size, bytes, false));
	CHECK(program->send = registered(program->pd, program->blocks.send, &program->blocks));
	CHECK(program->recv = registered(program->pd, program->blocks.recv, &program->blocks));
	setenv("COLLQ_FRONT_END", front_end, 1);
	CHECK_IS(0, collq_open_verbs(program->ibv, &program->ctx));
	CHECK_IS(0, strcmp(front_end, collq_context_front_end(program->ctx)));
	CHECK_IS(0, collq_comm_create(program->ctx, me->rank, me->size, &oob, &program->comm));
}

/* All of it is the program's again at once, and no earlier. */
static void end(struct program *program)
{
	struct team_member *me = program->me;

	CHECK_IS(0, collq_comm_destroy(program->comm));
	CHECK_IS(0, ibv_dereg_mr(program->send));
	CHECK_IS(0, ibv_dereg_mr(program->recv));
	CHECK_IS(0, ibv_dealloc_pd(program->pd));
	CHECK_IS(0, collq_close(program->ctx));
	CHECK_IS(0, ibv_close_device(program->ibv));
	blocks_free(&program->blocks);
}

static int init_alltoall(struct program *program, const struct collq_alltoall_options *options,
			 const void *send, struct collq_request **request)
{
	struct team_member *me = program->me;

	CHECK_IS(0, collq_alltoall_init(program->comm, send, program->blocks.recv,
					program->blocks.bytes, options, request));
	return collq_init_wait(*request, team_deadline());
}

static struct collq_alltoall_options options_of(const struct program *program)
{
	return (struct collq_alltoall_options){
		.size = sizeof(struct collq_alltoall_options),
		.send_mr = program->send,
		.recv_mr = program->recv,
	};
}

static void run_alltoalls(struct program *program)
{
	const struct collq_alltoall_options options = options_of(program);
	struct team_member *me = program->me;
	struct collq_request *request;
	uint32_t from;
	int64_t run;

	CHECK_IS(0, init_alltoall(program, &options, program->blocks.send, &request));
	for (run = 0; run < RUNS; run++) {
		blocks_fill(&program->blocks, run);
		CHECK_IS(0, run % 2 ? collq_start(request, 0) :
				      collq_start_wait(request, team_deadline()));
		if (run % 2)
			CHECK_IS(0, collq_wait(request, team_deadline()));
		CHECK_IS(0, blocks_count_wrong(&program->blocks, run, &from));
	}
	/* The same buffers once more; and others, which aren't in there. */
	CHECK_IS(0, collq_request_bind(request, program->blocks.send, program->blocks.recv));
	if (!strcmp(collq_context_front_end(program->ctx), "uverbs"))
		CHECK_IS(-EINVAL, collq_request_bind(request, program->blocks.recv,
						     program->blocks.send));
	CHECK_IS(0, collq_start_wait(request, team_deadline()));
	collq_request_free(request);
}

static void run_barrier(struct program *program)
{
	struct team_member *me = program->me;
	struct collq_request *request;

	CHECK_IS(0, collq_barrier_init(program->comm, NULL, &request));
	CHECK_IS(0, collq_init_wait(request, team_deadline()));
	CHECK_IS(0, collq_start_wait(request, team_deadline()));
	collq_request_free(request);
}

static void with_front_end(struct team_member *me, const char *front_end, uint64_t bytes)
{
	struct program program;

	begin(me, &program, bytes, front_end);
	run_barrier(&program);
	run_alltoalls(&program);
	end(&program);
}

static void on_uverbs(struct team_member *me)
{
	with_front_end(me, "uverbs", 40001);
	with_front_end(me, "uverbs", 1);
}

static void on_char(struct team_member *me)
{
	with_front_end(me, "char", 40001);
}

static void on_either(struct team_member *me)
{
	with_front_end(me, me->rank % 2 ? "uverbs" : "char", 3000);
}

/* What nobody has asked for is uverbs where that's to be had, else the other one. */
static void on_any(struct team_member *me)
{
	const char *expected = has_uverbs() ? "uverbs" : "char";
	struct collq_context *ctx;
	struct ibv_context *ibv;

	unsetenv("COLLQ_FRONT_END");
	CHECK(ibv = verbs_device_open());
	CHECK_IS(0, collq_open_verbs(ibv, &ctx));
	CHECK_IS(0, strcmp(expected, collq_context_front_end(ctx)));
	CHECK_IS(0, collq_close(ctx));
	CHECK_IS(0, ibv_close_device(ibv));
	with_front_end(me, expected, 5000);
}

TEST(whichever_there_is)
{
	EXPECT_EQ(0, team_run(3, on_any));
}

/* All else is about that front end. */
FIXTURE(uverbs) { };

FIXTURE_SETUP(uverbs)
{
	if (!has_uverbs())
		SKIP(return, "no uverbs front end");
}

FIXTURE_TEARDOWN(uverbs) { }

TEST_F(uverbs, each_front_end)
{
	EXPECT_EQ(0, team_run(1, on_uverbs));
	EXPECT_EQ(0, team_run(4, on_uverbs));
	EXPECT_EQ(0, team_run(3, on_char));
}

/* Only what moves the memory differs, so ranks needn't agree. */
TEST_F(uverbs, both_front_ends)
{
	EXPECT_EQ(0, team_run(4, on_either));
}

static void run_pinned(struct team_member *me)
{
	struct collq_alltoall_options options;
	struct collq_request *request;
	struct program program;
	long pinned;

	begin(me, &program, 1 << 20, "uverbs");
	options = options_of(&program);
	pinned = raw_status_kb("VmPin");
	CHECK(pinned >= 2 * (long)me->size * 1024);
	CHECK_IS(0, init_alltoall(&program, &options, program.blocks.send, &request));
	CHECK_IS(0, collq_start_wait(request, team_deadline()));
	CHECK_IS(pinned, raw_status_kb("VmPin"));
	/* As long as they are used. */
	CHECK_IS(EBUSY, ibv_dereg_mr(program.recv));
	CHECK_IS(EBUSY, ibv_dealloc_pd(program.pd));
	team_meet(me);
	collq_request_free(request);
	end(&program);
}

TEST_F(uverbs, pinned_once)
{
	EXPECT_EQ(0, team_run(3, run_pinned));
}

/* Whatever is wrong with the regions, all ranks hear of it. */
static void run_refused(struct team_member *me)
{
	struct collq_alltoall_options options;
	struct collq_request *request;
	struct program program;

	begin(me, &program, 1000, "uverbs");
	options = options_of(&program);
	options.recv_mr = me->rank ? program.recv : NULL;
	CHECK_IS(-EINVAL, init_alltoall(&program, &options, program.blocks.send, &request));
	collq_request_free(request);
	options = options_of(&program);
	options.send_mr = me->rank ? program.send : program.recv;
	CHECK_IS(-EINVAL, init_alltoall(&program, &options, program.blocks.send, &request));
	collq_request_free(request);
	options = options_of(&program);
	CHECK_IS(-EINVAL, init_alltoall(&program, &options, COLLQ_IN_PLACE, &request));
	collq_request_free(request);
	options.layout = COLLQ_ALLTOALL_A;
	CHECK_IS(-EINVAL, init_alltoall(&program, &options, program.blocks.send, &request));
	collq_request_free(request);
	/* Only some have any. */
	options = (struct collq_alltoall_options){
		.size = sizeof(options), .layout = COLLQ_ALLTOALL_PAIRWISE,
	};
	if (me->rank)
		options = options_of(&program);
	CHECK_IS(-EINVAL, init_alltoall(&program, &options, program.blocks.send, &request));
	collq_request_free(request);
	run_alltoalls(&program);
	end(&program);
}

TEST_F(uverbs, refused)
{
	EXPECT_EQ(0, team_run(2, run_refused));
}

/* The raw calls: what is the program's is used, by uverbs; the other way has no use for it. */
static void run_raw(struct team_member *me)
{
	struct ib_collq_object_destroy destroy[2] = {};
	struct ib_collq_endpoint_create attr;
	struct ib_collq_region_create region = {
		.size = sizeof(region), .type = IB_COLLQ_REGION_MR, .length = 4096,
	};
	struct program program;
	long pinned;

	begin(me, &program, 4096, me->rank ? "char" : "uverbs");
	/* A message endpoint belongs to a signal endpoint. */
	collq_endpoint_defaults(program.ctx, 0, &attr);
	attr.flags = 0;
	CHECK_IS(1, collq_endpoint_create(program.ctx, &attr, 1));
	destroy[1].id = attr.id;
	attr.kind = IB_COLLQ_ENDPOINT_MESSAGE;
	attr.flags = IB_COLLQ_ENDPOINT_PD;
	attr.signal_endpoint = destroy[1].id;
	if (me->rank) {
		CHECK_IS(-EOPNOTSUPP, collq_endpoint_create_pd(program.ctx, program.pd, &attr));
		/* Here the memory is registered again, within the memory region. */
		region.address = program.send->length - 4095;
		CHECK_IS(-EINVAL, collq_region_create_mr(program.ctx, program.send, &region));
		region.address--;
		pinned = raw_status_kb("VmPin");
		CHECK_IS(0, collq_region_create_mr(program.ctx, program.send, &region));
		CHECK(raw_status_kb("VmPin") >= pinned + 4);
		destroy[0].id = region.id;
		CHECK_IS(1, collq_object_destroy(program.ctx, destroy, 1));
		CHECK_IS(1, collq_object_destroy(program.ctx, &destroy[1], 1));
	} else {
		CHECK_IS(0, collq_endpoint_create_pd(program.ctx, program.pd, &attr));
		CHECK_IS(0, collq_region_create_mr(program.ctx, program.send, &region));
		CHECK_IS(EBUSY, ibv_dereg_mr(program.send));
		destroy[0].id = region.id;
		CHECK_IS(1, collq_object_destroy(program.ctx, destroy, 1));
		destroy[0].id = attr.id;
		CHECK_IS(2, collq_object_destroy(program.ctx, destroy, 2));
	}
	end(&program);
}

TEST_F(uverbs, raw_calls)
{
	EXPECT_EQ(0, team_run(2, run_raw));
}

TEST_HARNESS_MAIN
