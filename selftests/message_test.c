// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What ranks tell each other in an initialisation: written, read, and rubbish.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kselftest_harness.h"

#include <collq/collq.h>

#include "message.h"

FIXTURE(message) {
	struct collq_writer writer;
	unsigned char address[IB_COLLQ_ADDRESS_SIZE];
};

static const struct collq_message_record plain = {
	.peer = 7,
	.endpoint = 1,
	.waits = 5,
	.sends = 6,
	.abort_slot = 8,
	.abort_generation = 9,
	.nr_channels = 2,
	.nr_messages = 1,
	.nr_freed = 1,
	.nr_failed = 2,
};

static const struct collq_message_record with_address = {
	.peer = 0x01020304,
	.endpoint = 2,
	.flags = COLLQ_RECORD_FRESH,
	.capacity = 52,
};

FIXTURE_SETUP(message)
{
	const struct collq_message_channel channels[2] = {
		{ .tag = 10, .slot = 11, .generation = 12 },
		{ .tag = 0x0a0b0c0d, .slot = 0x0102, .generation = 0xfffe },
	};
	struct collq_message_endpoint endpoint = {
		.init = 13, .tag = 14, .sends = 15, .recvs = 0x01020306,
	};
	uint32_t i;

	for (i = 0; i < sizeof(self->address); i++)
		self->address[i] = i + 1;
	memcpy(endpoint.address, self->address, sizeof(endpoint.address));
	collq_write_record(&self->writer, &plain, NULL);
	collq_write_channel(&self->writer, &channels[0]);
	collq_write_channel(&self->writer, &channels[1]);
	collq_write_endpoint(&self->writer, &endpoint);
	collq_write_number(&self->writer, 99);
	collq_write_number(&self->writer, 3);
	collq_write_number(&self->writer, 0x01020305);
	collq_write_record(&self->writer, &with_address, self->address);
	ASSERT_EQ(0, self->writer.error);
	ASSERT_EQ(48 + 2 * 8 + 144 + 4 + 2 * 4 + 48 + 128, self->writer.nr);
}

FIXTURE_TEARDOWN(message)
{
	free(self->writer.bytes);
}

TEST_F(message, is_read_as_written)
{
	struct collq_message_endpoint endpoint;
	struct collq_message_channel channel;
	struct collq_found found;

	ASSERT_EQ(0, collq_message_find(self->writer.bytes, self->writer.nr, 7, &found));
	EXPECT_EQ(1, found.record.endpoint);
	EXPECT_EQ(5, found.record.waits);
	EXPECT_EQ(6, found.record.sends);
	EXPECT_EQ(8, found.record.abort_slot);
	EXPECT_EQ(9, found.record.abort_generation);
	EXPECT_EQ(NULL, found.address);
	ASSERT_EQ(2, found.record.nr_channels);
	collq_found_channel(&found, 1, &channel);
	EXPECT_EQ(0x0a0b0c0d, channel.tag);
	EXPECT_EQ(0x0102, channel.slot);
	EXPECT_EQ(0xfffe, channel.generation);
	ASSERT_EQ(1, found.record.nr_messages);
	collq_found_endpoint(&found, 0, &endpoint);
	EXPECT_EQ(13, endpoint.init);
	EXPECT_EQ(14, endpoint.tag);
	EXPECT_EQ(15, endpoint.sends);
	EXPECT_EQ(0x01020306, endpoint.recvs);
	EXPECT_EQ(0, memcmp(endpoint.address, self->address, sizeof(self->address)));
	ASSERT_EQ(1, found.record.nr_freed);
	EXPECT_EQ(99, collq_found_freed(&found, 0));
	ASSERT_EQ(2, found.record.nr_failed);
	EXPECT_EQ(3, collq_found_failed(&found, 0));
	EXPECT_EQ(0x01020305, collq_found_failed(&found, 1));

	ASSERT_EQ(0, collq_message_find(self->writer.bytes, self->writer.nr, 0x01020304, &found));
	EXPECT_EQ(52, found.record.capacity);
	ASSERT_NE(NULL, found.address);
	EXPECT_EQ(0, memcmp(found.address, self->address, sizeof(self->address)));
	EXPECT_EQ(-ENOENT, collq_message_find(self->writer.bytes, self->writer.nr, 8, &found));
	EXPECT_EQ(-ENOENT, collq_message_find(NULL, 0, 7, &found));
}

TEST_F(message, is_little_endian)
{
	static const unsigned char channel[] = { 0x0d, 0x0c, 0x0b, 0x0a, 0x02, 0x01, 0xfe, 0xff };

	EXPECT_EQ(220, self->writer.bytes[0]);
	EXPECT_EQ(0, self->writer.bytes[3]);
	EXPECT_EQ(7, self->writer.bytes[4]);
	EXPECT_EQ(0, memcmp(self->writer.bytes + 56, channel, sizeof(channel)));
}

/* Each cut, and each byte changed to a number of extremes: no reading beyond. */
TEST_F(message, may_be_rubbish)
{
	static const unsigned char bad[] = { 0, 1, 0x7f, 0x80, 0xff };
	size_t nr = self->writer.nr, i, j;
	struct collq_found found;
	unsigned char *bytes;
	int ret;

	for (i = 1; i < nr; i++) {
		bytes = malloc(i);
		ASSERT_NE(NULL, bytes);
		memcpy(bytes, self->writer.bytes, i);
		ret = collq_message_find(bytes, i, 8, &found);
		EXPECT_EQ(i == 220 ? -ENOENT : -EPROTO, ret);
		free(bytes);
	}
	for (i = 0; i < nr; i++) {
		for (j = 0; j < sizeof(bad); j++) {
			bytes = malloc(nr);
			ASSERT_NE(NULL, bytes);
			memcpy(bytes, self->writer.bytes, nr);
			bytes[i] = bad[j];
			ret = collq_message_find(bytes, nr, 0x01020304, &found);
			EXPECT_TRUE(ret == -ENOENT || ret == -EPROTO || !ret);
			if (!ret)
				EXPECT_LE(found.failed + 4ULL * found.record.nr_failed, bytes + nr);
			free(bytes);
		}
	}
}

/* Versions of the library that differ in this can't even tell each other so. */
TEST(block_is_the_same_for_ever)
{
	static const uint32_t blocks[][2] = {
		{ 1, 512 }, { 2, 512 }, { 3, 792 }, { 4, 792 }, { 8, 1176 }, { 64, 2328 },
		{ 1000, 3864 }, { 1024, 3864 }, { 1200, 3495 }, { 2048, 2048 },
		{ 10000, 512 }, { UINT32_MAX, 512 },
	};
	size_t i;

	for (i = 0; i < sizeof(blocks) / sizeof(blocks[0]); i++)
		EXPECT_EQ(blocks[i][1], collq_message_block(blocks[i][0]));
}

TEST(header_and_status_are_read_as_written)
{
	const struct collq_message_header header = {
		.magic = COLLQ_MESSAGE_MAGIC,
		.init = 1,
		.algorithm = 2,
		.radix = 3,
		.status = (uint32_t)-EIO,
		.bytes = 5,
	};
	struct collq_message_header read;
	unsigned char bytes[sizeof(header)];

	collq_message_put_header(bytes, &header);
	EXPECT_EQ(0, memcmp(bytes, "CLQ4\1\0\0\0\2\0\0\0\3", 13));
	collq_message_get_header(bytes, &read);
	EXPECT_EQ(0, memcmp(&header, &read, sizeof(read)));
	collq_message_put_status(bytes, -ENOSPC);
	EXPECT_EQ(-ENOSPC, collq_message_get_status(bytes));
}

TEST(terms_are_read_as_written)
{
	static const unsigned char expected[] = {
		8, 7, 6, 5, 4, 3, 2, 1, 9, 0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0,
		10, 0, 0, 0, 0, 0, 0, 0,
		1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4, 0, 0, 0, 5, 0, 0, 0, 6, 0, 0, 0,
	};
	const struct collq_message_terms terms = {
		.amount = 0x0102030405060708,
		.max_message = 9,
		.place = 7,
		.region_part = 10,
		.choice = { 1, 2, 3, 4 },
		.max_send_sge = 5,
		.max_recv_sge = 6,
	};
	struct collq_message_terms read;
	struct collq_writer writer = { 0 };

	collq_write_terms(&writer, &terms);
	ASSERT_EQ(sizeof(expected), writer.nr);
	EXPECT_EQ(0, memcmp(expected, writer.bytes, sizeof(expected)));
	ASSERT_EQ(0, collq_message_get_terms(writer.bytes, writer.nr, &read));
	EXPECT_EQ(0, memcmp(&terms, &read, sizeof(read)));
	EXPECT_EQ(-EPROTO, collq_message_get_terms(writer.bytes, writer.nr - 1, &read));
	EXPECT_EQ(-EPROTO, collq_message_get_terms(writer.bytes, writer.nr + 1, &read));
	free(writer.bytes);
}

TEST_HARNESS_MAIN
