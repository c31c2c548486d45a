/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The request of a tool: options, objects, and the metric's parameters, which are bound to each new
 * world.
 */
#include "common/base/array.h"
#include "common/base/limits.h"
#include "common/base/str.h"
#include "common/omis/services/check.h"
#include "common/omis/text/arena.h"
#include "mainsm/measure/measure_internal.h"
#include "stats/stop.h"

#include <stdlib.h>
#include <string.h>

/* places of WORLD_OBJECTS_MAX objects, some times over */
#define BIND_ARGS_MAX_BYTES (16 * 1024 * 1024)
#define PARAMETERS_MAX_BYTES OMIS_REQUEST_MAX_BYTES

static int invalid(struct buf *why, const char *what, const char *name)
{
	buf_printf(why, "%s %.64s", what, name);
	return -ERR_INVALID;
}

/* --- options */

struct word {
	const char *name;
	int value;
};

/* Returns the value of a word, -1 for an unknown one. */
static int find_word(const struct word *w, const char *name)
{
	for (; name && w->name; w++)
		if (str_eq(w->name, name))
			return w->value;
	return -1;
}

static const struct word modes[] = { { "start", FLOW_SINCE_START },
				     { "last", FLOW_SINCE_LAST },
				     { 0 } };
static const struct word groups[] = { { "", BIND_BY_NOTHING },
				      { "process", BIND_BY_PROCESS },
				      { "node", BIND_BY_NODE },
				      { "site", BIND_BY_SITE },
				      { 0 } };
static const struct word eaches[] = { { "partner", BIND_EACH_PARTNER },
				      { "region", BIND_EACH_REGION },
				      { 0 } };

static int set_mode(struct measure_asked *a, const struct omis_value *v)
{
	int mode = find_word(modes, omis_value_text(v, NULL));

	a->since = mode < 0 ? FLOW_SINCE_START : (enum flow_since)mode;
	return mode < 0 ? -ERR_INVALID : 0;
}

/* Adds one word of a list: a grouping of objects, or a further division. */
static int add_by(struct measure_asked *a, const char *word)
{
	int by = find_word(groups, word), each = find_word(eaches, word);

	if ((by > 0 && a->by) || (each > 0 && (a->each & (unsigned)each)) || (by < 0 && each < 0))
		return -ERR_INVALID;
	if (by > 0)
		a->by = (enum bind_by)by;
	if (each > 0)
		a->each = (enum bind_each)(a->each | (unsigned)each);
	return 0;
}

static int set_by(struct measure_asked *a, const struct omis_value *v)
{
	const char *list = omis_value_text(v, NULL);
	char word[16];
	int rc = 0;

	a->by = BIND_BY_NOTHING;
	a->each = BIND_EACH_NOTHING;
	do {
		size_t n = list ? strcspn(list, ",") : sizeof(word);

		if (n >= sizeof(word))
			return -ERR_INVALID;
		memcpy(word, list, n);
		word[n] = 0;
		rc = add_by(a, word);
		list += n + (list[n] == ',');
	} while (!rc && *list);
	return rc;
}

static int set_every(struct measure_asked *a, const struct omis_value *v)
{
	int64_t ms;

	if (!omis_value_i64(v, &ms) || ms < 0 || ms > FLOW_EVERY_MAX_NS / NSEC_PER_MSEC)
		return -ERR_INVALID;
	a->every = ms * NSEC_PER_MSEC;
	return ms && a->every < FLOW_EVERY_MIN_NS ? -ERR_INVALID : 0;
}

/* True for an aggregate that is one number with the unit of the values and has no parameter. */
static bool can_join_values(enum agg_kind kind)
{
	return !agg_kind_has_sketch(kind) && !agg_kind_has_share(kind) &&
	       !agg_kind_is_of_pairs(kind) && !agg_kind_is_of_objects(kind) &&
	       (!agg_kind_powers(kind) || kind == AGG_STDEV);
}

static int set_agg(struct measure_asked *a, const struct omis_value *v)
{
	const char *name = omis_value_text(v, NULL);

	a->has_agg = name && agg_kind_find(name, &a->agg) && can_join_values(a->agg);
	return a->has_agg ? 0 : -ERR_INVALID;
}

static int to_bool(const struct omis_value *v, bool *out)
{
	int64_t i;

	if (!omis_value_i64(v, &i) || i < 0 || i > 1)
		return -ERR_INVALID;
	*out = i;
	return 0;
}

static int set_rate(struct measure_asked *a, const struct omis_value *v)
{
	return to_bool(v, &a->per_second);
}

static int set_central(struct measure_asked *a, const struct omis_value *v)
{
	return to_bool(v, &a->is_central);
}

/* Sets the stop rule, which must not need a sequence of values. */
static int set_until(struct measure_asked *a, const struct omis_value *v)
{
	const char *text = omis_value_text(v, NULL);
	struct stop rule;

	if (!text || stop_parse(text, &rule, NULL) || stop_has_batches(&rule))
		return -ERR_INVALID;
	free(a->until);
	a->until = str_dup(text);
	return a->until ? 0 : -ERR_NOMEM;
}

static int set_name(struct measure_asked *a, const struct omis_value *v)
{
	size_t n;
	const char *name = omis_value_text(v, &n);

	if (!name || !str_is_name(name, n))
		return -ERR_INVALID;
	free(a->name);
	a->name = str_ndup(name, n);
	return a->name ? 0 : -ERR_NOMEM;
}

static const struct option {
	const char *name;
	int (*set)(struct measure_asked *a, const struct omis_value *v);
	const char *takes; /* NULL: an aggregate */
} options[] = {
	{ "agg", set_agg, NULL },
	{ "by", set_by, "process, node or site, partner, region, or one of each by commas" },
	{ "central", set_central, "0 or 1" },
	{ "every_ms", set_every, "0, or a number of milliseconds that is not too small" },
	{ "mode", set_mode, "start or last" },
	{ "name", set_name, "a name" },
	{ "rate", set_rate, "0 or 1" },
	{ "until", set_until, "a rule without batches" },
};

static int refuse_value(const struct option *o, struct buf *why)
{
	const char *between = "";

	invalid(why, "that is not a value of the option", o->name);
	buf_puts(why, ": it takes ");
	if (o->takes)
		buf_puts(why, o->takes);
	for (int i = 0; !o->takes && i < AGG_NKINDS; i++) {
		if (!can_join_values((enum agg_kind)i))
			continue;
		buf_printf(why, "%s%s", between, agg_kind_name((enum agg_kind)i));
		between = ", ";
	}
	return -ERR_INVALID;
}

static int set_option(struct measure_asked *a, const char *name, const struct omis_value *v,
		      struct buf *why)
{
	for (size_t i = 0; name && i < ARRAY_LEN(options); i++)
		if (str_eq(options[i].name, name)) {
			int rc = options[i].set(a, v);

			return rc == -ERR_INVALID ? refuse_value(&options[i], why) : rc;
		}
	return invalid(why, "there is no option", name ? name : "of that kind");
}

static int set_options(struct measure_asked *a, const struct omis_value *list, struct buf *why)
{
	int rc = list->list.n % 2 ? invalid(why, "options are names and", "values") : 0;

	for (size_t i = 0; !rc && i < list->list.n; i += 2)
		rc = set_option(a, omis_value_text(&list->list.v[i], NULL), &list->list.v[i + 1],
				why);
	return rc;
}

/* --- parameters of the metric */

/* Copies a list by its text. */
static int copy_list(const struct omis_value *list, struct omis_values **out)
{
	struct buf b = BUF_INIT(PARAMETERS_MAX_BYTES);
	struct omis_writer w = OMIS_WRITER(&b);
	int rc;

	for (size_t i = 0; i < list->list.n; i++)
		omis_write_value(&w, &list->list.v[i]);
	rc = b.failed ? -ERR_NOMEM : omis_parse_values(buf_str(&b), b.n, out, NULL);
	buf_done(&b);
	return rc;
}

int asked_init(struct measure_asked *a, const struct measure_request *w, struct buf *why)
{
	int rc;

	*a = (struct measure_asked){ .is_builtin = !w->text[0], .every = NSEC_PER_SEC };
	a->metric = str_dup(w->metric);
	a->name = str_dup(w->text[0] ? "text" : w->metric);
	if (!a->metric || !a->name)
		return -ERR_NOMEM;
	rc = set_options(a, w->options, why);
	if (!rc && w->parameters->list.n % 2)
		rc = invalid(why, "parameters are names and", "values");
	return rc ? rc : copy_list(w->parameters, &a->parameters);
}

void asked_done(struct measure_asked *a)
{
	free(a->metric);
	free(a->name);
	free(a->until);
	asked_objects_done(&a->objects);
	omis_values_free(a->parameters);
}

/* --- binding */

struct binding_to {
	const struct measure *m;
	const struct measure_world *w;
	struct asked_binding *out;
	struct buf *why;
};

/* Adds the index of a token. A token that has ended is left out: the others remain. */
static void put_place(const struct binding_to *b, const char *token, uint32_t *v, size_t *n)
{
	uint32_t at = measure_world_find(b->w, token);

	if (at != WORLD_NONE)
		v[(*n)++] = at;
}

static int bind_tokens(struct binding_to *b, struct bind_arg *arg, const char *const *token,
		       size_t n)
{
	uint32_t *v = arena_array(b->out->arena, n + 1, sizeof(*v));

	if (!v)
		return -ERR_NOMEM;
	arg->is_given = true;
	arg->object = v;
	for (size_t i = 0; i < n; i++)
		put_place(b, token[i], v, &arg->nobject);
	return 0;
}

static int bind_objects(struct binding_to *b, struct bind_arg *arg)
{
	const struct asked_objects *a = &b->m->asked.objects;
	uint32_t *in = arena_array(b->out->arena, a->n + 1, sizeof(*in));
	uint32_t *out = arena_array(b->out->arena, a->n + 1, sizeof(*out));

	if (!in || !out)
		return -ERR_NOMEM;
	arg->is_given = !a->is_all;
	arg->object = in;
	arg->without = out;
	for (size_t i = 0; i < a->n; i++)
		if (a->mark[i].is_out)
			put_place(b, a->mark[i].token, out, &arg->nwithout);
		else
			put_place(b, a->mark[i].token, in, &arg->nobject);
	return 0;
}

/* Returns the texts or tokens of a list, or of a single value. */
static const char **texts_of(struct binding_to *b, const struct omis_value *v, enum omis_kind kind,
			     size_t *n)
{
	const struct omis_value *list = v->kind == OMIS_LIST ? v->list.v : v;
	const char **out;

	*n = v->kind == OMIS_LIST ? v->list.n : 1;
	out = arena_array(b->out->arena, *n + 1, sizeof(*out));
	for (size_t i = 0; out && i < *n; i++) {
		if (list[i].kind != kind)
			return NULL;
		out[i] = list[i].s.p;
	}
	return out;
}

/* Takes 10, or the range [10,20]. */
static bool take_range(const struct omis_value *v, struct bind_range *out)
{
	bool is_pair = v->kind == OMIS_LIST && v->list.n == 2;
	const struct omis_value *from = is_pair ? &v->list.v[0] : v;
	const struct omis_value *to = is_pair ? &v->list.v[1] : v;

	return omis_value_i64(from, &out->from) && omis_value_i64(to, &out->to) &&
	       out->from <= out->to && out->from >= -BIND_VT_MAX && out->to <= BIND_VT_MAX;
}

/* Binds a list of virtual times, or a single one. */
static int bind_times(struct binding_to *b, const struct pmsl_decl *d, const struct omis_value *v)
{
	struct bind_arg *arg = &b->out->arg[d->position];
	const struct omis_value *list = v->kind == OMIS_LIST ? v->list.v : v;
	size_t n = v->kind == OMIS_LIST ? v->list.n : 1;
	struct bind_range *vt = arena_array(b->out->arena, n + 1, sizeof(*vt));

	if (!vt)
		return -ERR_NOMEM;
	for (size_t i = 0; i < n; i++)
		if (!take_range(&list[i], &vt[i]))
			return invalid(b->why,
				       "virtual times such as [10,20,[30,40]] are wanted for the "
				       "parameter",
				       d->name);
	arg->is_given = true;
	arg->vt = vt;
	arg->nvt = n;
	return 0;
}

static int bind_value(struct binding_to *b, const struct pmsl_decl *d, const struct omis_value *v)
{
	struct bind_arg *arg = &b->out->arg[d->position];
	const char **text;
	size_t n;

	if (d->type.kind == PMSL_T_VALUE) {
		arg->is_given = omis_value_double(v, &arg->value);
		return arg->is_given
			       ? 0
			       : invalid(b->why, "a number is wanted for the parameter", d->name);
	}
	if (d->type.kind == PMSL_T_VT)
		return bind_times(b, d, v);
	if (d->type.kind == PMSL_T_REGION) {
		text = texts_of(b, v, OMIS_STRING, &n);
		if (!text)
			return invalid(b->why, "names of regions are wanted for the parameter",
				       d->name);
		arg->is_given = true;
		arg->region = text;
		arg->nregion = n;
		return 0;
	}
	text = texts_of(b, v, OMIS_TOKEN, &n);
	return text ? bind_tokens(b, arg, text, n)
		    : invalid(b->why, "objects are wanted for the parameter", d->name);
}

static const struct pmsl_decl *find_param(const struct pmsl_metric *m, const char *name)
{
	const struct pmsl_decl *d = m->param;

	while (d && !str_eq(d->name, name))
		d = d->next;
	return d && (d != m->time || d->type.kind == PMSL_T_VT) ? d : NULL;
}

static bool is_object_param(const struct pmsl_decl *d)
{
	return d->type.kind == PMSL_T_PROCESS || d->type.kind == PMSL_T_NODE ||
	       d->type.kind == PMSL_T_SITE;
}

const struct pmsl_decl *asked_first(const struct pmsl_metric *m)
{
	const struct pmsl_decl *d = m->param;

	while (d && !is_object_param(d))
		d = d->next;
	return d;
}

static int bind_all(struct binding_to *b)
{
	const struct omis_values *p = b->m->asked.parameters;
	const struct pmsl_decl *d = asked_first(b->m->metric);
	int rc = 0;

	if (d)
		rc = bind_objects(b, &b->out->arg[d->position]);
	for (size_t i = 0; !rc && i < p->n; i += 2) {
		const char *name = omis_value_text(&p->v[i], NULL);

		d = name ? find_param(b->m->metric, name) : NULL;
		rc = d ? bind_value(b, d, &p->v[i + 1])
		       : invalid(b->why, "the metric has no parameter",
				 name ? name : "of that kind");
	}
	return rc;
}

struct bind_options asked_options(const struct measure_asked *a)
{
	return (struct bind_options){ .since = a->since,
				      .per_second = a->per_second,
				      .has_agg = a->has_agg,
				      .agg = a->agg,
				      .by = a->by,
				      .each = a->each,
				      .is_central = a->is_central,
				      .until = a->until };
}

int asked_bind(const struct measure *m, const struct measure_world *w, struct asked_binding *out,
	       struct buf *why)
{
	struct binding_to b = { m, w, out, why };
	int rc;

	*out = (struct asked_binding){ .arena = arena_new(BIND_ARGS_MAX_BYTES) };
	out->options = asked_options(&m->asked);
	out->options.arg = out->arg;
	rc = out->arena ? bind_all(&b) : -ERR_NOMEM;
	if (rc)
		asked_unbind(out);
	return rc;
}

void asked_unbind(struct asked_binding *b)
{
	arena_free(b->arena);
	b->arena = NULL;
}
