/* SPDX-License-Identifier: Apache-2.0 */
/*
 * <event ts="" name="" level=""><c n="" t="">...</c><f n="" t="">...</f></event>, one per line, in
 * the form of evout. This is not a general XML parser: it knows only the five entities, and no
 * external references.
 */
#include "common/base/array.h"
#include "common/base/str.h"
#include "eventlog/text/evline.h"

#include <string.h>

struct xml {
	struct evline *line;
	const char *s;
	size_t n;
	char tag[8];
	bool is_end; /* it is </tag> */
};

struct attrs {
	const char *n, *t, *ts, *name, *level;
};

static bool take(struct xml *x, const char *word)
{
	size_t n = strlen(word);
	bool has = x->n >= n && !memcmp(x->s, word, n);

	x->s += has ? n : 0;
	x->n -= has ? n : 0;
	return has;
}

static void skip_space(struct xml *x)
{
	while (x->n && (*x->s == ' ' || *x->s == '\t'))
		take(x, *x->s == ' ' ? " " : "\t");
}

/*
 * Returns the character of an entity and the length of its text. Other characters represent
 * themselves. Returns 0 for an invalid entity.
 */
static char character(const char *s, size_t n, size_t *used)
{
	static const char *const words[] = { "&lt;", "&gt;", "&amp;", "&quot;", "&apos;" };

	*used = 1;
	if (*s != '&')
		return *s;
	for (unsigned i = 0; i < ARRAY_LEN(words); i++)
		if (n >= strlen(words[i]) && !memcmp(s, words[i], strlen(words[i]))) {
			*used = strlen(words[i]);
			return "<>&\"'"[i];
		}
	return '\0';
}

/*
 * Reads the text up to `end`, and replaces entities, then escapes, in place. Returns NULL for a bad
 * entity or without an end.
 */
static const char *take_text(struct xml *x, char end, size_t *len)
{
	char *to = x->line->at, *at = to;
	size_t used;

	for (; x->n && *x->s != end; x->s += used, x->n -= used) {
		char c = character(x->s, x->n, &used);

		if (!c || at + 1 >= x->line->end)
			return NULL;
		*at++ = c;
	}
	if (!x->n)
		return NULL;
	*len = evwords_unescape(to, to, (size_t)(at - to));
	to[*len] = '\0';
	x->line->at = at + 1;
	return to;
}

static const char **attr_of(struct attrs *a, const char *name)
{
	const struct {
		const char *name;
		const char **to;
	} known[] = { { "n", &a->n },
		      { "t", &a->t },
		      { "ts", &a->ts },
		      { "name", &a->name },
		      { "level", &a->level } };

	for (unsigned i = 0; i < ARRAY_LEN(known); i++)
		if (str_eq(name, known[i].name))
			return known[i].to;
	return NULL;
}

/* Reads a short word of small letters. */
static bool take_word(struct xml *x, char *out, size_t size)
{
	size_t n = 0;

	while (n < x->n && x->s[n] >= 'a' && x->s[n] <= 'z')
		n++;
	if (!n || n >= size)
		return false;
	memcpy(out, x->s, n);
	out[n] = '\0';
	x->s += n;
	x->n -= n;
	return true;
}

/* Reads <tag a="..." ...> or </tag>. Values contain no 0. */
static bool take_tag(struct xml *x, struct attrs *a)
{
	char name[8];
	size_t len;

	*a = (struct attrs){ 0 };
	skip_space(x);
	if (!take(x, "<"))
		return false;
	x->is_end = take(x, "/");
	if (!take_word(x, x->tag, sizeof(x->tag)))
		return false;
	for (skip_space(x); !take(x, ">"); skip_space(x)) {
		const char **to, *value;

		if (!take_word(x, name, sizeof(name)) || !take(x, "=\""))
			return false;
		to = attr_of(a, name);
		value = take_text(x, '"', &len);
		if (!to || !value || strlen(value) != len || !take(x, "\""))
			return false;
		*to = value;
	}
	return true;
}

static int bad(struct err *e, const char *what)
{
	return err_set(e, ERR_PARSE, "%s", what);
}

static int take_field(struct xml *x, const struct attrs *a, struct err *e)
{
	char tag = x->tag[0];
	enum evkind kind;
	struct evvalue v;
	struct attrs none;
	const char *text;
	size_t len;

	if (!a->n || !a->n[0] || strlen(a->n) > NAME_MAX_BYTES || !a->t ||
	    evkind_from_name(a->t, &kind))
		return bad(e, "a field without a good name or kind");
	text = take_text(x, '<', &len);
	if (!text || !evwords_value(text, len, kind, &v))
		return bad(e, "a value that is not of its kind");
	if (!take_tag(x, &none) || !x->is_end || x->tag[0] != tag)
		return bad(e, "a field has no end");
	return evline_add(x->line, tag == 'c', a->n, &v, e);
}

static int take_fields(struct xml *x, struct err *e)
{
	struct attrs a;
	int rc = 0;

	while (!rc) {
		if (!take_tag(x, &a))
			return bad(e, "an event has no end");
		if (x->is_end && str_eq(x->tag, "event"))
			return 1;
		if (x->is_end || (!str_eq(x->tag, "c") && !str_eq(x->tag, "f")))
			return bad(e, "an unknown element");
		rc = take_field(x, &a, e);
	}
	return rc;
}

/* True for the lines around the events of a document. */
static bool is_frame(const char *s, size_t n)
{
	static const char *const begins[] = { "<?xml", "<events", "</events", "<!--" };

	for (unsigned i = 0; i < ARRAY_LEN(begins); i++)
		if (n >= strlen(begins[i]) && !memcmp(s, begins[i], strlen(begins[i])))
			return true;
	return n == 0;
}

int evline_read_xml(struct evline *l, const char *s, size_t n, struct err *e)
{
	struct xml x = { .line = l, .s = s, .n = n };
	struct attrs a;

	skip_space(&x);
	if (is_frame(x.s, x.n))
		return 0;
	if (!take_tag(&x, &a) || x.is_end || !str_eq(x.tag, "event") || !a.ts || !a.name)
		return bad(e, "not an event element with ts and name");
	if (!evwords_iso(a.ts, strlen(a.ts), &l->event.wall_ns))
		return bad(e, "ts is not a time");
	l->has_time = true;
	if (!a.name[0] || strlen(a.name) > NAME_MAX_BYTES)
		return bad(e, "a name of an event that is empty or too long");
	l->type.name = a.name;
	if (a.level && evlevel_from_name(a.level, strlen(a.level), &l->type.level))
		return bad(e, "an unknown level");
	return take_fields(&x, e);
}
