// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Linked to a test of teams, this has their ranks leave the wire out, as they do
 * where nobody says otherwise.
 */
#include <stdlib.h>

__attribute__((constructor)) static void leave_the_wire_out(void)
{
	setenv("COLLQ_TLS", "local,rc", 1);
}
