/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/page/form.h"

#include "common/base/str.h"
#include "common/json/jsonread.h"

#include <stdlib.h>
#include <string.h>

static const struct form_field *find(const struct form *f, const char *name)
{
	for (size_t i = 0; i < f->n; i++)
		if (str_eq(f->field[i].name, name))
			return &f->field[i];
	return NULL;
}

static int take_name(struct form *f, const struct jsonread *r, struct err *e)
{
	struct form_field *at = &f->field[f->n];

	if (f->n == FORM_FIELDS_MAX || r->n >= sizeof(at->name))
		return jsonread_fail(r, e, ERR_LIMIT, "too many fields, or too long a name");
	memset(at, 0, sizeof(*at));
	memcpy(at->name, r->text, r->n);
	if (find(f, at->name) || strlen(at->name) != r->n)
		return jsonread_fail(r, e, ERR_PARSE, "the name is there twice, or no name");
	f->n++;
	return 0;
}

static int take_text(struct form_field *at, const struct jsonread *r, struct err *e)
{
	if (memchr(r->text, '\0', r->n))
		return jsonread_fail(r, e, ERR_PARSE, "a text has a 0 in it");
	at->text = str_ndup(r->text, r->n);
	return at->text ? 0 : err_nomem(e);
}

static int take_value(struct form_field *at, struct jsonread *r, struct err *e)
{
	int token = jsonread_next(r, e);

	switch (token) {
	case JSONREAD_STRING:
		return take_text(at, r, e);
	case JSONREAD_NUMBER:
		return jsonread_i64(r, &at->number, e);
	case JSONREAD_TRUE:
	case JSONREAD_FALSE:
		at->number = token == JSONREAD_TRUE;
		return 0;
	default:
		return token < 0 ? token
				 : jsonread_fail(r, e, ERR_PARSE, "a text, number or truth, not %s",
						 jsonread_token_name(token));
	}
}

static int read_object(struct form *f, struct jsonread *r, struct err *e)
{
	int token = jsonread_next(r, e), rc;

	if (token != JSONREAD_OBJECT)
		return token < 0 ? token : jsonread_fail(r, e, ERR_PARSE, "an object is expected");
	while ((token = jsonread_next(r, e)) == JSONREAD_KEY) {
		rc = take_name(f, r, e);
		if (!rc)
			rc = take_value(&f->field[f->n - 1], r, e);
		if (rc)
			return rc;
	}
	if (token < 0)
		return token;
	token = jsonread_next(r, e);
	if (token == JSONREAD_END)
		return 0;
	return token < 0 ? token : jsonread_fail(r, e, ERR_PARSE, "something follows the object");
}

int form_read(struct form *f, const void *p, size_t n, struct err *e)
{
	struct jsonread r;
	int rc;

	f->n = 0;
	jsonread_init_bytes(&r, p, n);
	rc = read_object(f, &r, e);
	jsonread_done(&r);
	return rc;
}

void form_done(struct form *f)
{
	for (size_t i = 0; i < f->n; i++)
		free(f->field[i].text);
	f->n = 0;
}

const char *form_text(const struct form *f, const char *name)
{
	const struct form_field *at = find(f, name);

	return at ? at->text : NULL;
}

int64_t form_number(const struct form *f, const char *name, int64_t min, int64_t max,
		    int64_t otherwise)
{
	const struct form_field *at = find(f, name);

	if (!at || at->text)
		return otherwise;
	return at->number < min ? min : at->number > max ? max : at->number;
}
