/* SPDX-License-Identifier: Apache-2.0 */
#include "eventlog/archive/arcat.h"

#include "common/base/array.h"
#include "common/base/str.h"

#include <limits.h>

void arcat_init(struct arcat *c)
{
	*c = (struct arcat){ 0 };
	smap_init(&c->by_name);
	smap_init(&c->by_tab);
}

static void free_type(struct artype *t)
{
	for (size_t i = 0; i < t->nfield; i++) {
		free(t->field[i]->name);
		free(t->field[i]);
	}
	free(t->field);
	smap_done(&t->by_key);
	smap_done(&t->by_col);
	free(t->name);
	free(t);
}

void arcat_done(struct arcat *c)
{
	for (size_t i = 0; i < c->n; i++)
		free_type(c->type[i]);
	free(c->type);
	free(c->is_part_old);
	smap_done(&c->by_name);
	smap_done(&c->by_tab);
	*c = (struct arcat){ 0 };
}

/* --- names */

/* A number has room behind it. */
#define STEM_MAX (AR_NAME_MAX - 12)

static size_t make_stem(char out[AR_NAME_MAX + 1], char first, const char *name)
{
	size_t n = 0;

	out[n++] = first;
	out[n++] = '_';
	for (const char *s = name; *s && n < STEM_MAX; s++) {
		char c = *s >= 'A' && *s <= 'Z' ? (char)(*s + 32) : *s;
		bool is_plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');

		if (is_plain || out[n - 1] != '_')
			out[n++] = is_plain ? c : '_';
	}
	while (n > 2 && out[n - 1] == '_')
		n--;
	out[n] = '\0';
	return n;
}

static void make_name(char out[AR_NAME_MAX + 1], char first, const char *name, const char *tail,
		      const struct smap *taken)
{
	size_t n = make_stem(out, first, name);

	n += (size_t)snprintf(out + n, AR_NAME_MAX + 1 - n, "%s", tail);
	for (unsigned i = 2; smap_find(taken, out); i++)
		snprintf(out + n, AR_NAME_MAX + 1 - n, "_%u", i);
}

/* --- the lists in memory */

static bool is_part_known(struct arcat *c, size_t part)
{
	return part < c->npart ||
	       !array_grow(&c->is_part_old, &c->npart, part + 1, sizeof(bool), AR_TYPES_MAX);
}

static int mark_old(struct arcat *c, const struct artype *t, struct err *e)
{
	size_t part = (t->number - 1) / AR_PART_TYPES;

	if (!is_part_known(c, part))
		return err_nomem(e);
	c->is_part_old[part] = true;
	return 0;
}

/* Takes ownership of name on success. */
static int list_type(struct arcat *c, char *name, const char *tab, struct artype **out,
		     struct err *e)
{
	struct artype *t = calloc(1, sizeof(*t));

	if (!t)
		return err_nomem(e);
	smap_init(&t->by_key);
	smap_init(&t->by_col);
	t->number = (unsigned)c->n + 1;
	str_copy(t->tab, sizeof(t->tab), tab);
	if (array_grow(&c->type, &c->cap, c->n + 1, sizeof(struct artype *), AR_TYPES_MAX) ||
	    smap_put(&c->by_name, name, t, NULL) || smap_put(&c->by_tab, t->tab, t, NULL)) {
		smap_del(&c->by_name, name);
		free_type(t);
		return err_nomem(e);
	}
	t->name = name;
	c->type[c->n++] = t;
	*out = t;
	return 0;
}

struct key {
	char text[NAME_MAX_BYTES + 16];
};

static struct key key_of(const char *name, unsigned nth, enum arclass class)
{
	struct key k;

	snprintf(k.text, sizeof(k.text), "%d.%u.%s", class, nth, name);
	return k;
}

/* Takes ownership of the name of `like` on success. */
static int list_field(struct arcat *c, struct artype *t, const struct arfield *like,
		      struct arfield **out, struct err *e)
{
	struct arfield *f = malloc(sizeof(*f));
	struct key k = key_of(like->name, like->nth, like->class);

	if (!f)
		return err_nomem(e);
	*f = *like;
	f->place = (unsigned)t->nfield;
	if (array_grow(&t->field, &t->cap, t->nfield + 1, sizeof(struct arfield *),
		       AR_COLUMNS_MAX) ||
	    smap_put(&t->by_key, k.text, f, NULL) || smap_put(&t->by_col, f->col, f, NULL)) {
		smap_del(&t->by_key, k.text);
		free(f);
		return err_nomem(e);
	}
	f->rank = t->nclass[f->class]++;
	t->field[t->nfield++] = f;
	c->nfield++;
	*out = f;
	return 0;
}

struct artype *arcat_find(const struct arcat *c, const char *name)
{
	return smap_find(&c->by_name, name);
}

const struct arfield *arcat_column(const struct artype *t, const char *name, unsigned nth,
				   enum arclass class)
{
	return smap_find(&t->by_key, key_of(name, nth, class).text);
}

/* --- additions */

static int store_type(const struct arsql *s, const struct artype *t, struct err *e)
{
	char scratch[4 * NAME_MAX_BYTES + 1];
	struct arvalue v[] = { AR_I(t->number), AR_S(t->tab, strlen(t->tab)),
			       arsql_shown(t->name, strlen(t->name), scratch, sizeof(scratch)),
			       AR_B(t->name, strlen(t->name)) };

	return arsql_run(s,
			 "INSERT INTO type (type, tab, name, bytes, n) VALUES ($1, $2, $3, $4, 0)",
			 v, 4, e);
}

int arcat_type(struct arcat *c, const struct arsql *s, const char *name, struct artype **out,
	       struct err *e)
{
	struct artype *t = arcat_find(c, name);
	char tab[AR_NAME_MAX + 1], *copy;
	int rc;

	if (t) {
		*out = t;
		return 0;
	}
	if (c->n >= AR_TYPES_MAX)
		return err_set(e, ERR_LIMIT,
			       "an archive has no room for more than %d types of events",
			       AR_TYPES_MAX);
	make_name(tab, 'e', name, "", &c->by_tab);
	copy = str_dup(name);
	rc = copy ? list_type(c, copy, tab, &t, e) : err_nomem(e);
	if (rc) {
		free(copy);
		return rc;
	}
	*out = t;
	return store_type(s, t, e);
}

static bool has_other_class(const struct artype *t, const char *name, unsigned nth)
{
	for (int c = AR_INT; c < AR_NCLASSES; c++) {
		struct key k = key_of(name, nth, (enum arclass)c);

		if (smap_find(&t->by_key, k.text))
			return true;
	}
	return false;
}

int arcat_field(struct arcat *c, struct artype *t, const struct arfield *like, struct arfield **out,
		struct err *e)
{
	static const char *const tails[AR_NCLASSES] = { "", "_int", "_real", "_text", "_bytes" };
	struct key k = key_of(like->name, like->nth, like->class);
	struct arfield fresh = { .class = like->class, .kind = like->kind, .nth = like->nth };
	int rc;

	*out = smap_find(&t->by_key, k.text);
	if (*out)
		return 0;
	if (t->nfield >= AR_COLUMNS_MAX || c->nfield >= AR_COLUMNS_TOTAL)
		return 0;
	make_name(fresh.col, 'f', like->name,
		  has_other_class(t, like->name, like->nth) ? tails[like->class] : "", &t->by_col);
	fresh.name = str_dup(like->name);
	rc = fresh.name ? list_field(c, t, &fresh, out, e) : err_nomem(e);
	if (rc)
		free(fresh.name);
	else
		t->is_ready = false;
	return rc;
}

/* --- tables */

static const char *word_of(const struct arsql *s, enum arclass class)
{
	const char *const words[AR_NCLASSES] = { "", "BIGINT", "DOUBLE PRECISION", "TEXT",
						 s->ops->bytes };

	return words[class];
}

static int run_built(const struct arsql *s, struct buf *sql, struct err *e)
{
	int rc = sql->failed ? err_nomem(e) : arsql_do(s, buf_str(sql), e);

	buf_clear(sql);
	return rc;
}

static int make_table(const struct arsql *s, const struct artype *t, struct buf *sql, struct err *e)
{
	buf_printf(sql, "CREATE TABLE %s%s (id %s, ts BIGINT NOT NULL, d BIGINT NOT NULL",
		   s->ops->schema, t->tab, s->ops->key);
	for (size_t i = 0; i < t->nfield; i++)
		buf_printf(sql, ", %s %s", t->field[i]->col, word_of(s, t->field[i]->class));
	buf_puts(sql, ")");
	return run_built(s, sql, e);
}

static int store_field(const struct arsql *s, const struct artype *t, const struct arfield *f,
		       struct err *e)
{
	char scratch[4 * NAME_MAX_BYTES + 1];
	size_t n = strlen(f->name);
	const char *dot = strrchr(f->name, '.');
	bool is_ident =
		str_eq(f->name, "guid") || str_eq(f->name, "id") || (dot && str_eq(dot, ".id"));
	struct arvalue v[] = { AR_I(t->number),
			       AR_I(f->place),
			       AR_S(f->col, strlen(f->col)),
			       arsql_shown(f->name, n, scratch, sizeof(scratch)),
			       AR_B(f->name, n),
			       AR_I(f->class),
			       AR_I(f->kind),
			       AR_I(f->nth),
			       AR_I(is_ident) };

	return arsql_run(
		s,
		"INSERT INTO field (type, place, col, name, bytes, class, kind, nth, is_ident, n) "
		"VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, 0)",
		v, ARRAY_LEN(v), e);
}

static int add_columns(const struct arsql *s, struct artype *t, struct buf *sql, struct err *e)
{
	int rc = 0;

	for (; !rc && t->nmade < t->nfield; t->nmade++) {
		struct arfield *f = t->field[t->nmade];

		buf_printf(sql, "ALTER TABLE %s ADD COLUMN %s %s", t->tab, f->col,
			   word_of(s, f->class));
		rc = t->is_made ? run_built(s, sql, e) : 0;
		buf_clear(sql);
		rc = rc ? rc : store_field(s, t, f, e);
		f->is_made = true;
	}
	return rc;
}

static int open_slot(const struct arsql *s, const struct artype *t, struct buf *sql, struct err *e)
{
	int rc;

	buf_puts(sql, "id, ts, d");
	for (size_t i = 0; i < t->nfield; i++)
		buf_printf(sql, ", %s", t->field[i]->col);
	rc = sql->failed ? err_nomem(e) : s->ops->into(s->db, t->number, t->tab, buf_str(sql), e);
	buf_clear(sql);
	return rc;
}

int arcat_ready(struct arcat *c, const struct arsql *s, struct artype *t, struct err *e)
{
	struct buf sql = BUF_INIT(1 << 20);
	bool is_new = !t->is_made || t->nmade < t->nfield;
	int rc = t->is_made ? 0 : make_table(s, t, &sql, e);

	rc = rc ? rc : add_columns(s, t, &sql, e);
	rc = rc ? rc : open_slot(s, t, &sql, e);
	buf_done(&sql);
	if (rc)
		return rc;
	t->is_made = t->is_ready = true;
	return is_new ? mark_old(c, t, e) : 0;
}

/* --- statistics */

static int save_field(const struct arsql *s, const struct artype *t, struct arfield *f,
		      struct err *e)
{
	const struct moments *m = &f->figures;
	struct arvalue v[] = { AR_I((int64_t)m->n), AR_R(moments_mean(m)), AR_R(moments_squares(m)),
			       AR_R(m->min),	    AR_R(m->max),	   AR_I(t->number),
			       AR_I(f->place) };

	f->is_changed = false;
	return arsql_run(
		s,
		"UPDATE field SET n = $1, mean = $2, m2 = $3, low = $4, high = $5 WHERE type = $6 AND place = $7",
		v, ARRAY_LEN(v), e);
}

static int save_type(const struct arsql *s, struct artype *t, struct err *e)
{
	struct arvalue v[] = { AR_I((int64_t)t->n), AR_I(t->first_ns), AR_I(t->last_ns),
			       AR_I(t->number) };
	int rc = arsql_run(s, "UPDATE type SET n = $1, first_ns = $2, last_ns = $3 WHERE type = $4",
			   v, ARRAY_LEN(v), e);

	t->is_changed = false;
	for (size_t i = 0; !rc && i < t->nfield; i++)
		if (t->field[i]->is_changed)
			rc = save_field(s, t, t->field[i], e);
	return rc;
}

int arcat_save(struct arcat *c, const struct arsql *s, struct err *e)
{
	bool are_views_old = false;
	int rc = 0;

	for (size_t i = 0; !rc && i < c->n; i++)
		if (c->type[i]->is_changed)
			rc = save_type(s, c->type[i], e);
	for (size_t i = 0; !rc && i * AR_PART_TYPES < c->n; i++) {
		if (!c->is_part_old || i >= c->npart || !c->is_part_old[i])
			continue;
		rc = arviews_write(c, s, i, e);
		c->is_part_old[i] = false;
		are_views_old = true;
	}
	return rc || !are_views_old ? rc : arviews_join(c, s, e);
}

/* --- reading the catalogue */

static int not_ours(struct err *e)
{
	return err_set(e, ERR_INVALID,
		       "is not an archive of Omig: its catalogue has invalid entries");
}

/* Copies a value of the catalogue as a string. Fails with ERR_INVALID, ERR_NOMEM. */
static int string_of(const struct arvalue *v, char **out, struct err *e)
{
	bool is_string = (v->class == AR_TEXT || v->class == AR_BYTES) && v->n &&
			 v->n <= NAME_MAX_BYTES && !memchr(v->s, 0, v->n);

	*out = is_string ? str_ndup(v->s, v->n) : NULL;
	return *out ? 0 : is_string ? err_nomem(e) : not_ours(e);
}

static double real_of(const struct arvalue *v)
{
	return v->class == AR_REAL ? v->r : v->class == AR_INT ? (double)v->i : 0;
}

static bool is_int(const struct arvalue *v, int64_t low, int64_t high)
{
	return v->class == AR_INT && v->i >= low && v->i <= high;
}

/* Takes ownership of name on success. */
static int add_type(struct arcat *c, const struct arvalue *v, const char *tab, char *name,
		    struct err *e)
{
	bool is_good = is_int(&v[0], (int64_t)c->n + 1, (int64_t)c->n + 1) &&
		       is_int(&v[3], 0, INT64_MAX) && str_has_prefix(tab, "e_") &&
		       arsql_is_name(tab, strlen(tab)) && !arcat_find(c, name) &&
		       !smap_find(&c->by_tab, tab);
	struct artype *t;
	int rc = is_good ? list_type(c, name, tab, &t, e) : not_ours(e);

	if (rc)
		return rc;
	t->n = (uint64_t)v[3].i;
	t->first_ns = v[4].class == AR_INT ? v[4].i : 0;
	t->last_ns = v[5].class == AR_INT ? v[5].i : 0;
	t->is_made = true;
	return 0;
}

static int take_type(void *arg, const struct arvalue *v, const char *const *names, unsigned n,
		     struct err *e)
{
	char *tab = NULL, *name = NULL;
	int rc = string_of(&v[1], &tab, e);

	rc = rc ? rc : string_of(&v[2], &name, e);
	rc = rc ? rc : add_type(arg, v, tab, name, e);
	free(tab);
	if (rc)
		free(name);
	return rc;
}

static bool is_good_field(const struct arcat *c, const struct arvalue *v)
{
	const struct artype *t = is_int(&v[0], 1, (int64_t)c->n) ? c->type[v[0].i - 1] : NULL;

	return t && is_int(&v[1], (int64_t)t->nfield, (int64_t)t->nfield) &&
	       v[2].class == AR_TEXT && arsql_is_name(v[2].s, v[2].n) && v[2].s[0] == 'f' &&
	       v[2].s[1] == '_' && is_int(&v[4], AR_INT, AR_BYTES) &&
	       is_int(&v[5], EV_INT32, EV_STRING) && is_int(&v[6], 0, EV_FIELDS_MAX) &&
	       is_int(&v[7], 0, INT64_MAX);
}

static int take_field(void *arg, const struct arvalue *v, const char *const *names, unsigned n,
		      struct err *e)
{
	struct arcat *c = arg;
	struct arfield like = { .is_made = true }, *f;
	struct artype *t;
	char *name;
	int rc;

	if (!is_good_field(c, v))
		return not_ours(e);
	t = c->type[v[0].i - 1];
	memcpy(like.col, v[2].s, v[2].n);
	like.class = (enum arclass)v[4].i;
	like.kind = (enum evkind)v[5].i;
	like.nth = (unsigned)v[6].i;
	like.figures = moments_known((uint64_t)v[7].i, real_of(&v[8]), real_of(&v[9]),
				     real_of(&v[10]), real_of(&v[11]));
	rc = string_of(&v[3], &name, e);
	if (rc)
		return rc;
	like.name = name;
	if (smap_find(&t->by_col, like.col) ||
	    smap_find(&t->by_key, key_of(name, like.nth, like.class).text))
		rc = not_ours(e);
	else
		rc = list_field(c, t, &like, &f, e);
	if (rc)
		free(name);
	else
		t->nmade++;
	return rc;
}

int arcat_load(struct arcat *c, const struct arsql *s, struct err *e)
{
	int rc = s->ops->run(
		s->db,
		&(struct arsql_statement){
			.text = "SELECT type, tab, bytes, n, first_ns, last_ns FROM type ORDER BY type" },
		take_type, c, e);

	return rc ? rc
		  : s->ops->run(
			    s->db,
			    &(struct arsql_statement){
				    .text = "SELECT type, place, col, bytes, class, kind, nth, n, mean, m2, low, high FROM field ORDER BY type, place" },
			    take_field, c, e);
}
