/* SPDX-License-Identifier: Apache-2.0 */
/* Reads one configuration file: lines, sections, quotes. */
#include "common/base/file.h"
#include "common/base/limits.h"
#include "common/base/str.h"
#include "common/cli/nearest.h"
#include "common/conf/conf_internal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct reader {
	struct conf *c;
	struct conf_at at;
	const char *section; /* section of the schema; NULL = top */
	struct conf_target target;
	struct err *e;
};

#define SEE_EXAMPLE "; --example-config shows all there are"

/* Fails with the text "what 'word'hint". */
static int fail_hint(struct reader *r, const char *what, const char *word, const char *hint)
{
	char shown[64];

	return conf_error(r->e, &r->at, ERR_PARSE, "%s%s%s%s%s", what, *word ? " '" : "",
			  str_escape(shown, sizeof(shown), word, strlen(word)), *word ? "'" : "",
			  hint);
}

static int fail(struct reader *r, const char *what, const char *word)
{
	return fail_hint(r, what, word, "");
}

static char *trim(char *s)
{
	size_t n;

	s += strspn(s, " \t");
	n = strlen(s);
	while (n && (s[n - 1] == ' ' || s[n - 1] == '\t'))
		n--;
	s[n] = 0;
	return s;
}

static bool section_is_known(const struct conf_schema *s, const char *name, const char **out)
{
	for (const struct conf_key *k = s->key; k->name; k++) {
		if (!k->section || !str_eq(k->section, name))
			continue;
		*out = k->section;
		return true;
	}
	return false;
}

static int open_item(struct reader *r, const struct conf_group *g, const char *name)
{
	struct err why = { 0 };

	if (!conf_group_item(r->c, g, name, &r->target, &why))
		return 0;
	return conf_error(r->e, &r->at, why.code, "%s", why.text);
}

/* Reads [name], or [group NAME]. */
static int read_section(struct reader *r, char *s)
{
	size_t n = strlen(s);
	const struct conf_group *g;
	char *word, *rest;

	if (s[n - 1] != ']')
		return fail(r, "a section ends with ]", "");
	s[n - 1] = 0;
	word = trim(s + 1);
	n = strcspn(word, " \t");
	rest = word[n] ? trim(word + n) : word + n;
	g = conf_group_find(r->c->schema, word, n);
	if (g && !str_is_name(rest, strlen(rest)))
		return fail(r, "this section needs a name of its own, as in [section NAME]", "");
	if (g) {
		r->section = g->section;
		return open_item(r, g, rest);
	}
	if (!section_is_known(r->c->schema, word, &r->section))
		return fail_hint(r, "unknown section", word, SEE_EXAMPLE);
	r->target = (struct conf_target){ r->c->slot, r->c->values };
	return 0;
}

/* Replaces "..." with \" and \\ inside, in place. */
static int unquote(struct reader *r, char **value)
{
	char *from = *value + 1, *to = *value;

	for (; *from && *from != '"'; from++) {
		if (*from == '\\' && !*++from)
			break;
		*to++ = *from;
	}
	if (*from != '"' || from[1])
		return fail(r, "a quoted value ends with its quote", "");
	*to = 0;
	return 0;
}

static const struct conf_key *find_key(const struct reader *r, const char *name)
{
	for (const struct conf_key *k = r->c->schema->key; k->name; k++)
		if (str_eq(k->section, r->section) && str_eq(k->name, name))
			return k;
	return NULL;
}

static int unknown_key(struct reader *r, const char *name)
{
	struct nearest n = nearest_to(name);
	char hint[160] = SEE_EXAMPLE;

	for (const struct conf_key *k = r->c->schema->key; k->name; k++)
		if (str_eq(k->section, r->section))
			nearest_try(&n, k->name);
	if (n.best)
		snprintf(hint, sizeof(hint), "; did you mean %s?", n.best);
	return fail_hint(r, r->section ? "unknown key in this section:" : "unknown key", name,
			 hint);
}

static int read_pair(struct reader *r, char *s)
{
	char *eq = strchr(s, '=');
	const struct conf_key *k;
	char *value;

	if (!eq)
		return fail(r, "neither 'key = value' nor '[section]':", s);
	*eq = 0;
	k = find_key(r, trim(s));
	if (!k)
		return unknown_key(r, trim(s));
	if (r->target.slot[k - r->c->schema->key].source == r->c->source)
		return fail_hint(r, "this key is set twice in this file:", k->name, "; keep one");
	value = trim(eq + 1);
	if (*value == '"' && unquote(r, &value))
		return -ERR_PARSE;
	return conf_put(r->c, &r->target, k, &(struct conf_text){ value, &r->at }, r->e);
}

static int check_line(struct reader *r, const char *s, size_t n)
{
	if (n > CONF_LINE_MAX_BYTES)
		return fail(r, "the line is longer than 4096 bytes", "");
	if (!str_is_utf8(s, n))
		return fail(r, "not UTF-8", "");
	for (size_t i = 0; i < n; i++)
		if ((unsigned char)s[i] < 0x20 && s[i] != '\t')
			return fail(r, s[i] ? "a control character" : "a 0 byte", "");
	return 0;
}

static int read_line(struct reader *r, const char *from, size_t n)
{
	char line[CONF_LINE_MAX_BYTES + 1];
	char *s;

	if (check_line(r, from, n))
		return -ERR_PARSE;
	memcpy(line, from, n);
	line[n] = 0;
	s = trim(line);
	if (!*s || *s == '#' || *s == ';')
		return 0;
	return *s == '[' ? read_section(r, s) : read_pair(r, s);
}

int conf_read_text(struct conf *c, const char *path, const struct buf *text, struct err *e)
{
	struct reader reader = {
		.c = c, .at = { path, 0 }, .target = { c->slot, c->values }, .e = e
	};
	struct reader *r = &reader;
	size_t at = 0;
	int rc = 0;

	c->source++;

	while (!rc && at < text->n) {
		const char *s = (const char *)text->p + at;
		const char *nl = memchr(s, '\n', text->n - at);
		size_t n = nl ? (size_t)(nl - s) : text->n - at;

		r->at.line++;
		rc = read_line(r, s, n);
		at += n + 1;
	}
	return rc;
}

/* Checks the directory: a user that may write it may put another file there. */
static int check_directory(const char *path, const struct conf_at *at, struct err *e)
{
	char dir[FILE_PATH_BYTES];
	struct stat st;
	char *slash;

	if (!str_copy(dir, sizeof(dir), path))
		return conf_error(e, at, ERR_LIMIT, "the path is too long");
	slash = strrchr(dir, '/');
	if (slash)
		*(slash == dir ? slash + 1 : slash) = 0;
	if (stat(slash ? dir : ".", &st))
		return conf_error(e, at, ERR_SYS, "its directory: %s", strerrordesc_np(errno));
	if (st.st_uid != geteuid() && st.st_uid)
		return conf_error(e, at, ERR_DENIED,
				  "its directory belongs to uid %u, not to this user or root",
				  st.st_uid);
	if (st.st_mode & 022 && !(st.st_mode & S_ISVTX))
		return conf_error(
			e, at, ERR_DENIED,
			"its directory may be written by others (mode %04o): chmod go-w it",
			st.st_mode & 07777u);
	return 0;
}

int conf_read_file(struct conf *c, const char *path, struct err *e)
{
	const struct conf_at at = { path, 1 };
	struct buf text = BUF_INIT(CONF_MAX_BYTES);
	struct err why = { 0 };
	int rc = file_read(path, CONF_MAX_BYTES, FILE_OWNED, &text, &why);

	if (rc == -ERR_NOTFOUND)
		err_set(e, ERR_NOTFOUND, "%s", why.text);
	else if (rc)
		conf_error(e, &at, why.code, "%s",
			   str_has_prefix(why.text, path) ? why.text + strlen(path) + 2 : why.text);
	else
		rc = check_directory(path, &at, e);
	if (!rc)
		rc = conf_read_text(c, path, &text, e);
	buf_done(&text);
	return rc;
}
