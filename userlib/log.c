// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What the library has to say that an errno can't: on stderr, a line at a time.
 * Nothing on the way of a run says anything.
 *
 * The level is that of the process, so it is looked up at each call rather than
 * kept with a context: some of what is said happens before there is one.
 */
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "env.h"
#include "log.h"

const char * const collq_log_levels[] = {
	[COLLQ_LOG_NONE] = "none",
	[COLLQ_LOG_ERROR] = "error",
	[COLLQ_LOG_WARN] = "warn",
	[COLLQ_LOG_INFO] = "info",
	[COLLQ_LOG_DEBUG] = "debug",
	NULL
};

void collq_log(enum collq_log_level level, const char *format, ...)
{
	char line[512];
	va_list args;
	int len;

	if (level > collq_env_log_level())
		return;
	len = snprintf(line, sizeof(line), "collq[%d] %s: ", (int)getpid(),
		       collq_log_levels[level]);
	va_start(args, format);
	vsnprintf(line + len, sizeof(line) - len, format, args);
	va_end(args);
	fprintf(stderr, "%s\n", line);
}
