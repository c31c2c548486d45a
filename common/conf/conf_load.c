/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the sources of a configuration, the one with the lowest precedence first. */
#include "common/base/file.h"
#include "common/base/str.h"
#include "common/conf/conf_internal.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
	path[n - 2] = 0; /* cuts X.conf.d to X.conf */
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

		if (k->flags & CONF_NOENV || conf_is_group_key(c, k))
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
	int rc = conf_put_defaults(c, NULL, &top, e);

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

int conf_load_text(const struct conf_schema *s, const char *path, struct bytes content,
		   struct conf **out, struct err *e)
{
	struct conf *c = conf_new(s);
	struct buf text = BUF_INIT(content.n);
	int rc;

	if (!c || buf_put(&text, content.p, content.n)) {
		conf_free(c);
		return err_nomem(e);
	}
	rc = conf_put_defaults(c, NULL, &(struct conf_target){ c->slot, c->values }, e);
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
