/* SPDX-License-Identifier: Apache-2.0 */
#include "tracer/function/plan.h"

#include "tracer/function/decode.h"

#include <stdlib.h>
#include <string.h>

#define PAGE_BYTES 4096 /* a site within one page is written as a whole */
#define FAR_MAX INT32_MAX

/* The beginning of the code: the two addresses that the rest calls through. */
enum { AT_ENTER = 0, AT_EXIT = 8, AT_CODE = 16 };

struct maker {
	const struct function_code *f;
	const struct plan_target *target;
	struct decoded_code *code;
	struct plan *out;
	struct err *e;
};

static int refuse(const struct maker *m, const struct decoded *d, const char *why)
{
	return err_set(m->e, ERR_UNSUPPORTED, "%s at +0x%llx%s", why,
		       (unsigned long long)(d->at - m->f->part[d->part].at),
		       d->part ? " of its cold part" : "");
}

/* --- code in the area */

static int put(struct maker *m, const void *p, size_t n)
{
	if (m->out->n + n > sizeof(m->out->code))
		return err_set(m->e, ERR_UNSUPPORTED, "it has too many ways out");
	memcpy(m->out->code + m->out->n, p, n);
	m->out->n += n;
	return 0;
}

static int put_distance(struct maker *m, uint64_t to)
{
	int64_t by = (int64_t)(to - (m->out->at + m->out->n + 4));
	int32_t word = (int32_t)by;

	if (by > FAR_MAX || by < -(int64_t)FAR_MAX)
		return err_set(m->e, ERR_UNSUPPORTED, "it is too far from the memory for its code");
	return put(m, &word, sizeof(word));
}

static int put_jump(struct maker *m, uint64_t to)
{
	static const uint8_t jump = PLAN_JUMP;
	int rc = put(m, &jump, 1);

	return rc ? rc : put_distance(m, to);
}

/* push id; call *way; lea 8(%rsp), %rsp: the flags stay. */
static int put_call(struct maker *m, unsigned way)
{
	static const uint8_t push = PLAN_PUSH;
	int rc = put(m, &push, 1);

	if (!rc)
		rc = put(m, &m->target->id, sizeof(m->target->id));
	if (!rc)
		rc = put(m, "\xff\x15", 2);
	if (!rc)
		rc = put_distance(m, m->out->at + way);
	return rc ? rc : put(m, "\x48\x8d\x64\x24\x08", 5);
}

static int put_branch(struct maker *m, const struct decoded *d)
{
	const uint8_t code[] = { 0x0f, (uint8_t)(0x80 | d->condition) };
	int rc = put(m, code, sizeof(code));

	return rc ? rc : put_distance(m, d->to);
}

/* The same instruction at another place. */
static int put_moved(struct maker *m, const struct decoded *d)
{
	int32_t by;
	uint64_t to;
	int rc;

	if (d->kind == DECODED_JUMP)
		return put_jump(m, d->to);
	if (d->kind == DECODED_BRANCH)
		return put_branch(m, d);
	if (!d->disp_at)
		return put(m, d->bytes, d->n);
	memcpy(&by, d->bytes + d->disp_at, sizeof(by));
	to = d->at + d->n + (uint64_t)(int64_t)by;
	rc = put(m, d->bytes, d->disp_at);
	/* The distance counts from the end of the instruction, which may have more behind it. */
	if (!rc)
		rc = put_distance(m, to - (d->n - d->disp_at - 4u));
	return rc ? rc : put(m, d->bytes + d->disp_at + 4, d->n - d->disp_at - 4u);
}

/* --- places that change */

/* Instructions first to last, less one: the bytes from the first to the end of the last. */
struct range {
	size_t first, last;
};

static uint64_t end_of(const struct maker *m, const struct range *r)
{
	const struct decoded *d = &m->code->v[r->last - 1];

	return d->at + d->n;
}

static size_t bytes_of(const struct maker *m, const struct range *r)
{
	return (size_t)(end_of(m, r) - m->code->v[r->first].at);
}

static int check_range(struct maker *m, const struct range *r)
{
	const struct decoded *d = &m->code->v[r->first];

	for (size_t i = r->first + 1; i < r->last; i++)
		if (m->code->v[i].is_target)
			return refuse(m, &m->code->v[i], "a jump leads into the bytes that change");
	for (size_t i = 0; i < m->f->nled; i++)
		if (m->f->led[i] > d->at && m->f->led[i] < end_of(m, r))
			return refuse(m, d, "code elsewhere leads into the bytes that change");
	if (bytes_of(m, r) > PLAN_SITE_BYTES)
		return refuse(m, d, "an instruction too long to be moved");
	if (d->at / PAGE_BYTES != (d->at + PLAN_JUMP_BYTES - 1) / PAGE_BYTES)
		return refuse(m, d, "the bytes that change are on two pages");
	return 0;
}

/* A jump to the code that follows in the area; bytes behind it stay. */
static int put_site(struct maker *m, const struct range *r)
{
	const struct decoded *d = &m->code->v[r->first];
	int64_t by = (int64_t)(m->out->at + m->out->n - (d->at + PLAN_JUMP_BYTES));
	int32_t word = (int32_t)by;
	struct plan_site *s = &m->out->site[m->out->nsite];

	if (m->out->nsite == PLAN_SITES_MAX)
		return err_set(m->e, ERR_UNSUPPORTED, "it has more than %d ways out",
			       PLAN_SITES_MAX - 1);
	if (by > FAR_MAX || by < -(int64_t)FAR_MAX)
		return err_set(m->e, ERR_UNSUPPORTED, "it is too far from the memory for its code");
	s->at = d->at;
	s->n = bytes_of(m, r);
	for (size_t i = r->first, n = 0; i < r->last; n += m->code->v[i++].n)
		memcpy(s->bytes + n, m->code->v[i].bytes, m->code->v[i].n);
	s->bytes[0] = PLAN_JUMP;
	memcpy(s->bytes + 1, &word, sizeof(word));
	m->out->nsite++;
	return 0;
}

/* --- ways out */

static bool can_move_out(const struct decoded *d)
{
	return d->kind == DECODED_PLAIN || d->kind == DECODED_NOP;
}

static bool is_next(const struct maker *m, size_t i)
{
	const struct decoded *d = &m->code->v[i];

	return i < m->code->n && d->part == d[-1].part && d->at == d[-1].at + d[-1].n;
}

/* Takes what nothing reaches behind a way out, then instructions before it. */
static int find_room(struct maker *m, size_t out, struct range *r)
{
	*r = (struct range){ out, out + 1 };
	while (bytes_of(m, r) < PLAN_JUMP_BYTES && is_next(m, r->last) &&
	       m->code->v[r->last].kind == DECODED_NOP && !m->code->v[r->last].is_target)
		r->last++;
	while (bytes_of(m, r) < PLAN_JUMP_BYTES) {
		const struct decoded *d = &m->code->v[r->first];

		if (d->is_target || !r->first || !is_next(m, r->first) || !can_move_out(d - 1))
			return refuse(m, &m->code->v[out],
				      "there is no room for a jump in front "
				      "of the return");
		r->first--;
	}
	return check_range(m, r);
}

static int put_exit(struct maker *m, size_t out)
{
	struct range r;
	int rc = find_room(m, out, &r);

	if (!rc)
		rc = put_site(m, &r);
	for (size_t i = r.first; !rc && i < out; i++)
		rc = put_moved(m, &m->code->v[i]);
	if (!rc)
		rc = put_call(m, AT_EXIT);
	return rc ? rc : put_moved(m, &m->code->v[out]);
}

static int put_if_exit(struct maker *m, size_t i)
{
	const struct decoded *d = &m->code->v[i];

	switch (d->kind) {
	case DECODED_RETURN:
	case DECODED_JUMP_FAR:
		return put_exit(m, i);
	case DECODED_TABLE:
		return refuse(m, d, "a jump to a place that is not known, as of a switch,");
	case DECODED_JUMP:
		return function_code_part(m->f, d->to) < 0 ? put_exit(m, i) : 0;
	case DECODED_BRANCH:
		return function_code_part(m->f, d->to) < 0
			       ? refuse(m, d, "a jump on a condition to another function")
			       : 0;
	default:
		return 0;
	}
}

/* --- the entry */

static bool is_endbr(const struct decoded *d)
{
	return d->n == PLAN_ENDBR_BYTES && !memcmp(d->bytes, PLAN_ENDBR, PLAN_ENDBR_BYTES);
}

static bool can_move_in(const struct decoded *d)
{
	return (d->kind <= DECODED_NOP || d->kind == DECODED_JUMP || d->kind == DECODED_BRANCH) &&
	       !d->is_short;
}

static int find_entry(struct maker *m, struct range *r)
{
	size_t first = is_endbr(&m->code->v[0]);

	*r = (struct range){ first, first };
	if (m->code->v[first].is_target)
		return refuse(m, &m->code->v[first], "a loop begins at its entry,");
	do {
		const struct decoded *d = &m->code->v[r->last];

		if (r->last == m->code->n || d->part ||
		    !(d->at - m->f->part[0].at < m->f->part[0].n))
			return err_set(m->e, ERR_UNSUPPORTED, "it is too short: %zu bytes",
				       m->f->part[0].n);
		if (!can_move_in(d))
			return refuse(m, d,
				      "its entry cannot be moved: a call, a return or the "
				      "like");
		r->last++;
	} while (bytes_of(m, r) < PLAN_JUMP_BYTES);
	return check_range(m, r);
}

static int put_entry(struct maker *m)
{
	struct range r;
	int rc = find_entry(m, &r);

	m->out->way = PLAN_ENTRY_SLED;
	if (!rc)
		rc = put_site(m, &r);
	if (!rc)
		rc = put_call(m, AT_ENTER);
	for (size_t i = r.first; !rc && i < r.last; i++) {
		const struct decoded *d = &m->code->v[i];

		if (d->kind == DECODED_NOP)
			continue;
		/* XRay jumps over its room, as the jump behind this loop does. */
		if (d->kind == DECODED_JUMP && d->to == end_of(m, &r))
			break;
		rc = put_moved(m, d);
		m->out->way = PLAN_ENTRY_MOVED;
	}
	return rc ? rc : put_jump(m, end_of(m, &r));
}

/* The distance of the last jump may end with a 0. */
static int put_end(struct maker *m)
{
	static const uint8_t int3 = 0xcc;

	return put(m, &int3, 1);
}

/* Two places must not share bytes: a short function may be entry and exit at once. */
static int check_sites(const struct maker *m)
{
	const struct plan *p = m->out;

	for (size_t i = 0; i < p->nsite; i++)
		for (size_t j = 0; j < i; j++)
			if (p->site[i].at < p->site[j].at + p->site[j].n &&
			    p->site[j].at < p->site[i].at + p->site[i].n)
				return err_set(m->e, ERR_UNSUPPORTED,
					       "it is too short: its entry and exits meet");
	return 0;
}

static int make(struct maker *m)
{
	int rc = put(m, &m->target->enter, sizeof(uint64_t));

	if (!rc)
		rc = put(m, &m->target->exit, sizeof(uint64_t));
	for (size_t i = 0; !rc && i < m->code->n; i++)
		rc = put_if_exit(m, i);
	if (!rc)
		rc = put_entry(m);
	if (!rc)
		rc = put_end(m);
	return rc ? rc : check_sites(m);
}

int plan_make(const struct function_code *c, const struct plan_target *t, struct plan *out,
	      struct err *e)
{
	struct maker m = { .f = c, .target = t, .out = out, .e = e };
	int rc = decode(c, &m.code, e);

	memset(out, 0, sizeof(*out));
	out->at = t->place;
	if (!rc && c->part[0].n < PLAN_JUMP_BYTES)
		rc = err_set(e, ERR_UNSUPPORTED, "it is too short: %zu bytes", c->part[0].n);
	if (!rc)
		rc = make(&m);
	free(m.code);
	return rc;
}
