/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Persistent requests that move data: all-to-alls, allreduces and graphs of one's own.
 * See collq_alltoall_init(3). They are initialised, run and freed as all requests are:
 * see collq.h.
 *
 * Buffers become known to the kernel at initialisation, and stay so until the request
 * is freed or other buffers are bound: their pages are pinned, and count against
 * RLIMIT_MEMLOCK. While no run is going on they are the caller's; during a run the send
 * buffer may be read and the receive buffer not be touched.
 */
#ifndef COLLQ_DATA_PUBLIC_H
#define COLLQ_DATA_PUBLIC_H

#include <stdint.h>

#include <collq/collectives.h>
#include <collq/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

struct collq_comm;
struct collq_request;
struct ibv_mr;

/* In place of a send buffer: what is to be sent is in the receive buffer. */
#define COLLQ_IN_PLACE			((const void *)-1)

/**
 * collq_alltoall_layout_name() - name of a layout
 * @layout: COLLQ_ALLTOALL_*
 *
 * Return: the name as COLLQ_ALLTOALL_ALGORITHM has it, such as "A"; NULL if there's no
 * such layout.
 */
const char *collq_alltoall_layout_name(uint32_t layout);

/**
 * struct collq_alltoall_options - how to do an all-to-all
 * @size: sizeof(struct collq_alltoall_options)
 * @layout: COLLQ_ALLTOALL_*; with COLLQ_ALLTOALL_AUTO (0), COLLQ_ALLTOALL_ALGORITHM of
 *	the environment if set
 * @packing: COLLQ_PACKING_*; 0 for COLLQ_PACKING_SELECTIVE
 * @radix: see &struct collq_alltoall; 0 for 2
 * @send_mr: memory region of libibverbs that the send buffer lies in, or NULL
 * @recv_mr: the same for the receive buffer, with local write access; both or none, on all
 *	ranks or none
 */
struct collq_alltoall_options {
	uint32_t size;
	uint32_t layout;
	uint32_t packing;
	uint32_t radix;
	const struct ibv_mr *send_mr;
	const struct ibv_mr *recv_mr;
};

/**
 * collq_alltoall_init() - begin to initialise a persistent all-to-all
 * @comm: the communicator
 * @sendbuf: as many blocks as there are ranks: block i goes to rank i. COLLQ_IN_PLACE if
 *	they are in @recvbuf, on all ranks or none
 * @recvbuf: as many blocks: block i comes from rank i. The two mustn't overlap
 * @bytes: bytes of a block, from 0 to max_message of collq_context_limits(). The
 *	same on all ranks
 * @options: how; NULL for defaults. The same on all ranks
 * @request: out: the request
 *
 * As collq_barrier_init(). Each run sends what is in the send buffer when it is started,
 * and has ended when both buffers are the caller's again.
 *
 * Return: 0; -ENOMEM, or -ENOSPC if the context has 65536 requests; all other errors are
 * given by collq_init_test().
 */
int collq_alltoall_init(struct collq_comm *comm, const void *sendbuf, void *recvbuf,
			uint64_t bytes, const struct collq_alltoall_options *options,
			struct collq_request **request);

/**
 * collq_alltoall_chosen() - how an all-to-all is done
 * @request: the request, initialised
 * @alltoall: out: what its graph was made of: the layout, and limits of all ranks. Those
 *	of lists are higher than the device's where lists that are too long are registered,
 *	which collq_graph_data_init() does, too
 *
 * Return: 0; -EAGAIN if the request isn't initialised yet; -EINVAL if it's no
 * all-to-all; -EINVAL or -E2BIG if the size makes no sense.
 */
int collq_alltoall_chosen(const struct collq_request *request,
			  struct collq_alltoall *alltoall);

/**
 * collq_allreduce_init() - begin to initialise a persistent allreduce
 * @comm: the communicator
 * @sendbuf: this rank's numbers, or COLLQ_IN_PLACE if they are in @recvbuf
 * @recvbuf: where the results go to. The two mustn't overlap
 * @count: how many numbers; with IB_COLLQ_CALC_MINLOC and _MAXLOC, how many pairs
 * @op: IB_COLLQ_CALC_*
 * @type: IB_COLLQ_TYPE_*
 * @request: out: the request
 *
 * As collq_alltoall_init(). @count, @op and @type are the same on all ranks.
 *
 * Return: as collq_alltoall_init().
 */
int collq_allreduce_init(struct collq_comm *comm, const void *sendbuf, void *recvbuf,
			 uint64_t count, uint32_t op, uint32_t type,
			 struct collq_request **request);

/**
 * struct collq_graph_data - what a graph that moves data works on
 * @size: sizeof(struct collq_graph_data)
 * @generations: of scratch memory, 1 or 2: run n has that of generation n modulo this
 * @send: COLLQ_BUFFER_SEND, which is only read; may be COLLQ_IN_PLACE
 * @recv: COLLQ_BUFFER_RECV
 * @send_bytes: bytes at @send
 * @recv_bytes: bytes at @recv
 * @scratch: bytes of COLLQ_BUFFER_SCRATCH, in one generation
 * @prelude: what to run before the first run, once for each generation; NULL: nothing.
 *	It has the message channels of the graph, and posts receives only
 */
struct collq_graph_data {
	uint32_t size;
	uint32_t generations;
	const void *send;
	void *recv;
	uint64_t send_bytes;
	uint64_t recv_bytes;
	uint64_t scratch;
	const struct collq_graph *prelude;
};

/**
 * collq_graph_data_init() - begin to initialise a request of any graph that moves data
 * @comm: the communicator
 * @graph: what this rank does; peers are ranks. Only read, and not needed any more when
 *	this returns; so is the prelude
 * @data: its buffers
 * @request: out: the request
 *
 * As collq_graph_init(). Writes into landing zones (collq_graph_write()) are for
 * collq_graph_upload() only: -EINVAL. A message channel must be there at the peer too,
 * which receives in one run as many messages as are sent.
 *
 * Return: 0; -EINVAL or -E2BIG if @data makes no sense; -ENOMEM, or -ENOSPC if the
 * context has 65536 requests; all other errors are given by collq_init_test().
 */
int collq_graph_data_init(struct collq_comm *comm, const struct collq_graph *graph,
			  const struct collq_graph_data *data,
			  struct collq_request **request);

/**
 * collq_request_graph() - the graph that a request runs
 * @request: the request
 *
 * Return: the graph, valid as long as the request; NULL if it isn't initialised yet.
 */
const struct collq_graph *collq_request_graph(const struct collq_request *request);

/**
 * collq_request_bind() - let a request work on other buffers
 * @request: a request that moves data
 * @sendbuf: the send buffer; COLLQ_IN_PLACE if the request was made so, and only then
 * @recvbuf: the receive buffer
 *
 * Local. They are as long as those that the request was made with. The old ones are
 * released.
 *
 * Return: 0; -EAGAIN if the request isn't initialised yet, -EBUSY if a run hasn't been
 * seen to end; -EINVAL if the request moves no data, or a buffer makes no sense; or an
 * error of IB_COLLQ_REGION_CREATE, and nothing has changed.
 */
int collq_request_bind(struct collq_request *request, const void *sendbuf, void *recvbuf);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif /* COLLQ_DATA_PUBLIC_H */
