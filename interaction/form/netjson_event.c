/* SPDX-License-Identifier: Apache-2.0 */
#include "interaction/form/netjson.h"

#include "common/base/array.h"
#include "common/base/str.h"

#include <stdlib.h>
#include <string.h>

enum key { V, T, EV, ST, NEW, VIA, WITH, USE, CHILD_USE, BLOCKS, NODE, KEYS };

static const char *const keys[KEYS] = {
	[V] = "v",	     [T] = "t",	      [EV] = "ev",
	[ST] = "st",	     [NEW] = "new",   [VIA] = "via",
	[WITH] = "with",     [USE] = "use",   [CHILD_USE] = "child_use",
	[BLOCKS] = "blocks", [NODE] = "node",
};

#define BIT(key) (1u << (key))

/* An event under construction: the keys that were read, and the place of its begin. */
struct draft {
	struct network_event ev;
	unsigned has;
	unsigned line, col;
};

static int wrong(const struct netjson *x, const char *key, const char *what, struct err *e)
{
	return jsonread_fail(x->r, e, ERR_INVALID, "\"%s\" of an event is %s", key, what);
}

/* A sub-task: a number, or a string with one. */
static int read_task(const struct netjson *x, int token, const char *key, uint64_t *out,
		     struct err *e)
{
	char text[24];

	if (token == JSONREAD_NUMBER)
		return jsonread_u64(x->r, out, e);
	if (token == JSONREAD_STRING && x->r->n < sizeof(text)) {
		memcpy(text, x->r->text, x->r->n);
		text[x->r->n] = '\0';
		if (strlen(text) == x->r->n && !str_to_u64(text, 0, UINT64_MAX, out))
			return 0;
	}
	return wrong(x, key, "an integer from 0 to 2^64 - 1", e);
}

static int read_name(struct netjson *x, int token, struct draft *d, struct err *e)
{
	if (token != JSONREAD_STRING || x->r->n > NAME_MAX_BYTES || !x->r->n)
		return wrong(x, "v", "a string of 1 to 255 bytes", e);
	memcpy(x->name, x->r->text, x->r->n);
	d->ev.name = x->name;
	d->ev.n = x->r->n;
	return 0;
}

static int read_node(struct netjson *x, int token, struct draft *d, struct err *e)
{
	char name[NAME_MAX_BYTES + 1];

	if (token != JSONREAD_STRING || !str_is_name(x->r->text, x->r->n))
		return wrong(x, "node", "a name", e);
	memcpy(name, x->r->text, x->r->n);
	name[x->r->n] = '\0';
	return x->to->node(x->to->arg, name, &d->ev.node, e);
}

/* --- uses */

static int add_op(struct netjson *x, bool is_child, struct err *e)
{
	struct network_use use = { .is_child = is_child };
	int rc = netjson_expect(x, JSONREAD_STRING, "\"begin\" or \"end\"", e);

	if (rc)
		return rc;
	use.is_end = jsonread_is(x->r, "end");
	if (!use.is_end && !jsonread_is(x->r, "begin"))
		return jsonread_fail(x->r, e, ERR_INVALID, "a use is \"begin\" or \"end\"");
	rc = netjson_expect(x, JSONREAD_STRING, "the name of an object", e);
	rc = rc ? rc : netuse_object(x->use, x->r->text, x->r->n, &use.object, e);
	if (rc)
		return rc == -ERR_INVALID || rc == -ERR_LIMIT ? err_at(e, x->r->line, x->r->col)
							      : rc;
	rc = array_grow(&x->op, &x->op_cap, x->nop + 1, sizeof(*x->op), NETJSON_USES_MAX);
	if (rc)
		return jsonread_fail(x->r, e, (enum err_code) - rc,
				     "more than %d uses at one event", NETJSON_USES_MAX);
	x->op[x->nop++] = use;
	return netjson_expect(x, JSONREAD_ARRAY_END, "the end of [\"begin\", object]", e);
}

static int read_uses(struct netjson *x, int token, bool is_child, struct err *e)
{
	if (token != JSONREAD_ARRAY)
		return wrong(x, is_child ? "child_use" : "use", "a list like [[\"begin\", \"db\"]]",
			     e);
	while ((token = jsonread_next(x->r, e)) == JSONREAD_ARRAY) {
		int rc = add_op(x, is_child, e);

		if (rc)
			return rc;
	}
	if (token < 0)
		return token;
	return token == JSONREAD_ARRAY_END
		       ? 0
		       : wrong(x, "use", "a list like [[\"begin\", \"db\"]]", e);
}

/* --- keys */

static int read_kind(const struct netjson *x, int token, struct draft *d, struct err *e)
{
	if (token == JSONREAD_STRING && !network_kind_from_name(x->r->text, x->r->n, &d->ev.kind))
		return 0;
	return wrong(x, "ev", "source, fork, join, simple or sink", e);
}

static int read_time(const struct netjson *x, int token, struct draft *d, struct err *e)
{
	return token == JSONREAD_NUMBER ? jsonread_i64(x->r, &d->ev.t, e)
					: wrong(x, "t", "an integer of nanoseconds", e);
}

static int read_via(const struct netjson *x, int token, struct draft *d, struct err *e)
{
	d->ev.is_message = token == JSONREAD_STRING && jsonread_is(x->r, "message");
	if (d->ev.is_message || (token == JSONREAD_STRING && jsonread_is(x->r, "thread")))
		return 0;
	return wrong(x, "via", "thread or message", e);
}

static int read_blocks(const struct netjson *x, int token, struct draft *d, struct err *e)
{
	d->ev.blocks = token == JSONREAD_TRUE;
	return token == JSONREAD_TRUE || token == JSONREAD_FALSE
		       ? 0
		       : wrong(x, "blocks", "true or false", e);
}

static int read_value(struct netjson *x, enum key key, int token, struct draft *d, struct err *e)
{
	switch (key) {
	case V:
		return read_name(x, token, d, e);
	case T:
		return read_time(x, token, d, e);
	case EV:
		return read_kind(x, token, d, e);
	case ST:
		return read_task(x, token, "st", &d->ev.task, e);
	case NEW:
	case WITH:
		return read_task(x, token, keys[key], &d->ev.other, e);
	case VIA:
		return read_via(x, token, d, e);
	case USE:
	case CHILD_USE:
		return read_uses(x, token, key == CHILD_USE, e);
	case BLOCKS:
		return read_blocks(x, token, d, e);
	default:
		return read_node(x, token, d, e);
	}
}

/* Reads a key and its value. A value of null is ignored with its key. */
static int read_pair(struct netjson *x, struct draft *d, struct err *e)
{
	enum key key = (enum key)netjson_find_key(x->r, keys, KEYS);
	int token;

	if (key == KEYS)
		return netjson_unknown(x, e);
	if (d->has & BIT(key))
		return wrong(x, keys[key], "there twice", e);
	token = jsonread_next(x->r, e);
	if (token < 0 || token == JSONREAD_NULL)
		return token < 0 ? token : 0;
	d->has |= BIT(key);
	return read_value(x, key, token, d, e);
}

static int fail_at(const struct draft *d, struct err *e, const char *text)
{
	err_set(e, ERR_INVALID, "%s", text);
	return err_at(e, d->line, d->col);
}

static int check(const struct draft *d, struct err *e)
{
	static const unsigned needed = BIT(V) | BIT(T) | BIT(EV) | BIT(ST);
	bool is_fork = d->ev.kind == NETWORK_FORK, is_join = d->ev.kind == NETWORK_JOIN;

	if ((d->has & needed) != needed)
		return fail_at(d, e, "an event needs \"v\", \"t\", \"ev\" and \"st\"");
	if (is_fork != !!(d->has & BIT(NEW)))
		return fail_at(d, e,
			       is_fork ? "a fork needs \"new\", the sub-task that it creates"
				       : "\"new\" is of forks");
	if (is_join != !!(d->has & BIT(WITH)))
		return fail_at(d, e,
			       is_join ? "a join needs \"with\", the sub-task that ends"
				       : "\"with\" is of joins");
	if (!is_fork && d->has & (BIT(CHILD_USE) | BIT(VIA)))
		return fail_at(d, e, "\"via\" and \"child_use\" are of forks");
	return 0;
}

int netjson_event(struct netjson *x, struct err *e)
{
	struct draft d = { .ev = { .node = x->node }, .line = x->r->line, .col = x->r->col };
	int token, rc = 0;

	x->nop = 0;
	while (!rc && (token = jsonread_next(x->r, e)) != JSONREAD_OBJECT_END)
		rc = token < 0 ? token : read_pair(x, &d, e);
	rc = rc ? rc : check(&d, e);
	if (rc)
		return rc;
	if (x->to->time && d.ev.node != NETWORK_NONE)
		d.ev.t = x->to->time(x->to->arg, d.ev.node, d.ev.t);
	d.ev.place = d.line;
	d.ev.use = x->op;
	d.ev.nuse = x->nop;
	x->report->events++;
	rc = x->take(x->take_arg, &d.ev, e);
	return rc && e->line == d.line && !e->col ? err_at(e, d.line, d.col) : rc;
}
