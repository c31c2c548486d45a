/* SPDX-License-Identifier: Apache-2.0 */
/* Prints configurations, and compares two of them. */
#include "common/base/str.h"
#include "common/conf/conf_internal.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_MAX_BYTES (1024 * 1024)

static bool is_of_group(const struct conf_schema *s, const struct conf_key *k)
{
	return k->section && conf_group_find(s, k->section, strlen(k->section));
}

static const struct conf_key *find_key(const struct conf *c, const char *name)
{
	char full[80];

	for (const struct conf_key *k = c->schema->key; k->name; k++)
		if (!is_of_group(c->schema, k) &&
		    str_eq(conf_key_name(full, sizeof(full), k), name))
			return k;
	return NULL;
}

/* --- differences */

static bool same_value(const struct conf_key *k, const void *a, const void *b)
{
	struct buf x = BUF_INIT(TEXT_MAX_BYTES), y = BUF_INIT(TEXT_MAX_BYTES);
	bool same;

	conf_value_print(k, a, &x);
	conf_value_print(k, b, &y);
	same = !x.failed && !y.failed && str_eq(buf_str(&x), buf_str(&y));
	buf_done(&x);
	buf_done(&y);
	return same;
}

static bool same_item(const struct conf *c, const struct conf_group *g, const uint8_t *a,
		      const uint8_t *b)
{
	const char *x, *y;

	memcpy(&x, a, sizeof(x));
	memcpy(&y, b, sizeof(y));
	if (!str_eq(x, y))
		return false;
	for (const struct conf_key *k = c->schema->key; k->name; k++)
		if (str_eq(k->section, g->section) && !same_value(k, a, b))
			return false;
	return true;
}

static bool same_group(const struct conf *a, const struct conf *b, const struct conf_group *g)
{
	const uint8_t *x, *y;
	size_t n, m;

	memcpy(&n, a->values + g->offset_nitems, sizeof(n));
	memcpy(&m, b->values + g->offset_nitems, sizeof(m));
	memcpy(&x, a->values + g->offset_items, sizeof(x));
	memcpy(&y, b->values + g->offset_items, sizeof(y));
	if (n != m)
		return false;
	for (size_t i = 0; i < n; i++)
		if (!same_item(a, g, x + i * g->item_bytes, y + i * g->item_bytes))
			return false;
	return true;
}

bool conf_differs(const struct conf *a, const struct conf *b, const char *name)
{
	const struct conf_group *g = conf_group_find(a->schema, name, strlen(name));
	const struct conf_key *k = find_key(a, name);

	if (g)
		return !same_group(a, b, g);
	return k && !same_value(k, a->values, b->values);
}

int conf_keep_fixed(const struct conf *now, struct conf *next,
		    void (*kept)(void *arg, const char *name), void *arg, struct err *e)
{
	char name[80];
	int rc = 0;

	for (const struct conf_key *k = now->schema->key; k->name && !rc; k++) {
		const struct conf_slot *slot = &now->slot[k - now->schema->key];
		struct conf_at at = { slot->origin, 0 };

		if (k->flags & CONF_RELOAD || is_of_group(now->schema, k) ||
		    same_value(k, now->values, next->values))
			continue;
		rc = conf_put_top(next, k, slot->text, &at, e);
		if (!rc && kept)
			kept(arg, conf_key_name(name, sizeof(name), k));
	}
	return rc;
}

const char *conf_origin(const struct conf *c, const char *name)
{
	const struct conf_key *k = find_key(c, name);

	return k ? c->slot[k - c->schema->key].origin : NULL;
}

/* --- the file with comments */

static void put_comment(const struct conf_schema *s, const struct conf_key *k, struct buf *out)
{
	bool is_env = !(k->flags & CONF_NOENV) && !is_of_group(s, k);
	char name[80];

	buf_printf(out, "\n# %s\n# ", k->help);
	conf_value_describe(k, out);
	buf_printf(out, "; default %s%s%s%s%s\n", *k->def ? k->def : "empty",
		   k->flags & CONF_RELOAD || is_of_group(s, k) ? "; changed by a reload" : "",
		   k->flags & CONF_OPTION ? "; also an option" : "", is_env ? "; also " : "",
		   is_env ? conf_env_name(name, sizeof(name), k) : "");
}

/* Writes a key and its value; a secret is replaced by a comment. */
static void put_pair(const struct conf_key *k, const void *base, struct buf *out)
{
	if (k->flags & CONF_SECRET) {
		buf_printf(out, "# %s = (not shown)\n", k->name);
		return;
	}
	buf_printf(out, "%s = ", k->name);
	conf_value_print(k, base, out);
	buf_puts(out, "\n");
}

/* Writes the keys of one section; NULL = top. */
static void put_section(const struct conf *c, const char *section, const void *base,
			struct buf *out)
{
	for (const struct conf_key *k = c->schema->key; k->name; k++) {
		if (!str_eq(k->section, section))
			continue;
		put_comment(c->schema, k, out);
		put_pair(k, base, out);
	}
}

static void put_groups(const struct conf *c, struct buf *out)
{
	for (const struct conf_group *g = c->schema->group; g && g->section; g++) {
		const uint8_t *items;
		const char *name;
		size_t n;

		memcpy(&n, c->values + g->offset_nitems, sizeof(n));
		memcpy(&items, c->values + g->offset_items, sizeof(items));
		for (size_t i = 0; i < n; i++) {
			memcpy(&name, items + i * g->item_bytes, sizeof(name));
			buf_printf(out, "\n[%s %s]\n", g->section, name);
			put_section(c, g->section, items + i * g->item_bytes, out);
		}
	}
}

/* True for the first key of a section, before which the section is introduced. */
static bool is_first_of_section(const struct conf_schema *s, const struct conf_key *k)
{
	for (const struct conf_key *i = s->key; i < k; i++)
		if (str_eq(i->section, k->section))
			return false;
	return true;
}

int conf_dump(const struct conf *c, struct buf *out)
{
	buf_printf(out, "# %s: every key, with the value in effect\n", c->schema->program);
	put_section(c, NULL, c->values, out);
	for (const struct conf_key *k = c->schema->key; k->name; k++) {
		if (!k->section || is_of_group(c->schema, k) || !is_first_of_section(c->schema, k))
			continue;
		buf_printf(out, "\n[%s]\n", k->section);
		put_section(c, k->section, c->values, out);
	}
	put_groups(c, out);
	return out->failed ? -ERR_NOMEM : 0;
}

/* --- for `config show` */

static void show(const struct conf_key *k, const char *prefix, const void *base, const char *origin,
		 struct buf *out)
{
	buf_printf(out, "%s%s = ", prefix, k->name);
	if (k->flags & CONF_SECRET)
		buf_puts(out,
			 **(const char *const *)(const void *)((const uint8_t *)base + k->offset)
				 ? "(set)"
				 : "(not set)");
	else
		conf_value_print(k, base, out);
	buf_printf(out, "\t%s\n", origin);
}

static void show_items(const struct conf *c, const struct conf_group *g, struct buf *out)
{
	char prefix[320];
	const uint8_t *base;

	memcpy(&base, c->values + g->offset_items, sizeof(base));
	for (size_t i = 0; i < c->nitem; i++) {
		if (c->item[i].group != g)
			continue;
		snprintf(prefix, sizeof(prefix), "%s[%s].", g->section, c->item[i].name);
		for (const struct conf_key *k = c->schema->key; k->name; k++)
			if (str_eq(k->section, g->section))
				show(k, prefix, base, c->item[i].slot[k - c->schema->key].origin,
				     out);
		base += g->item_bytes;
	}
}

int conf_show(const struct conf *c, struct buf *out)
{
	char prefix[80];

	for (const struct conf_key *k = c->schema->key; k->name; k++) {
		if (is_of_group(c->schema, k))
			continue;
		snprintf(prefix, sizeof(prefix), "%s%s", k->section ? k->section : "",
			 k->section ? "." : "");
		show(k, prefix, c->values, c->slot[k - c->schema->key].origin, out);
	}
	for (const struct conf_group *g = c->schema->group; g && g->section; g++)
		show_items(c, g, out);
	return out->failed ? -ERR_NOMEM : 0;
}

/* --- the example with all defaults, which is also in the manual */

static void put_example(const struct conf_schema *s, const char *section, struct buf *out)
{
	for (const struct conf_key *k = s->key; k->name; k++) {
		if (!str_eq(k->section, section))
			continue;
		put_comment(s, k, out);
		buf_printf(out, "#%s = %s\n", k->name, k->def);
	}
}

int conf_example(const struct conf_schema *s, struct buf *out)
{
	buf_printf(
		out,
		"# %s.conf: every key of %s with its default. To change one, remove its #.\n"
		"# A key that a reload may change follows SIGHUP; the others wait for a restart.\n",
		s->program, s->program);
	put_example(s, NULL, out);
	for (const struct conf_key *k = s->key; k->name; k++) {
		if (!k->section || !is_first_of_section(s, k))
			continue;
		buf_printf(out, "\n#[%s%s]\n", k->section, is_of_group(s, k) ? " NAME" : "");
		put_example(s, k->section, out);
	}
	return out->failed ? -ERR_NOMEM : 0;
}
