/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/libomis/ask.h"

#include "common/base/err.h"
#include "tree/wire.h"

#include <stdlib.h>

void asks_init(struct asks *a)
{
	map_init(&a->map);
	a->next_id = 1;
}

static void ask_free(struct ask *k)
{
	reply_free(k->part);
	free(k);
}

void asks_done(struct asks *a)
{
	for (struct map_iter i = { 0 }; map_next(&a->map, &i);)
		ask_free(i.value);
	map_done(&a->map);
}

int asks_add(struct asks *a, void (*on_reply)(void *, struct reply **, bool), void *arg,
	     uint64_t *id, struct err *e)
{
	struct ask *k;

	if (a->map.n >= ASKS_MAX)
		return err_set(e, ERR_LIMIT, "more than %d requests wait for replies", ASKS_MAX);
	k = calloc(1, sizeof(*k));
	if (!k)
		return err_nomem(e);
	k->id = a->next_id;
	k->on_reply = on_reply;
	k->arg = arg;
	if (map_put(&a->map, k->id, k, NULL)) {
		free(k);
		return err_nomem(e);
	}
	*id = a->next_id++;
	return 0;
}

void asks_drop(struct asks *a, uint64_t id)
{
	struct ask *k = map_find(&a->map, id);

	if (!k)
		return;
	map_del(&a->map, id);
	if (!k->is_answering)
		ask_free(k);
}

static int add_part(struct ask *k, const struct msg_reply *m)
{
	if (!k->part)
		k->part = reply_new();
	return k->part ? wire_add_reply(k->part, m) : -ERR_NOMEM;
}

/* Removes the ask before its last report, as the asker may ask again. */
static void report(struct asks *a, struct ask *k, struct reply *r, bool is_last)
{
	uint64_t id = k->id;

	k->is_answering = true;
	if (is_last)
		map_del(&a->map, id);
	k->on_reply(k->arg, &r, is_last);
	reply_free(r);
	k->is_answering = false;
	if (is_last || map_find(&a->map, id) != k)
		ask_free(k);
}

static void report_error(struct asks *a, struct ask *k, unsigned status, const struct err *why)
{
	struct reply *r = reply_new();

	if (r && reply_from_diag(r, status, why)) {
		reply_free(r);
		r = NULL;
	}
	report(a, k, r, true);
}

static bool is_last_kind(uint32_t kind)
{
	return kind == 0 || kind == STATUS_CSR_DELETED;
}

int asks_take(struct asks *a, const struct msg_reply *m)
{
	struct ask *k = map_find(&a->map, m->id);
	struct err e = { 0 };
	struct reply *r;
	int rc;

	if (!k)
		return -ERR_NOTFOUND;
	rc = add_part(k, m);
	if (rc) {
		err_set(&e, (enum err_code)(-rc), "the reply is too large for this tool");
		report_error(a, k, status_from_err(rc), &e);
		return rc;
	}
	if (m->more)
		return 0;
	r = k->part;
	k->part = NULL;
	report(a, k, r, is_last_kind(m->kind));
	return 0;
}

void asks_fail(struct asks *a, unsigned status, const struct err *why)
{
	uint64_t end = a->next_id; /* excludes requests that these replies cause */
	struct ask *k;
	uint64_t id;

	while (a->map.n > 0) {
		id = 0;
		for (struct map_iter i = { 0 }; map_next(&a->map, &i);)
			if (i.key < end && (id == 0 || i.key < id))
				id = i.key;
		if (id == 0)
			return;
		k = map_find(&a->map, id);
		report_error(a, k, status, why);
	}
}
