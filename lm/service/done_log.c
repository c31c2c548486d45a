/* SPDX-License-Identifier: Apache-2.0 */
#include "lm/service/done_log.h"

#include "common/base/hash.h"
#include "common/base/rng.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAGIC \
	UINT64_C(0x3130736f6d67696f) /* and the layout: a file of another one is begun again */

struct record {
	uint64_t who, number;
	uint32_t action;
	uint16_t state, status; /* enum op_state; OP_NEW: nothing is here */
};

/* How far the forgotten ones of a tool had come. */
struct past {
	/* used: the greatest is the one that was touched last; 0 = free */
	uint64_t who, number, used;
};

/* As it lies in the file, which grows and is written in place: a kill of the lm leaves what was
 * written. */
struct store {
	uint64_t magic;
	struct hash_key key;
	uint64_t begun; /* ever: the next record is at this number modulo DONE_LOG_MAX */
	uint64_t used;
	struct past past[DONE_LOG_TOOLS_MAX];
	struct record record[DONE_LOG_MAX];
};

/* what a file has where nothing was done: the rest is zeros */
#define HEAD_BYTES offsetof(struct store, past)

struct done_log {
	int fd; /* -1: none */
	struct store s;
};

static int write_part(struct done_log *o, const void *part, size_t n, struct err *e)
{
	off_t at = (const uint8_t *)part - (const uint8_t *)&o->s;
	ssize_t put;

	if (o->fd < 0)
		return 0;
	do
		put = pwrite(o->fd, part, n, at);
	while (put < 0 && errno == EINTR);
	return put == (ssize_t)n ? 0 : err_sys(e, "not done, since it cannot be written down");
}

static bool makes_sense(const struct store *s)
{
	if (s->magic != MAGIC)
		return false;
	for (size_t i = 0; i < DONE_LOG_MAX; i++)
		if (s->record[i].state > OP_REFUSED)
			return false;
	return true;
}

/*
 * read: bytes that something else has left in it. An untouched file stays so: many lms have none of
 * it.
 */
static int restart(struct done_log *o, size_t read, struct err *e)
{
	memset(&o->s, 0, read);
	o->s.magic = MAGIC;
	if (rng_fill_random(&o->s.key, sizeof(o->s.key), e))
		return -ERR_SYS;
	if (o->fd >= 0 && ftruncate(o->fd, 0) < 0)
		return err_sys(e, "the file of what was done");
	return write_part(o, &o->s, HEAD_BYTES, e);
}

static int read_file(struct done_log *o, const char *path, struct err *e)
{
	struct stat st;
	ssize_t got;

	o->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK, 0600);
	if (o->fd < 0 || fstat(o->fd, &st) < 0)
		return err_sys(e, "%s", path);
	if (!S_ISREG(st.st_mode) || st.st_uid != geteuid() || st.st_mode & 077)
		return err_set(e, ERR_DENIED, "%s is not a file of ours alone", path);
	do
		got = pread(o->fd, &o->s, sizeof(o->s), 0);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return err_sys(e, "%s",
			       path); /* what may be read another time is not thrown away */
	return got >= (ssize_t)HEAD_BYTES && makes_sense(&o->s) ? 0 : restart(o, (size_t)got, e);
}

int done_log_open(const char *path, struct done_log **out, struct err *e)
{
	struct done_log *o = calloc(1, sizeof(*o));
	int rc;

	if (!o)
		return err_nomem(e);
	o->fd = -1;
	rc = path ? read_file(o, path, e) : restart(o, 0, e);
	if (rc) {
		done_log_close(o);
		return rc;
	}
	*out = o;
	return 0;
}

void done_log_close(struct done_log *o)
{
	if (!o)
		return;
	if (o->fd >= 0)
		close(o->fd);
	free(o);
}

uint64_t done_log_who(const struct done_log *o, const char *identity, uint64_t epoch)
{
	return hash_sip24(&o->s.key, identity, strlen(identity)) ^ hash_sip13_u64(&o->s.key, epoch);
}

static struct record *find(struct done_log *o, const struct op *op)
{
	for (size_t i = 0; i < DONE_LOG_MAX; i++) {
		struct record *r = &o->s.record[i];

		if (r->state != OP_NEW && r->number == op->number && r->who == op->who &&
		    r->action == op->action)
			return r;
	}
	return NULL;
}

static const struct past *find_past(const struct done_log *o, uint64_t who)
{
	for (size_t i = 0; i < DONE_LOG_TOOLS_MAX; i++)
		if (o->s.past[i].used && o->s.past[i].who == who)
			return &o->s.past[i];
	return NULL;
}

enum op_state done_log_find(const struct done_log *o, const struct op *op, unsigned *status)
{
	const struct record *r = find((struct done_log *)o, op);
	const struct past *p = r ? NULL : find_past(o, op->who);

	if (r) {
		*status = r->status;
		return (enum op_state)r->state;
	}
	return p && op->number <= p->number ? OP_FORGOTTEN : OP_NEW;
}

/* That of this tool, or the one that was used longest ago. */
static struct past *past_for(struct done_log *o, uint64_t who)
{
	struct past *p = (struct past *)find_past(o, who);

	if (p)
		return p;
	p = &o->s.past[0];
	for (size_t i = 1; i < DONE_LOG_TOOLS_MAX; i++)
		if (o->s.past[i].used < p->used)
			p = &o->s.past[i];
	*p = (struct past){ .who = who };
	return p;
}

static int write_state(struct done_log *o, struct record *r, enum op_state state, unsigned status,
		       struct err *e)
{
	r->state = (uint16_t)state;
	r->status = (uint16_t)status;
	return write_part(o, &r->state, 2 * sizeof(r->state), e);
}

/*
 * The place that comes next. Its owner is noted before it is overwritten, and it is free before it
 * is another's. So half a record written does not say of a new one what became of the old one.
 */
static int make_room(struct done_log *o, struct record **out, struct err *e)
{
	struct record *r = &o->s.record[o->s.begun % DONE_LOG_MAX];
	struct past *p;
	int rc = 0;

	if (r->state != OP_NEW) {
		p = past_for(o, r->who);
		p->used = ++o->s.used;
		p->number = r->number > p->number ? r->number : p->number;
		rc = write_part(o, p, sizeof(*p), e);
		rc = rc ? rc : write_state(o, r, OP_NEW, 0, e);
	}
	*out = r;
	return rc;
}

static int put(struct done_log *o, const struct op *op, enum op_state state, struct err *e)
{
	struct record *r;
	int rc = make_room(o, &r, e);

	if (rc)
		return rc;
	*r = (struct record){ op->who, op->number, op->action, (uint16_t)state, 0 };
	o->s.begun++;
	rc = write_part(o, r, sizeof(*r), e);
	return rc ? rc : write_part(o, &o->s.begun, 2 * sizeof(o->s.begun), e);
}

int done_log_begin(struct done_log *o, const struct op *op, struct err *e)
{
	return put(o, op, OP_BEGUN, e);
}

int done_log_refuse(struct done_log *o, const struct op *op, struct err *e)
{
	return put(o, op, OP_REFUSED, e);
}

void done_log_end(struct done_log *o, const struct op *op, unsigned status)
{
	struct record *r = find(o, op);

	if (r)
		write_state(o, r, OP_ENDED, status,
			    NULL); /* if it cannot: unknown, which is no lie */
}
