// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Chance that can be repeated: see chance.h. The generator is splitmix64, which
 * any seed will do for.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

#include "chance.h"

uint64_t chance_begin(const char *what)
{
	const char *given = getenv("COLLQ_TEST_SEED");
	uint32_t seed = 1;

	if (given)
		seed = strtoul(given, NULL, 0);
	else if (getrandom(&seed, sizeof(seed), 0) != sizeof(seed))
		seed = 1;
	printf("# %s: COLLQ_TEST_SEED=%" PRIu32 "\n", what, seed);
	fflush(stdout);
	return seed;
}

uint32_t chance_below(uint64_t *state, uint32_t below)
{
	uint64_t x = *state += 0x9e3779b97f4a7c15ULL;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
	return (x ^ x >> 31) % below;
}

uint32_t chance_number(const char *variable, uint32_t otherwise)
{
	const char *given = getenv(variable);

	return given ? strtoul(given, NULL, 0) : otherwise;
}
