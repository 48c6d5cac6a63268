// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Landing zones between two contexts: what is written lands where it should and
 * nowhere else, and then the signal comes.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "landing.h"

#define WRITE		IB_COLLQ_ACCESS_WRITE

/* The most that an endpoint with keys of its own sends from memory that is scattered. */
#define SCATTERED	(31 * RAW_PAGE)

FIXTURE(zone) {
	struct landing landing;
};

FIXTURE_VARIANT(zone) {
	__u32 flags;
};

FIXTURE_VARIANT_ADD(zone, keys_of_the_context) {
	.flags = 0,
};

/* What may have zones itself writes without the keys of its regions. */
FIXTURE_VARIANT_ADD(zone, keys_of_its_own) {
	.flags = IB_COLLQ_ENDPOINT_ZONES,
};

FIXTURE_SETUP(zone)
{
	ASSERT_EQ(0, landing_open(&self->landing, variant->flags));
}

FIXTURE_TEARDOWN(zone)
{
	landing_close(&self->landing);
}

TEST_F(zone, lengths)
{
	static const __u32 lengths[] = {
		0, 1, 2, 7, 8, 255, 256, 1023, 1024, 1025, 4095, 4096, 4097, 8192, 65536,
		SCATTERED,
	};
	struct ib_collq_sge sge = { .offset = 4001 };
	unsigned int i;

	ASSERT_EQ(0, landing_offer(&self->landing, 3 * RAW_PAGE + 17, SCATTERED + 5));
	for (i = 0; i < ARRAY_SIZE(lengths); i++) {
		sge.length = lengths[i];
		ASSERT_EQ(0, landing_check(&self->landing, &sge, 1, 5, i))
			TH_LOG("length %u", lengths[i]);
	}
}

/* Each byte at the edges can be written to, wherever they are. */
TEST_F(zone, alignments)
{
	static const struct {
		__u64 offset;
		__u64 length;
	} zones[] = {
		{ 0, 1 }, { 1, 1 }, { 4095, 1 }, { 4095, 2 }, { 4096, 4096 }, { 4097, 4095 },
		{ 4097, 4096 }, { 17, 10000 }, { 8191, 8194 }, { LANDING_SIZE - 1, 1 },
	};
	struct ib_collq_sge sge = { .offset = 123 };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(zones); i++) {
		ASSERT_EQ(0, landing_offer(&self->landing, zones[i].offset, zones[i].length));
		sge.length = 1;
		EXPECT_EQ(0, landing_check(&self->landing, &sge, 1, 0, i));
		EXPECT_EQ(0, landing_check(&self->landing, &sge, 1, zones[i].length - 1, i + 1));
		sge.length = zones[i].length;
		EXPECT_EQ(0, landing_check(&self->landing, &sge, 1, 0, i + 2))
			TH_LOG("zone %llu, %llu", zones[i].offset, zones[i].length);
	}
}

/* Entries of all lengths, that are neighbours or not, in any order. */
TEST_F(zone, lists)
{
	struct ib_collq_sge sges[16];
	int i, round;

	ASSERT_EQ(0, landing_offer(&self->landing, 4093, 40000));
	for (round = 0; round < 4; round++) {
		for (i = 0; i < 16; i++)
			sges[i] = (struct ib_collq_sge) {
				.length = i * i * (round + 1) % 1700,
				.offset = (round & 1 ? i : 15 - i) * 5003 + round,
			};
		ASSERT_EQ(0, landing_check(&self->landing, sges, 16, 11 * round, round));
	}
	for (i = 0; i < 16; i++)
		sges[i] = (struct ib_collq_sge) { .length = 1000, .offset = 77 + i * 1000 };
	EXPECT_EQ(0, landing_check(&self->landing, sges, 16, 3, 9));
}

/* A message of many packets, a thousand times: all of it is there when the signal is. */
TEST_F(zone, data_before_the_signal)
{
	const __u64 length = 20000, copy = 40 * RAW_PAGE + 5;
	const struct ib_collq_sge sge = { .length = length };
	const struct ib_collq_sge sges[] = {
		{ .length = length, .offset = 100 },
		{ .length = length, .offset = copy },
	};
	struct landing *landing = &self->landing;
	const struct ib_collq_buffer_bind binding = { .region = landing->to.region };
	const struct ib_collq_task tasks[] = {
		raw_wait_for(landing->to.side.counter, 1), raw_copy(0, 1, 1, 1),
	};
	const struct raw_graph graph = {
		.tasks = tasks, .nr_tasks = 2, .sges = sges, .nr_sges = 2, .nr_buffers = 1,
	};
	struct raw_side *to = &landing->to.side;
	int taking, writing, status, i;
	__u64 sequence;

	ASSERT_EQ(0, landing_offer(landing, 100, length));
	taking = raw_data_graph_create(to->fd, &graph, NULL);
	writing = landing_graph(landing, landing->target, 0, &sge, 1);
	for (i = 0; i < 200; i++) {
		raw_fill(landing->from.area, length, i);
		ASSERT_EQ(0, raw_submit_bound(to->fd, to->queue, taking, &binding, 1, &sequence));
		ASSERT_EQ(0, landing_run(landing, writing));
		ASSERT_EQ(0, raw_result(to->fd, to->queue, sequence, &status));
		ASSERT_EQ(0, status);
		ASSERT_EQ(0, raw_count_wrong(landing->to.area + copy, length, i));
		to->ring.header->head++;
	}
}

/* More than can be under way at a time: the graph is held up, and nothing is lost. */
TEST_F(zone, more_than_the_capacity)
{
	enum { NR = 4 * RAW_CAPACITY };
	struct landing *landing = &self->landing;
	struct ib_collq_task tasks[NR + 1];
	struct ib_collq_sge sges[NR];
	const struct raw_graph graph = {
		.tasks = tasks, .nr_tasks = NR + 1, .sges = sges, .nr_sges = NR, .nr_buffers = 1,
	};
	int i;

	ASSERT_EQ(0, landing_offer(landing, 333, NR * 300));
	for (i = 0; i < NR; i++) {
		sges[i] = (struct ib_collq_sge) { .length = 300, .offset = i * 300 };
		tasks[i] = raw_write_list(landing->from.side.endpoint, landing->target, i * 300, 1);
		tasks[i].sge_first = i;
	}
	tasks[NR] = raw_wait_for(landing->from.sends, NR);
	raw_fill(landing->from.area, NR * 300, 1);
	ASSERT_EQ(0, landing_run(landing, raw_data_graph_create(landing->from.side.fd, &graph,
								NULL)));
	ASSERT_EQ(0, landing_wait(landing, NR));
	EXPECT_EQ(0, raw_count_wrong(landing->to.area + 333, NR * 300, 1));
}

/* Several of one endpoint; they may share bytes. */
TEST_F(zone, several)
{
	struct ib_collq_sge sge = { .length = 5000, .offset = 3 };
	struct landing other = self->landing;

	ASSERT_EQ(0, landing_offer(&self->landing, 1000, 6000));
	ASSERT_EQ(0, landing_offer(&other, 3000, 6000));
	EXPECT_NE(self->landing.zone, other.zone);
	EXPECT_NE(self->landing.name.key, other.name.key);
	EXPECT_EQ(0, landing_check(&self->landing, &sge, 1, 1000, 1));
	EXPECT_EQ(0, landing_check(&other, &sge, 1, 1000, 2));
	ASSERT_EQ(0, raw_destroy(self->landing.to.side.fd, self->landing.zone));
	EXPECT_EQ(0, landing_check(&other, &sge, 1, 0, 3));
}

/* As large as one can be, and its last byte. */
TEST_F(zone, largest)
{
	struct ib_collq_sge sge = { .length = 1, .offset = 8 };
	struct landing *landing = &self->landing;
	struct ib_collq_query query;
	unsigned char *area;
	size_t size;
	int region;

	ASSERT_EQ(0, raw_query(landing->to.side.fd, &query));
	size = query.max_zone + 2 * RAW_PAGE;
	area = raw_map(size);
	ASSERT_NE(NULL, area);
	madvise(area, size, MADV_NOHUGEPAGE);
	region = raw_region_create(landing->to.side.fd, area, size, WRITE);
	ASSERT_LT(0, region);
	EXPECT_EQ(-EINVAL, raw_zone_offer(landing->to.side.fd, landing->to.side.endpoint, region, 0,
					  query.max_zone + 1, &landing->name));
	ASSERT_LT(0, raw_zone_offer(landing->to.side.fd, landing->to.side.endpoint, region,
				    RAW_PAGE - 1, query.max_zone, &landing->name));
	landing->target = raw_target_create(landing->from.side.fd, landing->from.side.endpoint,
					    &landing->name);
	landing->from.area[8] = 0x99;
	ASSERT_EQ(0, landing_run(landing, landing_graph(landing, landing->target,
							query.max_zone - 1, &sge, 1)));
	EXPECT_EQ(0x99, area[RAW_PAGE - 1 + query.max_zone - 1]);
	area[RAW_PAGE - 1 + query.max_zone - 1] = 0;
	EXPECT_EQ(0, raw_count_other(area, size, 0));
	munmap(area, size);
}

/*
 * Memory in so many pieces, wherever the kernel puts it: one page, mapped again and
 * again, never follows itself.
 */
static unsigned char *map_pieces(unsigned int nr)
{
	int fd = memfd_create("page", 0), flags = MAP_SHARED | MAP_FIXED;
	unsigned char *area = raw_map(nr * RAW_PAGE);
	unsigned int i;

	if (fd < 0 || !area || ftruncate(fd, RAW_PAGE))
		return NULL;
	for (i = 0; i < nr; i++)
		if (mmap(area + i * RAW_PAGE, RAW_PAGE, PROT_READ | PROT_WRITE, flags, fd, 0) ==
		    MAP_FAILED)
			return NULL;
	close(fd);
	return area;
}

/* What doesn't fit the endpoint's list is refused when it's submitted. */
TEST_F(zone, scattered_memory)
{
	enum { PIECES = 40 };
	struct ib_collq_sge sge = { .length = PIECES * RAW_PAGE };
	struct landing *landing = &self->landing;
	unsigned char *pieces = map_pieces(PIECES);
	int graph, all = landing->from.region;

	ASSERT_NE(NULL, pieces);
	ASSERT_EQ(0, landing_offer(landing, 5, PIECES * RAW_PAGE));
	if (variant->flags) {
		landing->from.region = raw_region_create(landing->from.side.fd, pieces,
							 PIECES * RAW_PAGE, 0);
		ASSERT_LT(0, landing->from.region);
		graph = landing_graph(landing, landing->target, 0, &sge, 1);
		EXPECT_EQ(-EMSGSIZE, landing_run(landing, graph));
		EXPECT_TRUE(landing_untouched(landing));
		landing->from.region = all;
		sge.length = 32 * RAW_PAGE;
	}
	EXPECT_EQ(0, landing_check(landing, &sge, 1, 0, 1));
	munmap(pieces, PIECES * RAW_PAGE);
}

/* A list of parts can be written from, but no zone can be in one. */
TEST_F(zone, list_of_parts)
{
	const struct ib_collq_sge all = { .length = 20 * RAW_PAGE - 100, .offset = 50 };
	struct landing *landing = &self->landing;
	struct ib_collq_sge parts[20];
	int graph, i, list;

	for (i = 0; i < 20; i++)
		parts[i] = (struct ib_collq_sge){
			.buffer = landing->from.region,
			.length = RAW_PAGE,
			.offset = (19 - i) * RAW_PAGE,
		};
	list = raw_list_create(landing->from.side.fd, parts, 20, WRITE);
	ASSERT_LT(0, list);
	ASSERT_EQ(0, landing_offer(landing, 5, 20 * RAW_PAGE));
	for (i = 0; i < 20; i++)
		raw_fill(landing->from.area + i * RAW_PAGE, RAW_PAGE, 19 - i);
	landing->from.region = list;
	graph = landing_graph(landing, landing->target, 0, &all, 1);
	ASSERT_EQ(0, landing_run(landing, graph));
	ASSERT_EQ(0, landing_wait(landing, 1));
	memmove(landing->to.area, landing->to.area + 5, 20 * RAW_PAGE);
	for (i = 1; i < 19; i++)
		EXPECT_EQ(0, raw_count_wrong(landing->to.area + i * RAW_PAGE - 50, RAW_PAGE, i))
			TH_LOG("page %d", i);
	parts[0].buffer = landing->to.region;
	list = raw_list_create(landing->to.side.fd, parts, 1, WRITE);
	ASSERT_LT(0, list);
	EXPECT_EQ(-EOPNOTSUPP, raw_zone_offer(landing->to.side.fd, landing->to.side.endpoint, list,
					      0, 1, &landing->name));
}

/* A huge page; the guest's kernel has some if it's asked for them. */
static unsigned char *map_huge(void)
{
	int fd = open("/proc/sys/vm/nr_hugepages", O_WRONLY);
	void *memory = MAP_FAILED;

	if (fd >= 0 && write(fd, "2", 1) == 1)
		memory = mmap(NULL, 2 << 20, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
	if (fd >= 0)
		close(fd);
	return memory == MAP_FAILED ? NULL : memory;
}

/* What is one piece of memory takes one entry, however long it is. */
TEST_F(zone, huge_page)
{
	const __u32 length = 60 * RAW_PAGE;
	const struct ib_collq_sge sge = { .length = length };
	struct landing *landing = &self->landing;
	unsigned char *huge = map_huge(), *own = landing->from.area;

	if (!huge)
		SKIP(return, "no huge page");
	landing->from.region = raw_region_create(landing->from.side.fd, huge, 2 << 20, 0);
	ASSERT_LT(0, landing->from.region);
	landing->from.area = huge;
	EXPECT_EQ(0, landing_offer(landing, 9, length));
	EXPECT_EQ(0, landing_check(landing, &sge, 1, 0, 1));
	landing->from.area = own;
	munmap(huge, 2 << 20);
}

static struct ib_collq_zone_info zone_info(const struct landing *landing)
{
	struct ib_collq_zone_info info = {};

	raw_describe(landing->to.side.fd, landing->zone, &info, sizeof(info));
	return info;
}

TEST_F(zone, described)
{
	struct landing *landing = &self->landing;
	struct ib_collq_target_info target;
	struct ib_collq_zone_info zone;
	struct ib_collq_zone_name name;

	ASSERT_EQ(0, landing_offer(landing, 1234, 567));
	zone = zone_info(landing);
	EXPECT_EQ(landing->zone, zone.create.id);
	EXPECT_EQ(landing->to.side.endpoint, zone.create.endpoint);
	EXPECT_EQ(landing->to.region, zone.create.region);
	EXPECT_EQ(1234, zone.create.offset);
	EXPECT_EQ(567, zone.create.length);
	EXPECT_EQ(0, zone.stale);
	EXPECT_EQ(0, memcmp(zone.create.zone, &landing->name, sizeof(landing->name)));
	EXPECT_EQ(1, raw_region_info(landing->to.side.fd, landing->to.region).uses);

	ASSERT_EQ(0, raw_describe(landing->from.side.fd, landing->target, &target,
				  sizeof(target)));
	EXPECT_EQ(landing->target, target.create.id);
	EXPECT_EQ(landing->from.side.endpoint, target.create.endpoint);
	EXPECT_EQ(0, target.stale);
	EXPECT_EQ(0, memcmp(target.create.zone, &landing->name, sizeof(landing->name)));

	/* No more of an address than its place in a page. */
	memcpy(&name, &landing->name, sizeof(name));
	EXPECT_EQ(IB_COLLQ_PROTOCOL_VERSION, name.version);
	EXPECT_EQ(1234, name.address);
	EXPECT_EQ(567, name.length);
}

/* What names what, and so what can't go before. */
TEST_F(zone, destroyed_in_order)
{
	struct ib_collq_sge sge = { .length = 8 };
	struct landing *landing = &self->landing;
	int from = landing->from.side.fd, to = landing->to.side.fd, graph;

	ASSERT_EQ(0, landing_offer(landing, 0, 8));
	graph = landing_graph(landing, landing->target, 0, &sge, 1);
	ASSERT_LT(0, graph);
	EXPECT_EQ(-EBUSY, raw_destroy(from, landing->target));
	EXPECT_EQ(-EBUSY, raw_destroy(from, landing->from.side.endpoint));
	ASSERT_EQ(0, raw_destroy(from, graph));
	EXPECT_EQ(-EBUSY, raw_destroy(from, landing->from.side.endpoint));
	ASSERT_EQ(0, raw_destroy(from, landing->target));
	EXPECT_EQ(-ENOENT, raw_destroy(from, landing->target));

	EXPECT_EQ(-EBUSY, raw_destroy(to, landing->to.region));
	EXPECT_EQ(-EBUSY, raw_destroy(to, landing->to.side.endpoint));
	ASSERT_EQ(0, raw_destroy(to, landing->zone));
	EXPECT_EQ(-ENOENT, raw_destroy(to, landing->zone));
	EXPECT_EQ(0, raw_region_info(to, landing->to.region).uses);
	EXPECT_EQ(0, raw_destroy(to, landing->to.region));
}

/* Members of what makes a zone. */
TEST_F(zone, offer_refused)
{
	struct landing *landing = &self->landing;
	const int fd = landing->to.side.fd, endpoint = landing->to.side.endpoint;
	struct ib_collq_endpoint_create without = raw_endpoint_attr(IB_COLLQ_ENDPOINT_SIGNAL);
	const int other = raw_endpoint_create(fd, &without);
	const int region = landing->to.region;
	const int source = raw_region_create(fd, landing->to.area, RAW_PAGE, 0);
	struct ib_collq_zone_name name;
	unsigned int i;
	const struct {
		__u32 endpoint;
		__u32 region;
		__u64 offset;
		__u64 length;
		int err;
	} refused[] = {
		{ endpoint, 0, 0, 1, -EOPNOTSUPP },
		{ 0, region, 0, 1, -ENOENT },
		{ region, region, 0, 1, -ENOENT },
		{ endpoint, endpoint, 0, 1, -ENOENT },
		{ endpoint, ~0U, 0, 1, -ENOENT },
		{ other, region, 0, 1, -EINVAL },
		{ endpoint, source, 0, 1, -EACCES },
		{ endpoint, region, 0, 0, -EINVAL },
		{ endpoint, region, 0, LANDING_SIZE + 1, -EINVAL },
		{ endpoint, region, 1, LANDING_SIZE, -EINVAL },
		{ endpoint, region, LANDING_SIZE, 1, -EINVAL },
		{ endpoint, region, LANDING_SIZE + 1, 1, -EINVAL },
		{ endpoint, region, ~0ULL, 1, -EINVAL },
		{ endpoint, region, ~0ULL, ~0ULL, -EINVAL },
		{ endpoint, region, 1, ~0ULL, -EINVAL },
	};

	for (i = 0; i < ARRAY_SIZE(refused); i++)
		EXPECT_EQ(refused[i].err,
			  raw_zone_offer(fd, refused[i].endpoint, refused[i].region,
					 refused[i].offset, refused[i].length, &name))
			TH_LOG("number %u", i);
	EXPECT_EQ(0, raw_region_info(fd, region).uses);
	EXPECT_LT(0, raw_zone_offer(fd, endpoint, region, LANDING_SIZE - 1, 1, &name));
}

/* Members of what makes a target. */
TEST_F(zone, name_refused)
{
	struct landing *landing = &self->landing;
	struct ib_collq_endpoint_create without = raw_endpoint_attr(IB_COLLQ_ENDPOINT_SIGNAL);
	const int fd = landing->from.side.fd, endpoint = landing->from.side.endpoint;
	const int other = raw_endpoint_create(fd, &without);
	struct ib_collq_zone_name good, bad[6];
	unsigned int i;

	ASSERT_EQ(0, landing_offer(landing, 10, 100));
	good = landing->name;
	for (i = 0; i < ARRAY_SIZE(bad); i++)
		bad[i] = good;
	bad[0].version = IB_COLLQ_PROTOCOL_VERSION + 1;
	bad[1].__reserved = 1;
	bad[2].length = 0;
	bad[3].endpoint[7] ^= 1;
	bad[4].address = ~0ULL;
	bad[5].length = ~0ULL;
	for (i = 0; i < ARRAY_SIZE(bad); i++)
		EXPECT_EQ(-EINVAL, raw_target_create(fd, endpoint, &bad[i]))
			TH_LOG("number %u", i);
	EXPECT_EQ(-ENOENT, raw_target_create(fd, 0, &good));
	EXPECT_EQ(-ENOENT, raw_target_create(fd, landing->target, &good));
	EXPECT_EQ(-ENOTCONN, raw_target_create(fd, other, &good));
	/* The owner isn't connected to itself. */
	EXPECT_EQ(-EINVAL, raw_target_create(landing->to.side.fd, landing->to.side.endpoint,
					     &good));
	EXPECT_LT(0, raw_target_create(fd, endpoint, &good));
}

TEST_HARNESS_MAIN
