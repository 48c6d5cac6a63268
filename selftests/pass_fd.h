/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* pass_fd.h - a descriptor that goes to another process, over a UNIX socket */
#ifndef PASS_FD_H
#define PASS_FD_H

#include <stdbool.h>

bool pass_fd(int socket, int fd);
int take_fd(int socket);	/* -1: there was none */

#endif
