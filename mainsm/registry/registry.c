/* SPDX-License-Identifier: Apache-2.0 */
#include "mainsm/registry/registry_internal.h"

#include "common/base/limits.h"
#include "common/base/log.h"
#include "common/base/str.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static void drop_all(struct registry *r)
{
	while (!list_is_empty(&r->all))
		registered_free(list_entry(list_first(&r->all), struct registered, link));
	r->n = r->bytes = 0;
}

int registry_open(const struct registry_conf *c, struct registry **out, struct err *e)
{
	struct registry *r = calloc(1, sizeof(*r));
	int rc;

	if (!r)
		return err_nomem(e);
	r->conf = *c;
	list_init(&r->all);
	rc = registry_load(r, e);
	if (rc == -ERR_PARSE) {
		log_warn("mainsm", "%s; the metrics in it are lost", e->text);
		drop_all(r);
		rc = 0;
	}
	if (rc) {
		registry_free(r);
		return rc;
	}
	*out = r;
	return 0;
}

void registry_free(struct registry *r)
{
	if (!r)
		return;
	drop_all(r);
	free(r->path);
	free(r);
}

static struct registered *find_text(const struct registry *r, const char *principal,
				    const char *name)
{
	list_each (i, &r->all) {
		struct registered *x = list_entry(i, struct registered, link);

		if (str_eq(x->principal, principal) && str_eq(x->name, name))
			return x;
	}
	return NULL;
}

static bool has_metric(const struct registered *x, const char *name, size_t n)
{
	for (size_t i = 0; i < x->nmetric; i++)
		if (strlen(x->metric[i]) == n && !memcmp(x->metric[i], name, n))
			return true;
	return false;
}

static struct registered *find_own(const struct registry *r, const char *principal,
				   const char *name, size_t n)
{
	list_each (i, &r->all) {
		struct registered *x = list_entry(i, struct registered, link);

		if (str_eq(x->principal, principal) && has_metric(x, name, n))
			return x;
	}
	return NULL;
}

/* A metric of the user comes before one of a plug-in. */
static struct registered *find_metric(const struct registry *r, const char *principal,
				      const char *name, size_t n)
{
	struct registered *x = find_own(r, principal, name, n);

	return x ? x : find_own(r, PLUGGED_PRINCIPAL, name, n);
}

bool registry_find(struct registry *r, const char *principal, const char *name,
		   struct registry_found *out)
{
	const struct registered *x = find_text(r, principal, name);

	registry_refresh(r);
	if (!x)
		x = find_text(r, PLUGGED_PRINCIPAL, name);
	if (!x)
		x = find_metric(r, principal, name, strlen(name));
	if (x)
		*out = (struct registry_found){ x->name, x->text, x->version };
	return x != NULL;
}

size_t registry_count(const struct registry *r)
{
	return r->n;
}

/* --- the texts that a text uses, because it names their metrics */

struct walk {
	struct registry *r;
	const char *principal;
	const struct registered *of; /* the registered text of the walk; NULL: another text */
	const struct registered *instead; /* replaces the registered text of its name; or NULL */
	struct pmsl_library *out;
	const char *circle; /* a text that uses itself, directly or through others */
	int rc;
};

static void walk_text(struct walk *w, const char *text);

static void place(struct walk *w, struct registered *x)
{
	const struct registered *before = w->of;

	if (x->mark == w->r->walk) {
		if (!x->is_placed)
			w->circle = x->name;
		return;
	}
	x->mark = w->r->walk;
	x->is_placed = false;
	w->of = x;
	walk_text(w, x->text);
	w->of = before;
	x->is_placed = true;
	if (!w->rc && w->out->n == PMSL_LIBRARY_MAX)
		w->rc = -ERR_LIMIT;
	if (!w->rc)
		w->out->v[w->out->n++] = (struct pmsl_source){ x->name, x->text, strlen(x->text) };
}

static void on_name(void *arg, const char *name, size_t n)
{
	struct walk *w = arg;
	struct registered *x;

	if (w->rc || (w->of && has_metric(w->of, name, n)))
		return;
	x = w->instead && has_metric(w->instead, name, n)
		    ? (struct registered *)(uintptr_t)w->instead
		    : find_metric(w->r, w->principal, name, n);
	/* `instead` hides the registered text of its name */
	if (x && w->instead && x != w->instead && str_eq(x->name, w->instead->name))
		x = NULL;
	if (x && x != w->of)
		place(w, x);
}

static void walk_text(struct walk *w, const char *text)
{
	pmsl_names_each(text, strlen(text), on_name, w);
}

static int walk(struct walk *w, const struct registered *of, const char *text)
{
	w->out->n = 0;
	w->out->v = calloc(PMSL_LIBRARY_MAX, sizeof(*w->out->v));
	if (!w->out->v)
		return -ERR_NOMEM;
	w->r->walk++;
	w->of = of;
	if (of)
		((struct registered *)(uintptr_t)of)->mark = w->r->walk;
	walk_text(w, text);
	return w->rc;
}

int registry_library(struct registry *r, const char *principal, const char *text,
		     struct pmsl_library *out)
{
	struct walk w = { .r = r, .principal = principal, .out = out };
	int rc;

	registry_refresh(r);
	rc = walk(&w, NULL, text);
	if (rc)
		free(out->v);
	return rc;
}

/* --- changes */

static int refuse(struct buf *why, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
static int refuse(struct buf *why, int code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	buf_vprintf(why, fmt, ap);
	va_end(ap);
	return -code;
}

static int explain(const struct pmsl *p, const struct pmsl_diags *d, struct buf *why)
{
	for (size_t i = 0; i < d->n; i++)
		if (!d->v[i].is_warning)
			pmsl_diag_print(why, pmsl_source(p), &d->v[i], &pmsl_no_colors);
	return -ERR_INVALID;
}

/* Returns 0 if x compiles when `instead` replaces the registered text of its name. */
static int check_text(struct registry *r, const struct registered *x,
		      const struct registered *instead, struct buf *why)
{
	struct pmsl_library library;
	struct walk w = { .r = r, .principal = x->principal, .instead = instead, .out = &library };
	struct pmsl_diags d = PMSL_DIAGS_INIT;
	struct pmsl *p = NULL;
	int rc = walk(&w, x, x->text);

	if (!rc && w.circle)
		rc = refuse(why, ERR_INVALID, "%.64s would use itself", w.circle);
	if (!rc)
		rc = pmsl_compile_with(&library,
				       &(struct pmsl_source){ x->name, x->text, strlen(x->text) },
				       &d, &p);
	if (!rc && d.nerror)
		rc = explain(p, &d, why);
	else if (rc == -ERR_LIMIT)
		rc = refuse(why, ERR_LIMIT, "%.64s uses too many other texts", x->name);
	pmsl_free(p);
	free(library.v);
	return rc;
}

static bool uses(struct registry *r, const struct registered *x, const char *name)
{
	struct pmsl_library library;
	struct walk w = { .r = r, .principal = x->principal, .out = &library };
	bool does = false;

	if (!walk(&w, x, x->text))
		for (size_t i = 0; i < library.n; i++)
			does |= str_eq(library.v[i].name, name);
	free(library.v);
	return does;
}

/* A principal's metric has one definition: refuses the name of a metric in another of its texts. */
static int check_names(const struct registry *r, const struct registered *x, struct buf *why)
{
	if (!x->nmetric)
		return refuse(why, ERR_INVALID, "there is no metric in %.64s", x->name);
	for (size_t i = 0; i < x->nmetric; i++) {
		const struct registered *other =
			find_metric(r, x->principal, x->metric[i], strlen(x->metric[i]));

		if (!other || str_eq(other->name, x->name))
			continue;
		buf_printf(why, "the text %.64s has a metric %.64s already", other->name,
			   x->metric[i]);
		return -ERR_INVALID;
	}
	return 0;
}

/* Checks that users of the previous text still compile with the new one. */
static int check_users(struct registry *r, const struct registered *x, struct buf *why)
{
	list_each (i, &r->all) {
		const struct registered *user = list_entry(i, struct registered, link);
		int rc;

		if (!str_eq(user->principal, x->principal) || str_eq(user->name, x->name) ||
		    !uses(r, user, x->name))
			continue;
		rc = check_text(r, user, x, why);
		if (rc) {
			buf_printf(why, "%s%.64s uses %.64s, and would have this error",
				   why->n ? "\n" : "", user->name, x->name);
			return rc;
		}
	}
	return 0;
}

static unsigned count_of(const struct registry *r, const char *principal)
{
	unsigned n = 0;

	list_each (i, &r->all)
		n += str_eq(list_entry(i, struct registered, link)->principal, principal);
	return n;
}

static int check_room(const struct registry *r, const struct registered *x,
		      const struct registered *old, struct buf *why)
{
	size_t bytes = r->bytes - (old ? strlen(old->text) : 0);

	if (!old &&
	    (r->n >= REGISTRY_TEXTS_MAX || count_of(r, x->principal) >= REGISTRY_TEXTS_EACH_MAX)) {
		buf_printf(why, "more than %d texts of metrics: remove one",
			   REGISTRY_TEXTS_EACH_MAX);
		return -ERR_LIMIT;
	}
	if (strlen(x->text) <= REGISTRY_MAX_BYTES - bytes)
		return 0;
	buf_printf(why, "the texts of metrics are more than %d bytes: remove one",
		   REGISTRY_MAX_BYTES);
	return -ERR_LIMIT;
}

static int check(struct registry *r, const struct registered *x, const struct registered *old,
		 struct buf *why)
{
	int rc = check_names(r, x, why);

	if (!rc)
		rc = check_room(r, x, old, why);
	if (!rc)
		rc = check_text(r, x, x, why);
	return rc || !old ? rc : check_users(r, x, why);
}

static void put(struct registry *r, struct registered *x)
{
	list_push_back(&r->all, &x->link);
	r->n++;
	r->bytes += strlen(x->text);
}

static void take(struct registry *r, struct registered *x)
{
	list_del(&x->link);
	list_init(&x->link);
	r->n--;
	r->bytes -= strlen(x->text);
}

/* Saves the registry. On failure the old text, if any, is registered again. */
static int save(struct registry *r, struct registered *fresh, struct registered *old,
		struct buf *why)
{
	struct err e = { 0 };
	int rc;

	if (old)
		take(r, old);
	if (fresh)
		put(r, fresh);
	rc = registry_save(r, &e);
	if (!rc)
		return 0;
	if (fresh)
		take(r, fresh);
	if (old)
		put(r, old);
	return refuse(why, -rc, "%s", e.text);
}

int registry_add(struct registry *r, const char *principal, const struct registry_text *t,
		 uint32_t *version, struct buf *why)
{
	struct registered *old = find_text(r, principal, t->name), *x;
	int rc;

	registry_refresh(r);
	if (!str_is_name(t->name, strlen(t->name)) || strlen(t->name) > REGISTRY_NAME_MAX)
		return refuse(why, ERR_INVALID,
			      "'%.64s' is not a name of at most 63 bytes that can be shown",
			      t->name);
	x = registered_new(principal, t);
	rc = x ? registered_note_metrics(x) : -ERR_NOMEM;
	if (!rc)
		rc = check(r, x, old, why);
	if (!rc) {
		x->version = old ? old->version + 1 : 1;
		x->added = r->conf.wall_now(r->conf.arg);
		*version = x->version;
		rc = save(r, x, old, why);
	}
	registered_free(rc ? x : old);
	return rc;
}

int registry_remove(struct registry *r, const char *principal, const char *name, struct buf *why)
{
	struct registered *x = find_text(r, principal, name);
	int rc;

	if (!x)
		return refuse(why, ERR_NOTFOUND, "there is no text of metrics %.64s", name);
	list_each (i, &r->all) {
		const struct registered *user = list_entry(i, struct registered, link);

		if (user == x || !str_eq(user->principal, principal) || !uses(r, user, name))
			continue;
		buf_printf(why, "%.64s uses %.64s: remove that first", user->name, name);
		return -ERR_INVALID;
	}
	rc = save(r, NULL, x, why);
	if (!rc)
		registered_free(x);
	return rc;
}

static void write_one(struct registry *r, const struct registered *x, struct omis_writer *w)
{
	struct pmsl_library library;
	struct walk walked = { .r = r, .principal = x->principal, .out = &library };

	omis_write_list(w);
	omis_write_string(w, x->name);
	OMIS_WRITE_INTS(w, x->version, x->added, (int64_t)strlen(x->text));
	omis_write_list(w);
	for (size_t i = 0; i < x->nmetric; i++)
		omis_write_string(w, x->metric[i]);
	omis_write_list_end(w);
	omis_write_list(w);
	if (!walk(&walked, x, x->text))
		for (size_t i = 0; i < library.n; i++)
			omis_write_string(w, library.v[i].name);
	free(library.v);
	omis_write_list_end(w);
	omis_write_list_end(w);
}

void registry_write(struct registry *r, const char *principal, struct omis_writer *w)
{
	registry_refresh(r);
	list_each (i, &r->all) {
		const struct registered *x = list_entry(i, struct registered, link);

		if (str_eq(x->principal, principal) || str_eq(x->principal, PLUGGED_PRINCIPAL))
			write_one(r, x, w);
	}
}
