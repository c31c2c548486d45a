/* SPDX-License-Identifier: Apache-2.0 */
#include "lm/service/done_log.h"

#include "common/base/cur.h"
#include "common/base/hash.h"
#include "common/base/log.h"
#include "common/base/rng.h"
#include "common/base/str.h"
#include "common/store/store.h"

#include <stdlib.h>
#include <string.h>

#define ENTRY_BYTES 24
/* twice the size of all entries, so that the file is seldom rewritten */
#define FILE_MAX_BYTES (256 * 1024)

/* Kind of an entry in the file, besides enum op_state. */
enum { ENTRY_KEY = 100, ENTRY_PAST };

static const struct store_kind file_kind = { .what = "done",
					     .version = 1,
					     .max_bytes = FILE_MAX_BYTES,
					     .ends_with_boot = true,
					     .is_expendable = true };

struct record {
	uint64_t who, number;
	uint32_t action;
	uint16_t state, status; /* enum op_state; OP_NEW: empty */
};

/* Highest number of a tool among its dropped operations. */
struct past {
	/* used: the greatest is the most recent one; 0 = free */
	uint64_t who, number, used;
};

struct done_log {
	char *path; /* owned; NULL: memory only */
	struct store file;
	struct hash_key key;
	uint64_t begun; /* since ever: the next record is at this number modulo DONE_LOG_MAX */
	uint64_t used;
	struct past past[DONE_LOG_TOOLS_MAX];
	struct record record[DONE_LOG_MAX];
};

_Static_assert((1 + DONE_LOG_TOOLS_MAX + DONE_LOG_MAX) * ENTRY_BYTES <= FILE_MAX_BYTES / 2,
	       "all of it, and as much again, has room in the file");

static struct record *find(struct done_log *o, const struct op *op)
{
	for (size_t i = 0; i < DONE_LOG_MAX; i++) {
		struct record *r = &o->record[i];

		if (r->state != OP_NEW && r->number == op->number && r->who == op->who &&
		    r->action == op->action)
			return r;
	}
	return NULL;
}

static const struct past *find_past(const struct done_log *o, uint64_t who)
{
	for (size_t i = 0; i < DONE_LOG_TOOLS_MAX; i++)
		if (o->past[i].used && o->past[i].who == who)
			return &o->past[i];
	return NULL;
}

/* The entry of this tool, else the least recently used one. */
static struct past *past_for(struct done_log *o, uint64_t who)
{
	struct past *p = (struct past *)find_past(o, who);

	if (p)
		return p;
	p = &o->past[0];
	for (size_t i = 1; i < DONE_LOG_TOOLS_MAX; i++)
		if (o->past[i].used < p->used)
			p = &o->past[i];
	*p = (struct past){ .who = who };
	return p;
}

/* Returns the next record; notes the tool of the one that it replaces. */
static struct record *make_room(struct done_log *o)
{
	struct record *r = &o->record[o->begun++ % DONE_LOG_MAX];
	struct past *p;

	if (r->state == OP_NEW)
		return r;
	p = past_for(o, r->who);
	p->used = ++o->used;
	p->number = r->number > p->number ? r->number : p->number;
	r->state = OP_NEW;
	return r;
}

/* --- the file: the key, then what happened, an entry each */

static void put_entry(struct buf *b, const struct record *r)
{
	buf_put_u64le(b, r->who);
	buf_put_u64le(b, r->number);
	buf_put_u32le(b, r->action);
	buf_put_u16le(b, r->state);
	buf_put_u16le(b, r->status);
}

static const struct past *next_past(const struct done_log *o, uint64_t used)
{
	const struct past *next = NULL;

	for (size_t i = 0; i < DONE_LOG_TOOLS_MAX; i++)
		if (o->past[i].used > used && (!next || o->past[i].used < next->used))
			next = &o->past[i];
	return next;
}

static int write_whole(struct done_log *o, struct err *e)
{
	struct buf b = BUF_INIT(FILE_MAX_BYTES);
	const struct past *p = NULL;
	int rc;

	put_entry(&b, &(struct record){ o->key.k0, o->key.k1, 0, ENTRY_KEY, 0 });
	while ((p = next_past(o, p ? p->used : 0)) != NULL)
		put_entry(&b, &(struct record){ p->who, p->number, 0, ENTRY_PAST, 0 });
	for (uint64_t i = 0; i < DONE_LOG_MAX; i++) {
		const struct record *r = &o->record[(o->begun + i) % DONE_LOG_MAX];

		if (r->state != OP_NEW)
			put_entry(&b, r);
	}
	rc = store_write(&o->file, &b, e);
	buf_done(&b);
	return rc;
}

/* Appends a record. If that fails, writes all of them. */
static int note(struct done_log *o, const struct record *r, struct err *e)
{
	struct buf b = BUF_INIT(ENTRY_BYTES);
	int rc = 0;

	if (!o->path)
		return 0;
	put_entry(&b, r);
	if (b.failed || store_add(&o->file, b.p, b.n, NULL))
		rc = write_whole(o, e);
	buf_done(&b);
	return rc ? err_add(e, "not done, since it cannot be written down") : 0;
}

static bool take_entry(struct done_log *o, const struct record *is, bool is_first)
{
	struct record *r;
	struct past *p;

	if (is_first != (is->state == ENTRY_KEY))
		return false;
	if (is_first) {
		o->key = (struct hash_key){ is->who, is->number };
	} else if (is->state == ENTRY_PAST) {
		p = past_for(o, is->who);
		*p = (struct past){ is->who, is->number, ++o->used };
	} else if (is->state > OP_NEW && is->state <= OP_REFUSED) {
		r = find(o, &(struct op){ is->who, is->number, is->action });
		r = r ? r : make_room(o);
		*r = *is;
	} else {
		return false;
	}
	return true;
}

static int take_all(struct done_log *o, const struct buf *b, struct err *e)
{
	struct cur c;

	cur_init(&c, b->p, b->n);
	for (size_t at = 0; at < b->n; at += ENTRY_BYTES) {
		struct record r = { .who = cur_u64le(&c) };

		r.number = cur_u64le(&c);
		r.action = cur_u32le(&c);
		r.state = cur_u16le(&c);
		r.status = cur_u16le(&c);
		if (c.failed || !take_entry(o, &r, !at))
			return err_set(e, ERR_PARSE, "%s: entry %zu makes no sense", o->path,
				       at / ENTRY_BYTES);
	}
	return b->n ? 0 : err_set(e, ERR_PARSE, "%s: it is empty", o->path);
}

static int restart(struct done_log *o, struct err *e)
{
	memset(o->past, 0, sizeof(o->past));
	memset(o->record, 0, sizeof(o->record));
	o->begun = o->used = 0;
	if (rng_fill_random(&o->key, sizeof(o->key), e))
		return -ERR_SYS;
	return o->path ? write_whole(o, e) : 0;
}

static int read_file(struct done_log *o, struct err *e)
{
	struct buf b = { 0 };
	struct err why = { 0 };
	int rc = store_read(&o->file, &b, &why);

	rc = rc ? rc : take_all(o, &b, &why);
	buf_done(&b);
	if (!rc)
		return 0;
	if (rc == -ERR_PARSE)
		log_error("lm", "earlier manipulations are unknown: %s", why.text);
	else if (rc != -ERR_NOTFOUND) /* a record that may be readable later is kept */
		return err_set(e, why.code, "%s", why.text);
	return restart(o, e);
}

int done_log_open(const struct disk *disk, const char *path, struct done_log **out, struct err *e)
{
	struct done_log *o = calloc(1, sizeof(*o));
	int rc;

	if (!o)
		return err_nomem(e);
	o->path = path ? str_dup(path) : NULL;
	o->file = STORE_INIT(&file_kind, disk, o->path);
	if (path && !o->path)
		rc = err_nomem(e);
	else
		rc = path ? read_file(o, e) : restart(o, e);
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
	free(o->path);
	free(o);
}

/* --- queries and changes */

uint64_t done_log_who(const struct done_log *o, const char *identity, uint64_t epoch)
{
	return hash_sip24(&o->key, identity, strlen(identity)) ^ hash_sip13_u64(&o->key, epoch);
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

/* An operation that could not be recorded counts as never received. */
static int put(struct done_log *o, const struct op *op, enum op_state state, struct err *e)
{
	struct record *r = make_room(o);
	int rc;

	*r = (struct record){ op->who, op->number, op->action, (uint16_t)state, 0 };
	rc = note(o, r, e);
	if (rc)
		r->state = OP_NEW;
	return rc;
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

	if (!r)
		return;
	r->state = OP_ENDED;
	r->status = (uint16_t)status;
	note(o, r, NULL); /* if that fails, the state is reported as unknown */
}
