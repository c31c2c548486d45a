/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random requests through a whole toy tree (top, sms, lms), against a direct evaluation on the same
 * world. No object is lost or doubled, and errors are where they belong. Order is kept on each node
 * and across barriers.
 */
#include "common/base/err.h"
#include "common/base/rng.h"
#include "tests/suite.h"
#include "tests/unit/common/route/world.h"

#include <string.h>

#define SITES 3
#define NODES 8

struct tree {
	struct world top, sm[SITES]; /* the same things; branches are sites, or nodes */
	int executed; /* calls on nodes so far */
	int last_action[NODES]; /* number of the action that a node executed last */
	int first_of[20], last_of[20]; /* when an action was first and last executed anywhere */
};

static char class_of(const char *token)
{
	return token_class(token, strlen(token));
}

static uint32_t node_number(const char *token)
{
	uint32_t node = 0;

	ck_assert(token_node(token, strlen(token), &node));
	return node;
}

/* Some objects fail at some services; equal values are frequent. */
static unsigned toy_value(const struct omis_service *s, const char *token)
{
	unsigned h = (unsigned)s->name[0] + (unsigned)strlen(s->name);

	for (const char *c = token; *c; c++)
		h = h * 31 + (unsigned char)*c;
	return h % 5;
}

static bool toy_fails(const struct omis_service *s, const char *token)
{
	return toy_value(s, token) == 4;
}

static void toy_result(struct reply *into, uint32_t action, const struct omis_service *s,
		       const char *token)
{
	char value[20];

	into->coverage.asked++;
	into->coverage.answered++;
	snprintf(value, sizeof(value), "%u", toy_value(s, token));
	if (toy_fails(s, token))
		ck_assert_int_eq(reply_add(into, action, token, STATUS_OS_ERROR, "no"), 0);
	else
		ck_assert_int_eq(reply_add(into, action, token, STATUS_OK, s->result ? value : ""),
				 0);
}

static struct omis_request *parse_part(const struct plan_part *part)
{
	struct omis_request *r = NULL;

	ck_assert_int_eq(omis_parse_inner(part->text, part->ntext, &r, NULL), 0);
	ck_assert_int_eq(omis_check(r, NULL), 0);
	ck_assert_uint_eq(r->naction, part->naction);
	return r;
}

static struct reply *lm(struct tree *t, uint32_t node, const struct plan_part *part)
{
	struct omis_request *r = parse_part(part);
	struct reply *reply = reply_new();

	for (size_t i = 0; i < r->naction; i++) {
		int action = (int)part->action[i];
		const struct omis_value *list = &r->action[i].param[0];

		ck_assert_int_gt(action, t->last_action[node]);
		t->last_action[node] = action;
		if (!t->first_of[action])
			t->first_of[action] = t->executed + 1;
		t->last_of[action] = ++t->executed;
		for (size_t k = 0; k < list->list.n; k++) {
			ck_assert_uint_eq(node_number(list->list.v[k].s.p), node);
			toy_result(reply, part->action[i], r->action[i].service,
				   list->list.v[k].s.p);
		}
	}
	ck_assert_int_eq(reply_merge(reply, r, part->action), 0);
	omis_request_free(r);
	return reply;
}

static const char *branch_name(void *arg, uint32_t branch)
{
	return "branch";
}

static bool branch_owns(void *arg, uint32_t branch, const char *token, size_t n)
{
	struct world *w = arg;
	struct thing *t = world_find(w, token, n);

	return t && t->branch == branch;
}

typedef struct reply *(*below_fn)(struct tree *t, uint32_t branch, const struct plan_part *part);

struct level {
	struct world *w;
	below_fn below;
};

/* The work of mainsm and an sm, in the simplest form. */
static void run(struct tree *t, struct level at, const struct omis_request *r,
		const struct plan_conf *conf, struct reply *into)
{
	const struct gather_conf gconf = {
		.deadline = 1, .arg = at.w, .name = branch_name, .owns = branch_owns
	};
	const struct plan_step *s;
	struct plan *p = NULL;
	struct gather *g;

	ck_assert_int_eq(plan_new(r, &at.w->view, conf, &p, NULL), 0);
	while (!plan_next(p, into, &s, NULL) && s) {
		ck_assert_ptr_null(s->here);
		ck_assert_int_eq(gather_new(s, &gconf, &g, NULL), 0);
		for (size_t i = 0; i < s->npart; i++) {
			struct reply *answer = at.below(t, s->part[i].branch, &s->part[i]);
			struct err e = { 0 };

			ck_assert_msg(!gather_add(g, s->part[i].branch, answer, &e), "%s", e.text);
			reply_free(answer);
		}
		ck_assert(gather_is_done(g, 0));
		ck_assert_int_eq(gather_finish(g, into), 0);
		gather_free(g);
	}
	plan_free(p);
	ck_assert_int_eq(reply_merge(into, r, conf->numbers), 0);
}

static struct reply *sm(struct tree *t, uint32_t site, const struct plan_part *part)
{
	const struct plan_conf conf = { .right = OMIS_MANIPULATE, .numbers = part->action };
	struct omis_request *r = parse_part(part);
	struct reply *reply = reply_new();

	run(t, (struct level){ &t->sm[site], lm }, r, &conf, reply);
	omis_request_free(r);
	return reply;
}

/* --- the same, directly */

static bool contains(struct world *w, const struct thing *outer, const struct thing *inner)
{
	while (inner != outer && inner->parent >= 0)
		inner = &w->v[inner->parent];
	return inner == outer;
}

static bool visible(struct world *w, const struct thing *t)
{
	if (class_of(t->token.s) == 't')
		t = &w->v[t->parent];
	return t->attached;
}

/*
 * True if all containers of the object are attached: an expansion descends attached objects only.
 */
static bool reachable(struct world *w, const struct thing *from, const struct thing *t)
{
	while (t != from) {
		if (!visible(w, t))
			return false;
		if (t->parent < 0)
			return !from;
		t = &w->v[t->parent];
		if (!from && class_of(t->token.s) == 's')
			return true; /* [] starts at nodes */
	}
	return visible(w, t);
}

/* True if t is among the objects of the list, by the rules of docs/omis.md. */
static bool is_meant(struct world *w, const struct omis_value *list, const struct thing *t)
{
	if (!list->list.n)
		return reachable(w, NULL, t);
	for (size_t i = 0; i < list->list.n; i++) {
		struct thing *named = world_find(w, list->list.v[i].s.p, list->list.v[i].s.n);

		if (!named || !visible(w, named))
			continue;
		if (contains(w, named, t) && reachable(w, named, t))
			return true;
		if (contains(w, t, named) && reachable(w, t, named))
			return true;
	}
	return false;
}

/*
 * Returns the result of one action for an object: -1 nothing, else status * 10 + value;
 * *times how often.
 */
static int said(const struct reply *r, uint32_t action, const char *token, int *times)
{
	int what = -1;

	*times = 0;
	for (size_t i = 0; i < r->nentry; i++) {
		const struct reply_entry *e = &r->entry[i];
		size_t len;

		for (const char *o = e->objects; e->action == action && *o;
		     o += len + (o[len] == ',')) {
			len = strcspn(o, ",");
			if (len != strlen(token) || memcmp(o, token, len))
				continue;
			(*times)++;
			what = (int)e->status * 10 +
			       (e->status || !*e->value ? 0 : *e->value - '0');
		}
	}
	return what;
}

static bool says_others_fine(const struct reply *r, uint32_t action)
{
	for (size_t i = 0; i < r->nentry; i++)
		if (r->entry[i].action == action && !*r->entry[i].objects &&
		    r->entry[i].status == STATUS_OK)
			return true;
	return false;
}

/* Is the object one of those that it was for? */
static bool compare_object(struct tree *t, const struct omis_call *c, const struct reply *r,
			   uint32_t action, const struct thing *thing)
{
	const struct omis_service *s = c->service;
	const char *token = thing->token.s;
	int times, what = said(r, action, token, &times);

	if (class_of(token) != s->object || !is_meant(&t->top, &c->param[0], thing)) {
		/* It may be named only as an unknown object. */
		ck_assert_msg(what < 0 || what / 10 == STATUS_UNKNOWN_OBJECT, "%s %s", s->name,
			      token);
		return false;
	}
	if (toy_fails(s, token))
		ck_assert_int_eq(what, STATUS_OS_ERROR * 10);
	else if (s->result)
		ck_assert_int_eq(what, (int)toy_value(s, token));
	else
		ck_assert(what < 0 && says_others_fine(r, action));
	ck_assert_msg(times == (s->result || toy_fails(s, token)), "%s %s: %d times", s->name,
		      token, times);
	return true;
}

/* A named token without an object has an entry that reports that, once. */
static void compare_unknown(struct tree *t, const struct omis_call *c, const struct reply *r,
			    uint32_t action)
{
	const struct omis_value *list = &c->param[0];

	for (size_t i = 0; i < list->list.n; i++) {
		struct thing *named = world_find(&t->top, list->list.v[i].s.p, list->list.v[i].s.n);
		int times, what = said(r, action, list->list.v[i].s.p, &times);

		if (!named || !visible(&t->top, named))
			ck_assert_int_eq(what, STATUS_UNKNOWN_OBJECT * 10);
	}
}

static void compare(struct tree *t, const struct omis_request *r, const struct reply *got)
{
	uint32_t asked = 0;

	for (size_t i = 0; i < r->naction; i++) {
		for (int k = 0; k < t->top.n; k++)
			asked += compare_object(t, &r->action[i], got, (uint32_t)i + 1,
						&t->top.v[k]);
		compare_unknown(t, &r->action[i], got, (uint32_t)i + 1);
		/* Everything before a barrier was executed before everything after it. */
		for (size_t k = 0; r->action[i].barrier && k < i; k++)
			for (size_t m = i; m < r->naction; m++)
				if (t->last_of[k + 1] && t->first_of[m + 1])
					ck_assert_int_lt(t->last_of[k + 1], t->first_of[m + 1]);
	}
	ck_assert_uint_eq(got->coverage.asked, asked);
	ck_assert_uint_eq(got->coverage.answered, asked);
	ck_assert(!reply_is_partial(got));
}

/* --- random worlds and requests */

static void grow(struct tree *t, struct rng *rng)
{
	struct token token;
	int site, node, proc;
	uint32_t id = 0, number = 0;

	world_init(&t->top, SITES);
	for (uint32_t s = 0; s < SITES; s++) {
		site = world_add(&t->top, token_print_number(&token, TOKEN_SITE, s), -1, s);
		for (uint64_t n = rng_below(rng, 3); n && number < NODES; n--, number++) {
			node = world_add(&t->top, token_print_number(&token, TOKEN_NODE, number),
					 site, s);
			t->top.v[node].attached = rng_below(rng, 4);
			for (uint64_t p = rng_below(rng, 4); p; p--) {
				proc = world_add(&t->top, token_print_process(&token, number, id++),
						 node, s);
				t->top.v[proc].attached =
					t->top.v[node].attached && rng_below(rng, 4);
				for (uint64_t k = rng_below(rng, 3); k; k--)
					world_add(&t->top, token_print_thread(&token, number, id++),
						  proc, s);
			}
		}
	}
	for (int s = 0; s < SITES; s++) {
		t->sm[s] = t->top;
		t->sm[s].view.arg = &t->sm[s];
		t->sm[s].view.nbranch = NODES;
		for (int i = 0; i < t->top.n; i++)
			if (class_of(t->top.v[i].token.s) != 's')
				t->sm[s].v[i].branch = node_number(t->top.v[i].token.s);
	}
}

static void list(struct tree *t, struct rng *rng, struct buf *b)
{
	buf_putc(b, '[');
	for (uint64_t n = rng_below(rng, 6), i = 0; i < n; i++) {
		if (i)
			buf_putc(b, ',');
		if (rng_below(rng, 10))
			buf_puts(b, t->top.v[rng_below(rng, (uint64_t)t->top.n)].token.s);
		else
			buf_puts(b, "p_7_zzzzzz");
	}
	buf_putc(b, ']');
}

static void make(struct tree *t, struct rng *rng, struct buf *b)
{
	static const char *const services[] = { "node_get_info(",   "proc_get_info(",
						"thread_get_info(", "proc_send_signal(",
						"thread_stop(",	    "thread_continue(" };
	uint64_t which, n = 1 + rng_below(rng, 8);

	buf_clear(b);
	buf_putc(b, ':');
	for (uint64_t i = 0; i < n; i++) {
		which = rng_below(rng, 6);
		buf_puts(b, i && !rng_below(rng, 3) ? ";" : " ");
		buf_puts(b, services[which]);
		list(t, rng, b);
		buf_puts(b, which < 4 ? ",1)" : ")");
	}
}

TEST(split_and_merged_equals_evaluated_at_once)
{
	const struct plan_conf conf = { .right = OMIS_MANIPULATE, .top = true };
	struct buf b = BUF_INIT(100000);
	struct tree *t = calloc(1, sizeof(*t));
	struct rng rng;

	rng_init(&rng, suite_seed(99));
	for (int i = 0; i < 3000; i++) {
		struct reply *got = reply_new();
		struct omis_request *r;

		memset(t, 0, sizeof(*t));
		grow(t, &rng);
		make(t, &rng, &b);
		r = world_request(buf_str(&b));
		run(t, (struct level){ &t->top, sm }, r, &conf, got);
		compare(t, r, got);
		omis_request_free(r);
		reply_free(got);
	}
	free(t);
	buf_done(&b);
}

SUITE("route whole")
