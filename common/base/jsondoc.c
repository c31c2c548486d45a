/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/jsondoc.h"

#include "common/base/array.h"
#include "common/base/json.h"
#include "common/base/str.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define NUMBER_CHARS 64 /* 17 digits and an exponent are 24 */
#define NONE UINT32_MAX

struct json_value {
	const struct jsondoc *doc;
	char *name, *text; /* in doc.text; text: of a string, and where a number begins */
	double number;
	uint32_t first, next; /* in doc.value, or NONE */
	uint32_t n; /* values in it; of a number the characters */
	uint8_t kind;
	bool truth;
};

struct jsondoc {
	char *text; /* owned: a copy, in which strings lose their escapes */
	struct json_value *value; /* owned; 0 is the root */
	size_t nvalue, cap;
};

struct parser {
	struct jsondoc *doc;
	char *at;
	const char *end;
	unsigned depth;
	struct err *e;
};

/* Where it stands, in lines and bytes. */
static int fail(const struct parser *p, enum err_code code, const char *what)
{
	const char *c, *begin = p->doc->text;
	unsigned line = 1;

	for (c = begin; c < p->at && c < p->end; c++)
		if (*c == '\n') {
			line++;
			begin = c + 1;
		}
	err_set(p->e, code, "%s", what);
	err_at(p->e, line, (unsigned)(p->at - begin) + 1);
	return -(int)code;
}

static void skip_space(struct parser *p)
{
	while (p->at < p->end &&
	       (*p->at == ' ' || *p->at == '\t' || *p->at == '\n' || *p->at == '\r'))
		p->at++;
}

/* The character that comes next; 0 at the end. */
static char peek(const struct parser *p)
{
	return p->at < p->end ? *p->at : 0;
}

/* Their places do not move before all is read, but their addresses do. */
static int add(struct parser *p, enum json_kind kind, uint32_t *out)
{
	struct jsondoc *d = p->doc;

	if (array_grow(&d->value, &d->cap, d->nvalue + 1, sizeof(*d->value), JSONDOC_MAX_BYTES))
		return fail(p, ERR_NOMEM, "out of memory");
	d->value[d->nvalue] =
		(struct json_value){ .kind = (uint8_t)kind, .first = NONE, .next = NONE };
	*out = (uint32_t)d->nvalue++;
	return 0;
}

/* --- strings */

static int hex4(struct parser *p, unsigned *out)
{
	char digits[5] = "";
	uint64_t v;

	if (p->end - p->at < 4)
		return fail(p, ERR_PARSE, "four digits stand behind \\u");
	memcpy(digits, p->at, 4);
	if (str_to_hex64(digits, &v))
		return fail(p, ERR_PARSE, "four digits stand behind \\u");
	p->at += 4;
	*out = (unsigned)v;
	return 0;
}

static char *put_utf8(char *to, unsigned c)
{
	if (c < 0x80) {
		*to++ = (char)c;
	} else if (c < 0x800) {
		*to++ = (char)(0xc0 | c >> 6);
		*to++ = (char)(0x80 | (c & 0x3f));
	} else if (c < 0x10000) {
		*to++ = (char)(0xe0 | c >> 12);
		*to++ = (char)(0x80 | (c >> 6 & 0x3f));
		*to++ = (char)(0x80 | (c & 0x3f));
	} else {
		*to++ = (char)(0xf0 | c >> 18);
		*to++ = (char)(0x80 | (c >> 12 & 0x3f));
		*to++ = (char)(0x80 | (c >> 6 & 0x3f));
		*to++ = (char)(0x80 | (c & 0x3f));
	}
	return to;
}

static int read_unicode(struct parser *p, char **to)
{
	unsigned c, low;
	int rc = hex4(p, &c);

	if (rc)
		return rc;
	if (c >= 0xd800 && c < 0xdc00) {
		if (p->end - p->at < 2 || p->at[0] != '\\' || p->at[1] != 'u')
			return fail(p, ERR_PARSE, "half a character");
		p->at += 2;
		rc = hex4(p, &low);
		if (rc)
			return rc;
		if (low < 0xdc00 || low > 0xdfff)
			return fail(p, ERR_PARSE, "half a character");
		c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
	} else if (c >= 0xdc00 && c < 0xe000) {
		return fail(p, ERR_PARSE, "half a character");
	}
	if (!c)
		return fail(p, ERR_PARSE, "a text with U+0000");
	*to = put_utf8(*to, c);
	return 0;
}

static int read_escape(struct parser *p, char **to)
{
	static const char from[] = "\"\\/bfnrt", into[] = "\"\\/\b\f\n\r\t";
	char c = peek(p);
	const char *found = c ? strchr(from, c) : NULL;

	if (found) {
		p->at++;
		*(*to)++ = into[found - from];
		return 0;
	}
	if (c != 'u')
		return fail(p, ERR_PARSE, "no escape of JSON");
	p->at++;
	return read_unicode(p, to);
}

/* Without its escapes it is never longer: it is written over itself. */
static int read_string(struct parser *p, char **out)
{
	char *to = ++p->at, *begin = to;
	int rc = 0;

	while (rc == 0 && p->at < p->end && *p->at != '"') {
		if ((unsigned char)*p->at < 0x20)
			return fail(p, ERR_PARSE, "a control character in a text");
		if (*p->at != '\\') {
			*to++ = *p->at++;
			continue;
		}
		p->at++;
		rc = read_escape(p, &to);
	}
	if (rc)
		return rc;
	if (p->at == p->end)
		return fail(p, ERR_PARSE, "a text without its end");
	p->at++;
	*to = 0;
	*out = begin;
	return 0;
}

/* --- other values */

static bool skip_digits(struct parser *p)
{
	const char *begin = p->at;

	while (isdigit((unsigned char)peek(p)))
		p->at++;
	return p->at > begin;
}

static bool skip_number(struct parser *p)
{
	bool is_good;

	if (peek(p) == '-')
		p->at++;
	if (peek(p) == '0') {
		p->at++;
		is_good = true;
	} else {
		is_good = skip_digits(p);
	}
	if (peek(p) == '.') {
		p->at++;
		is_good &= skip_digits(p);
	}
	if (peek(p) == 'e' || peek(p) == 'E') {
		p->at++;
		if (peek(p) == '+' || peek(p) == '-')
			p->at++;
		is_good &= skip_digits(p);
	}
	return is_good;
}

static void copy_number(char out[NUMBER_CHARS + 1], const struct json_value *v)
{
	memcpy(out, v->text, v->n);
	out[v->n] = 0;
}

static int read_number(struct parser *p, uint32_t at)
{
	struct json_value *v = &p->doc->value[at];
	char copy[NUMBER_CHARS + 1], *begin = p->at;

	if (!skip_number(p))
		return fail(p, ERR_PARSE, "no value of JSON");
	v->text = begin;
	v->n = (uint32_t)(p->at - begin);
	if (v->n > NUMBER_CHARS)
		return fail(p, ERR_PARSE, "a number with too many digits");
	copy_number(copy, v);
	if (str_to_double(copy, -1.7976931348623157e308, 1.7976931348623157e308, &v->number))
		return fail(p, ERR_PARSE, "a number beyond all doubles");
	return 0;
}

static int read_word(struct parser *p, const char *word, uint32_t at, bool truth)
{
	size_t n = strlen(word);

	if ((size_t)(p->end - p->at) < n || memcmp(p->at, word, n) != 0)
		return fail(p, ERR_PARSE, "no value of JSON");
	p->at += n;
	p->doc->value[at].truth = truth;
	return 0;
}

static int read_value(struct parser *p, uint32_t *out);

static int read_name(struct parser *p, char **out)
{
	int rc;

	skip_space(p);
	if (peek(p) != '"')
		return fail(p, ERR_PARSE, "a name in double quotes belongs here");
	rc = read_string(p, out);
	if (rc)
		return rc;
	skip_space(p);
	if (peek(p) != ':')
		return fail(p, ERR_PARSE, "a colon belongs here");
	p->at++;
	return 0;
}

/* Behind its first character; is_over: the closing one was there. */
static int read_member(struct parser *p, uint32_t at, uint32_t *last)
{
	bool is_object = p->doc->value[at].kind == JSON_OBJECT;
	uint32_t child = 0;
	char *name = NULL;
	int rc = is_object ? read_name(p, &name) : 0;

	if (rc == 0)
		rc = read_value(p, &child);
	if (rc)
		return rc;
	p->doc->value[child].name = name;
	p->doc->value[at].n++;
	if (*last == NONE)
		p->doc->value[at].first = child;
	else
		p->doc->value[*last].next = child;
	*last = child;
	return 0;
}

static int read_members(struct parser *p, uint32_t at, char close)
{
	uint32_t last = NONE;
	int rc;

	p->at++;
	skip_space(p);
	if (peek(p) == close) {
		p->at++;
		return 0;
	}
	for (;;) {
		rc = read_member(p, at, &last);
		if (rc)
			return rc;
		skip_space(p);
		if (peek(p) == close) {
			p->at++;
			return 0;
		}
		if (peek(p) != ',')
			return fail(p, ERR_PARSE, "a comma, or the end of this, belongs here");
		p->at++;
	}
}

static int read_kind(struct parser *p, enum json_kind kind, uint32_t at)
{
	switch (kind) {
	case JSON_OBJECT:
		return read_members(p, at, '}');
	case JSON_ARRAY:
		return read_members(p, at, ']');
	case JSON_BOOL:
		return peek(p) == 't' ? read_word(p, "true", at, true)
				      : read_word(p, "false", at, false);
	case JSON_NULL:
		return read_word(p, "null", at, false);
	case JSON_STRING:
		return read_string(p, &p->doc->value[at].text);
	case JSON_NUMBER:
		return read_number(p, at);
	}
	return -ERR_INTERNAL;
}

static enum json_kind kind_at(const struct parser *p)
{
	switch (peek(p)) {
	case '{':
		return JSON_OBJECT;
	case '[':
		return JSON_ARRAY;
	case '"':
		return JSON_STRING;
	case 't':
	case 'f':
		return JSON_BOOL;
	case 'n':
		return JSON_NULL;
	default:
		return JSON_NUMBER;
	}
}

static int read_value(struct parser *p, uint32_t *out)
{
	enum json_kind kind;
	uint32_t at = 0;
	int rc;

	skip_space(p);
	kind = kind_at(p);
	if (p->depth == JSON_DEPTH_MAX)
		return fail(p, ERR_LIMIT, "values in values, too deep");
	rc = add(p, kind, &at);
	if (rc)
		return rc;
	p->depth++;
	rc = read_kind(p, kind, at);
	p->depth--;
	if (rc == 0)
		*out = at;
	return rc;
}

static int read_all(struct jsondoc *d, size_t n, struct err *e)
{
	struct parser p = { .doc = d, .at = d->text, .end = d->text + n, .e = e };
	uint32_t root;
	size_t i;
	int rc = read_value(&p, &root);

	if (rc)
		return rc;
	skip_space(&p);
	if (p.at < p.end)
		return fail(&p, ERR_PARSE, "something stands behind the value");
	for (i = 0; i < d->nvalue; i++)
		d->value[i].doc = d;
	return 0;
}

int jsondoc_parse(const char *text, size_t n, struct jsondoc **out, struct err *e)
{
	struct jsondoc *d;
	int rc;

	if (n > JSONDOC_MAX_BYTES)
		return err_set(e, ERR_LIMIT, "a JSON text has at most %u MiB",
			       JSONDOC_MAX_BYTES >> 20);
	if (memchr(text, 0, n) || !str_is_utf8(text, n))
		return err_set(e, ERR_PARSE, "this is no text in UTF-8");
	d = calloc(1, sizeof(*d));
	if (!d)
		return err_nomem(e);
	d->text = str_ndup(text, n);
	rc = d->text ? read_all(d, n, e) : err_nomem(e);
	if (rc)
		jsondoc_free(d);
	else
		*out = d;
	return rc;
}

void jsondoc_free(struct jsondoc *d)
{
	if (!d)
		return;
	free(d->text);
	free(d->value);
	free(d);
}

const struct json_value *jsondoc_root(const struct jsondoc *d)
{
	return &d->value[0];
}

enum json_kind json_kind_of(const struct json_value *v)
{
	return v ? (enum json_kind)v->kind : JSON_NULL;
}

static bool has_values(const struct json_value *v)
{
	return v && (v->kind == JSON_ARRAY || v->kind == JSON_OBJECT);
}

size_t json_count(const struct json_value *v)
{
	return has_values(v) ? v->n : 0;
}

static const struct json_value *value_at(const struct json_value *v, uint32_t at)
{
	return at == NONE ? NULL : &v->doc->value[at];
}

const struct json_value *json_first(const struct json_value *v)
{
	return v ? value_at(v, v->first) : NULL;
}

const struct json_value *json_next(const struct json_value *v)
{
	return v ? value_at(v, v->next) : NULL;
}

const char *json_name(const struct json_value *v)
{
	return v ? v->name : NULL;
}

const struct json_value *json_get(const struct json_value *v, const char *name)
{
	const struct json_value *i;

	for (i = json_first(v); i; i = json_next(i))
		if (str_eq(i->name, name))
			return i;
	return NULL;
}

double json_number(const struct json_value *v, double otherwise)
{
	return json_kind_of(v) == JSON_NUMBER ? v->number : otherwise;
}

const char *json_text(const struct json_value *v, const char *otherwise)
{
	return json_kind_of(v) == JSON_STRING ? v->text : otherwise;
}

bool json_truth(const struct json_value *v, bool otherwise)
{
	return json_kind_of(v) == JSON_BOOL ? v->truth : otherwise;
}

int json_to_u64(const struct json_value *v, uint64_t *out)
{
	char copy[NUMBER_CHARS + 1];

	if (json_kind_of(v) != JSON_NUMBER)
		return -ERR_INVALID;
	copy_number(copy, v);
	return str_to_u64(copy, 0, UINT64_MAX, out);
}
