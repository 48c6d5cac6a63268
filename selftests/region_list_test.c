// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Regions that are lists of parts of others: messages of more pieces than the device
 * takes, with one entry, and what else can be done with them.
 *
 * SoftRoCE goes by pages, so most parts here are whole ones.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "data_side.h"

#define WRITE		IB_COLLQ_ACCESS_WRITE
#define AREA		(512 * RAW_PAGE)
#define MANY		200	/* parts: far more than a device's list has entries */
#define BUFFERS		16	/* regions that a list may be of */

/* One entry is all that the endpoints have. */
FIXTURE(list) {
	struct raw_side a;
	struct raw_side b;
	struct data_side from;
	struct data_side to;
	struct ib_collq_query query;
};

FIXTURE_SETUP(list)
{
	ASSERT_EQ(0, data_pair_open(&self->a, &self->b, &self->from, &self->to, AREA, 1));
	ASSERT_EQ(0, raw_query(self->a.fd, &self->query));
}

FIXTURE_TEARDOWN(list)
{
	raw_pair_close(&self->a, &self->b);
	munmap(self->from.area, self->from.area_size);
	munmap(self->to.area, self->to.area_size);
}

/* Every other page of a side's area; backwards if @step is negative. */
static void pages_of(const struct data_side *data, struct ib_collq_sge *parts, __u32 nr, int step)
{
	__u32 i;

	for (i = 0; i < nr; i++)
		parts[i] = (struct ib_collq_sge){
			.buffer = data->region,
			.length = RAW_PAGE,
			.offset = 2 * RAW_PAGE * (step < 0 ? nr - 1 - i : i),
		};
}

/* The first begins, and the last ends, in the middle of a page. */
static void trim(struct ib_collq_sge *parts, __u32 nr)
{
	parts[0].offset += 4001;
	parts[0].length -= 4001;
	parts[nr - 1].length = 77;
}

/*
 * A message from one list of parts to another: every byte is looked at, and every byte
 * that isn't in them.
 */
static int check(struct data_side *from, const struct ib_collq_sge *src, __u32 nr_src,
		 struct data_side *to, const struct ib_collq_sge *dst, __u32 nr_dst,
		 unsigned int seed)
{
	const struct ib_collq_sge all = { .length = raw_length(src, nr_src) };
	struct data_side source = *from, target = *to;
	char *stream = malloc(all.length);
	int err;

	if (!stream)
		return -ENOMEM;
	raw_fill(stream, all.length, seed);
	raw_scatter(from->area, src, nr_src, stream);
	source.region = raw_list_create(from->side->fd, src, nr_src, 0);
	target.region = raw_list_create(to->side->fd, dst, nr_dst, WRITE);
	err = source.region < 0 ? source.region : target.region;
	if (err > 0)
		err = data_transfer(&source, &all, 1, &target, &all, 1);
	if (!err) {
		raw_gather(to->area, dst, nr_dst, stream);
		if (raw_count_wrong(stream, all.length, seed))
			err = -EBADMSG;
	}
	memset(stream, DATA_CANARY, all.length);
	raw_scatter(to->area, dst, nr_dst, stream);
	if (!err && raw_count_other(to->area, to->area_size, DATA_CANARY))
		err = -EOVERFLOW;
	free(stream);
	if (!err)
		err = raw_destroy(from->side->fd, source.region);
	return err ? err : raw_destroy(to->side->fd, target.region);
}

TEST_F(list, one_part)
{
	struct ib_collq_sge src = { .buffer = self->from.region, .offset = 4001 };
	struct ib_collq_sge dst = { .buffer = self->to.region, .offset = 8190 };
	static const __u32 lengths[] = { 1, 95, 96, 4096, 8192, 100001 };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(lengths); i++) {
		src.length = lengths[i];
		dst.length = lengths[i];
		ASSERT_EQ(0, check(&self->from, &src, 1, &self->to, &dst, 1, i))
			TH_LOG("length %u", lengths[i]);
	}
}

/* As many as a device could never take, in any order. */
TEST_F(list, many_parts)
{
	struct ib_collq_sge src[MANY], dst[MANY];

	pages_of(&self->from, src, MANY, 1);
	pages_of(&self->to, dst, MANY, -1);
	EXPECT_EQ(0, check(&self->from, src, MANY, &self->to, dst, MANY, 1));
	trim(src, MANY);
	trim(dst, MANY);
	EXPECT_EQ(0, check(&self->from, src, MANY, &self->to, dst, MANY, 2));
}

/* Parts of any length, also the same one twice, where it's only read. */
TEST_F(list, parts_of_many_pages)
{
	const __u32 region = self->from.region;
	const struct ib_collq_sge src[] = {
		{ .buffer = region, .length = 3 * RAW_PAGE, .offset = 7 * RAW_PAGE },
		{ .buffer = region, .length = RAW_PAGE, .offset = 0 },
		{ .buffer = region, .length = 5 * RAW_PAGE - 1, .offset = 20 * RAW_PAGE },
	};
	struct ib_collq_sge twice[] = { src[1], src[1] }, dst[3];
	const struct ib_collq_sge all = { .length = 2 * RAW_PAGE };
	struct data_side source = self->from;

	memcpy(dst, src, sizeof(dst));
	dst[0].buffer = self->to.region;
	dst[1].buffer = self->to.region;
	dst[2].buffer = self->to.region;
	EXPECT_EQ(0, check(&self->from, src, 3, &self->to, dst, 3, 1));

	source.region = raw_list_create(self->a.fd, twice, 2, 0);
	ASSERT_LT(0, source.region);
	raw_fill(self->from.area, RAW_PAGE, 5);
	ASSERT_EQ(0, data_transfer(&source, &all, 1, &self->to, &all, 1));
	EXPECT_EQ(0, raw_count_wrong(self->to.area, RAW_PAGE, 5));
	EXPECT_EQ(0, raw_count_wrong(self->to.area + RAW_PAGE, RAW_PAGE, 5));
}

/* Parts of several regions, none of which begins with a page. */
TEST_F(list, parts_of_many_regions)
{
	struct ib_collq_sge parts[BUFFERS], places[BUFFERS];
	const struct ib_collq_sge all = { .length = BUFFERS * RAW_PAGE };
	struct data_side source = self->from;
	int i;

	for (i = 0; i < BUFFERS; i++) {
		places[i] = (struct ib_collq_sge){
			.length = RAW_PAGE, .offset = (3 * (BUFFERS - i) + 1) * RAW_PAGE,
		};
		parts[i] = (struct ib_collq_sge){
			.buffer = raw_region_create(self->a.fd, self->from.area +
						    places[i].offset - 100 * i - 1,
						    2 * RAW_PAGE + i, 0),
			.length = RAW_PAGE,
			.offset = 100 * i + 1,
		};
		ASSERT_LT(0, (int)parts[i].buffer);
	}
	source.region = raw_list_create(self->a.fd, parts, BUFFERS, 0);
	ASSERT_LT(0, source.region);
	raw_fill(self->to.area, all.length, 4);
	raw_scatter(self->from.area, places, BUFFERS, self->to.area);
	memset(self->to.area, DATA_CANARY, all.length);
	ASSERT_EQ(0, data_transfer(&source, &all, 1, &self->to, &all, 1));
	EXPECT_EQ(0, raw_count_wrong(self->to.area, all.length, 4));
	EXPECT_EQ(0, raw_count_other(self->to.area + all.length, RAW_PAGE, DATA_CANARY));
}

/* What goes on where the part before has ended needn't be at a border. */
TEST_F(list, bytes_of_a_page)
{
	struct ib_collq_sge parts[300];
	const struct ib_collq_sge all = { .length = 300 };
	struct data_side source = self->from;
	struct ib_collq_task task = {
		.opcode = IB_COLLQ_TASK_CALC, .sge_count = 300, .dst_first = 300, .dst_count = 1,
		.calc_op = IB_COLLQ_CALC_ADD, .calc_type = IB_COLLQ_TYPE_U32,
	};
	static struct ib_collq_sge sges[301];
	const struct raw_graph graph = {
		.tasks = &task, .nr_tasks = 1, .sges = sges, .nr_sges = 301, .nr_buffers = 2,
	};
	struct ib_collq_buffer_bind bindings[] = {
		{ .buffer = 0 }, { .buffer = 1, .region = self->from.region },
	};
	__u32 *sums = (void *)(self->from.area + RAW_PAGE), *terms = (void *)self->from.area;
	int i, status;

	for (i = 0; i < 300; i++)
		parts[i] = (struct ib_collq_sge){
			.buffer = self->from.region, .length = 1, .offset = i,
		};
	source.region = raw_list_create(self->a.fd, parts, 300, 0);
	ASSERT_LT(0, source.region);
	raw_fill(self->from.area, 300, 8);
	ASSERT_EQ(0, data_transfer(&source, &all, 1, &self->to, &all, 1));
	EXPECT_EQ(0, raw_count_wrong(self->to.area, 300, 8));

	/* More pieces than the engine does at a time. */
	for (i = 0; i < 300; i++)
		sges[i] = all;
	sges[300] = (struct ib_collq_sge){
		.buffer = 1, .length = 300 * 300, .offset = RAW_PAGE,
	};
	memset(sums, 0, sges[300].length);
	bindings[0].region = source.region;
	ASSERT_EQ(0, raw_run_bound(self->a.fd, self->a.queue,
				   raw_data_graph_create(self->a.fd, &graph, NULL), bindings, 2,
				   &status));
	ASSERT_EQ(0, status);
	for (i = 0; i < 300 * 75; i++)
		ASSERT_EQ(terms[i % 75], sums[i]);
}

/* A message may begin and end anywhere in a list. */
TEST_F(list, part_of_a_list)
{
	struct ib_collq_sge parts[MANY];
	const struct ib_collq_sge src = { .length = 50000, .offset = 12345 };
	struct data_side source = self->from;
	char *stream = malloc(MANY * RAW_PAGE);

	ASSERT_NE(NULL, stream);
	pages_of(&self->from, parts, MANY, -1);
	source.region = raw_list_create(self->a.fd, parts, MANY, 0);
	ASSERT_LT(0, source.region);
	raw_fill(stream + src.offset, src.length, 3);
	raw_scatter(self->from.area, parts, MANY, stream);
	ASSERT_EQ(0, data_transfer(&source, &src, 1, &self->to, &src, 1));
	EXPECT_EQ(0, raw_count_wrong(self->to.area + src.offset, src.length, 3));
	free(stream);
}

/* What the device takes is told, and what it doesn't is refused. */
TEST_F(list, gaps)
{
	const struct ib_collq_sge parts[] = {
		{ .buffer = self->from.region, .length = 100, .offset = 10 },
		{ .buffer = self->from.region, .length = 100, .offset = 5000 },
	};
	int region = raw_list_create(self->a.fd, parts, 2, 0);

	EXPECT_TRUE(self->query.features & IB_COLLQ_FEATURE_GAPS ? region > 0 :
								   region == -EOPNOTSUPP);
}

TEST_F(list, refused)
{
	struct ib_collq_sge parts[2];
	struct ib_collq_region_create create = {
		.size = sizeof(create),
		.type = IB_COLLQ_REGION_LIST,
		.address = (unsigned long)parts,
		.length = 2 * RAW_PAGE,
		.nr_parts = 2,
		.part_size = sizeof(parts[0]),
	};
	const struct ib_collq_region_create good = create;
	struct raw_side *a = &self->a;
	int list, nobody;

	pages_of(&self->from, parts, 2, 1);
#define EXPECT_REFUSED(err) do {						\
	EXPECT_EQ(err, raw_ioctl(a->fd, IB_COLLQ_REGION_CREATE, &create));	\
	create = good;								\
} while (0)
	create.nr_parts = 0;
	EXPECT_REFUSED(-EINVAL);
	create.nr_parts = self->query.max_list_pages + 1;
	EXPECT_REFUSED(-EMSGSIZE);
	create.part_size = sizeof(parts[0]) - 1;
	EXPECT_REFUSED(-EINVAL);
	create.part_size = RAW_PAGE + 1;
	EXPECT_REFUSED(-E2BIG);
	create.address = 8;
	EXPECT_REFUSED(-EFAULT);
	create.length--;
	EXPECT_REFUSED(-EINVAL);
	create.length++;
	EXPECT_REFUSED(-EINVAL);
	create.fd = 1;
	EXPECT_REFUSED(-EINVAL);
	create.access = ~0U;
	EXPECT_REFUSED(-EOPNOTSUPP);
	/* A list that isn't one has no parts. */
	create.type = IB_COLLQ_REGION_USER;
	EXPECT_REFUSED(-EINVAL);

	parts[1].length = 0;
	EXPECT_EQ(-EINVAL, raw_list_create(a->fd, parts, 2, 0));
	parts[1].length = RAW_PAGE;
	parts[1].offset = AREA - RAW_PAGE + 1;
	EXPECT_EQ(-EINVAL, raw_list_create(a->fd, parts, 2, 0));
	parts[1].offset = -1ULL;
	EXPECT_EQ(-EINVAL, raw_list_create(a->fd, parts, 2, 0));
	parts[1].offset = 2 * RAW_PAGE;
	nobody = raw_region_create(a->fd, self->from.area, RAW_PAGE, 0);
	ASSERT_LT(0, nobody);
	ASSERT_EQ(0, raw_destroy(a->fd, nobody));
	parts[1].buffer = nobody;
	EXPECT_EQ(-ENOENT, raw_list_create(a->fd, parts, 2, 0));
	parts[1].buffer = a->queue;
	EXPECT_EQ(-ENOENT, raw_list_create(a->fd, parts, 2, 0));
	parts[1].buffer = self->from.region;
	list = raw_list_create(a->fd, parts, 2, 0);
	ASSERT_LT(0, list);
	/* Not a list of lists. */
	parts[1].buffer = list;
	parts[1].offset = 0;
	EXPECT_EQ(-EINVAL, raw_list_create(a->fd, parts, 2, 0));
	EXPECT_EQ(0, raw_destroy(a->fd, list));
	EXPECT_EQ(1, raw_region_info(a->fd, self->from.region).registrations >= 1);
	EXPECT_EQ(0, raw_region_info(a->fd, self->from.region).uses);
	EXPECT_EQ(0, raw_destroy(a->fd, self->from.region));
}

/* Pages count as often as parts touch them. */
TEST_F(list, too_many_pages)
{
	__u32 most = self->query.max_list_pages, i;
	struct ib_collq_sge *parts = calloc(most, sizeof(*parts));
	int list;

	ASSERT_NE(NULL, parts);
	for (i = 0; i < most; i++)
		parts[i] = (struct ib_collq_sge){
			.buffer = self->from.region,
			.length = RAW_PAGE,
			.offset = i % 100 * RAW_PAGE,
		};
	list = raw_list_create(self->a.fd, parts, most, 0);
	EXPECT_LT(0, list);
	EXPECT_EQ(0, raw_destroy(self->a.fd, list));
	parts[most - 1].length++;
	EXPECT_EQ(-EMSGSIZE, raw_list_create(self->a.fd, parts, most, 0));
	free(parts);
}

TEST_F(list, read_only)
{
	const struct ib_collq_sge one = { .length = 10 };
	struct ib_collq_sge parts[2];
	struct data_side target = self->to;
	int region = raw_region_create(self->b.fd, self->to.area, AREA, 0);
	__u64 sequence;

	ASSERT_LT(0, region);
	pages_of(&self->to, parts, 2, 1);
	parts[1].buffer = region;
	EXPECT_EQ(-EACCES, raw_list_create(self->b.fd, parts, 2, WRITE));
	EXPECT_EQ(0, raw_region_info(self->b.fd, self->to.region).uses);
	target.region = raw_list_create(self->b.fd, parts, 2, 0);
	ASSERT_LT(0, target.region);
	EXPECT_EQ(-EACCES, data_submit(&target, data_graph(&target, false, &one, 1), &sequence));
}

/* Of so many regions, and no more. */
TEST_F(list, many_regions)
{
	struct ib_collq_sge parts[BUFFERS + 1];
	int i, list;

	for (i = 0; i <= BUFFERS; i++) {
		parts[i] = (struct ib_collq_sge){
			.buffer = raw_region_create(self->a.fd, self->from.area + 2 * i * RAW_PAGE,
						    RAW_PAGE, WRITE),
			.length = RAW_PAGE,
		};
		ASSERT_LT(0, (int)parts[i].buffer);
	}
	EXPECT_EQ(-EINVAL, raw_list_create(self->a.fd, parts, BUFFERS + 1, WRITE));
	list = raw_list_create(self->a.fd, parts, BUFFERS, WRITE);
	ASSERT_LT(0, list);
	for (i = 0; i < BUFFERS; i++)
		EXPECT_EQ(-EBUSY, raw_destroy(self->a.fd, parts[i].buffer));
	EXPECT_EQ(0, raw_destroy(self->a.fd, parts[BUFFERS].buffer));
	EXPECT_EQ(0, raw_destroy(self->a.fd, list));
	for (i = 0; i < BUFFERS; i++)
		EXPECT_EQ(0, raw_destroy(self->a.fd, parts[i].buffer));
}

/* COPY and CALC go from part to part. */
TEST_F(list, for_the_cpu)
{
	const struct ib_collq_sge sges[] = {
		{ .buffer = 0, .length = 50000, .offset = 4001 },
		{ .buffer = 1, .length = 50000, .offset = 999 },
	};
	const struct ib_collq_task tasks[] = {
		raw_copy(0, 1, 1, 1),
		{
			.opcode = IB_COLLQ_TASK_CALC, .sge_count = 1, .dst_first = 1,
			.dst_count = 1, .calc_op = IB_COLLQ_CALC_XOR,
			.calc_type = IB_COLLQ_TYPE_U64,
		},
	};
	struct raw_graph graph = {
		.tasks = tasks, .nr_tasks = 1, .sges = sges, .nr_sges = 2, .nr_buffers = 2,
	};
	struct ib_collq_buffer_bind bindings[] = { { .buffer = 0 }, { .buffer = 1 } };
	char *stream = calloc(MANY, RAW_PAGE);
	struct ib_collq_sge src[MANY], dst[MANY];
	int i, status;

	ASSERT_NE(NULL, stream);
	pages_of(&self->from, src, MANY, -1);
	pages_of(&self->from, dst, MANY, 1);
	for (i = 0; i < MANY; i++)
		dst[i].offset += RAW_PAGE;
	bindings[0].region = raw_list_create(self->a.fd, src, MANY, 0);
	bindings[1].region = raw_list_create(self->a.fd, dst, MANY, WRITE);
	raw_fill(stream + sges[0].offset, sges[0].length, 9);
	raw_scatter(self->from.area, src, MANY, stream);
	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, raw_run_bound(self->a.fd, self->a.queue,
					   raw_data_graph_create(self->a.fd, &graph, NULL),
					   bindings, 2, &status));
		ASSERT_EQ(0, status);
		self->a.ring.header->head++;
		raw_gather(self->from.area, dst, MANY, stream);
		EXPECT_EQ(0, raw_count_other(stream, sges[1].offset, DATA_CANARY));
		/* The same once more is nothing but zeros. */
		EXPECT_EQ(0, i ? raw_count_other(stream + sges[1].offset, sges[1].length, 0) :
				 raw_count_wrong(stream + sges[1].offset, sges[1].length, 9));
		EXPECT_EQ(0, raw_count_other(stream + sges[1].offset + sges[1].length, 10000,
					     DATA_CANARY));
		graph.tasks = &tasks[1];
	}
	free(stream);
}

/* Where one of its regions' memory is gone it's of no more use. */
TEST_F(list, stale)
{
	const struct ib_collq_sge one = { .length = 10 };
	char *memory = mmap(NULL, RAW_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			    -1, 0);
	struct data_side source = self->from;
	struct ib_collq_sge parts[2];
	int region, graph;
	__u64 sequence;

	region = raw_region_create(self->a.fd, memory, RAW_PAGE, 0);
	ASSERT_LT(0, region);
	pages_of(&self->from, parts, 2, 1);
	parts[1].buffer = region;
	parts[1].offset = 0;
	source.region = raw_list_create(self->a.fd, parts, 2, 0);
	ASSERT_LT(0, source.region);
	EXPECT_EQ(0, raw_region_info(self->a.fd, source.region).stale);
	ASSERT_EQ(0, munmap(memory, RAW_PAGE));
	EXPECT_EQ(1, raw_region_info(self->a.fd, source.region).stale);
	graph = data_graph(&source, true, &one, 1);
	EXPECT_EQ(-ESTALE, data_submit(&source, graph, &sequence));
	EXPECT_EQ(-ESTALE, raw_list_create(self->a.fd, parts, 2, 0));
	EXPECT_EQ(-EBUSY, raw_destroy(self->a.fd, region));
	EXPECT_EQ(0, raw_destroy(self->a.fd, source.region));
	EXPECT_EQ(0, raw_destroy(self->a.fd, region));
}

/* So is one whose memory has been replaced, which is only found out by a look. */
TEST_F(list, replaced)
{
	const struct ib_collq_sge one = { .length = 10 };
	struct data_side source = self->from;
	struct ib_collq_sge parts[2];
	int graph = data_graph(&source, true, &one, 1);
	__u64 sequence;

	pages_of(&self->from, parts, 2, 1);
	source.region = raw_list_create(self->a.fd, parts, 2, 0);
	ASSERT_LT(0, source.region);
	ASSERT_EQ(0, madvise(self->from.area + 300 * RAW_PAGE, RAW_PAGE, MADV_DONTNEED));
	EXPECT_EQ(-ESTALE, data_submit(&source, graph, &sequence));
	EXPECT_EQ(1, raw_region_info(self->a.fd, source.region).stale);
}

/* As many as a context may have. */
TEST_F_TIMEOUT(list, too_many, 300)
{
	const struct ib_collq_sge part = { .buffer = self->from.region, .length = 1 };
	__u32 i;
	int list = 0;

	for (i = 0; i < self->query.max_lists; i++) {
		list = raw_list_create(self->a.fd, &part, 1, 0);
		ASSERT_LT(0, list) TH_LOG("list %u", i);
	}
	EXPECT_EQ(-ENOSPC, raw_list_create(self->a.fd, &part, 1, 0));
	EXPECT_EQ(0, raw_destroy(self->a.fd, list));
	EXPECT_LT(0, raw_list_create(self->a.fd, &part, 1, 0));
}

/* Not before what is under way is over; and its regions not before it. */
TEST_F(list, busy)
{
	const struct ib_collq_sge all = { .length = MANY * RAW_PAGE };
	struct data_side target = self->to;
	struct ib_collq_sge parts[MANY];
	__u64 sequence;

	pages_of(&self->to, parts, MANY, 1);
	target.region = raw_list_create(self->b.fd, parts, MANY, WRITE);
	ASSERT_LT(0, target.region);
	EXPECT_EQ(1, raw_region_info(self->b.fd, self->to.region).uses);
	ASSERT_EQ(0, data_submit(&target, data_graph(&target, false, &all, 1), &sequence));
	EXPECT_EQ(-EBUSY, raw_destroy(self->b.fd, target.region));
	EXPECT_EQ(-EBUSY, raw_destroy(self->b.fd, self->to.region));
	EXPECT_EQ(0, raw_cancel(self->b.fd, self->b.queue, 0));
	EXPECT_EQ(-ECANCELED, data_result(&target, sequence));
	/* The receive is still posted; the endpoint fails with the queue, and gives it back. */
	EXPECT_EQ(0, raw_destroy(self->b.fd, target.region));
	EXPECT_EQ(0, raw_destroy(self->b.fd, self->to.region));
}

/* A context that is closed with all of it in use. */
TEST_F(list, closed)
{
	const struct ib_collq_sge all = { .length = MANY * RAW_PAGE };
	long locked = raw_status_kb("VmPin");
	struct data_side target = self->to;
	struct ib_collq_sge parts[MANY];
	__u64 sequence;
	int i;

	pages_of(&self->to, parts, MANY, 1);
	target.region = raw_list_create(self->b.fd, parts, MANY, WRITE);
	ASSERT_LT(0, target.region);
	EXPECT_EQ(locked, raw_status_kb("VmPin"));
	ASSERT_EQ(0, data_submit(&target, data_graph(&target, false, &all, 1), &sequence));
	raw_pair_close(&self->a, &self->b);
	for (i = 0; i < 1000 && raw_status_kb("VmPin"); i++)
		usleep(10000);
	EXPECT_EQ(0, raw_status_kb("VmPin"));
	self->a.fd = -1;
	self->b.fd = -1;
}

TEST_F(list, described)
{
	struct ib_collq_sge parts[3], seen[4];
	struct ib_collq_object_describe describe = {
		.size = sizeof(describe),
		.entries = (unsigned long)seen,
		.entry_size = sizeof(seen[0]),
		.nr = 4,
	};
	struct ib_collq_region_info info;

	pages_of(&self->from, parts, 3, -1);
	trim(parts, 3);
	describe.id = raw_list_create(self->a.fd, parts, 3, WRITE);
	ASSERT_EQ(0, raw_ioctl(self->a.fd, IB_COLLQ_OBJECT_DESCRIBE, &describe));
	EXPECT_EQ(IB_COLLQ_OBJECT_REGION, describe.type);
	EXPECT_EQ(sizeof(seen[0]), describe.entry_size);
	EXPECT_EQ(3, describe.nr);
	EXPECT_EQ(0, memcmp(parts, seen, sizeof(parts)));
	info = raw_region_info(self->a.fd, describe.id);
	EXPECT_EQ(IB_COLLQ_REGION_LIST, info.create.type);
	EXPECT_EQ(WRITE, info.create.access);
	EXPECT_EQ(raw_length(parts, 3), info.create.length);
	EXPECT_EQ(3, info.create.nr_parts);
	EXPECT_EQ(sizeof(parts[0]), info.create.part_size);
	EXPECT_EQ(0, info.create.address);
	EXPECT_EQ(0, info.pages);
	EXPECT_EQ(1, info.registrations);
	EXPECT_EQ(0, info.uses);
	/* Other regions have no table. */
	describe.id = self->from.region;
	describe.nr = 4;
	ASSERT_EQ(0, raw_ioctl(self->a.fd, IB_COLLQ_OBJECT_DESCRIBE, &describe));
	EXPECT_EQ(0, describe.nr);
}

TEST_HARNESS_MAIN
