/* SPDX-License-Identifier: Apache-2.0 */
#include "neko/core/setup.h"

#include "common/base/array.h"
#include "common/base/file.h"
#include "common/base/str.h"
#include "common/cli/nearest.h"
#include "common/cli/opt.h"
#include "common/container/map.h"
#include "neko/core/neko.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct entry {
	char *key, *value; /* owned, in one allocation that begins at key */
	unsigned line;
	bool is_asked;
	/* process.FIRST-LAST.WHAT; `what` is NULL for other keys, and points into key */
	uint64_t first, last;
	const char *what;
};

struct setup {
	struct entry *entry; /* owned */
	size_t n, cap;
	char **asked; /* owned: all names that were requested, for "did you mean" */
	size_t nasked, asked_cap;
};

static struct entry *find(const struct setup *s, const char *key)
{
	for (size_t i = 0; i < s->n; i++)
		if (strcmp(s->entry[i].key, key) == 0)
			return &s->entry[i];
	return NULL;
}

/* Reads the range of a key such as "process.5-9.crash", which applies to five processes. */
static void read_range(struct entry *v)
{
	static const char prefix[] = "process.";
	const char *at = v->key + sizeof(prefix) - 1;
	char *end;

	if (!str_has_prefix(v->key, prefix) || !isdigit((unsigned char)*at))
		return;
	v->first = v->last = strtoull(at, &end, 10);
	if (*end == '-' && isdigit((unsigned char)end[1]))
		v->last = strtoull(end + 1, &end, 10);
	if (*end == '.')
		v->what = end + 1;
}

static int add(struct setup *s, const char *key, const char *value, unsigned line, struct err *e)
{
	size_t nkey = strlen(key) + 1, nvalue = strlen(value) + 1;
	struct entry v = { .line = line };
	int rc = array_grow(&s->entry, &s->cap, s->n + 1, sizeof(*s->entry), SETUP_KEYS_MAX);

	if (rc == -ERR_LIMIT)
		return err_set(e, ERR_LIMIT, "more than %d keys", SETUP_KEYS_MAX);
	v.key = rc ? NULL : malloc(nkey + nvalue);
	if (!v.key)
		return err_nomem(e);
	v.value = v.key + nkey;
	memcpy(v.key, key, nkey);
	memcpy(v.value, value, nvalue);
	read_range(&v);
	s->entry[s->n++] = v;
	return 0;
}

static int parse_line(struct setup *s, char *line, unsigned number, struct err *e)
{
	char *comment = strchr(line, '#'), *equals, *key, *value;
	const struct entry *there;

	if (comment)
		*comment = 0;
	line = str_trim(line);
	if (!*line)
		return 0;
	equals = strchr(line, '=');
	if (!equals)
		return err_set(e, ERR_PARSE, "no '=' in this line; write: key = value");
	*equals = 0;
	key = str_trim(line);
	value = str_trim(equals + 1);
	if (!str_is_name(key, strlen(key)) || strlen(key) >= SETUP_KEY_BYTES || strpbrk(key, " \t"))
		return err_set(e, ERR_PARSE, "this is not a key; write: key = value");
	if (!*value)
		return err_set(e, ERR_PARSE, "%s has no value; write one, or remove the line", key);
	there = find(s, key);
	if (there)
		return err_set(e, ERR_EXISTS, "%s is set in line %u already; remove one of them",
			       key, there->line);
	return add(s, key, value, number, e);
}

static int parse_lines(struct setup *s, char *text, struct err *e)
{
	unsigned number = 1;
	char *line, *rest = text;
	int rc;

	for (; (line = strsep(&rest, "\n")) != NULL; number++) {
		rc = parse_line(s, line, number, e);
		if (rc) {
			err_at(e, number, 0);
			return rc;
		}
	}
	return 0;
}

/* Finds the first line with a 0 or invalid UTF-8. */
static int no_text(const char *text, size_t n, struct err *e)
{
	const char *at = text, *end = text + n, *next;
	unsigned line = 1;

	for (; (next = memchr(at, '\n', (size_t)(end - at))); at = next + 1, line++)
		if (memchr(at, 0, (size_t)(next - at)) || !str_is_utf8(at, (size_t)(next - at)))
			break;
	err_set(e, ERR_PARSE, "this line is not UTF-8 text; write lines such as `name = value`");
	return err_at(e, line, 0);
}

int setup_parse(const char *text, size_t n, struct setup **out, struct err *e)
{
	struct setup *s;
	char *copy;
	int rc;

	if (n > SETUP_MAX_BYTES)
		return err_set(e, ERR_LIMIT, "a configuration has at most %d bytes",
			       SETUP_MAX_BYTES);
	if (memchr(text, 0, n) || !str_is_utf8(text, n))
		return no_text(text, n, e);
	s = calloc(1, sizeof(*s));
	copy = malloc(n + 1);
	if (!s || !copy) {
		free(s);
		free(copy);
		return err_nomem(e);
	}
	memcpy(copy, text, n);
	copy[n] = 0;
	rc = parse_lines(s, copy, e);
	free(copy);
	if (rc)
		setup_free(s);
	else
		*out = s;
	return rc;
}

int setup_read(const char *path, struct setup **out, struct err *e)
{
	struct buf text = BUF_INIT(SETUP_MAX_BYTES + 1);
	int rc = file_read(path, SETUP_MAX_BYTES, 0, &text, e);

	if (!rc)
		rc = setup_parse(buf_str(&text), text.n, out, e);
	buf_done(&text);
	return rc;
}

void setup_free(struct setup *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->n; i++)
		free(s->entry[i].key);
	for (size_t i = 0; i < s->nasked; i++)
		free(s->asked[i]);
	free(s->entry);
	free(s->asked);
	free(s);
}

int setup_set(struct setup *s, const char *key, const char *value, struct err *e)
{
	struct entry *v = find(s, key);

	if (v) {
		free(v->key);
		*v = s->entry[--s->n];
	}
	return add(s, key, value, 0, e);
}

/* Without memory, only a hint will be missing. */
static void note_asked(struct setup *s, const char *key)
{
	for (size_t i = 0; i < s->nasked; i++)
		if (strcmp(s->asked[i], key) == 0)
			return;
	if (array_grow(&s->asked, &s->asked_cap, s->nasked + 1, sizeof(*s->asked), SETUP_KEYS_MAX))
		return;
	s->asked[s->nasked] = str_dup(key);
	s->nasked += s->asked[s->nasked] != NULL;
}

static struct entry *ask(struct setup *s, const char *key)
{
	struct entry *v = find(s, key);

	note_asked(s, key);
	if (v)
		v->is_asked = true;
	return v;
}

int setup_print(const struct setup *s, struct buf *out)
{
	for (size_t i = 0; i < s->n; i++)
		buf_printf(out, "%s = %s\n", s->entry[i].key, s->entry[i].value);
	return out->failed ? -ERR_LIMIT : 0;
}

const char *setup_get(struct setup *s, const char *key)
{
	const struct entry *v = ask(s, key);

	return v ? v->value : NULL;
}

static struct entry *find_of_process(const struct setup *s, uint32_t id, const char *what)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->entry[i].what && id >= s->entry[i].first && id <= s->entry[i].last &&
		    strcmp(s->entry[i].what, what) == 0)
			return &s->entry[i];
	return NULL;
}

const char *setup_of_process(struct setup *s, uint32_t id, const char *what)
{
	struct entry *v = find_of_process(s, id, what);
	char general[SETUP_KEY_BYTES];

	if (id == 1) {
		snprintf(general, sizeof(general), "process.1.%s", what);
		note_asked(s, general);
	}
	if (v)
		v->is_asked = true;
	return v ? v->value : NULL;
}

static int blame(const struct entry *v, struct err *e)
{
	int rc;

	if (!v)
		return e ? -(int)e->code : -ERR_INTERNAL;
	rc = err_add(e, "%s", v->key);
	err_at(e, v->line, 0);
	return rc;
}

int setup_blame(const struct setup *s, const char *key, struct err *e)
{
	return blame(find(s, key), e);
}

int setup_blame_process(const struct setup *s, uint32_t id, const char *what, struct err *e)
{
	return blame(find_of_process(s, id, what), e);
}

/* six: as neko_setup_nsec(), which layers of users call. */
int setup_nsec(struct setup *s, const char *key, nsec_t min, nsec_t max, nsec_t *inout,
	       struct err *e)
{
	const struct entry *v = ask(s, key);

	if (!v || !opt_to_nsec_unit(v->value, min, max, inout))
		return 0;
	if (v->value[0] == '-')
		err_set(e, ERR_INVALID, "'%s': a time before 0; write one such as 20ms, 1.5s, 10m",
			v->value);
	else
		err_set(e, ERR_INVALID,
			"'%s' is not a time from %g to %g s; write one such as 20ms, 1.5s, 10m",
			v->value, (double)min / 1e9, (double)max / 1e9);
	return blame(v, e);
}

/* six: as neko_setup_u64(), which layers of users call. */
int setup_u64(struct setup *s, const char *key, uint64_t min, uint64_t max, uint64_t *inout,
	      struct err *e)
{
	const struct entry *v = ask(s, key);

	if (!v || !str_to_u64(v->value, min, max, inout))
		return 0;
	err_set(e, ERR_INVALID, "'%s' is not a whole number from %llu to %llu", v->value,
		(unsigned long long)min, (unsigned long long)max);
	return blame(v, e);
}

/* six: as neko_setup_double(), which layers of users call. */
int setup_double(struct setup *s, const char *key, double min, double max, double *inout,
		 struct err *e)
{
	const struct entry *v = ask(s, key);

	if (!v || !str_to_double(v->value, min, max, inout))
		return 0;
	err_set(e, ERR_INVALID, "'%s' is not a number from %g to %g", v->value, min, max);
	return blame(v, e);
}

int setup_bool(struct setup *s, const char *key, bool *inout, struct err *e)
{
	const struct entry *v = ask(s, key);

	if (!v)
		return 0;
	if (str_eq(v->value, "true") || str_eq(v->value, "false")) {
		*inout = v->value[0] == 't';
		return 0;
	}
	err_set(e, ERR_INVALID, "'%s' is neither true nor false", v->value);
	return blame(v, e);
}

int setup_check_processes(const struct setup *s, uint32_t m, struct err *e)
{
	for (size_t i = 0; i < s->n; i++) {
		const struct entry *v = &s->entry[i];

		if (!v->what || (v->first >= 1 && v->first <= v->last && v->last <= m))
			continue;
		err_set(e, ERR_INVALID,
			"processes are 1..%u here; raise process.num, or change the key", m);
		return blame(v, e);
	}
	return 0;
}

int setup_finish(const struct setup *s, struct err *e)
{
	for (size_t i = 0; i < s->n; i++) {
		struct nearest n = nearest_to(s->entry[i].key);
		enum err_code code = s->entry[i].line ? ERR_NOTFOUND : ERR_INVALID;

		if (s->entry[i].is_asked)
			continue;
		for (size_t k = 0; k < s->nasked; k++)
			nearest_try(&n, s->asked[k]);
		if (n.best)
			err_set(e, code, "this run does not use '%s'; did you mean %s?",
				s->entry[i].key, n.best);
		else
			err_set(e, code, "this run does not use '%s'; remove the line",
				s->entry[i].key);
		return err_at(e, s->entry[i].line, 0);
	}
	return 0;
}

/* --- configuration API for applications: neko.h */

int neko_fail(struct err *e, const char *fmt, ...)
{
	char text[ERR_TEXT_BYTES];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return err_set(e, ERR_INVALID, "%s", text);
}

const char *neko_setup_text(struct setup *s, const char *key)
{
	return setup_get(s, key);
}

/* six: layers of users call it, and the interface is fixed. */
int neko_setup_nsec(struct setup *s, const char *key, nsec_t min, nsec_t max, nsec_t *inout,
		    struct err *e)
{
	return setup_nsec(s, key, min, max, inout, e);
}

/* six: layers of users call it, and the interface is fixed. */
int neko_setup_u64(struct setup *s, const char *key, uint64_t min, uint64_t max, uint64_t *inout,
		   struct err *e)
{
	return setup_u64(s, key, min, max, inout, e);
}

/* six: layers of users call it, and the interface is fixed. */
int neko_setup_double(struct setup *s, const char *key, double min, double max, double *inout,
		      struct err *e)
{
	return setup_double(s, key, min, max, inout, e);
}

int neko_setup_bool(struct setup *s, const char *key, bool *inout, struct err *e)
{
	return setup_bool(s, key, inout, e);
}
