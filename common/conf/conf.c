/* SPDX-License-Identifier: Apache-2.0 */
#include "common/conf/conf.h"

#include "common/base/array.h"
#include "common/base/str.h"
#include "common/conf/conf_internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATH_SHOWN 80

int conf_error(struct err *e, const struct conf_at *at, enum err_code code, const char *fmt, ...)
{
	size_t n = strlen(at->path);
	bool is_long = n > PATH_SHOWN;
	char words[ERR_TEXT_BYTES];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(words, sizeof(words), fmt, ap);
	va_end(ap);
	if (at->line)
		err_set(e, code, "%s%s:%u: %s", is_long ? "..." : "",
			at->path + (is_long ? n - PATH_SHOWN : 0), at->line, words);
	else
		err_set(e, code, "%s: %s", at->path, words);
	return at->line ? err_at(e, at->line, 0) : -(int)code;
}

const struct conf_group *conf_group_find(const struct conf_schema *s, const char *section, size_t n)
{
	for (const struct conf_group *g = s->group; g && g->section; g++)
		if (strlen(g->section) == n && !memcmp(g->section, section, n))
			return g;
	return NULL;
}

bool conf_is_group_key(const struct conf *c, const struct conf_key *k)
{
	return k->section && conf_group_find(c->schema, k->section, strlen(k->section));
}

/* --- memory */

static void free_slots(struct conf_slot *slot, size_t n)
{
	for (size_t i = 0; slot && i < n; i++) {
		if (slot[i].text)
			str_wipe(slot[i].text, strlen(slot[i].text));
		free(slot[i].text);
		free(slot[i].origin);
	}
	free(slot);
}

void conf_free(struct conf *c)
{
	if (!c)
		return;
	for (const struct conf_group *g = c->schema->group; c->values && g && g->section; g++) {
		void *items;

		memcpy(&items, c->values + g->offset_items, sizeof(items));
		free(items);
	}
	for (size_t i = 0; i < c->nitem; i++) {
		free(c->item[i].name);
		free_slots(c->item[i].slot, c->nkey);
	}
	free(c->item);
	free_slots(c->slot, c->nkey);
	free(c->values);
	free(c);
}

struct conf *conf_new(const struct conf_schema *s)
{
	struct conf *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->schema = s;
	while (s->key[c->nkey].name)
		c->nkey++;
	c->values = calloc(1, s->bytes);
	c->slot = calloc(c->nkey + 1, sizeof(*c->slot));
	if (c->values && c->slot)
		return c;
	conf_free(c);
	return NULL;
}

/* --- storing values */

static char *origin_text(const struct conf_at *at)
{
	char text[CONF_ORIGIN_BYTES];

	if (at->line)
		snprintf(text, sizeof(text), "%s:%u", at->path, at->line);
	else
		str_copy(text, sizeof(text), at->path);
	return str_dup(text);
}

int conf_put(struct conf *c, const struct conf_target *t, const struct conf_key *k,
	     const struct conf_text *text, struct err *e)
{
	struct conf_slot *slot = &t->slot[k - c->schema->key];
	char *copy = str_dup(text->text), *origin = origin_text(text->at);
	struct err why = { 0 };
	int rc = copy && origin ? 0 : err_nomem(e);

	/*
	 * The value of a string points to the copy: free the old text after the new one is valid.
	 */
	if (!rc && conf_value_parse(k, copy, t->base, &why))
		rc = conf_error(e, text->at, why.code, "%s", why.text);
	if (rc) {
		free(copy);
		free(origin);
		return rc;
	}
	free(slot->text);
	free(slot->origin);
	*slot = (struct conf_slot){ copy, origin, c->source };
	return 0;
}

int conf_put_top(struct conf *c, const struct conf_key *k, const char *text,
		 const struct conf_at *at, struct err *e)
{
	struct conf_target top = { c->slot, c->values };

	return conf_put(c, &top, k, &(struct conf_text){ text, at }, e);
}

int conf_put_defaults(struct conf *c, const struct conf_group *g, const struct conf_target *t,
		      struct err *e)
{
	static const struct conf_at at = { "default", 0 };
	unsigned source = c->source;
	int rc = 0;

	c->source = 0; /* the file that names the item has not set these keys */
	for (const struct conf_key *k = c->schema->key; k->name && !rc; k++)
		if (g ? str_eq(k->section, g->section) : !conf_is_group_key(c, k))
			rc = conf_put(c, t, k, &(struct conf_text){ k->def, &at }, e);
	c->source = source;
	return rc;
}

/* --- groups */

static size_t *group_count(struct conf *c, const struct conf_group *g)
{
	return (size_t *)(void *)(c->values + g->offset_nitems);
}

static uint8_t *group_items(struct conf *c, const struct conf_group *g)
{
	uint8_t *items;

	memcpy(&items, c->values + g->offset_items, sizeof(items));
	return items;
}

static int grow_group(struct conf *c, const struct conf_group *g, const char *name)
{
	size_t n = *group_count(c, g);
	uint8_t *items = group_items(c, g);

	items = reallocarray(items, n + 1, g->item_bytes);
	if (!items)
		return -ERR_NOMEM;
	memset(items + n * g->item_bytes, 0, g->item_bytes);
	memcpy(items + n * g->item_bytes, &name, sizeof(name));
	memcpy(c->values + g->offset_items, &items, sizeof(items));
	*group_count(c, g) = n + 1;
	return 0;
}

static int add_item(struct conf *c, const struct conf_group *g, const char *name, struct err *e)
{
	struct conf_item it = { .group = g };
	int rc = array_grow(&c->item, &c->item_cap, c->nitem + 1, sizeof(*c->item),
			    CONF_GROUP_ITEMS_MAX);

	if (rc == -ERR_LIMIT)
		return err_set(e, ERR_LIMIT, "more than %d sections with names",
			       CONF_GROUP_ITEMS_MAX);
	it.name = str_dup(name);
	it.slot = calloc(c->nkey + 1, sizeof(*it.slot));
	if (rc || !it.name || !it.slot || grow_group(c, g, it.name)) {
		free(it.name);
		free(it.slot);
		return err_nomem(e);
	}
	c->item[c->nitem++] = it;
	return 0;
}

/* Finds an item. Its index in its group's array is its index among the items of that group. */
static bool find_item(struct conf *c, const struct conf_group *g, const char *name,
		      struct conf_target *out)
{
	uint8_t *base = group_items(c, g);

	for (size_t i = 0; i < c->nitem; i++) {
		if (c->item[i].group != g)
			continue;
		if (str_eq(c->item[i].name, name)) {
			*out = (struct conf_target){ c->item[i].slot, base };
			return true;
		}
		base += g->item_bytes;
	}
	return false;
}

int conf_group_item(struct conf *c, const struct conf_group *g, const char *name,
		    struct conf_target *out, struct err *e)
{
	int rc;

	if (find_item(c, g, name, out))
		return 0;
	rc = add_item(c, g, name, e);
	if (rc)
		return rc;
	find_item(c, g, name, out);
	return conf_put_defaults(c, g, out, e);
}
