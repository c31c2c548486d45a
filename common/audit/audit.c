/* SPDX-License-Identifier: Apache-2.0 */
#include "common/audit/audit.h"

#include "common/audit/audit_internal.h"
#include "common/base/err.h"
#include "common/base/limits.h"
#include "common/base/rng.h"
#include "common/base/str.h"
#include "common/route/rights.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LINE_MAX_BYTES (32 * 1024) /* all fields at their most, every byte escaped */

static char *older_name(const char *path)
{
	size_t n = strlen(path) + 3;
	char *s = malloc(n);

	if (s)
		snprintf(s, n, "%s.1", path);
	return s;
}

static void audit_free(struct audit *a)
{
	if (a->fd >= 0)
		close(a->fd);
	free(a->path);
	free(a->older);
	free(a->daemon);
	free(a->host);
	free(a);
}

int audit_open(const struct audit_conf *c, struct audit **out)
{
	struct audit *a = calloc(1, sizeof(*a));

	if (!a)
		return -ERR_NOMEM;
	a->conf = *c;
	if (!a->conf.max_bytes)
		a->conf.max_bytes = AUDIT_FILE_MAX_BYTES;
	a->fd = -1;
	a->path = str_dup(c->path);
	a->older = older_name(c->path);
	a->daemon = str_dup(c->daemon);
	a->host = str_dup(c->host);
	if (!a->path || !a->older || !a->daemon || !a->host) {
		audit_free(a);
		return -ERR_NOMEM;
	}
	rng_draw_key(&a->digest);
	*out = a;
	return 0;
}

/* --- the file */

static int check_file(const struct audit *a, const struct stat *st, struct err *e)
{
	if (!S_ISREG(st->st_mode) || st->st_uid != geteuid())
		return err_set(e, ERR_DENIED, "%.100s: not a file of ours", a->path);
	if (st->st_mode & 077)
		return err_set(e, ERR_DENIED, "%.100s: others may read it, chmod 600 it", a->path);
	return 0;
}

/* A line that a crash cut off is ended before the next one begins. */
static bool ends_inside_a_line(int fd, off_t size)
{
	char last = '\n';

	return size > 0 && pread(fd, &last, 1, size - 1) == 1 && last != '\n';
}

static int open_file(struct audit *a, struct err *e)
{
	int flags = O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
	int fd = open(a->path, flags, 0600), rc;
	struct stat st;
	int64_t changed;

	if (fd < 0)
		return err_sys(e, "%.100s", a->path);
	rc = fstat(fd, &st) ? err_sys(e, "%.100s", a->path) : check_file(a, &st, e);
	if (rc) {
		close(fd);
		return rc;
	}
	a->fd = fd;
	a->size = (size_t)st.st_size;
	a->is_torn = ends_inside_a_line(fd, st.st_size);
	changed = (int64_t)st.st_mtim.tv_sec * NSEC_PER_SEC + st.st_mtim.tv_nsec;
	if (st.st_size && changed > a->last)
		a->last = changed; /* no number twice, wherever the clock was put meanwhile */
	return 0;
}

static void close_file(struct audit *a)
{
	if (a->fd >= 0)
		close(a->fd);
	a->fd = -1;
}

static int make_room(struct audit *a, size_t n, struct err *e)
{
	if (a->size == 0 || a->size + n <= a->conf.max_bytes)
		return 0;
	close_file(a);
	if (rename(a->path, a->older) < 0)
		return err_sys(e, "%.100s", a->older);
	return open_file(a, e);
}

static int write_all(struct audit *a, const struct buf *line, struct err *e)
{
	ssize_t n;

	if (line->failed)
		return err_nomem(e);
	do {
		n = write(a->fd, line->p, line->n);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return err_sys(e, "%.100s", a->path);
	a->size += (size_t)n;
	if ((size_t)n < line->n)
		return err_set(e, ERR_SYS, "%.100s: no room left", a->path);
	a->is_torn = false;
	return 0;
}

static void report(struct audit *a, const struct err *why)
{
	if (a->is_failing == (why != NULL))
		return;
	a->is_failing = why != NULL;
	if (a->conf.on_trouble)
		a->conf.on_trouble(a->conf.arg, why, why ? 0 : a->lost);
}

/* Numbers go on even when the clock goes back. */
static int64_t next_number(const struct audit *a, nsec_t wall)
{
	return wall > a->last ? wall : a->last + 1;
}

static int put_line(struct audit *a, const struct audit_entry *x, nsec_t wall, struct err *e)
{
	struct buf line = BUF_INIT(LINE_MAX_BYTES);
	int64_t number;
	int rc = a->fd < 0 ? open_file(a, e) : 0;

	number = next_number(a, wall);
	if (!rc && a->is_torn)
		buf_putc(&line, '\n');
	if (!rc) {
		audit_put_line(&line, a, x, number, wall);
		rc = make_room(a, line.n, e);
	}
	if (!rc)
		rc = write_all(a, &line, e);
	buf_done(&line);
	if (!rc)
		a->last = number;
	return rc;
}

static void write_line(struct audit *a, const struct audit_entry *x, nsec_t wall)
{
	struct err e = { 0 };

	if (put_line(a, x, wall, &e)) {
		close_file(a);
		a->left_out += x != NULL;
		a->lost += x != NULL;
		report(a, &e);
		return;
	}
	report(a, NULL);
	a->left_out = a->lost = 0;
}

void audit_close(struct audit *a)
{
	if (!a)
		return;
	if (a->left_out)
		write_line(a, NULL, a->last + 1);
	audit_free(a);
}

/* --- entries */

bool audit_concerns(const struct omis_call *c)
{
	const struct omis_service *s = c->service;

	if (route_right_of_call(c) < OMIS_MANIPULATE)
		return false;
	/* What a daemon reports of itself changes nothing and reads nothing of a program. */
	return s->class != OMIS_INFO || s->where == OMIS_AT_NODE || s->where == OMIS_AT_RANK;
}

/* Not keyed by the session: a tool can have a new one at any time. */
static bool is_flood(struct audit *a, const struct audit_entry *x)
{
	uint64_t h = hash_sip13(&a->digest, x->identity, strlen(x->identity));
	struct audit_slot *s = &a->slot[h % AUDIT_SLOTS];

	if (!s->since || x->wall < s->since || x->wall - s->since >= AUDIT_REFUSED_WINDOW_NS)
		*s = (struct audit_slot){ .since = x->wall };
	return ++s->n > AUDIT_REFUSED_MAX;
}

void audit_note(struct audit *a, const struct audit_entry *x)
{
	struct audit_outcome how;

	if (!a)
		return;
	how = audit_outcome_of(x);
	if (how.status == STATUS_NO_PERMISSION && !how.done) {
		if (is_flood(a, x)) {
			a->left_out++;
			return;
		}
	} else if (!audit_concerns(x->call)) {
		return;
	}
	write_line(a, x, x->wall);
}
