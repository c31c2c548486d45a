/* SPDX-License-Identifier: Apache-2.0 */
#include "eventlog/text/evline.h"

#include "common/base/str.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char *const names[EVLINE_NFORMS] = { "ulm", "bp", "lite", "xml" };

int evline_from_name(const char *name, enum evline_form *out)
{
	for (int i = 0; i < EVLINE_NFORMS; i++)
		if (str_eq(name, names[i])) {
			*out = (enum evline_form)i;
			return 0;
		}
	return -ERR_INVALID;
}

/* First bytes of a stream that NetLogger received through a socket. */
static const char ulm_magic[8] = { 'U', 'L', 'M', '\0', ' ', ' ', ' ', ' ' };

static size_t magic_bytes(const char *s, size_t n)
{
	return n >= sizeof(ulm_magic) && !memcmp(s, ulm_magic, sizeof(ulm_magic))
		       ? sizeof(ulm_magic)
		       : 0;
}

int evline_guess(const uint8_t *p, size_t n, enum evline_form *out)
{
	static const char *const begins[] = { "DATE=", "ts=", "t DATE:", "<" };
	size_t magic = magic_bytes((const char *)p, n);

	p += magic;
	n -= magic;
	while (n && (*p == ' ' || *p == '\t' || *p == '\n' || *p == '\r' || *p == '#')) {
		const uint8_t *end = *p == '#' ? memchr(p, '\n', n) : p + 1;

		if (!end)
			return -ERR_NOTFOUND;
		n -= (size_t)(end - p);
		p = end;
	}
	for (int i = 0; i < EVLINE_NFORMS; i++)
		if (n >= strlen(begins[i]) && !memcmp(p, begins[i], strlen(begins[i]))) {
			*out = (enum evline_form)i;
			return 0;
		}
	*out = EVLINE_ULM;
	return magic ? 0 : -ERR_NOTFOUND;
}

struct evline *evline_new(enum evwords_fraction fraction)
{
	struct evline *l = calloc(1, sizeof(*l));

	if (l)
		l->fraction = fraction;
	return l;
}

/*
 * Copies a name or string, unescaped, with a 0 at its end. Returns NULL without room, which cannot
 * happen.
 */
static const char *evline_text(struct evline *l, const char *s, size_t n, bool is_escaped,
			       size_t *len)
{
	char *to = l->at;

	if (n >= (size_t)(l->end - to))
		return NULL;
	if (is_escaped)
		n = evwords_unescape(to, s, n);
	else
		memcpy(to, s, n);
	to[n] = '\0';
	l->at += n + 1;
	*len = n;
	return to;
}

int evline_add(struct evline *l, bool is_constant, const char *name, const struct evvalue *v,
	       struct err *e)
{
	unsigned *n = is_constant ? &l->type.nconst : &l->type.nfield;

	if (*n >= EV_FIELDS_MAX)
		return err_set(e, ERR_LIMIT, "more than %d fields", EV_FIELDS_MAX);
	if (is_constant) {
		l->constant[*n] = (struct evconst){ name, *v };
	} else {
		l->field[*n] = (struct evfield){ name, v->kind };
		l->value[*n] = *v;
	}
	++*n;
	return 0;
}

static void begin(struct evline *l)
{
	l->type = (struct evtype){ .name = "", .field = l->field, .constant = l->constant };
	l->event = (struct event){ .type = &l->type, .value = l->value };
	l->has_time = false;
	l->at = l->text;
	l->end = l->text + sizeof(l->text);
}

/* --- words of a line: name=value, or letter name: value */

struct word {
	const char *name, *value; /* the name ends with 0 */
	size_t n; /* length of the value */
	bool is_quoted;
	char letter; /* Lite: letter of the kind; otherwise 0 */
};

struct words {
	struct evline *line;
	const char *s;
	size_t n;
	bool is_lite;
};

static void skip_space(struct words *w)
{
	while (w->n && (*w->s == ' ' || *w->s == '\t')) {
		w->s++;
		w->n--;
	}
}

/* Returns the number of bytes before the closing quote; n if there is none. */
static size_t quoted_bytes(const char *s, size_t n)
{
	size_t i = 0;

	while (i < n && s[i] != '"')
		i += s[i] == '\\' && i + 1 < n ? 2 : 1;
	return i < n ? i : n;
}

static size_t plain_bytes(const char *s, size_t n)
{
	size_t i = 0;

	while (i < n && s[i] != ' ' && s[i] != '\t')
		i++;
	return i;
}

static int take_value(struct words *w, struct word *out, struct err *e)
{
	size_t n;

	out->is_quoted = w->n && *w->s == '"';
	if (out->is_quoted) {
		w->s++;
		w->n--;
	}
	n = out->is_quoted ? quoted_bytes(w->s, w->n) : plain_bytes(w->s, w->n);
	if (out->is_quoted && n == w->n)
		return err_set(e, ERR_PARSE, "a quote is not closed");
	out->value = evline_text(w->line, w->s, n, out->is_quoted, &out->n);
	w->s += n + out->is_quoted;
	w->n -= n + out->is_quoted;
	return out->value ? 0 : err_set(e, ERR_LIMIT, "a line is too long");
}

/*
 * Returns the end of the name: at '=', or, in Lite, at ": " or the end of the line. Returns n if
 * there is none.
 */
static size_t name_bytes(const struct words *w)
{
	size_t i = 0;

	for (; i < w->n && w->s[i] != ' ' && w->s[i] != '\t'; i++)
		if (w->is_lite ? w->s[i] == ':' && (i + 1 == w->n || w->s[i + 1] == ' ')
			       : w->s[i] == '=')
			return i;
	return w->n;
}

/* Returns 1: *out is the next word. Returns 0 at the end. */
static int next_word(struct words *w, struct word *out, struct err *e)
{
	size_t n, len;

	skip_space(w);
	if (!w->n)
		return 0;
	*out = (struct word){ 0 };
	if (w->is_lite) {
		if (w->n < 2 || !strchr("tsilfd", *w->s) || w->s[1] != ' ')
			return err_set(e, ERR_PARSE, "a value without its kind");
		out->letter = *w->s;
		w->s += 2;
		w->n -= 2;
	}
	n = name_bytes(w);
	if (n == w->n || !n)
		return err_set(e, ERR_PARSE,
			       n ? "a word that is not NAME=VALUE" : "a value without a name");
	out->name = evline_text(w->line, w->s, n, true, &len);
	if (!out->name || !len || len > NAME_MAX_BYTES || strlen(out->name) != len)
		return err_set(e, ERR_LIMIT, "a name of more than %d bytes, or with a 0 in it",
			       NAME_MAX_BYTES);
	w->s += n + 1;
	w->n -= n + 1;
	if (w->is_lite)
		skip_space(w);
	return take_value(w, out, e) ? -(int)(e ? e->code : ERR_PARSE) : 1;
}

/* --- meaning of words */

static bool is_globus(const char *s, size_t n)
{
	static const char name[] = "globus-gridftp-server";

	return memmem(s, n, name, sizeof(name) - 1) != NULL;
}

static int take_date(struct evline *l, const struct word *w, bool is_padded, struct err *e)
{
	bool is_short;

	if (l->has_time)
		return 0;
	if (!evwords_date(w->value, w->n, is_padded, &l->event.wall_ns, &is_short))
		return err_set(e, ERR_PARSE, "DATE is not a time");
	l->has_time = true;
	*(is_padded ? &l->padded : &l->plain) += is_short;
	return 0;
}

static bool take_level(struct evline *l, const struct word *w)
{
	return !l->type.level && !evlevel_from_name(w->value, w->n, &l->type.level);
}

/* Takes a name, which must not be empty, too long, or contain a 0. */
static bool take_name(struct evline *l, const struct word *w)
{
	if (l->type.name[0] || !w->n || w->n > NAME_MAX_BYTES || strlen(w->value) != w->n)
		return false;
	l->type.name = w->value;
	return true;
}

static int take_field(struct evline *l, const struct word *w, struct err *e)
{
	struct evvalue v;

	if (w->is_quoted)
		v = (struct evvalue){ .kind = EV_STRING, .n = (uint32_t)w->n, .s = w->value };
	else
		evwords_infer(w->value, w->n, &v);
	return evline_add(l, false, w->name, &v, e);
}

static int take_ulm(struct evline *l, const struct word *w, bool is_padded, struct err *e)
{
	if (str_eq(w->name, "DATE"))
		return take_date(l, w, is_padded, e);
	if (str_eq(w->name, "NL.EVNT") && take_name(l, w))
		return 0;
	if (str_eq(w->name, "LVL") && take_level(l, w))
		return 0;
	return take_field(l, w, e);
}

static int take_bp(struct evline *l, const struct word *w, struct err *e)
{
	if (str_eq(w->name, "ts") && !l->has_time) {
		l->has_time = evwords_iso(w->value, w->n, &l->event.wall_ns);
		return l->has_time ? 0 : err_set(e, ERR_PARSE, "ts is not a time");
	}
	if (str_eq(w->name, "event") && take_name(l, w))
		return 0;
	if (str_eq(w->name, "level") && take_level(l, w))
		return 0;
	return take_field(l, w, e);
}

static int take_lite(struct evline *l, const struct word *w, struct err *e)
{
	static const char letters[] = "ilfds";
	const char *at = strchr(letters, w->letter);
	struct evvalue v;

	if (w->letter == 't' && str_eq(w->name, "DATE") && !l->has_time) {
		l->has_time = evwords_iso(w->value, w->n, &l->event.wall_ns);
		return l->has_time ? 0 : err_set(e, ERR_PARSE, "DATE is not a time");
	}
	if (str_eq(w->name, "EVNT") && take_name(l, w))
		return 0;
	if (str_eq(w->name, "LVL") && take_level(l, w))
		return 0;
	if (!evwords_value(w->value, w->n, at ? (enum evkind)(at - letters + EV_INT32) : EV_STRING,
			   &v))
		return err_set(e, ERR_PARSE, "the value of %.64s does not fit its kind", w->name);
	return evline_add(l, false, w->name, &v, e);
}

/* Names an event of a line without NL.EVNT: by another field, or by the program. */
static void name_by_field(struct evline *l, const char *wanted, size_t n)
{
	for (unsigned i = 0; i < l->type.nfield && !l->type.name[0]; i++) {
		const char *name = l->field[i].name;
		size_t len = strlen(name);
		struct word w = { .value = l->value[i].s, .n = l->value[i].n };

		if (l->field[i].kind == EV_STRING && len >= n && str_eq(name + len - n, wanted))
			take_name(l, &w);
	}
}

static int end_line(struct evline *l, enum evline_form form, struct err *e)
{
	if (!l->has_time)
		return err_set(e, ERR_PARSE, "no time");
	if (form != EVLINE_BP) {
		name_by_field(l, ".EVNT", 5);
		name_by_field(l, "PROG", 4);
	}
	if (!l->type.name[0])
		return err_set(e, ERR_PARSE, "no event name");
	if (!evtype_record_bytes(&l->type, l->value, l->type.nfield))
		return err_set(e, ERR_LIMIT, "64 KB or more");
	l->event.ticks = (uint64_t)l->event.wall_ns;
	return 1;
}

static int read_words(struct evline *l, enum evline_form form, const char *s, size_t n,
		      struct err *e)
{
	struct words w = { .line = l, .s = s, .n = n, .is_lite = form == EVLINE_LITE };
	bool is_padded =
		l->fraction == EVWORDS_PADDED || (l->fraction == EVWORDS_AUTO && is_globus(s, n));
	struct word word;
	int rc;

	skip_space(&w);
	if (!w.n || *w.s == '#')
		return 0;
	while ((rc = next_word(&w, &word, e)) == 1) {
		rc = form == EVLINE_ULM	 ? take_ulm(l, &word, is_padded, e)
		     : form == EVLINE_BP ? take_bp(l, &word, e)
					 : take_lite(l, &word, e);
		if (rc)
			return rc;
	}
	return rc ? rc : end_line(l, form, e);
}

int evline_read(struct evline *l, enum evline_form form, const char *s, size_t n, struct err *e)
{
	size_t magic = magic_bytes(s, n);

	if (n > EVLINE_MAX_BYTES)
		return err_set(e, ERR_LIMIT, "a line is too long");
	begin(l);
	if (form != EVLINE_XML)
		return read_words(l, form, s + magic, n - magic, e);
	{
		int rc = evline_read_xml(l, s, n, e);

		return rc == 1 ? end_line(l, form, e) : rc;
	}
}
