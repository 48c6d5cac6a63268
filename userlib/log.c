// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What the library has to say that an errno can't: on stderr, a line at a time.
 * Nothing on the way of a run says anything.
 *
 * The level is that of the process: some of what is said belongs to no context. It
 * is looked up in the environment when a context is opened, and not later, when
 * another thread may be changing that.
 */
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "log.h"

const char * const collq_log_levels[] = {
	[COLLQ_LOG_NONE] = "none",
	[COLLQ_LOG_ERROR] = "error",
	[COLLQ_LOG_WARN] = "warn",
	[COLLQ_LOG_INFO] = "info",
	[COLLQ_LOG_DEBUG] = "debug",
	NULL
};

static _Atomic int log_level = COLLQ_LOG_WARN;

void collq_log_set_level(enum collq_log_level level)
{
	atomic_store_explicit(&log_level, (int)level, memory_order_relaxed);
}

void collq_log(enum collq_log_level level, const char *format, ...)
{
	char line[512];
	va_list args;
	int len;

	if ((int)level > atomic_load_explicit(&log_level, memory_order_relaxed))
		return;
	len = snprintf(line, sizeof(line), "collq[%d] %s: ", (int)getpid(),
		       collq_log_levels[level]);
	va_start(args, format);
	vsnprintf(line + len, sizeof(line) - len, format, args);
	va_end(args);
	fprintf(stderr, "%s\n", line);
}
