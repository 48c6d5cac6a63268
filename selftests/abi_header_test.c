// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The ABI's header compiles alone, whatever language includes it.
 */
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>

#include "kselftest_harness.h"

FIXTURE(header) {
};

FIXTURE_VARIANT(header) {
	const char *compiler;
};

#define WARNINGS "-Wall -Wextra -pedantic-errors -Werror"

FIXTURE_VARIANT_ADD(header, c90) {
	.compiler = "gcc -x c -std=c90 " WARNINGS " -Wno-long-long",
};

FIXTURE_VARIANT_ADD(header, c11) {
	.compiler = "gcc -x c -std=c11 " WARNINGS,
};

FIXTURE_VARIANT_ADD(header, c11_32_bit) {
	.compiler = "gcc -x c -std=c11 -m32 " WARNINGS,
};

FIXTURE_VARIANT_ADD(header, cxx98) {
	.compiler = "g++ -x c++ -std=c++98 " WARNINGS " -Wno-long-long",
};

FIXTURE_VARIANT_ADD(header, cxx20) {
	.compiler = "g++ -x c++ -std=c++20 " WARNINGS,
};

FIXTURE_SETUP(header)
{
}

FIXTURE_TEARDOWN(header)
{
}

/* The compiler's exit status for a source of these lines. */
static int compile(const char *compiler, const char *lines)
{
	char command[512];
	FILE *pipe;

	snprintf(command, sizeof(command), "%s -I %s -fsyntax-only - 2>&1 | sed 's/^/# /' >&2;"
		 "exit ${PIPESTATUS[0]}", compiler, UAPI_DIR);
	setenv("COLLQ_TEST_COMMAND", command, 1);
	pipe = popen("exec bash -c \"$COLLQ_TEST_COMMAND\"", "w");
	if (!pipe)
		return -1;
	fputs(lines, pipe);
	return WEXITSTATUS(pclose(pipe));
}

TEST_F(header, alone)
{
	ASSERT_EQ(0, compile(variant->compiler, "#include <rdma/ib_collq.h>\n"));
}

/* Also those that it includes, each in a file of its own. */
TEST_F(header, parts_alone)
{
	char lines[256];
	glob_t found;
	size_t i;

	ASSERT_EQ(0, glob(UAPI_DIR "/rdma/*.h", 0, NULL, &found));
	ASSERT_LT(0, found.gl_pathc);
	for (i = 0; i < found.gl_pathc; i++) {
		snprintf(lines, sizeof(lines), "#include \"%s\"\n", found.gl_pathv[i]);
		EXPECT_EQ(0, compile(variant->compiler, lines));
	}
	globfree(&found);
}

TEST_F(header, twice_and_before_others)
{
	ASSERT_EQ(0, compile(variant->compiler,
			     "#include <rdma/ib_collq.h>\n"
			     "#include <rdma/ib_collq.h>\n"
			     "#include <string.h>\n"
			     "struct ib_collq_query query;\n"
			     "unsigned long long features = IB_COLLQ_FEATURE_SIGNAL;\n"
			     "unsigned long command = IB_COLLQ_QUERY;\n"));
}

/* The test can fail. */
TEST_F(header, what_is_not_there)
{
	ASSERT_NE(0, compile(variant->compiler,
			     "#include <rdma/ib_collq.h>\n"
			     "struct ib_collq_nothing nothing;\n"));
}

TEST_HARNESS_MAIN
