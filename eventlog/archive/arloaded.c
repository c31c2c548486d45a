/* SPDX-License-Identifier: Apache-2.0 */
#include "eventlog/archive/arloaded.h"

#include "common/base/array.h"

#include <stdlib.h>
#include <string.h>

static void forget_old(struct arloaded *l)
{
	l->old_from = INT64_MAX;
	l->old_to = INT64_MIN;
}

void arloaded_init(struct arloaded *l)
{
	*l = (struct arloaded){ 0 };
	forget_old(l);
}

void arloaded_done(struct arloaded *l)
{
	free(l->range);
	arloaded_init(l);
}

/* Returns the index of the last range that begins at or before number; n if there is none. */
static size_t find(const struct arloaded *l, int64_t number)
{
	size_t low = 0, high = l->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (l->range[mid].first <= number)
			low = mid + 1;
		else
			high = mid;
	}
	return low ? low - 1 : l->n;
}

bool arloaded_has(const struct arloaded *l, int64_t number)
{
	size_t at = find(l, number);

	return at < l->n && number < l->range[at].next;
}

static void mark(struct arloaded *l, int64_t first)
{
	l->old_from = first < l->old_from ? first : l->old_from;
	l->old_to = first > l->old_to ? first : l->old_to;
}

static int insert(struct arloaded *l, size_t at, int64_t number, struct err *e)
{
	int rc = array_grow(&l->range, &l->cap, l->n + 1, sizeof(*l->range), ARLOADED_RANGES_MAX);

	if (rc)
		return rc == -ERR_LIMIT ? err_set(e, ERR_LIMIT, "a stream has too many gaps")
					: err_nomem(e);
	memmove(l->range + at + 1, l->range + at, (l->n - at) * sizeof(*l->range));
	l->range[at] = (struct arrange){ number, number + 1 };
	l->n++;
	l->at = at;
	mark(l, number);
	return 1;
}

/* Joins a range to the next one, which begins where the first ends. */
static void join(struct arloaded *l, size_t at)
{
	mark(l, l->range[at + 1].first);
	l->range[at].next = l->range[at + 1].next;
	memmove(l->range + at + 1, l->range + at + 2, (l->n - at - 2) * sizeof(*l->range));
	l->n--;
}

int arloaded_add(struct arloaded *l, int64_t number, struct err *e)
{
	size_t at = l->at < l->n && l->range[l->at].next == number ? l->at : find(l, number);

	if (at < l->n && number < l->range[at].next)
		return 0;
	if (at < l->n && number == l->range[at].next) {
		l->range[at].next++;
		l->at = at;
		mark(l, l->range[at].first);
		if (at + 1 < l->n && l->range[at + 1].first == number + 1)
			join(l, at);
		return 1;
	}
	at = at < l->n ? at + 1 : 0;
	if (at < l->n && l->range[at].first == number + 1) { /* the range grows to the front */
		mark(l, l->range[at].first);
		l->range[at].first = number;
		mark(l, number);
		return 1;
	}
	return insert(l, at, number, e);
}

static int take(void *arg, const struct arvalue *v, const char *const *names, unsigned n,
		struct err *e)
{
	struct arloaded *l = arg;
	bool is_good = v[0].class == AR_INT && v[1].class == AR_INT && v[0].i >= 0 &&
		       v[0].i < v[1].i && (!l->n || l->range[l->n - 1].next < v[0].i);

	if (!is_good)
		return err_set(e, ERR_INVALID,
			       "is not an archive of Omig: its state of a stream is invalid");
	if (array_grow(&l->range, &l->cap, l->n + 1, sizeof(*l->range), ARLOADED_RANGES_MAX))
		return err_nomem(e);
	l->range[l->n++] = (struct arrange){ v[0].i, v[1].i };
	return 0;
}

int arloaded_load(struct arloaded *l, const struct arsql *s, int64_t sid, struct err *e)
{
	struct arvalue v = AR_I(sid);

	return s->ops->run(
		s->db,
		&(struct arsql_statement){
			.text = "SELECT first, next FROM loaded WHERE sid = $1 ORDER BY first",
			.v = &v,
			.n = 1 },
		take, l, e);
}

int arloaded_save(struct arloaded *l, const struct arsql *s, int64_t sid, struct err *e)
{
	struct arvalue v[] = { AR_I(sid), AR_I(l->old_from), AR_I(l->old_to) };
	size_t at = find(l, l->old_from);
	int rc;

	if (l->old_from > l->old_to)
		return 0;
	rc = arsql_run(s, "DELETE FROM loaded WHERE sid = $1 AND first >= $2 AND first <= $3", v, 3,
		       e);
	for (at = at < l->n ? at : 0; !rc && at < l->n && l->range[at].first <= l->old_to; at++) {
		if (l->range[at].first < l->old_from)
			continue;
		v[1] = AR_I(l->range[at].first);
		v[2] = AR_I(l->range[at].next);
		rc = arsql_run(s, "INSERT INTO loaded (sid, first, next) VALUES ($1, $2, $3)", v, 3,
			       e);
	}
	forget_old(l);
	return rc;
}
