/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Tracepoints. Each names what it's about by the completion id {context, queue,
 * sequence, task}, so that what happened to a task can be put together from a
 * trace; endpoints by {context, endpoint}.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM ib_collq

#if !defined(COLLQ_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define COLLQ_TRACE_H

#include <linux/tracepoint.h>

#include "context.h"
#include "endpoint.h"
#include "queue.h"

#define collq_show_queue_state(state)					\
	__print_symbolic(state,						\
			 { IB_COLLQ_QUEUE_IDLE, "idle" },		\
			 { IB_COLLQ_QUEUE_RUNNING, "running" },		\
			 { IB_COLLQ_QUEUE_WAITING, "waiting" },		\
			 { IB_COLLQ_QUEUE_BLOCKED, "blocked" },		\
			 { IB_COLLQ_QUEUE_FAILED, "failed" })

#define collq_show_endpoint_state(state)				\
	__print_symbolic(state,						\
			 { IB_COLLQ_ENDPOINT_NEW, "new" },		\
			 { IB_COLLQ_ENDPOINT_CONNECTED, "connected" },	\
			 { IB_COLLQ_ENDPOINT_PEER_CLOSED, "peer_closed" }, \
			 { IB_COLLQ_ENDPOINT_ERROR, "error" },		\
			 { IB_COLLQ_ENDPOINT_CLOSED, "closed" })

DECLARE_EVENT_CLASS(collq_task_class,
	TP_PROTO(const struct collq_queue *queue),
	TP_ARGS(queue),
	TP_STRUCT__entry(
		__field(u32, context)
		__field(u32, queue)
		__field(u64, sequence)
		__field(u32, task)
	),
	TP_fast_assign(
		__entry->context = queue->obj.ctx->id;
		__entry->queue = queue->obj.id;
		__entry->sequence = queue->current_seq;
		__entry->task = queue->task;
	),
	TP_printk("context=%u queue=%u sequence=%llu task=%u",
		  __entry->context, __entry->queue, __entry->sequence,
		  __entry->task)
);

/* The task can't go on now. */
DEFINE_EVENT(collq_task_class, collq_park,
	TP_PROTO(const struct collq_queue *queue),
	TP_ARGS(queue)
);

/* What it waited for has come; it's tried again. */
DEFINE_EVENT(collq_task_class, collq_resume,
	TP_PROTO(const struct collq_queue *queue),
	TP_ARGS(queue)
);

TRACE_EVENT(collq_submit,
	TP_PROTO(const struct collq_queue *queue, u32 graph, u64 deadline),
	TP_ARGS(queue, graph, deadline),
	TP_STRUCT__entry(
		__field(u32, context)
		__field(u32, queue)
		__field(u64, sequence)
		__field(u32, graph)
		__field(u64, deadline)
	),
	TP_fast_assign(
		__entry->context = queue->obj.ctx->id;
		__entry->queue = queue->obj.id;
		__entry->sequence = queue->submitted;
		__entry->graph = graph;
		__entry->deadline = deadline;
	),
	TP_printk("context=%u queue=%u sequence=%llu graph=%u deadline=%llu",
		  __entry->context, __entry->queue, __entry->sequence,
		  __entry->graph, __entry->deadline)
);

TRACE_EVENT(collq_complete,
	TP_PROTO(const struct collq_queue *queue, u64 sequence,
		 const struct collq_result *result),
	TP_ARGS(queue, sequence, result),
	TP_STRUCT__entry(
		__field(u32, context)
		__field(u32, queue)
		__field(u64, sequence)
		__field(int, status)
		__field(u32, task)
		__field(u32, endpoint)
		__field(u32, label)
		__field(u32, peer)
	),
	TP_fast_assign(
		__entry->context = queue->obj.ctx->id;
		__entry->queue = queue->obj.id;
		__entry->sequence = sequence;
		__entry->status = result->status;
		__entry->task = result->task;
		__entry->endpoint = result->endpoint;
		__entry->label = result->label;
		__entry->peer = result->peer;
	),
	TP_printk("context=%u queue=%u sequence=%llu status=%d task=%d endpoint=%u label=%u peer=%u",
		  __entry->context, __entry->queue, __entry->sequence,
		  __entry->status, (int)__entry->task, __entry->endpoint,
		  __entry->label, __entry->peer)
);

TRACE_EVENT(collq_error,
	TP_PROTO(const struct collq_queue *queue, int error,
		 const struct collq_endpoint *from),
	TP_ARGS(queue, error, from),
	TP_STRUCT__entry(
		__field(u32, context)
		__field(u32, queue)
		__field(u64, sequence)
		__field(u32, task)
		__field(int, error)
		__field(u32, endpoint)
	),
	TP_fast_assign(
		__entry->context = queue->obj.ctx->id;
		__entry->queue = queue->obj.id;
		__entry->sequence = queue->current_seq;
		__entry->task = queue->task;
		__entry->error = error;
		__entry->endpoint = from ? from->obj.id : 0;
	),
	TP_printk("context=%u queue=%u sequence=%llu task=%u error=%d endpoint=%u",
		  __entry->context, __entry->queue, __entry->sequence,
		  __entry->task, __entry->error, __entry->endpoint)
);

TRACE_EVENT(collq_queue_state,
	TP_PROTO(const struct collq_queue *queue, u32 state),
	TP_ARGS(queue, state),
	TP_STRUCT__entry(
		__field(u32, context)
		__field(u32, queue)
		__field(u64, sequence)
		__field(u32, task)
		__field(u32, old_state)
		__field(u32, state)
	),
	TP_fast_assign(
		__entry->context = queue->obj.ctx->id;
		__entry->queue = queue->obj.id;
		__entry->sequence = queue->current_seq;
		__entry->task = queue->task;
		__entry->old_state = queue->state;
		__entry->state = state;
	),
	TP_printk("context=%u queue=%u sequence=%llu task=%u %s -> %s",
		  __entry->context, __entry->queue, __entry->sequence,
		  __entry->task, collq_show_queue_state(__entry->old_state),
		  collq_show_queue_state(__entry->state))
);

TRACE_EVENT(collq_endpoint_state,
	TP_PROTO(const struct collq_endpoint *ep, u32 state, int error),
	TP_ARGS(ep, state, error),
	TP_STRUCT__entry(
		__field(u32, context)
		__field(u32, endpoint)
		__field(u32, peer)
		__field(u32, qpn)
		__field(u32, old_state)
		__field(u32, state)
		__field(int, error)
	),
	TP_fast_assign(
		__entry->context = ep->obj.ctx->id;
		__entry->endpoint = ep->obj.id;
		__entry->peer = ep->attr.peer;
		__entry->qpn = ep->qp->qp_num;
		__entry->old_state = ep->state;
		__entry->state = state;
		__entry->error = error;
	),
	TP_printk("context=%u endpoint=%u peer=%u qpn=%u %s -> %s error=%d",
		  __entry->context, __entry->endpoint, __entry->peer,
		  __entry->qpn, collq_show_endpoint_state(__entry->old_state),
		  collq_show_endpoint_state(__entry->state), __entry->error)
);

#endif /* COLLQ_TRACE_H */

#undef TRACE_INCLUDE_PATH
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_PATH .
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
