/* SPDX-License-Identifier: Apache-2.0 */
#include "model/layered/xml.h"

#include "common/base/array.h"
#include "common/base/str.h"

#include <string.h>

void xml_init(struct xml *x, const char *text, size_t n)
{
	*x = (struct xml){ .at = text, .end = text + n, .line_at = text, .line = 1 };
}

static unsigned column(const struct xml *x)
{
	return (unsigned)(x->at - x->line_at) + 1;
}

static int fail(const struct xml *x, struct err *e, enum err_code code, const char *words)
{
	err_set(e, code, "%s", words);
	err_at(e, x->line, column(x));
	return -code;
}

static bool begins(const struct xml *x, const char *word)
{
	size_t n = strlen(word);

	return (size_t)(x->end - x->at) >= n && !memcmp(x->at, word, n);
}

static void step(struct xml *x)
{
	if (*x->at++ == '\n') {
		x->line++;
		x->line_at = x->at;
	}
}

static void skip(struct xml *x, size_t n)
{
	while (n--)
		step(x);
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static void skip_blanks(struct xml *x)
{
	while (x->at < x->end && is_blank(*x->at))
		step(x);
}

static bool is_name_byte(char c)
{
	return c != 0 && !is_blank(c) && !strchr("<>/=\"'&!?", c);
}

static int take_name(struct xml *x, char out[XML_NAME_BYTES], struct err *e)
{
	size_t n = 0;

	while (x->at < x->end && is_name_byte(*x->at)) {
		if (n + 1 == XML_NAME_BYTES)
			return fail(x, e, ERR_LIMIT, "the name is too long");
		out[n++] = *x->at;
		step(x);
	}
	out[n] = 0;
	return n ? 0 : fail(x, e, ERR_PARSE, "a name is missing");
}

/* Moves behind the end of a comment or declaration. *n: the bytes before it. */
static int take_until(struct xml *x, const char *stop, size_t *n, struct err *e)
{
	const char *from = x->at;

	while (x->at < x->end && !begins(x, stop))
		step(x);
	if (x->at == x->end) {
		err_set(e, ERR_PARSE, "the text ends without %s", stop);
		err_at(e, x->line, column(x));
		return -ERR_PARSE;
	}
	*n = (size_t)(x->at - from);
	skip(x, strlen(stop));
	return 0;
}

/* Takes a character, or an entity. Returns 0 for an unknown one. */
static char take_character(struct xml *x)
{
	static const char *const words[] = { "&lt;", "&gt;", "&amp;", "&quot;", "&apos;" };
	char c = *x->at;

	if (c != '&') {
		step(x);
		return c;
	}
	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (begins(x, words[i])) {
			skip(x, strlen(words[i]));
			return "<>&\"'"[i];
		}
	return 0;
}

static int take_value(struct xml *x, char out[XML_VALUE_BYTES], struct err *e)
{
	size_t n = 0;
	char quote = x->at < x->end ? *x->at : 0, c;

	if (quote != '"' && quote != '\'')
		return fail(x, e, ERR_PARSE, "a value in quotes is missing");
	step(x);
	while (x->at < x->end && *x->at != quote && *x->at != '<') {
		if (n + 1 == XML_VALUE_BYTES)
			return fail(x, e, ERR_LIMIT, "the value is too long");
		c = take_character(x);
		if (!c)
			return fail(x, e, ERR_UNSUPPORTED,
				    "only &lt; &gt; &amp; &quot; and &apos; are served");
		out[n++] = c;
	}
	out[n] = 0;
	if (x->at == x->end || *x->at != quote)
		return fail(x, e, ERR_PARSE, "the value does not end with its quote");
	step(x);
	return 0;
}

struct xml_attribute *xml_find(struct xml *x, const char *name)
{
	for (size_t i = 0; i < x->n; i++)
		if (str_eq(x->attribute[i].name, name)) {
			x->attribute[i].is_used = true;
			return &x->attribute[i];
		}
	return NULL;
}

static int take_attribute(struct xml *x, struct err *e)
{
	struct xml_attribute *a = &x->attribute[x->n];
	int rc;

	if (x->n == XML_ATTRIBUTES_MAX)
		return fail(x, e, ERR_LIMIT, "too many attributes");
	a->line = x->line;
	a->col = column(x);
	a->is_used = false;
	rc = take_name(x, a->name, e);
	if (rc)
		return rc;
	for (size_t i = 0; i < x->n; i++)
		if (str_eq(x->attribute[i].name, a->name))
			return fail(x, e, ERR_PARSE, "the attribute is there twice");
	skip_blanks(x);
	if (!begins(x, "="))
		return fail(x, e, ERR_PARSE, "a = behind the attribute is missing");
	step(x);
	skip_blanks(x);
	rc = take_value(x, a->value, e);
	x->n += !rc;
	return rc;
}

static int take_begin(struct xml *x, struct err *e)
{
	int rc = take_name(x, x->name, e);

	x->n = 0;
	if (!rc && (x->depth == XML_DEPTH_MAX || (!x->depth && x->has_root)))
		return fail(x, e, x->depth ? ERR_LIMIT : ERR_PARSE,
			    x->depth ? "elements are too deep" : "a second root element");
	for (skip_blanks(x); !rc && x->at < x->end && is_name_byte(*x->at); skip_blanks(x))
		rc = take_attribute(x, e);
	if (rc)
		return rc;
	x->is_empty = begins(x, "/>");
	if (!x->is_empty && !begins(x, ">"))
		return fail(x, e, ERR_PARSE, "an attribute, > or /> is missing");
	skip(x, x->is_empty ? 2 : 1);
	str_copy(x->open[x->depth++], XML_NAME_BYTES, x->name);
	x->has_root = true;
	return XML_BEGIN;
}

static int end_element(struct xml *x)
{
	x->is_empty = false;
	x->n = 0;
	str_copy(x->name, XML_NAME_BYTES, x->open[--x->depth]);
	return XML_END;
}

static int take_end(struct xml *x, struct err *e)
{
	int rc = take_name(x, x->name, e);

	skip_blanks(x);
	if (rc)
		return rc;
	if (!x->depth || !str_eq(x->name, x->open[x->depth - 1]))
		return fail(x, e, ERR_PARSE, "the end of another element than the open one");
	if (!begins(x, ">"))
		return fail(x, e, ERR_PARSE, "a > is missing");
	step(x);
	return end_element(x);
}

static int end_of_text(const struct xml *x, struct err *e)
{
	if (x->depth) {
		err_set(e, ERR_PARSE, "the element '%s' has no end", x->open[x->depth - 1]);
		err_at(e, x->line, column(x));
		return -ERR_PARSE;
	}
	return x->has_root ? XML_END_OF_TEXT : fail(x, e, ERR_PARSE, "there is no element");
}

static int take_markup(struct xml *x, struct err *e)
{
	if (begins(x, "<!--")) {
		int rc;

		skip(x, 4);
		x->comment = x->at;
		x->name_line = x->line;
		x->name_col = column(x);
		rc = take_until(x, "-->", &x->comment_bytes, e);
		return rc ? rc : XML_COMMENT;
	}
	if (begins(x, "<!"))
		return fail(x, e, ERR_UNSUPPORTED, "neither DTD nor CDATA is served");
	skip(x, 1);
	x->name_line = x->line;
	x->name_col = column(x);
	if (!begins(x, "/"))
		return take_begin(x, e);
	step(x);
	return take_end(x, e);
}

int xml_next(struct xml *x, struct err *e)
{
	if (x->is_empty)
		return end_element(x);
	for (;;) {
		size_t n;
		int rc;

		skip_blanks(x);
		if (x->at == x->end)
			return end_of_text(x, e);
		if (!begins(x, "<"))
			return fail(x, e, ERR_PARSE, "text between elements is not served");
		if (!begins(x, "<?"))
			return take_markup(x, e);
		rc = take_until(x, "?>", &n, e);
		if (rc)
			return rc;
	}
}
