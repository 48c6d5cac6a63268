/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef COLLQ_LOG_H
#define COLLQ_LOG_H

/* COLLQ_LOG_LEVEL by number */
enum collq_log_level {
	COLLQ_LOG_NONE,
	COLLQ_LOG_ERROR,
	COLLQ_LOG_WARN,
	COLLQ_LOG_INFO,
	COLLQ_LOG_DEBUG,
};

/* Their names, in this order, ending with NULL */
extern const char * const collq_log_levels[];

/* What level there is: that of the last context to be opened. */
void collq_log_set_level(enum collq_log_level level);

/* Says it on stderr, as one line, if the level is low enough. */
__attribute__((format(printf, 2, 3)))
void collq_log(enum collq_log_level level, const char *format, ...);

#define collq_error(...)	collq_log(COLLQ_LOG_ERROR, __VA_ARGS__)
#define collq_warn(...)		collq_log(COLLQ_LOG_WARN, __VA_ARGS__)
#define collq_info(...)		collq_log(COLLQ_LOG_INFO, __VA_ARGS__)
#define collq_debug(...)	collq_log(COLLQ_LOG_DEBUG, __VA_ARGS__)

#endif /* COLLQ_LOG_H */
