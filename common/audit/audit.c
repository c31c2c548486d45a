/* SPDX-License-Identifier: Apache-2.0 */
#include "common/audit/audit.h"

#include "common/audit/audit_internal.h"
#include "common/base/err.h"
#include "common/base/limits.h"
#include "common/base/log.h"
#include "common/base/rng.h"
#include "common/base/str.h"
#include "common/route/rights.h"
#include "common/store/disk.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define LINE_MAX_BYTES (32 * 1024) /* all fields of maximum length, every byte escaped */

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
		a->disk->close(a->disk->arg, a->fd);
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
	a->disk = disk_or_system(c->disk);
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

static void close_file(struct audit *a)
{
	if (a->fd >= 0)
		a->disk->close(a->disk->arg, a->fd);
	a->fd = -1;
}

/*
 * Continues an existing file. After a crash its last line may lack its end: is_torn. The time of
 * the last change keeps numbers from being repeated if the clock was set back.
 */
static void go_on_behind(struct audit *a, const struct stat *st)
{
	int64_t changed = (int64_t)st->st_mtim.tv_sec * NSEC_PER_SEC + st->st_mtim.tv_nsec;
	char last = '\n';

	a->size = (size_t)st->st_size;
	a->is_torn = a->size && a->disk->read_at(a->disk->arg, a->fd, &last, 1, a->size - 1) == 1 &&
		     last != '\n';
	if (a->size && changed > a->last)
		a->last = changed;
}

static int open_file(struct audit *a, struct err *e)
{
	const struct disk *d = a->disk;
	int fd = d->open(d->arg, a->path);
	struct stat st;

	if (fd == -ENOENT)
		fd = d->create(d->arg, a->path);
	if (fd < 0)
		return disk_fail(a->path, fd, e);
	a->fd = fd;
	if (!fstat(fd, &st)) {
		go_on_behind(a, &st);
		return 0;
	}
	close_file(a);
	return err_sys(e, "%.100s", a->path);
}

static int make_room(struct audit *a, size_t n, struct err *e)
{
	int rc;

	if (a->size == 0 || a->size + n <= a->conf.max_bytes)
		return 0;
	close_file(a);
	rc = a->disk->rename(a->disk->arg, a->path, a->older);
	return rc ? disk_fail(a->older, rc, e) : open_file(a, e);
}

static int write_all(struct audit *a, const struct buf *line, struct err *e)
{
	ssize_t n;

	if (line->failed)
		return err_nomem(e);
	n = a->disk->write_at(a->disk->arg, a->fd, line->p, line->n, a->size);
	if (n < 0)
		return disk_fail(a->path, (int)n, e);
	a->size += (size_t)n;
	if ((size_t)n < line->n)
		return err_set(e, ERR_SYS, "%.100s: no space left on the disk", a->path);
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

/* Numbers increase even if the clock goes back. */
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

void audit_log_trouble(void *arg, const struct err *why, uint64_t n)
{
	if (why)
		log_error("audit", "%s are no longer recorded: %s", (const char *)arg, why->text);
	else
		log_notice("audit", "%s are recorded again, missing=%llu", (const char *)arg,
			   (unsigned long long)n);
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
	/*
	 * Reports of a daemon about itself are not recorded: they change nothing, and read nothing
	 * of a program.
	 */
	return s->class != OMIS_INFO || s->where == OMIS_AT_NODE || s->where == OMIS_AT_RANK;
}

/*
 * True beyond AUDIT_REFUSED_MAX refusals. They are counted by identity, because a tool can open a
 * new session at any time.
 */
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
