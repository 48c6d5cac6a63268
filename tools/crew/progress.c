// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What goes to standard error while the ranks are at work: one line that is
 * written over on a terminal, now and then a line elsewhere (in a log file,
 * or where a VM hands on what we print).
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "progress.h"

#define TERMINAL_INTERVAL_MS	100
#define LOG_INTERVAL_MS		5000
#define CLEAR_LINE		"\r\033[K"

static struct {
	const char *row;
	char what[64];
	uint64_t shown_ms;
	bool on_terminal;
	bool line_open;
} progress;

/* Whatever is printed next begins in an empty line. */
static void clear_line(void)
{
	if (progress.line_open)
		fputs(CLEAR_LINE, stderr);
	progress.line_open = false;
}

void progress_begin(const char *row)
{
	progress.row = row;
	progress.on_terminal = isatty(STDERR_FILENO);
	progress.what[0] = '\0';
	progress.shown_ms = now_ms();
}

void progress_show(const char *what, uint64_t done, uint64_t of)
{
	unsigned int interval = progress.on_terminal ? TERMINAL_INTERVAL_MS : LOG_INTERVAL_MS;
	bool changed = strcmp(what, progress.what);

	if (now_ms() - progress.shown_ms < interval && !(changed && progress.on_terminal))
		return;
	progress.shown_ms = now_ms();
	snprintf(progress.what, sizeof(progress.what), "%s", what);

	clear_line();
	fprintf(stderr, "%s: %s", progress.row, what);
	if (of)
		fprintf(stderr, ", %" PRIu64 " of %" PRIu64 " %s", done, of, tool_unit);
	progress.line_open = progress.on_terminal;
	if (!progress.on_terminal)
		fputc('\n', stderr);
	fflush(stderr);
}

void progress_end(const char *format, ...)
{
	va_list args;

	clear_line();
	fprintf(stderr, "%s: ", progress.row);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
}

void complain(const char *format, ...)
{
	va_list args;

	clear_line();
	fprintf(stderr, "%s: ", tool_name);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
}
