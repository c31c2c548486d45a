/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/log.h"

#include "common/base/array.h"
#include "common/base/clock.h"
#include "common/base/err.h"
#include "common/base/str.h"

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LINE_BYTES 1024

static const char *const level_names[] = { "error", "warn", "notice", "info", "debug" };

/* syslog priorities: err, warning, notice, info, debug */
static const char level_priority[] = "34567";

struct area {
	char name[LOG_AREA_BYTES];
	enum log_level level;
};

/*
 * The only global of common/: main() sets it before threads exist; levels may change at any time.
 */
static struct {
	_Atomic int level; /* level of areas without a level of their own */
	_Atomic int loudest; /* the most verbose level of all areas */
	struct area area[LOG_AREAS_MAX];
	size_t narea;
	enum log_format format;
	int fd;
	const char *program;
} sink = { .level = LOG_LEVEL_NOTICE,
	   .loudest = LOG_LEVEL_NOTICE,
	   .format = LOG_AUTO,
	   .fd = STDERR_FILENO };

/*
 * True if stderr is systemd's journal stream, by device and inode: those of a redirected stderr
 * differ.
 */
static bool is_journal(int fd)
{
	const char *stream = getenv("JOURNAL_STREAM");
	unsigned long long dev, ino;
	struct stat st;

	return stream && sscanf(stream, "%llu:%llu", &dev, &ino) == 2 && fstat(fd, &st) == 0 &&
	       st.st_dev == dev && st.st_ino == ino;
}

/* Parses "net=debug,..." to at most LOG_AREAS_MAX areas. */
static int parse_areas(const char *s, struct area *out, size_t *n)
{
	for (*n = 0; *s; s += *s == ',') {
		size_t name = strcspn(s, "=,"), level = strcspn(s, ",");
		char word[16];

		if (*n == LOG_AREAS_MAX)
			return -ERR_LIMIT;
		if (!name || name >= LOG_AREA_BYTES || s[name] != '=' ||
		    level - name - 1 >= sizeof(word))
			return -ERR_PARSE;
		snprintf(out[*n].name, LOG_AREA_BYTES, "%.*s", (int)name, s);
		snprintf(word, sizeof(word), "%.*s", (int)(level - name - 1), s + name + 1);
		if (log_level_from_name(word, &out[*n].level))
			return -ERR_PARSE;
		s += level;
		++*n;
	}
	return 0;
}

int log_areas_check(const char *areas)
{
	struct area area[LOG_AREAS_MAX];
	size_t n;

	return parse_areas(areas, area, &n);
}

void log_open(const struct log_conf *conf)
{
	if (parse_areas(conf->areas ? conf->areas : "", sink.area, &sink.narea))
		sink.narea = 0;
	sink.fd = conf->fd < 0 ? STDERR_FILENO : conf->fd;
	sink.format = conf->format;
	if (sink.format == LOG_AUTO)
		sink.format = is_journal(sink.fd) ? LOG_JOURNAL : LOG_PLAIN;
	sink.program = conf->program;
	log_set_level(conf->level);
}

void log_close(void)
{
	log_open(&(struct log_conf){ .level = LOG_LEVEL_NOTICE, .format = LOG_AUTO, .fd = -1 });
}

void log_set_level(enum log_level level)
{
	int loudest = (int)level;

	for (size_t i = 0; i < sink.narea; i++)
		if ((int)sink.area[i].level > loudest)
			loudest = (int)sink.area[i].level;
	atomic_store_explicit(&sink.level, (int)level, memory_order_relaxed);
	atomic_store_explicit(&sink.loudest, loudest, memory_order_relaxed);
}

bool log_is_on(enum log_level level)
{
	return (int)level <= atomic_load_explicit(&sink.loudest, memory_order_relaxed);
}

static bool area_is_on(const char *area, enum log_level level)
{
	for (size_t i = 0; i < sink.narea; i++)
		if (str_eq(sink.area[i].name, area))
			return level <= sink.area[i].level;
	return (int)level <= atomic_load_explicit(&sink.level, memory_order_relaxed);
}

const char *log_level_name(enum log_level level)
{
	return (size_t)level < ARRAY_LEN(level_names) ? level_names[level] : "?";
}

int log_level_from_name(const char *name, enum log_level *out)
{
	for (size_t i = 0; i < ARRAY_LEN(level_names); i++) {
		if (str_eq(name, level_names[i])) {
			*out = (enum log_level)i;
			return 0;
		}
	}
	return -ERR_INVALID;
}

/*
 * Decides whether this line is written; *suppressed is the number of lines dropped in the previous
 * window.
 */
static bool site_admits(struct log_site *site, unsigned *suppressed)
{
	/* never 0, which is the value in a new site */
	int64_t window = clock_mono() / NSEC_PER_SEC + 1;
	int64_t seen = atomic_load(&site->window);

	*suppressed = 0;
	if (seen != window && atomic_compare_exchange_strong(&site->window, &seen, window)) {
		atomic_store(&site->lines, 0);
		*suppressed = atomic_exchange(&site->suppressed, 0);
	}
	if (atomic_fetch_add(&site->lines, 1) < LOG_BURST)
		return true;
	atomic_fetch_add(&site->suppressed, 1);
	return false;
}

/* Replaces newlines, with which a text would forge a second line. */
static void one_line(char *s)
{
	for (; *s; s++)
		if ((unsigned char)*s < 0x20 || *s == 0x7f)
			*s = ' ';
}

/* Removes a partial character at the end of a cut text. */
static void cut_at_character(char *s)
{
	size_t n = strlen(s);

	for (size_t back = 0; back < 4 && back <= n; back++) {
		if (str_is_utf8(s, n - back)) {
			s[n - back] = '\0';
			return;
		}
	}
}

/* Writes the inside of a JSON string, from which control characters were removed before. */
static void json_text(char *out, size_t size, const char *s)
{
	size_t n = 0;

	if (!str_is_utf8(s, strlen(s)))
		s = "(not UTF-8)";
	for (; *s && n + 3 < size; s++) {
		if (*s == '"' || *s == '\\')
			out[n++] = '\\';
		out[n++] = *s;
	}
	out[n] = '\0';
}

static int format_json(char *line, size_t size, enum log_level level, const char *area,
		       const char *text)
{
	char when[CLOCK_TEXT_BYTES], quoted[2 * LINE_BYTES]; /* each character may be escaped */

	json_text(quoted, sizeof(quoted), text);
	return snprintf(line, size,
			"{\"time\":\"%s\",\"level\":\"%s\",\"program\":\"%s\",\"area\":\"%s\","
			"\"text\":\"%s\"}\n",
			clock_format_rfc3339(when, clock_wall(), 6), log_level_name(level),
			sink.program ? sink.program : "", area, quoted);
}

static int format_line(char *line, size_t size, enum log_level level, const char *area,
		       const char *text)
{
	char when[CLOCK_TEXT_BYTES];
	enum log_format format = sink.format;

	if (format == LOG_AUTO)
		format = is_journal(sink.fd) ? LOG_JOURNAL : LOG_PLAIN;
	if (format == LOG_JSON)
		return format_json(line, size, level, area, text);
	if (format == LOG_JOURNAL)
		return snprintf(line, size, "<%c>%s: %s\n", level_priority[level], area, text);
	return snprintf(line, size, "%s %s%s%-6s %s: %s\n",
			clock_format_rfc3339(when, clock_wall(), 3),
			sink.program ? sink.program : "", sink.program ? " " : "",
			log_level_name(level), area, text);
}

/*
 * Writes each line by one write(), so that lines of several processes do not mix. A failure of the
 * sink cannot be reported.
 */
static void write_line(enum log_level level, const char *area, char *text)
{
	char line[2 * LINE_BYTES + 512];
	int n;

	one_line(text);
	n = format_line(line, sizeof(line), level, area, text);
	if (n < 0)
		return;
	if ((size_t)n >= sizeof(line)) {
		n = sizeof(line) - 1;
		line[n - 1] = '\n';
	}
	while (write(sink.fd, line, (size_t)n) < 0 && errno == EINTR)
		;
}

void log_line(struct log_site *site, enum log_level level, const char *area, const char *fmt, ...)
{
	char text[LINE_BYTES];
	unsigned suppressed;
	int saved = errno, n;
	va_list ap;

	if (area_is_on(area, level) && site_admits(site, &suppressed)) {
		if (suppressed) {
			snprintf(text, sizeof(text), "suppressed %u lines like the next one",
				 suppressed);
			write_line(level, area, text);
		}
		va_start(ap, fmt);
		n = vsnprintf(text, sizeof(text), fmt, ap);
		if (n >= (int)sizeof(text))
			cut_at_character(text);
		if (n >= 0)
			write_line(level, area, text);
		va_end(ap);
	}
	errno = saved;
}
