/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Graphs of collectives that move data: all-to-all and allreduce. See
 * collq_alltoall_graph(3) and collq_allreduce_graph(3).
 *
 * As all graphs they are built in memory alone. Their buffers are the caller's and
 * one of the library: COLLQ_BUFFER_SEND, _RECV and _SCRATCH. How much scratch memory
 * that is, and in how many *generations*, is told when a graph is built. Where there
 * are two, run n is bound to the scratch memory of generation n modulo 2, because
 * a peer may be in run n + 1 already: its messages land where run n has nothing.
 *
 * Such early messages need their receives. Those for run n + 2 are posted in run n,
 * and those for the first two by a graph of their own, the *prelude*: it is run once
 * for each generation, bound to the scratch memory of that, on all ranks before any
 * of them begins its first run. Message endpoints that are made anew need it again.
 */
#ifndef COLLQ_COLLECTIVES_H
#define COLLQ_COLLECTIVES_H

#include <stdint.h>

#include <collq/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/* Buffers of the graphs */
#define COLLQ_BUFFER_SEND		0U	/* the caller's; only read */
#define COLLQ_BUFFER_RECV		1U	/* the caller's */
#define COLLQ_BUFFER_SCRATCH		2U	/* the library's */

/* How an all-to-all lays data out between its steps */
#define COLLQ_ALLTOALL_AUTO		0U	/* whichever costs least */
#define COLLQ_ALLTOALL_A		1U	/* classic: rotated, in one scratch array */
#define COLLQ_ALLTOALL_B		2U	/* modified: in the receive buffer */
#define COLLQ_ALLTOALL_C		3U	/* zero rotation: from the send buffer at first */
#define COLLQ_ALLTOALL_D		4U	/* zero copy: to and fro */
#define COLLQ_ALLTOALL_E		5U	/* step blocks: where they have landed */
#define COLLQ_ALLTOALL_PAIRWISE		6U	/* each block straight to its receiver */

/* Who gathers the blocks of a message, and scatters them */
#define COLLQ_PACKING_CPU		1U	/* COPY */
#define COLLQ_PACKING_SG		2U	/* the adapter, by lists */
#define COLLQ_PACKING_SELECTIVE		3U	/* for each step whatever costs less */

/* struct collq_alltoall.flags */
#define COLLQ_ALLTOALL_IN_PLACE		(1U << 0)	/* receive buffer is the send buffer */
#define COLLQ_ALLTOALL_NOT_OWN		(1U << 1)	/* leaves the rank's own block alone */
#define COLLQ_ALLTOALL_LOCAL		(1U << 2)	/* costs less: all endpoints are local */

/**
 * struct collq_alltoall - an all-to-all, as one rank takes part in it
 * @size: sizeof(struct collq_alltoall)
 * @flags: COLLQ_ALLTOALL_* bits
 * @rank: the rank. All else must be the same on all ranks
 * @nr_ranks: number of ranks, at least 1
 * @block: bytes from each rank to each, 0..@max_message
 * @layout: COLLQ_ALLTOALL_*; COLLQ_ALLTOALL_AUTO has been replaced before
 * @packing: COLLQ_PACKING_*; has no meaning for COLLQ_ALLTOALL_PAIRWISE
 * @radix: a block travels one digit of its distance, to this base, at a time: from 2
 *	on; 0 for 2. Has no meaning for COLLQ_ALLTOALL_PAIRWISE, but mustn't be 1
 * @max_send_sge: longest list that may be sent: the least of all ranks' devices
 * @max_recv_sge: longest list that may be received into, likewise
 * @max_message: longest message and copy in bytes, likewise
 * @region_part: in parts of how many bytes memory may be registered, likewise: lists leave
 *	room for entries that lie in two of them; 0 if it is in one part always
 */
struct collq_alltoall {
	uint32_t size;
	uint32_t flags;
	uint32_t rank;
	uint32_t nr_ranks;
	uint64_t block;
	uint32_t layout;
	uint32_t packing;
	uint32_t radix;
	uint32_t max_send_sge;
	uint32_t max_recv_sge;
	uint64_t max_message;
	uint64_t region_part;
};

/**
 * struct collq_needs - what it takes to run a graph of a collective
 * @size: in: sizeof(struct collq_needs)
 * @generations: how many times the scratch memory is needed, 1 or 2
 * @scratch: bytes of scratch memory of one generation
 * @own_bytes: bytes that the graph copies only to get what the rank has for itself
 *	from the send buffer to the receive buffer
 */
struct collq_needs {
	uint32_t size;
	uint32_t generations;
	uint64_t scratch;
	uint64_t own_bytes;
};

/**
 * collq_alltoall_graph() - add what one rank does in an all-to-all
 * @graph: an empty graph
 * @alltoall: the all-to-all
 * @needs: out: what it takes to run it
 *
 * Block i of the send buffer goes to rank i, and block i of the receive buffer comes
 * from rank i. A run ends when the graph has no more to do with either. Labels count
 * the steps from 0.
 *
 * Return: 0; -EINVAL if a value is out of range or @graph isn't empty; -EINVAL or
 * -E2BIG if a size makes no sense; -ENOMEM, after which the graph is of use for
 * collq_graph_free() only.
 */
int collq_alltoall_graph(struct collq_graph *graph, const struct collq_alltoall *alltoall,
			 struct collq_needs *needs);

/**
 * collq_alltoall_prelude() - add the receives for the first run of a generation
 * @graph: an empty graph
 * @alltoall: the all-to-all
 *
 * The graph stays empty if there's nothing to receive early. It has the message
 * channels of the graph that collq_alltoall_graph() makes, with the same indices, and
 * no other channels.
 *
 * Return: as collq_alltoall_graph().
 */
int collq_alltoall_prelude(struct collq_graph *graph,
			   const struct collq_alltoall *alltoall);

/* struct collq_allreduce.flags */
#define COLLQ_ALLREDUCE_IN_PLACE	(1U << 0)	/* receive buffer is the send buffer */

/**
 * struct collq_allreduce - an allreduce, as one rank takes part in it
 * @size: sizeof(struct collq_allreduce)
 * @flags: COLLQ_ALLREDUCE_IN_PLACE, or 0. May differ between ranks
 * @rank: the rank
 * @nr_ranks: number of ranks, at least 1
 * @count: how many numbers each rank has; with IB_COLLQ_CALC_MINLOC and _MAXLOC, how
 *	many pairs. They come to at most 2^40 bytes
 * @op: IB_COLLQ_CALC_*
 * @type: IB_COLLQ_TYPE_*
 * @max_message: longest message, copy and calculation in bytes, at least 16: the least
 *	of all ranks' devices
 */
struct collq_allreduce {
	uint32_t size;
	uint32_t flags;
	uint32_t rank;
	uint32_t nr_ranks;
	uint64_t count;
	uint32_t op;
	uint32_t type;
	uint64_t max_message;
};

/**
 * collq_allreduce_graph() - add what one rank does in an allreduce
 * @graph: an empty graph
 * @allreduce: the allreduce
 * @needs: out: what it takes to run it
 *
 * Each number of the receive buffer becomes what @op makes of the numbers that all
 * ranks have in that place of their send buffers. A run ends when the graph has no more
 * to do with either. Labels count the steps from 0.
 *
 * Return: as collq_alltoall_graph().
 */
int collq_allreduce_graph(struct collq_graph *graph,
			  const struct collq_allreduce *allreduce,
			  struct collq_needs *needs);

/**
 * collq_allreduce_prelude() - add the receives for the first run of a generation
 * @graph: an empty graph
 * @allreduce: the allreduce
 *
 * As collq_alltoall_prelude().
 *
 * Return: as collq_alltoall_graph().
 */
int collq_allreduce_prelude(struct collq_graph *graph,
			    const struct collq_allreduce *allreduce);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif /* COLLQ_COLLECTIVES_H */
