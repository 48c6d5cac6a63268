// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A fuzzer of the uverbs front end: methods that make sense, so that they get far, of
 * which some are spoiled: attributes that are missing, too long, somewhere else, of
 * another object's handle. Threads share a descriptor; its memory regions go and come
 * meanwhile, so do the memory below them and that of some arguments, and now and then the
 * descriptor itself, with its protection domains. What the commands' structures are good
 * for is fuzz_test's part.
 *
 * It fails if too little succeeds, if nothing moves any more, or if something is left
 * afterwards; what the kernel's log says is for tools/vm to judge. COLLQ_FUZZ_OPS is how
 * many methods are called (5000).
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include <infiniband/verbs.h>
#include <rdma/ib_collq_uverbs.h>
#include <rdma/rdma_user_ioctl_cmds.h>

#include "kselftest_harness.h"

#include "chance.h"
#include "collq_memory.h"
#include "usage.h"
#include "verbs_device.h"

#define DRIVER		14	/* SoftRoCE */
#define NR_THREADS	3
#define NR_POOL		16	/* handles, ids and addresses that are remembered */
#define NR_MRS		4
#define AREA		(64 * RAW_PAGE)
#define MAX_ATTRS	6
#define OPS_PER_FILE	600

#define NR_TYPES	(IB_COLLQ_UOBJECT_TARGET - IB_COLLQ_UOBJECT_CONTEXT + 1)

/* What threads have in common; a race for an entry of a pool is part of the fun */
static struct {
	pthread_rwlock_t lock;		/* written: the descriptor changes */
	struct ibv_context *ibv;
	struct ibv_pd *pds[NR_MRS];
	struct ibv_mr *mrs[NR_MRS];
	int64_t handles[NR_TYPES][NR_POOL];
	__u32 ids[NR_POOL];
	__u8 addresses[NR_POOL][IB_COLLQ_ADDRESS_SIZE];
	char *area;
	unsigned int first_fd;		/* from here on all belong to the descriptor */
	uint32_t ops;
	uint32_t done, good, faults;
	bool over, failed;
} all = { .lock = PTHREAD_RWLOCK_INITIALIZER };

struct thread {
	pthread_t id;
	uint64_t chance;
};

union argument {
	__u32 size;
	struct ib_collq_query query;
	struct ib_collq_ring_create ring;
	struct ib_collq_counter_create counter;
	struct ib_collq_endpoint_create endpoint;
	struct ib_collq_region_create region;
	struct ib_collq_queue_create queue;
	struct ib_collq_graph_create graph;
	struct ib_collq_zone_offer zone;
	struct ib_collq_target_create target;
	struct ib_collq_batch batch;
	struct ib_collq_counter_raise raise;
	struct ib_collq_counter_read read;
	struct ib_collq_queue_submit submit;
	struct ib_collq_queue_submit_wait run;
	struct ib_collq_queue_wait wait;
	struct ib_collq_queue_cancel cancel;
	struct ib_collq_object_reset reset;
	struct ib_collq_object_describe describe;
	struct ib_collq_context_describe context;
};

/* A method under way, and what its argument points to */
struct method {
	struct ib_uverbs_ioctl_hdr hdr;
	struct ib_uverbs_attr attrs[MAX_ATTRS];
	union argument arg;
	union {
		struct ib_collq_endpoint_connect connect;
		struct ib_collq_object_destroy destroy;
		struct ib_collq_slot_bind bind;
	} entry;
	struct ib_collq_task tasks[2];
	struct ib_collq_sge sge;
	struct ib_collq_buffer_bind binding;
	size_t id_offset;		/* where the new object's id will be */
};

static uint32_t below(struct thread *t, uint32_t limit)
{
	return chance_below(&t->chance, limit);
}

static __u32 some_id(struct thread *t)
{
	return all.ids[below(t, NR_POOL)];
}

static void add(struct method *m, __u16 id, __u64 data, __u16 length)
{
	m->attrs[m->hdr.num_attrs++] = (struct ib_uverbs_attr){
		.attr_id = id, .len = length, .flags = UVERBS_ATTR_F_MANDATORY, .data = data,
	};
}

static __u64 in_a_moment(struct thread *t)
{
	return raw_in_ms(1 + below(t, 5));
}

/* What makes objects: fills the argument in, and returns its size. */

static size_t fill_ring(struct thread *t, struct method *m)
{
	m->arg.ring = (struct ib_collq_ring_create){
		.size = sizeof(m->arg.ring), .entries = 1U << below(t, 5), .eventfd = -1,
	};
	m->id_offset = offsetof(struct ib_collq_ring_create, id);
	return sizeof(m->arg.ring);
}

static size_t fill_counter(struct thread *t, struct method *m)
{
	m->arg.counter.source = below(t, 3) ? IB_COLLQ_SOURCE_USER + 4 * below(t, 2) :
					      IB_COLLQ_SOURCE_SENDS + below(t, 2);
	if (m->arg.counter.source == IB_COLLQ_SOURCE_SENDS ||
	    m->arg.counter.source == IB_COLLQ_SOURCE_MESSAGES)
		m->arg.counter.endpoint = some_id(t);
	m->id_offset = offsetof(struct ib_collq_counter_create, id);
	return sizeof(m->arg.counter);
}

static size_t fill_endpoint(struct thread *t, struct method *m)
{
	struct ib_collq_endpoint_create *attr = &m->arg.endpoint;
	static const __u32 flags[] = { 0, IB_COLLQ_ENDPOINT_LOCAL, IB_COLLQ_ENDPOINT_PD,
				       IB_COLLQ_ENDPOINT_PD, IB_COLLQ_ENDPOINT_ZONES };
	struct ibv_pd *pd;

	*attr = raw_endpoint_attr(below(t, 2) ? IB_COLLQ_ENDPOINT_SIGNAL :
						IB_COLLQ_ENDPOINT_MESSAGE);
	if (attr->kind == IB_COLLQ_ENDPOINT_MESSAGE) {
		attr->signal_endpoint = some_id(t);
		attr->max_send_sge = 2;
		attr->max_recv_sge = 2;
	}
	attr->flags = flags[below(t, 5)];
	pd = all.pds[below(t, NR_MRS)];
	if (pd && (attr->flags & IB_COLLQ_ENDPOINT_PD || !below(t, 20)))
		add(m, IB_COLLQ_ATTR_PD, pd->handle, 0);
	m->id_offset = offsetof(struct ib_collq_endpoint_create, id);
	return sizeof(*attr);
}

static size_t fill_region(struct thread *t, struct method *m)
{
	struct ib_collq_region_create *attr = &m->arg.region;
	struct ibv_mr *mr = all.mrs[below(t, NR_MRS)];
	bool borrow = below(t, 2);

	*attr = (struct ib_collq_region_create){
		.size = sizeof(*attr),
		.type = borrow ? IB_COLLQ_REGION_MR : IB_COLLQ_REGION_USER,
		.access = below(t, 3) ? IB_COLLQ_ACCESS_WRITE : 0,
		.address = (borrow ? 0 : (unsigned long)all.area) + below(t, AREA / 2),
		.length = 1 + below(t, AREA / 2),
	};
	if (mr && (borrow || !below(t, 20)))
		add(m, IB_COLLQ_ATTR_MR, mr->handle, 0);
	m->id_offset = offsetof(struct ib_collq_region_create, id);
	return sizeof(*attr);
}

static size_t fill_queue(struct thread *t, struct method *m)
{
	m->arg.queue = (struct ib_collq_queue_create){
		.size = sizeof(m->arg.queue), .ring = some_id(t), .depth = 1 + below(t, 4),
	};
	m->id_offset = offsetof(struct ib_collq_queue_create, id);
	return sizeof(m->arg.queue);
}

static size_t fill_graph(struct thread *t, struct method *m)
{
	__u32 i, nr = 1 + below(t, 2);

	for (i = 0; i < nr; i++)
		switch (below(t, 4)) {
		case 0:
			m->tasks[i] = raw_send_list(some_id(t), 0, 1);
			break;
		case 1:
			m->tasks[i] = raw_recv_list(some_id(t), 0, 1);
			break;
		case 2:
			m->tasks[i] = raw_signal(some_id(t), RAW_SLOT, RAW_GENERATION);
			break;
		default:
			m->tasks[i] = raw_wait_for(some_id(t), below(t, 2));
		}
	m->sge.length = 1 + below(t, 5000);
	m->arg.graph = (struct ib_collq_graph_create){
		.size = sizeof(m->arg.graph),
		.nr_tasks = nr,
		.task_size = sizeof(m->tasks[0]),
		.tasks = (unsigned long)m->tasks,
		.nr_sges = 1,
		.sge_size = sizeof(m->sge),
		.sges = (unsigned long)&m->sge,
		.nr_buffers = 1,
	};
	m->id_offset = offsetof(struct ib_collq_graph_create, id);
	return sizeof(m->arg.graph);
}

static size_t fill_zone(struct thread *t, struct method *m)
{
	m->arg.zone = (struct ib_collq_zone_offer){
		.size = sizeof(m->arg.zone), .endpoint = some_id(t), .region = some_id(t),
		.length = 1 + below(t, 5000),
	};
	m->id_offset = offsetof(struct ib_collq_zone_offer, id);
	return sizeof(m->arg.zone);
}

static size_t fill_target(struct thread *t, struct method *m)
{
	m->arg.target = (struct ib_collq_target_create){
		.size = sizeof(m->arg.target), .endpoint = some_id(t),
	};
	m->id_offset = offsetof(struct ib_collq_target_create, id);
	return sizeof(m->arg.target);
}

static size_t (*const makers[NR_TYPES])(struct thread *t, struct method *m) = {
	[IB_COLLQ_UOBJECT_RING - IB_COLLQ_UOBJECT_CONTEXT] = fill_ring,
	[IB_COLLQ_UOBJECT_COUNTER - IB_COLLQ_UOBJECT_CONTEXT] = fill_counter,
	[IB_COLLQ_UOBJECT_ENDPOINT - IB_COLLQ_UOBJECT_CONTEXT] = fill_endpoint,
	[IB_COLLQ_UOBJECT_REGION - IB_COLLQ_UOBJECT_CONTEXT] = fill_region,
	[IB_COLLQ_UOBJECT_QUEUE - IB_COLLQ_UOBJECT_CONTEXT] = fill_queue,
	[IB_COLLQ_UOBJECT_GRAPH - IB_COLLQ_UOBJECT_CONTEXT] = fill_graph,
	[IB_COLLQ_UOBJECT_ZONE - IB_COLLQ_UOBJECT_CONTEXT] = fill_zone,
	[IB_COLLQ_UOBJECT_TARGET - IB_COLLQ_UOBJECT_CONTEXT] = fill_target,
};

/* Commands that take a batch: here of one. */
static size_t fill_batch(struct method *m, size_t size)
{
	m->arg.batch = (struct ib_collq_batch){
		.size = sizeof(m->arg.batch), .nr = 1, .entry_size = size,
		.entries = (unsigned long)&m->entry,
	};
	return sizeof(m->arg.batch);
}

/* A method of the context; returns the size of its argument. */
static size_t fill_command(struct thread *t, struct method *m)
{
	switch (m->hdr.method_id) {
	case IB_COLLQ_METHOD_ENDPOINT_CONNECT:
		m->entry.connect.endpoint = some_id(t);
		memcpy(m->entry.connect.address, all.addresses[below(t, NR_POOL)],
		       sizeof(m->entry.connect.address));
		return fill_batch(m, sizeof(m->entry.connect));
	case IB_COLLQ_METHOD_SLOT_BIND:
	case IB_COLLQ_METHOD_SLOT_UNBIND:
		m->entry.bind = (struct ib_collq_slot_bind){
			some_id(t), RAW_SLOT, RAW_GENERATION, some_id(t),
		};
		return fill_batch(m, sizeof(m->entry.bind));
	case IB_COLLQ_METHOD_OBJECT_DESTROY:
		m->entry.destroy.id = some_id(t);
		return fill_batch(m, sizeof(m->entry.destroy));
	case IB_COLLQ_METHOD_COUNTER_RAISE:
		m->arg.raise = (struct ib_collq_counter_raise){
			.size = sizeof(m->arg.raise), .counter = some_id(t), .count = 1,
		};
		return sizeof(m->arg.raise);
	case IB_COLLQ_METHOD_COUNTER_READ:
		m->arg.read = (struct ib_collq_counter_read){
			.size = sizeof(m->arg.read), .counter = some_id(t),
		};
		return sizeof(m->arg.read);
	case IB_COLLQ_METHOD_QUEUE_SUBMIT:
	case IB_COLLQ_METHOD_QUEUE_SUBMIT_WAIT:
		m->binding.region = some_id(t);
		m->arg.run = (struct ib_collq_queue_submit_wait){
			.size = m->hdr.method_id == IB_COLLQ_METHOD_QUEUE_SUBMIT ?
				sizeof(m->arg.submit) : sizeof(m->arg.run),
			.queue = some_id(t), .graph = some_id(t), .deadline = in_a_moment(t),
			.nr_bindings = 1, .binding_size = sizeof(m->binding),
			.bindings = (unsigned long)&m->binding,
		};
		return m->arg.size;
	case IB_COLLQ_METHOD_QUEUE_WAIT:
		m->arg.wait = (struct ib_collq_queue_wait){
			.size = sizeof(m->arg.wait), .queue = some_id(t), .sequence = 1,
			.deadline = in_a_moment(t),
		};
		return sizeof(m->arg.wait);
	case IB_COLLQ_METHOD_QUEUE_CANCEL:
		m->arg.cancel = (struct ib_collq_queue_cancel){
			.size = sizeof(m->arg.cancel), .queue = some_id(t),
		};
		return sizeof(m->arg.cancel);
	case IB_COLLQ_METHOD_OBJECT_RESET:
		m->arg.reset = (struct ib_collq_object_reset){
			.size = sizeof(m->arg.reset), .id = some_id(t),
		};
		return sizeof(m->arg.reset);
	case IB_COLLQ_METHOD_OBJECT_DESCRIBE:
		m->arg.describe = (struct ib_collq_object_describe){
			.size = sizeof(m->arg.describe), .id = some_id(t),
		};
		return sizeof(m->arg.describe);
	case IB_COLLQ_METHOD_CONTEXT_DESCRIBE:
		m->arg.context.size = sizeof(m->arg.context);
		return sizeof(m->arg.context);
	default:
		m->arg.query.size = sizeof(m->arg.query);
		return sizeof(m->arg.query);
	}
}

static int64_t some_handle(struct thread *t, unsigned int type)
{
	return all.handles[type][below(t, NR_POOL)];
}

/* One method, which would do something if all in there existed. */
static void choose(struct thread *t, struct method *m)
{
	unsigned int type = below(t, NR_TYPES);
	size_t size;

	memset(m, 0, sizeof(*m));
	m->hdr.driver_id = DRIVER;
	m->hdr.object_id = IB_COLLQ_UOBJECT_CONTEXT + type;
	if (!type) {
		m->hdr.method_id = below(t, IB_COLLQ_METHOD_OBJECT_DESTROY + 1);
		if (m->hdr.method_id == IB_COLLQ_METHOD_OPEN) {
			add(m, IB_COLLQ_ATTR_HANDLE, 0, 0);
			return;
		}
		if (m->hdr.method_id == IB_COLLQ_METHOD_CLOSE) {
			add(m, IB_COLLQ_ATTR_HANDLE, some_handle(t, 0), 0);
			return;
		}
		size = fill_command(t, m);
	} else {
		m->hdr.method_id = !below(t, 4);
		if (m->hdr.method_id) {
			add(m, IB_COLLQ_ATTR_HANDLE, some_handle(t, type), 0);
			return;
		}
		add(m, IB_COLLQ_ATTR_HANDLE, 0, 0);
		size = makers[type](t, m);
	}
	add(m, IB_COLLQ_ATTR_CONTEXT, some_handle(t, 0), 0);
	add(m, IB_COLLQ_ATTR_ARGUMENT, (unsigned long)&m->arg, size);
}

static void spoil(struct thread *t, struct method *m)
{
	static const __u64 places[] = { 0, 0x1000, 1ULL << 47, ~0ULL - 100 };
	struct ib_uverbs_attr *attr = &m->attrs[below(t, m->hdr.num_attrs)];

	switch (below(t, 8)) {
	case 0:
		attr->len = below(t, 2) ? below(t, 300) : 0xffff;
		break;
	case 1:
		attr->flags = below(t, 4);
		break;
	case 2:
		attr->data = places[below(t, 4)];
		break;
	case 3:
		attr->attr_id = below(t, 8);
		break;
	case 4:
		m->hdr.num_attrs--;
		break;
	case 5:
		m->attrs[m->hdr.num_attrs] = *attr;
		m->hdr.num_attrs++;
		break;
	case 6:
		m->hdr.method_id = below(t, 20);
		m->hdr.object_id = IB_COLLQ_UOBJECT_CONTEXT + below(t, NR_TYPES + 2);
		break;
	default:
		((__u8 *)&m->arg)[below(t, 64)] ^= 1U << below(t, 8);
	}
}

/* Handles and ids that there are now. A ring's is a descriptor. */
static void remember(struct thread *t, const struct method *m)
{
	unsigned int type = m->hdr.object_id - IB_COLLQ_UOBJECT_CONTEXT;
	__u32 id;

	if (type >= NR_TYPES || m->hdr.method_id || m->attrs[0].attr_id != IB_COLLQ_ATTR_HANDLE)
		return;
	if (m->hdr.object_id == IB_COLLQ_UOBJECT_RING) {
		if (below(t, 2))
			close(m->attrs[0].data_s64);
	} else {
		all.handles[type][below(t, NR_POOL)] = m->attrs[0].data_s64;
	}
	if (!type || !m->id_offset)
		return;
	memcpy(&id, (const char *)&m->arg + m->id_offset, sizeof(id));
	all.ids[below(t, NR_POOL)] = id;
	if (m->hdr.object_id == IB_COLLQ_UOBJECT_ENDPOINT)
		memcpy(all.addresses[below(t, NR_POOL)], m->arg.endpoint.address,
		       sizeof(m->arg.endpoint.address));
}

typedef ssize_t (*copy_function)(pid_t pid, const struct iovec *local, unsigned long nr_local,
				 const struct iovec *remote, unsigned long nr_remote,
				 unsigned long flags);

/*
 * Between a method's argument and a place that another thread may take away just now,
 * which is why the kernel does it.
 */
static bool copy_argument(copy_function copy, struct method *m, char *place)
{
	const struct iovec local = { &m->arg, sizeof(m->arg) };
	const struct iovec remote = { place, sizeof(m->arg) };

	return copy(getpid(), &local, 1, &remote, 1, 0) == sizeof(m->arg);
}

/* The argument is in such a place: which, or NULL if there is none. */
static char *put_at_risk(struct thread *t, struct method *m)
{
	struct ib_uverbs_attr *last = &m->attrs[m->hdr.num_attrs - 1];
	char *place = all.area + below(t, AREA - sizeof(m->arg));

	if (last->attr_id != IB_COLLQ_ATTR_ARGUMENT ||
	    !copy_argument(process_vm_writev, m, place))
		return NULL;
	last->data = (unsigned long)place;
	return place;
}

static void call(struct thread *t)
{
	char *place = NULL;
	struct method m;

	choose(t, &m);
	if (!below(t, 4))
		place = put_at_risk(t, &m);
	if (!below(t, 6))
		spoil(t, &m);
	m.hdr.length = sizeof(m.hdr) + m.hdr.num_attrs * sizeof(m.attrs[0]);
	if (ioctl(all.ibv->cmd_fd, RDMA_VERBS_IOCTL, &m.hdr) < 0) {
		if (errno == EFAULT)
			__atomic_fetch_add(&all.faults, 1, __ATOMIC_RELAXED);
		return;
	}
	__atomic_fetch_add(&all.good, 1, __ATOMIC_RELAXED);
	if (!place || copy_argument(process_vm_readv, &m, place))
		remember(t, &m);
}

/* Pages that regions are made of, and arguments are in, become others, or go for a moment. */
static void take_memory(struct thread *t)
{
	char *page = all.area + below(t, AREA / RAW_PAGE) * RAW_PAGE;

	switch (below(t, 4)) {
	case 0:
		madvise(page, RAW_PAGE, MADV_DONTNEED);
		break;
	case 1:
		mmap(page, RAW_PAGE, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
		break;
	default:
		mprotect(page, RAW_PAGE, PROT_NONE);
		usleep(below(t, 1000));
		mprotect(page, RAW_PAGE, PROT_READ | PROT_WRITE);
	}
}

/* Something that may be borrowed goes, if it isn't, or comes. */
static void change_verbs(struct thread *t)
{
	unsigned int i = below(t, NR_MRS);
	struct ibv_mr *mr = __atomic_exchange_n(&all.mrs[i], NULL, __ATOMIC_ACQ_REL);
	struct ibv_pd *pd = __atomic_load_n(&all.pds[i], __ATOMIC_ACQUIRE);

	if (mr) {
		if (ibv_dereg_mr(mr))
			__atomic_store_n(&all.mrs[i], mr, __ATOMIC_RELEASE);
	} else if (pd) {
		mr = ibv_reg_mr(pd, all.area, AREA, IBV_ACCESS_LOCAL_WRITE);
		mr = __atomic_exchange_n(&all.mrs[i], mr, __ATOMIC_ACQ_REL);
		if (mr)
			ibv_dereg_mr(mr);
	}
}

/* With contexts to begin with. Nobody else is at it. */
static bool begin_file(struct thread *t)
{
	struct method m;
	int i;

	all.ibv = verbs_device_open();
	if (!all.ibv)
		return false;
	memset(all.handles, 0xff, sizeof(all.handles));
	for (i = 0; i < NR_MRS; i++) {
		all.pds[i] = ibv_alloc_pd(all.ibv);
		all.mrs[i] = all.pds[i] ? ibv_reg_mr(all.pds[i], all.area, AREA,
						     IBV_ACCESS_LOCAL_WRITE) : NULL;
	}
	for (i = 0; i < NR_POOL; i++) {
		memset(&m, 0, sizeof(m));
		m.hdr.driver_id = DRIVER;
		m.hdr.object_id = IB_COLLQ_UOBJECT_CONTEXT;
		m.hdr.method_id = IB_COLLQ_METHOD_OPEN;
		add(&m, IB_COLLQ_ATTR_HANDLE, 0, 0);
		m.hdr.length = sizeof(m.hdr) + sizeof(m.attrs[0]);
		/* Two contexts, so that most handles and ids fit together. */
		if (i < 2 && ioctl(all.ibv->cmd_fd, RDMA_VERBS_IOCTL, &m.hdr))
			return false;
		all.handles[0][i] = i < 2 ? m.attrs[0].data_s64 : all.handles[0][i % 2];
		all.ids[i] = 1 + below(t, 8);
	}
	return true;
}

/*
 * As a process that ends: with all that there is, and descriptors of rings last. What
 * libibverbs has in memory stays behind.
 */
static void end_file(void)
{
	ibv_close_device(all.ibv);
	close_range(all.first_fd, -1U, 0);
}

static void *run(void *arg)
{
	struct thread *t = arg;
	uint32_t done;

	while (!__atomic_load_n(&all.over, __ATOMIC_ACQUIRE)) {
		pthread_rwlock_rdlock(&all.lock);
		if (below(t, 20))
			call(t);
		else if (below(t, 2))
			change_verbs(t);
		else
			take_memory(t);
		pthread_rwlock_unlock(&all.lock);
		done = __atomic_add_fetch(&all.done, 1, __ATOMIC_RELAXED);
		if (done >= all.ops)
			__atomic_store_n(&all.over, true, __ATOMIC_RELEASE);
		if (done % OPS_PER_FILE)
			continue;
		pthread_rwlock_wrlock(&all.lock);
		end_file();
		if (!begin_file(t)) {
			all.failed = true;
			__atomic_store_n(&all.over, true, __ATOMIC_RELEASE);
		}
		pthread_rwlock_unlock(&all.lock);
	}
	return NULL;
}

static void interrupt(int signal)
{
	(void)signal;
}

/* Whoever sleeps for ever is woken; false if that doesn't help either. */
static bool watch(struct thread *threads)
{
	const struct sigaction action = { .sa_handler = interrupt };
	__u64 until = raw_in_ms(120000);
	uint32_t seen = 0, done, i;

	sigaction(SIGUSR1, &action, NULL);
	while (!__atomic_load_n(&all.over, __ATOMIC_ACQUIRE) && raw_now() < until) {
		usleep(200000);
		done = __atomic_load_n(&all.done, __ATOMIC_RELAXED);
		if (done != seen)
			until = raw_in_ms(120000);
		seen = done;
		for (i = 0; i < NR_THREADS; i++)
			pthread_kill(threads[i].id, SIGUSR1);
	}
	return all.over;
}

FIXTURE(fuzz) { };
FIXTURE_SETUP(fuzz) { }
FIXTURE_TEARDOWN(fuzz) { }

TEST_F_TIMEOUT(fuzz, methods, 3000)
{
	uint64_t chance = chance_begin("uverbs");
	struct thread threads[NR_THREADS] = {};
	int i;

	ASSERT_TRUE(RAW_WITHIN(60000, usage_quiet()));
	all.ops = chance_number("COLLQ_FUZZ_OPS", 5000);
	all.area = raw_map(AREA);
	all.first_fd = dup(STDIN_FILENO);
	ASSERT_NE(NULL, all.area);
	for (i = 0; i < NR_THREADS; i++)
		threads[i].chance = (uint64_t)chance_below(&chance, -1U) << 32 | (i + 1);
	ASSERT_TRUE(begin_file(&threads[0]));
	for (i = 0; i < NR_THREADS; i++)
		ASSERT_EQ(0, pthread_create(&threads[i].id, NULL, run, &threads[i]));
	ASSERT_TRUE(watch(threads));
	for (i = 0; i < NR_THREADS; i++)
		ASSERT_EQ(0, pthread_join(threads[i].id, NULL));
	ASSERT_FALSE(all.failed);
	end_file();
	TH_LOG("%u of %u methods succeeded, %u found no memory at an address", all.good, all.done,
	       all.faults);
	EXPECT_LT(all.ops, 10 * all.good);
	EXPECT_TRUE(RAW_WITHIN(60000, usage_quiet()));
}

TEST_HARNESS_MAIN
