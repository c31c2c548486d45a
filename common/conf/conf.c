/* SPDX-License-Identifier: Apache-2.0 */
#include "common/conf/conf.h"

#include "common/base/array.h"
#include "common/base/file.h"
#include "common/base/str.h"
#include "common/conf/conf_internal.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
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

char *conf_key_name(char *out, size_t size, const struct conf_key *k)
{
	snprintf(out, size, "%s%s%s", k->section ? k->section : "", k->section ? "." : "", k->name);
	return out;
}

const struct conf_group *conf_group_find(const struct conf_schema *s, const char *section, size_t n)
{
	for (const struct conf_group *g = s->group; g && g->section; g++)
		if (strlen(g->section) == n && !memcmp(g->section, section, n))
			return g;
	return NULL;
}

static bool is_group_key(const struct conf *c, const struct conf_key *k)
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

static struct conf *conf_new(const struct conf_schema *s)
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

/* --- storing */

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
	     const char *text, const struct conf_at *at, struct err *e)
{
	struct conf_slot *slot = &t->slot[k - c->schema->key];
	char *copy = str_dup(text), *origin = origin_text(at);
	struct err why = { 0 };
	int rc = copy && origin ? 0 : err_nomem(e);

	/*
	 * A string's value points to the copy: the old text is freed after the new one is valid.
	 */
	if (!rc && conf_value_parse(k, copy, t->base, &why))
		rc = conf_error(e, at, why.code, "%s", why.text);
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

	return conf_put(c, &top, k, text, at, e);
}

static int put_defaults(struct conf *c, const struct conf_group *g, const struct conf_target *t,
			struct err *e)
{
	static const struct conf_at at = { "default", 0 };
	unsigned source = c->source;
	int rc = 0;

	c->source = 0; /* the file that names the item has not set them */
	for (const struct conf_key *k = c->schema->key; k->name && !rc; k++)
		if (g ? str_eq(k->section, g->section) : !is_group_key(c, k))
			rc = conf_put(c, t, k, k->def, &at, e);
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

/* The item's place in its group's array is its place among the items of that group. */
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
	return put_defaults(c, g, out, e);
}

/* --- sources, lowest first */

static int is_conf_name(const struct dirent *d)
{
	size_t n = strlen(d->d_name);

	return d->d_name[0] != '.' && n > 5 && !strcmp(d->d_name + n - 5, ".conf");
}

static int read_optional(struct conf *c, const char *path, struct err *e)
{
	int rc = conf_read_file(c, path, e);

	return rc == -ERR_NOTFOUND ? 0 : rc;
}

static int read_dir(struct conf *c, const char *dir, struct err *e)
{
	struct dirent **names = NULL;
	char path[FILE_PATH_BYTES];
	int rc = 0, n = scandir(dir, &names, is_conf_name, alphasort);

	if (n < 0)
		return errno == ENOENT || errno == ENOTDIR ? 0 : err_sys(e, "%s", dir);
	for (int i = 0; i < n; i++) {
		if (!rc)
			rc = file_join(path, sizeof(path), dir, names[i]->d_name, e);
		if (!rc)
			rc = conf_read_file(c, path, e);
		free(names[i]);
	}
	free(names);
	return rc;
}

static int read_etc(struct conf *c, const char *dir, struct err *e)
{
	char path[FILE_PATH_BYTES];
	int rc, n = snprintf(path, sizeof(path), "%s/%s.conf.d", dir, c->schema->program);

	if (n >= (int)sizeof(path))
		return err_set(e, ERR_LIMIT, "the path of the configuration is too long");
	path[n - 2] = 0; /* X.conf, then X.conf.d */
	rc = read_optional(c, path, e);
	path[n - 2] = '.';
	return rc ? rc : read_dir(c, path, e);
}

static const char *env_find(const char *const *env, const char *name)
{
	size_t n = strlen(name);

	for (; env && *env; env++)
		if (!strncmp(*env, name, n) && (*env)[n] == '=')
			return *env + n + 1;
	return NULL;
}

static int read_user(struct conf *c, const struct conf_input *in, struct err *e)
{
	const char *xdg = env_find(in->environ_, "XDG_CONFIG_HOME"),
		   *home = env_find(in->environ_, "HOME");
	char path[FILE_PATH_BYTES];
	int n;

	if (in->user_dir)
		n = snprintf(path, sizeof(path), "%s/%s.conf", in->user_dir, c->schema->program);
	else if (xdg && xdg[0] == '/')
		n = snprintf(path, sizeof(path), "%s/omig/%s.conf", xdg, c->schema->program);
	else if (home && home[0] == '/')
		n = snprintf(path, sizeof(path), "%s/.config/omig/%s.conf", home,
			     c->schema->program);
	else
		return 0;
	if (n >= (int)sizeof(path))
		return err_set(e, ERR_LIMIT, "the path of the configuration is too long");
	return read_optional(c, path, e);
}

static int read_files(struct conf *c, const struct conf_input *in, struct err *e)
{
	int rc;

	if (in->file)
		return conf_read_file(c, in->file, e);
	rc = read_etc(c, in->etc_dir ? in->etc_dir : "/etc/omig", e);
	return rc ? rc : read_user(c, in, e);
}

const char *conf_env_name(char *out, size_t size, const struct conf_key *k)
{
	snprintf(out, size, "OMIG_%s%s%s", k->section ? k->section : "", k->section ? "_" : "",
		 k->name);
	for (char *s = out; *s; s++)
		*s = *s == '-' ? '_' : (char)toupper((unsigned char)*s);
	return out;
}

static int read_env(struct conf *c, const char *const *env, struct err *e)
{
	char name[80], origin[100];
	int rc = 0;

	for (const struct conf_key *k = c->schema->key; k->name && !rc; k++) {
		struct conf_at at = { origin, 0 };
		const char *value;

		if (k->flags & CONF_NOENV || is_group_key(c, k))
			continue;
		value = env_find(env, conf_env_name(name, sizeof(name), k));
		snprintf(origin, sizeof(origin), "environment %s", name);
		if (value)
			rc = conf_put_top(c, k, value, &at, e);
	}
	return rc;
}

static int read_set(struct conf *c, const struct conf_set *set, struct err *e)
{
	char origin[100];
	struct conf_at at = { origin, 0 };

	snprintf(origin, sizeof(origin), "option --%s", set->name);
	for (const struct conf_key *k = c->schema->key; k->name; k++)
		if (!k->section && str_eq(k->name, set->name))
			return conf_put_top(c, k, set->value, &at, e);
	return conf_error(e, &at, ERR_NOTFOUND, "unknown key");
}

static int read_all(struct conf *c, const struct conf_input *in, struct err *e)
{
	struct conf_target top = { c->slot, c->values };
	int rc = put_defaults(c, NULL, &top, e);

	if (!rc)
		rc = read_files(c, in, e);
	if (!rc)
		rc = read_env(c, in->environ_, e);
	for (size_t i = 0; i < in->nset && !rc; i++)
		rc = read_set(c, &in->set[i], e);
	return rc;
}

int conf_load(const struct conf_schema *s, const struct conf_input *in, struct conf **out,
	      struct err *e)
{
	struct conf *c = conf_new(s);
	int rc;

	if (!c)
		return err_nomem(e);
	rc = read_all(c, in, e);
	if (rc)
		conf_free(c);
	else
		*out = c;
	return rc;
}

int conf_load_text(const struct conf_schema *s, const char *path, const void *p, size_t n,
		   struct conf **out, struct err *e)
{
	struct conf *c = conf_new(s);
	struct buf text = BUF_INIT(n);
	int rc;

	if (!c || buf_put(&text, p, n)) {
		conf_free(c);
		return err_nomem(e);
	}
	rc = put_defaults(c, NULL, &(struct conf_target){ c->slot, c->values }, e);
	if (!rc)
		rc = conf_read_text(c, path, &text, e);
	buf_done(&text);
	if (rc)
		conf_free(c);
	else
		*out = c;
	return rc;
}

const void *conf_values(const struct conf *c)
{
	return c->values;
}
