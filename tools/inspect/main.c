// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * collq - look into what the kernel does for collectives
 *
 *	main -> show -> devices -> snapshot -> peers -> blame -> text or json
 *	    \-> variables
 *
 * Options may stand anywhere; a command may be shortened as long as it is the
 * only one that begins so.
 */
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inspect.h"

static const char usage[] =
"Usage: collq [OPTION]... COMMAND [ARGUMENT]\n"
"\n"
"Looks into what the kernel does for collectives.\n"
"\n"
"  show [DEVICE]     contexts and their queues on all RDMA devices or this one: what each\n"
"                    waits for and since when, and at the end who holds others up; those\n"
"                    of the same user, or all as root\n"
"  variables         the environment that libcollq heeds: values, and where from\n"
"  help              this text\n"
"\n"
"  -j, --json        print JSON\n"
"  -d, --details     show: endpoints, rings and regions, too\n"
"  -h, --help        this text\n"
"  -V, --version\n"
"\n"
"Exit status: 0 if all is well, 1 on failure, 2 on wrong usage.\n";

static const struct option long_options[] = {
	{ "json",	no_argument,	NULL, 'j' },
	{ "details",	no_argument,	NULL, 'd' },
	{ "help",	no_argument,	NULL, 'h' },
	{ "version",	no_argument,	NULL, 'V' },
	{ }
};

enum command { SHOW, VARIABLES, HELP, NR_COMMANDS, NO_COMMAND };

static const char * const commands[NR_COMMANDS] = {
	[SHOW] = "show",
	[VARIABLES] = "variables",
	[HELP] = "help",
};

void complain(const char *format, ...)
{
	va_list args;

	fflush(stdout);
	fputs("collq: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
}

static int print(const char *text)
{
	fputs(text, stdout);
	return EXIT_SUCCESS;
}

static enum command find_command(const char *name)
{
	enum command found = NO_COMMAND, i;

	for (i = 0; i < NR_COMMANDS; i++) {
		if (!*name || strncmp(commands[i], name, strlen(name)))
			continue;
		if (found != NO_COMMAND)
			return NO_COMMAND;
		found = i;
	}
	return found;
}

static int run(const struct options *options, int argc, char **argv)
{
	enum command command;

	if (!argc) {
		fputs(usage, stderr);
		return EXIT_USAGE;
	}
	command = find_command(argv[0]);
	if (command == NO_COMMAND) {
		complain("there is no command '%s'; see collq help", argv[0]);
		return EXIT_USAGE;
	}
	if (argc > (command == SHOW ? 2 : 1)) {
		complain("unexpected argument '%s'; see collq help", argv[argc - 1]);
		return EXIT_USAGE;
	}
	if (command == SHOW)
		return show_command(options, argv[1]);
	return command == VARIABLES ? variables_command(options) : print(usage);
}

int main(int argc, char **argv)
{
	struct options options = {};
	int option, status;

	while ((option = getopt_long(argc, argv, "jdhV", long_options, NULL)) != -1) {
		switch (option) {
		case 'j':
			options.json = true;
			break;
		case 'd':
			options.details = true;
			break;
		case 'h':
			status = print(usage);
			goto out;
		case 'V':
			status = print("collq " TOOL_VERSION "\n");
			goto out;
		default:
			/* getopt_long has said what is wrong */
			fputs("See collq help\n", stderr);
			return EXIT_USAGE;
		}
	}
	status = run(&options, argc - optind, argv + optind);
out:
	if (fflush(stdout) || ferror(stdout)) {
		perror("collq: standard output");
		status = EXIT_FAILURE;
	}
	return status;
}
