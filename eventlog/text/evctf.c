/* SPDX-License-Identifier: Apache-2.0 */
#include "eventlog/text/evctf.h"

#include "common/container/map.h"
#include "eventlog/evbytes.h"
#include "eventlog/text/evout.h"
#include "eventlog/text/evtypes.h"
#include "eventlog/text/evwords.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define CTF_MAGIC UINT32_C(0xc1fc1fc1)
#define CTF_STREAMS_MAX 65536 /* files in a folder */
#define CTF_BUFFER_BYTES (64 * 1024) /* bytes written at once */
#define CTF_METADATA_MAX_BYTES (64u << 20)
/*
 * If the first event is before 1970, the clock begins this much earlier: events of other streams,
 * which are written later, may precede it.
 */
#define ORIGIN_MARGIN_S 86400
/* Babeltrace adds seconds and their fraction, so the last second is too late. */
#define TIME_LAST ((uint64_t)(INT64_MAX / NSEC_PER_SEC - 1) * NSEC_PER_SEC)

struct ctf_stream {
	unsigned file;
	uint64_t last; /* time of the last event */
};

struct evctf {
	int dir, fd; /* fd: file of the current stream; -1 = none */
	uint64_t stream;
	struct map streams; /* number -> struct ctf_stream *, owned */
	struct ctf_stream *current;
	unsigned nstream;
	int64_t origin_s; /* origin of the clock in seconds since 1970; at most 0 */
	uint64_t moved;
	struct evtypes types;
	struct buf out, metadata;
};

static const char head[] =
	"/* CTF 1.8 */\n\n"
	"typealias integer { size = 32; align = 8; signed = false; } := u32;\n"
	"typealias integer { size = 32; align = 8; signed = true; } := i32;\n"
	"typealias integer { size = 64; align = 8; signed = true; } := i64;\n"
	"typealias floating_point { exp_dig = 8; mant_dig = 24; align = 8; } := f32;\n"
	"typealias floating_point { exp_dig = 11; mant_dig = 53; align = 8; } := f64;\n\n"
	"trace {\n\tmajor = 1;\n\tminor = 8;\n\tbyte_order = %s;\n"
	"\tpacket.header := struct { u32 magic; u32 stream_id; };\n};\n\n"
	"env { domain = \"ust\"; tracer_name = \"omig\"; };\n\n"
	"clock { name = wall; freq = 1000000000; %soffset = 0; };\n"
	"typealias integer { size = 64; align = 8; signed = false; map = clock.wall.value; } := wall_t;\n\n"
	"stream {\n\tid = 0;\n\tevent.header := struct { u32 id; wall_t timestamp; };\n};\n\n";

int evctf_open(const char *path, struct evctf **out, struct err *e)
{
	struct evctf *c = calloc(1, sizeof(*c));

	if (!c)
		return err_nomem(e);
	c->dir = c->fd = -1;
	map_init(&c->streams);
	evtypes_init(&c->types);
	buf_init(&c->out, CTF_BUFFER_BYTES + 2 * EVOUT_MAX_BYTES);
	buf_init(&c->metadata, CTF_METADATA_MAX_BYTES);
	if (!mkdir(path, 0777))
		c->dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (c->dir >= 0) {
		*out = c;
		return 0;
	}
	evctf_close(c);
	if (errno == EEXIST)
		return err_set(e, ERR_EXISTS, "%s exists already", path);
	return err_sys(e, "%s", path);
}

void evctf_close(struct evctf *c)
{
	struct map_iter i = { 0 };
	int keep = errno;

	if (!c)
		return;
	while (map_next(&c->streams, &i))
		free(i.value);
	map_done(&c->streams);
	evtypes_done(&c->types);
	buf_done(&c->out);
	buf_done(&c->metadata);
	if (c->fd >= 0)
		close(c->fd);
	if (c->dir >= 0)
		close(c->dir);
	free(c);
	errno = keep;
}

/* --- files */

static int write_all(int fd, const struct buf *b, struct err *e)
{
	for (size_t at = 0; at < b->n;) {
		ssize_t n = write(fd, b->p + at, b->n - at);

		if (n < 0 && errno != EINTR)
			return err_sys(e, "writing");
		at += n > 0 ? (size_t)n : 0;
	}
	return 0;
}

static int flush(struct evctf *c, struct err *e)
{
	int rc = c->out.failed ? err_nomem(e) : c->fd >= 0 ? write_all(c->fd, &c->out, e) : 0;

	buf_clear(&c->out);
	return rc;
}

static int new_stream(struct evctf *c, uint64_t id, struct err *e)
{
	struct ctf_stream *s;

	if (c->nstream >= CTF_STREAMS_MAX)
		return err_set(e, ERR_LIMIT, "more than %d streams", CTF_STREAMS_MAX);
	s = calloc(1, sizeof(*s));
	if (!s || map_put(&c->streams, id, s, NULL)) {
		free(s);
		return err_nomem(e);
	}
	s->file = c->nstream++;
	c->current = s;
	ev_put32(&c->out, CTF_MAGIC, false);
	ev_put32(&c->out, 0, false);
	return 0;
}

/* Makes the file of the event's stream the current one. */
static int turn_to(struct evctf *c, uint64_t id, struct err *e)
{
	char name[32];
	int rc;

	if (c->fd >= 0 && c->stream == id)
		return c->out.n < CTF_BUFFER_BYTES ? 0 : flush(c, e);
	rc = flush(c, e);
	if (rc)
		return rc;
	if (c->fd >= 0)
		close(c->fd);
	c->stream = id;
	c->current = map_find(&c->streams, id);
	if (!c->current)
		rc = new_stream(c, id, e);
	if (rc)
		return rc;
	snprintf(name, sizeof(name), "stream_%u", c->current->file);
	c->fd = openat(c->dir, name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0666);
	return c->fd < 0 ? err_sys(e, "%s", name) : 0;
}

/* --- metadata */

static char letter_of(char c)
{
	return isalnum((unsigned char)c) && (unsigned char)c < 0x80 ? c : '_';
}

/* Puts "_" in front, so that the name is not a keyword and does not begin with a digit. */
static void put_identifier(struct buf *b, const char *s)
{
	buf_putc(b, '_');
	for (; *s; s++)
		buf_putc(b, (uint8_t)letter_of(*s));
}

static bool is_one_identifier(const char *a, const char *b)
{
	for (; *a && *b && letter_of(*a) == letter_of(*b); b++)
		a++;
	return !*a && !*b;
}

/* True if two names have become equal: the second one gets a number. */
static bool is_taken(const struct event *ev, const char *name, unsigned before)
{
	struct evattr_iter i = { .ev = ev };
	struct evattr other;

	for (unsigned k = 0; k < before && evattr_next(&i, &other); k++)
		if (is_one_identifier(name, other.name))
			return true;
	return false;
}

static void describe(struct evctf *c, const struct event *ev, unsigned number)
{
	/* LTTng's numbers of TRACE_CRIT, ERR, WARNING, INFO, DEBUG_SYSTEM.. */
	static const int loglevel[EV_NLEVELS] = { -1, 2, 3, 4, 6, 14, 14, 14, 14 };
	static const char *const kind[] = { "", "i32", "i64", "f32", "f64", "string" };
	struct evattr_iter i = { .ev = ev };
	struct evattr a;
	struct buf *b = &c->metadata;

	buf_puts(b, "event {\n\tname = \"");
	evwords_put_escaped(b, ev->type->name, strlen(ev->type->name));
	buf_printf(b, "\";\n\tid = %u;\n\tstream_id = 0;\n", number);
	if (ev->type->level)
		buf_printf(b, "\tloglevel = %d;\n", loglevel[ev->type->level]);
	buf_puts(b, "\tfields := struct {\n");
	for (unsigned k = 0; evattr_next(&i, &a); k++) {
		buf_printf(b, "\t\t%s ", kind[a.value->kind]);
		put_identifier(b, a.name);
		if (is_taken(ev, a.name, k))
			buf_printf(b, "_%u", k);
		buf_puts(b, ";\n");
	}
	buf_puts(b, "\t};\n};\n\n");
}

/* --- events */

/* Writes a string, which ends with a 0. If it contains a 0 it is written with escapes. */
static void put_string(struct buf *b, const struct evvalue *v)
{
	if (v->n && memchr(v->s, 0, v->n))
		evwords_put_escaped(b, v->s, v->n);
	else
		buf_put(b, v->s, v->n);
	buf_putc(b, 0);
}

/* Times are unsigned. A clock from 1970 suffices for all logs, except after a wrong clock. */
static int64_t origin_of(nsec_t first)
{
	int64_t s = first / NSEC_PER_SEC - 1 - ORIGIN_MARGIN_S;

	return first >= 0 ? 0 : s < INT64_MIN / NSEC_PER_SEC ? INT64_MIN / NSEC_PER_SEC : s;
}

static uint64_t time_of(struct evctf *c, const struct event *ev)
{
	nsec_t origin = c->origin_s * NSEC_PER_SEC;
	uint64_t t = ev->wall_ns > origin ? (uint64_t)ev->wall_ns - (uint64_t)origin : 0;
	uint64_t to = t < c->current->last ? c->current->last : t > TIME_LAST ? TIME_LAST : t;

	c->moved += to != t || ev->wall_ns < origin;
	c->current->last = to;
	return to;
}

int evctf_event(struct evctf *c, const struct event *ev, struct err *e)
{
	struct evattr_iter i = { .ev = ev };
	struct evattr a;
	unsigned number;
	bool is_new, is_first = !c->nstream;
	int rc = turn_to(c, ev->stream, e);

	if (is_first)
		c->origin_s = origin_of(ev->wall_ns);
	if (!rc)
		rc = evtypes_number(&c->types, ev, &number, &is_new, e);
	if (rc)
		return rc;
	if (is_new)
		describe(c, ev, number);
	ev_put32(&c->out, number, false);
	ev_put64(&c->out, time_of(c, ev), false);
	while (evattr_next(&i, &a))
		if (a.value->kind == EV_STRING)
			put_string(&c->out, a.value);
		else
			evtype_put_values(&c->out, a.value, 1, false);
	return 0;
}

static int write_head(const struct evctf *c, int fd, struct err *e)
{
	const uint16_t one = 1;
	struct buf b = BUF_INIT(CTF_BUFFER_BYTES);
	char offset[48] = "";
	int rc;

	if (c->origin_s)
		snprintf(offset, sizeof(offset), "offset_s = %" PRId64 "; ", c->origin_s);
	buf_printf(&b, head, *(const uint8_t *)&one ? "le" : "be", offset);
	rc = b.failed ? err_nomem(e) : write_all(fd, &b, e);
	buf_done(&b);
	return rc;
}

int evctf_finish(struct evctf *c, uint64_t *moved, struct err *e)
{
	int rc = flush(c, e), fd;

	if (rc)
		return rc;
	if (c->metadata.failed)
		return c->metadata.n > c->metadata.max / 2
			       ? err_set(e, ERR_LIMIT, "too many kinds of events")
			       : err_nomem(e);
	fd = openat(c->dir, "metadata", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (fd < 0)
		return err_sys(e, "metadata");
	rc = write_head(c, fd, e);
	if (!rc)
		rc = write_all(fd, &c->metadata, e);
	if (close(fd) && !rc)
		rc = err_sys(e, "metadata");
	*moved = c->moved;
	return rc;
}
