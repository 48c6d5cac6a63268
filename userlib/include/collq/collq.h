/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * libcollq: collectives that the kernel carries out over RDMA, by ib_collq.
 *
 * Three layers, each usable by itself:
 *  - communicators and persistent requests (here): what most programs want;
 *  - graphs (graph.h, graph_data.h): a DAG of tasks, built without a device;
 *  - the kernel's ioctls (raw.h), one function each, on the raw task list.
 *
 * Functions return 0 or a negative errno, unless they say otherwise; errno itself
 * means nothing after them, but is left alone by those that start, test, wait for and
 * cancel requests. Times are absolute, in nanoseconds of CLOCK_MONOTONIC;
 * 0 means never. Ranks are 0..size - 1.
 *
 * Structures of these headers start with their size, which the caller sets
 * before it passes one, whichever way: see collq(7). The API may change before
 * version 1.0.
 *
 * Contexts and communicators may be used by any number of threads at once. A
 * request, a graph and a ring are used by one thread at a time; collq_cancel()
 * is the exception. A child process can't use its parent's objects.
 */
#ifndef COLLQ_COLLQ_H
#define COLLQ_COLLQ_H

#include <stddef.h>
#include <stdint.h>

#include <rdma/ib_collq.h>

#include <collq/collectives.h>
#include <collq/data.h>
#include <collq/graph.h>
#include <collq/graph_data.h>
#include <collq/raw.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/* Of this header; what is linked may be another */
#define COLLQ_VERSION_MAJOR		0U
#define COLLQ_VERSION_MINOR		1U

/* Version numbers that can be compared: with COLLQ_VERSION and collq_version() */
#define COLLQ_MAKE_VERSION(major, minor)	((major) << 16 | (minor))
#define COLLQ_VERSION	COLLQ_MAKE_VERSION(COLLQ_VERSION_MAJOR, COLLQ_VERSION_MINOR)

/* Names nothing: no rank, no index */
#define COLLQ_NONE			0xffffffffU

struct collq_context;
struct ibv_context;		/* of libibverbs */
struct collq_comm;
struct collq_request;

/**
 * collq_version() - which version the library is of
 *
 * Return: the version, as COLLQ_MAKE_VERSION() makes it.
 */
uint32_t collq_version(void);

/* Contexts: one open of an RDMA device. See collq_open(3). */

/**
 * collq_open() - open an RDMA device for collectives
 * @device: the RDMA device's name, perhaps with a port, as in "rxe0" or
 *	"rxe0:1"; NULL for what COLLQ_NET_DEVICES says, or else the first device
 *	found that has an active port
 * @context: out: the context
 *
 * Loads the kernel module if that is possible.
 *
 * Return: 0; -ENODEV if there's no such RDMA device or port; -ENETDOWN if no port
 * of it is active; -EADDRNOTAVAIL if the port has no GID that is of use; -ENXIO if
 * the module isn't loaded or doesn't take the device; -EACCES or -EPERM if
 * permission is missing; -EINVAL if @device or a variable of the environment is
 * malformed; -EOPNOTSUPP if COLLQ_TLS lacks rc, or the module speaks
 * another version of the ABI; or another errno.
 */
int collq_open(const char *device, struct collq_context **context);

/**
 * collq_open_verbs() - open the device of a verbs context for collectives
 * @verbs: a context of libibverbs, which must stay open as long as @context
 * @context: out: the context
 *
 * By way of @verbs' own descriptor where the kernel lets it, else by the character
 * device as collq_open() does; COLLQ_FRONT_END says if it has to be either. Port and GID
 * are chosen as there, and the port that COLLQ_NET_DEVICES names for the device is heeded.
 * A context by way of @verbs belongs to the process that has opened it, and can't be moved
 * to another device.
 *
 * Return: as collq_open(); -EOPNOTSUPP also if COLLQ_FRONT_END is uverbs and the kernel
 * doesn't have it.
 */
int collq_open_verbs(struct ibv_context *verbs, struct collq_context **context);

/**
 * collq_context_front_end() - which way a context's commands take
 * @context: the context
 *
 * Return: "char" or "uverbs".
 */
const char *collq_context_front_end(const struct collq_context *context);

/**
 * collq_close() - close a context
 * @context: the context, or NULL
 *
 * The kernel destroys what objects are left, and sees the last messages of
 * their endpoints delivered after this has returned.
 *
 * Return: 0, or -EBUSY if it has communicators or rings.
 */
int collq_close(struct collq_context *context);

/**
 * collq_context_move() - go on with another device
 * @context: the context
 * @device: which, as for collq_open(); it may be the same one
 *
 * Local. All that the library has made in @context is made once more there; also when
 * the old device is gone. Then all ranks of each communicator, whether they have
 * moved too or not, call collq_comm_reset(), and the same requests run again. Until
 * then their starts give -ENOTCONN.
 *
 * Runs that are under way fail with -ECANCELED, or -ENODEV if the device is gone, also
 * if the move fails later; otherwise all is as it was then. No other thread may use
 * @context or anything in it meanwhile. Buffers of requests that move data must still
 * be there; they are pinned twice for a moment, and count so.
 *
 * collq_fd() stays the same number, but of another file: an epoll(7) instance must be
 * told of it again. What collq_context_device() and the like have given changes.
 *
 * Return: 0; -EBUSY if an initialisation or a reset is under way, or @context has
 * objects that the caller has made with functions of raw.h, which can't be moved;
 * -EOPNOTSUPP if @context is on a verbs descriptor;
 * else as collq_open(), or an error of what is made there.
 */
int collq_context_move(struct collq_context *context, const char *device);

/**
 * collq_fd() - the descriptor of a context, for an event loop
 * @context: the context
 *
 * Readable (POLLIN) while completions of requests or rings wait to be seen by
 * collq_test() and the like. Any of those takes note of the completions of all
 * requests of the context: test every request before going to sleep.
 *
 * Return: the descriptor, which stays the context's.
 */
int collq_fd(const struct collq_context *context);

/**
 * collq_context_device() - name of the RDMA device of a context
 * @context: the context
 *
 * Return: the name, valid as long as the context.
 */
const char *collq_context_device(const struct collq_context *context);

/**
 * collq_context_port() - port of the RDMA device that a context uses
 * @context: the context
 *
 * Return: the port, from 1.
 */
uint32_t collq_context_port(const struct collq_context *context);

/**
 * collq_context_gid_index() - which GID of its port a context uses
 * @context: the context
 *
 * Return: the index, from 0.
 */
uint32_t collq_context_gid_index(const struct collq_context *context);

/**
 * collq_context_limits() - what the module and the device can do
 * @context: the context
 *
 * Return: what the kernel answered to IB_COLLQ_QUERY at collq_open(); valid as
 * long as the context.
 */
const struct ib_collq_query *collq_context_limits(const struct collq_context *context);

/**
 * collq_deadline_in() - a deadline from now
 * @nanoseconds: how far away
 *
 * Return: the time, never 0.
 */
uint64_t collq_deadline_in(uint64_t nanoseconds);

/**
 * struct collq_variable - a variable of the environment that libcollq heeds
 * @size: in: sizeof(struct collq_variable)
 * @name: its name
 * @value: its value now
 * @source: "environment", or "default"
 * @preset: its value by default
 * @description: what it is for, one line
 */
struct collq_variable {
	uint32_t size;
	const char *name;
	const char *value;
	const char *source;
	const char *preset;
	const char *description;
};

/**
 * collq_variable_get() - list the variables of the environment
 * @index: 0, 1, ...
 * @variable: out: the variable; the strings are valid until the environment is
 *	changed
 *
 * Return: 0; -ENOENT behind the last one; -EINVAL or -E2BIG if the size makes no
 * sense.
 */
int collq_variable_get(uint32_t index, struct collq_variable *variable);

/* Communicators. See collq_comm_create(3). */

/**
 * struct collq_oob - how the ranks of a communicator reach each other at first
 * @size: sizeof(struct collq_oob)
 * @arg: passed to the callbacks
 * @allgather: start an allgather: every rank gives @bytes bytes at @send, and
 *	gets those of all at @recv, in order of ranks. Both stay valid and untouched until
 *	the end. Sets @request for the other two and returns 0, or a negative
 *	errno
 * @test: 0 if @request is complete, -EINPROGRESS if not yet, or the negative
 *	errno with which it failed. Must not block
 * @req_free: release @request. One that isn't complete is given up: its buffers
 *	mustn't be touched afterwards
 *
 * The callbacks of a communicator are called by one thread at a time, in the
 * same order by all ranks, and only from within functions that initialise or
 * free a request of the communicator, reset, shrink or destroy it. They must not call
 * such themselves.
 */
struct collq_oob {
	uint32_t size;
	void *arg;
	int (*allgather)(void *arg, const void *send, void *recv, size_t bytes,
			 void **request);
	int (*test)(void *arg, void *request);
	void (*req_free)(void *arg, void *request);
};

/**
 * struct collq_oob_blocking - an allgather that blocks
 * @size: sizeof(struct collq_oob_blocking)
 * @arg: passed to @allgather
 * @allgather: as in &struct collq_oob, but returns when it is complete
 */
struct collq_oob_blocking {
	uint32_t size;
	void *arg;
	int (*allgather)(void *arg, const void *send, void *recv, size_t bytes);
};

/**
 * collq_oob_from_blocking() - callbacks from an allgather that blocks
 * @oob: out: the callbacks; in: their size
 * @blocking: the function; must stay valid as long as @oob is used
 *
 * With it, functions that otherwise don't block may: collq_init_test().
 *
 * Return: 0; -EINVAL if there's no function; -EINVAL or -E2BIG if a size makes no
 * sense.
 */
int collq_oob_from_blocking(struct collq_oob *oob,
			    const struct collq_oob_blocking *blocking);

/**
 * collq_comm_create() - make a communicator
 * @context: the context
 * @rank: rank of the caller
 * @size: number of ranks, at least 1
 * @oob: callbacks, copied; may be NULL if @size is 1
 * @comm: out: the communicator
 *
 * Local: nothing is sent. Ranks get connected by the first initialisation that
 * needs it, and the connections are shared by all requests of the communicator.
 *
 * Return: 0; -EINVAL or -E2BIG if an argument makes no sense; -ENOMEM; and, where
 * it makes the context's ring, -ENOSPC, -EPERM or -ENODEV.
 */
int collq_comm_create(struct collq_context *context, uint32_t rank, uint32_t size,
		      const struct collq_oob *oob, struct collq_comm **comm);

/**
 * collq_comm_destroy() - destroy a communicator
 * @comm: the communicator, or NULL
 *
 * Local. Last messages still reach the peers.
 *
 * Return: 0, or -EBUSY if it has requests.
 */
int collq_comm_destroy(struct collq_comm *comm);

/**
 * collq_comm_shrink() - go on without some ranks
 * @comm: the communicator, some of whose ranks are dead or given up
 * @rank: rank of the caller among those that go on
 * @size: how many go on
 * @oob: callbacks among those that go on, copied; may be NULL if @size is 1
 * @shrunk: out: a new communicator in the same context
 *
 * Local, as collq_comm_create(); who goes on, and with which rank, is for the caller to
 * agree on. The new communicator shares nothing with @comm, which ends: runs of its
 * requests fail with -ECANCELED unless they have failed already, on this rank and
 * with it on others; initialisations are given up with -ECONNABORTED, starts
 * give that too, and its callbacks aren't called any more. Its requests and itself
 * are still to be freed, in any order, before or after.
 *
 * Return: 0; else as collq_comm_create(), or -EINVAL if @size is larger than that of
 * @comm, and @comm hasn't ended.
 */
int collq_comm_shrink(struct collq_comm *comm, uint32_t rank, uint32_t size,
		      const struct collq_oob *oob, struct collq_comm **shrunk);

/**
 * collq_comm_reset() - begin to make a communicator as good as new
 * @comm: the communicator
 *
 * Collective, as an initialisation; collq_comm_reset_test() drives it. For when runs
 * have failed though no rank is dead: a deadline has passed, a run was cancelled,
 * a connection broke. All connections are made anew, and requests that have
 * failed run again.
 *
 * Runs that are under way fail with -ECANCELED, and are to be seen to end as
 * ever. Starts give -EAGAIN until the reset is over.
 *
 * Return: 0; -EBUSY if an initialisation or a reset is under way on this rank;
 * -ECONNABORTED if the communicator can't initialise any more. All other errors are
 * given by collq_comm_reset_test().
 */
int collq_comm_reset(struct collq_comm *comm);

/**
 * collq_comm_reset_test() - go on with a reset
 * @comm: the communicator
 *
 * Return: 0 once all ranks are ready, and requests can be started, or if there was no
 * reset; -EINPROGRESS before that; or why it failed, on this rank or another: starts
 * give -ENOTCONN then until another reset has succeeded. -EINVAL: other ranks do
 * something else. -ECONNABORTED: as for collq_init_test().
 */
int collq_comm_reset_test(struct collq_comm *comm);

/**
 * collq_comm_reset_wait() - finish a reset
 * @comm: the communicator
 * @deadline: when to stop waiting
 *
 * Return: as collq_comm_reset_test(); -ETIME at @deadline, and the reset can be
 * gone on with.
 */
int collq_comm_reset_wait(struct collq_comm *comm, uint64_t deadline);

/* Persistent requests. See collq_barrier_init(3) and collq_start(3). */

/* Algorithms of a barrier */
#define COLLQ_BARRIER_AUTO			0U	/* by a cost model */
#define COLLQ_BARRIER_DISSEMINATION		1U	/* fewest rounds */
#define COLLQ_BARRIER_RECURSIVE_DOUBLING	2U	/* pairwise */
#define COLLQ_BARRIER_K_NOMIAL			3U	/* fan-in, fan-out: fewest messages */

/**
 * collq_barrier_algorithm_name() - name of an algorithm
 * @algorithm: COLLQ_BARRIER_*
 *
 * Return: the name as COLLQ_BARRIER_ALGORITHM has it, such as "k-nomial"; NULL
 * if there's no such algorithm.
 */
const char *collq_barrier_algorithm_name(uint32_t algorithm);

/**
 * struct collq_barrier_options - how to do a barrier
 * @size: sizeof(struct collq_barrier_options)
 * @algorithm: COLLQ_BARRIER_*; with COLLQ_BARRIER_AUTO (0),
 *	COLLQ_BARRIER_ALGORITHM of the environment if set
 * @radix: arity of the tree of COLLQ_BARRIER_K_NOMIAL, from 2; 0 for
 *	COLLQ_BARRIER_RADIX of the environment if set, else by the cost model
 * @processors: for the cost model: how many processors the ranks share, on all
 *	hosts together; 0 if that isn't known
 */
struct collq_barrier_options {
	uint32_t size;
	uint32_t algorithm;
	uint32_t radix;
	uint32_t processors;
};

/**
 * collq_barrier_init() - begin to initialise a persistent barrier
 * @comm: the communicator
 * @options: how; NULL for defaults. The same on all ranks
 * @request: out: the request
 *
 * Collective: called by all ranks of the communicator, with other
 * initialisations in the same order. It doesn't wait for anything itself;
 * collq_init_test() drives it. If it fails on one rank it fails on all.
 *
 * Return: 0; -ENOMEM, or -ENOSPC if the context has 65536 requests; all other
 * errors are given by collq_init_test().
 */
int collq_barrier_init(struct collq_comm *comm,
		       const struct collq_barrier_options *options,
		       struct collq_request **request);

/**
 * collq_graph_init() - begin to initialise a persistent request of any graph
 * @comm: the communicator
 * @graph: what this rank does; peers are ranks. Only read, and not needed any
 *	more when this returns
 * @request: out: the request
 *
 * As collq_barrier_init(). Every out channel must have its in channel at the
 * peer, and the other way round; the messages sent into a channel in one run
 * must be as many as the peer waits for. Each in channel gets a counter, even
 * if no node waits for it.
 *
 * Return: 0; -ENOMEM, or -ENOSPC if the context has 65536 requests; all other
 * errors are given by collq_init_test().
 */
int collq_graph_init(struct collq_comm *comm, const struct collq_graph *graph,
		     struct collq_request **request);

/**
 * collq_init_test() - go on with an initialisation
 * @request: the request
 *
 * Also goes on with those begun before it on the same communicator. Doesn't wait
 * for other ranks, but for the way to their addresses: up to a second for each that
 * can't be reached.
 *
 * Return: 0 once all ranks are ready and the request can be started;
 * -EINPROGRESS before that; or why it failed, on this rank or another: the
 * request is only good for collq_request_free() then. -EINVAL: bad options, or
 * ranks that don't agree. -ECONNABORTED: the communicator can't initialise any
 * more because its callbacks failed, an initialisation was given up, or it was
 * shrunk.
 */
int collq_init_test(struct collq_request *request);

/**
 * collq_init_wait() - finish an initialisation
 * @request: the request
 * @deadline: when to stop waiting
 *
 * Return: as collq_init_test(); -ETIME at @deadline, and the initialisation can
 * be gone on with.
 */
int collq_init_wait(struct collq_request *request, uint64_t deadline);

/**
 * collq_start() - start a run of a request
 * @request: the request
 * @deadline: when the run fails with -ETIMEDOUT, on this rank and with it on
 *	the others
 *
 * Any number of requests may run at once, started in any order.
 *
 * Return: 0; -EAGAIN if the request isn't initialised yet, or a reset of its
 * communicator is under way; -EBUSY if its last run wasn't seen to end by
 * collq_test() or the like, or too many completions of the context wait to be seen;
 * -ENOTCONN if a reset has failed or is due; -ECONNABORTED if its communicator was
 * shrunk; or the error with which an earlier run failed: a request that failed stays
 * so until a reset.
 */
int collq_start(struct collq_request *request, uint64_t deadline);

/**
 * collq_test() - whether a run has ended
 * @request: the request
 *
 * Makes no system call.
 *
 * Return: 0 if it has, or -EINPROGRESS, or the error with which it failed: see
 * &struct ib_collq_completion. With no run started, the result of the last
 * one, or 0. -EAGAIN if the request isn't initialised yet.
 */
int collq_test(struct collq_request *request);

/**
 * collq_wait() - wait until a run has ended
 * @request: the request
 * @deadline: when to stop waiting; the run goes on
 *
 * Signals don't end it.
 *
 * Return: as collq_test(), or -ETIME at @deadline.
 */
int collq_wait(struct collq_request *request, uint64_t deadline);

/**
 * collq_start_wait() - start a run and wait until it has ended
 * @request: the request
 * @deadline: when the run fails with -ETIMEDOUT
 *
 * One system call. Signals don't end it.
 *
 * Return: as collq_start() and collq_wait().
 */
int collq_start_wait(struct collq_request *request, uint64_t deadline);

/**
 * collq_testany() - whether any run has ended
 * @requests: requests; those that are NULL or have no run started don't count
 * @nr: how many
 * @index: out: which one has, else COLLQ_NONE
 *
 * A run is reported once. Makes no system call.
 *
 * Return: the result of the run at @index, as collq_test(); -EINPROGRESS if
 * none has ended, -ENOENT if none is started.
 */
int collq_testany(struct collq_request *const requests[], uint32_t nr, uint32_t *index);

/**
 * collq_waitany() - wait until any run has ended
 * @requests: requests of one context; else as for collq_testany()
 * @nr: how many
 * @index: out: which one has, else COLLQ_NONE
 * @deadline: when to stop waiting
 *
 * Return: as collq_testany(); -ETIME at @deadline; -EINVAL if the requests are
 * of several contexts.
 */
int collq_waitany(struct collq_request *const requests[], uint32_t nr, uint32_t *index,
		  uint64_t deadline);

/**
 * collq_cancel() - end a run with -ECANCELED, on this rank and then on others
 * @request: the request
 *
 * May be called from any thread, and from a signal handler, while another thread
 * waits for the run. It may come before a collq_start_wait() that has begun has
 * reached the kernel: then it finds no run (-ENOENT), and is to be repeated. Not
 * at the same time as collq_request_free(). The run is still to be seen to end by
 * collq_test() or the like, and may turn out to have been quicker.
 *
 * Return: 0, -ENOENT if no run is going on, or -EAGAIN if the request isn't
 * initialised yet.
 */
int collq_cancel(struct collq_request *request);

/**
 * struct collq_failure - what is known of a run that failed
 * @size: in: sizeof(struct collq_failure)
 * @error: the negative errno
 * @peer: rank at the other end of the endpoint that failed or brought the news,
 *	else COLLQ_NONE
 * @endpoint: that endpoint, else IB_COLLQ_NO_OBJECT
 * @task: index of the task that failed or was being carried out, else
 *	IB_COLLQ_NO_TASK
 * @label: label of that task; in a barrier, the round
 */
struct collq_failure {
	uint32_t size;
	int32_t error;
	uint32_t peer;
	uint32_t endpoint;
	uint32_t task;
	uint32_t label;
};

/**
 * collq_request_failure() - why a run failed
 * @request: the request
 * @failure: out: what is known
 *
 * Return: 0; -ENOENT if no run has been seen to fail; -EINVAL or -E2BIG if the
 * size makes no sense.
 */
int collq_request_failure(const struct collq_request *request,
			  struct collq_failure *failure);

/**
 * collq_request_free() - free a request
 * @request: the request, or NULL
 *
 * Local. Cancels a run that is going on. Gives up an initialisation that is:
 * then the communicator can't initialise any more, since ranks have lost step.
 */
void collq_request_free(struct collq_request *request);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif /* COLLQ_COLLQ_H */
