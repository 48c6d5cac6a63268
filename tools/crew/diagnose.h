/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What to do where the device can't be opened.
 */
#ifndef CREW_DIAGNOSE_H
#define CREW_DIAGNOSE_H

/* @device as asked for, or NULL; @error: the library's negative errno. */
void diagnose_open(const char *device, int error);

#endif
