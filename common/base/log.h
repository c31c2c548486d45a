/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The log of a daemon or a tool. Libraries log at debug only. The reader determines the level:
 * error = the operator must act, warn = degraded and handled, notice = start and end, info = per
 * session, debug = per message. A line is `text key=value key=value`. Bytes of a peer must be
 * escaped by str_escape() first; secrets must never be logged. The functions never allocate, block
 * only on the sink, and preserve errno. Any thread may log; only main() calls log_open() and
 * log_close().
 */
#ifndef COMMON_BASE_LOG_H
#define COMMON_BASE_LOG_H

#include <stdbool.h>
#include <stdint.h>

enum log_level {
	LOG_LEVEL_ERROR,
	LOG_LEVEL_WARN,
	LOG_LEVEL_NOTICE,
	LOG_LEVEL_INFO,
	LOG_LEVEL_DEBUG
};

enum log_format {
	LOG_AUTO, /* LOG_JOURNAL if stderr is the journal, otherwise LOG_PLAIN */
	LOG_PLAIN, /* time level area: text */
	LOG_JOURNAL, /* <N>area: text, as systemd reads it from stderr */
	LOG_JSON, /* {"time":...,"level":...,"area":...,"text":...} a line */
};

struct log_conf {
	enum log_level level; /* less important lines are not written */
	enum log_format format;
	int fd; /* borrowed until log_close(); -1 or 2 = stderr */
	const char *program; /* borrowed until log_close(); may be NULL */
	/* levels of single areas, in the form of log_areas_check(); NULL = none */
	const char *areas;
};

#define LOG_AREAS_MAX 16 /* areas with own levels; for more, change the general level */
#define LOG_AREA_BYTES 16 /* of a name, with its 0; areas are rooms and files */

/* Sets up the log. Before this call: level notice, LOG_AUTO, stderr. */
void log_open(const struct log_conf *conf);
void log_close(void);

/*
 * Checks "net=debug,link=warn" or "". Fails with ERR_PARSE for a wrong word, ERR_LIMIT for too
 * many.
 */
int log_areas_check(const char *areas);

/* Any thread. Sets the level of all areas without a level of their own. */
void log_set_level(enum log_level level);

/* True if some area logs lines of this level. */
bool log_is_on(enum log_level level);

/*
 * log_level_name() returns "error" and so on; "?" out of range. log_level_from_name() fails with
 * ERR_INVALID.
 */
const char *log_level_name(enum log_level level);
int log_level_from_name(const char *name, enum log_level *out);

/* One per call site, which limits it to LOG_BURST lines a second; others are only counted. */
struct log_site {
	_Atomic int64_t window; /* the second for which `lines` counts */
	_Atomic unsigned lines;
	_Atomic unsigned suppressed;
};

#define LOG_BURST 20

/* Only the macros below call this. */
void log_line(struct log_site *site, enum log_level level, const char *area, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/*
 * Log with an area, which is the room or file of the call: log_warn("net", "peer lost peer=%s",
 * name).
 */
#define log_at(level, area, ...)                                                \
	do {                                                                    \
		static struct log_site log_site_here;                           \
		if (log_is_on(level))                                           \
			log_line(&log_site_here, (level), (area), __VA_ARGS__); \
	} while (0)
#define log_error(area, ...) log_at(LOG_LEVEL_ERROR, area, __VA_ARGS__)
#define log_warn(area, ...) log_at(LOG_LEVEL_WARN, area, __VA_ARGS__)
#define log_notice(area, ...) log_at(LOG_LEVEL_NOTICE, area, __VA_ARGS__)
#define log_info(area, ...) log_at(LOG_LEVEL_INFO, area, __VA_ARGS__)
#define log_debug(area, ...) log_at(LOG_LEVEL_DEBUG, area, __VA_ARGS__)

#endif
