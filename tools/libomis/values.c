/* SPDX-License-Identifier: Apache-2.0 */
/* Values of results for tools: the tree of common/omis in the types of omis.h. */
#include "common/omis/omis.h"
#include "tools/libomis/omis.h"
#include "tools/libomis/words.h"

#include <stdlib.h>
#include <string.h>

/* The root and the memory that it refers to. */
struct values {
	Omis_value root;
	struct omis_values *text; /* owns the strings */
	Omis_value node[];
};

static size_t count(const struct omis_value *v, size_t n)
{
	size_t sum = n;

	for (size_t i = 0; i < n; i++)
		if (v[i].kind == OMIS_LIST)
			sum += count(v[i].list.v, v[i].list.n);
	return sum;
}

/* Only requests contain parameters of events, such as $proc. */
static bool has_parameter(const struct omis_value *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (v[i].kind == OMIS_ECP ||
		    (v[i].kind == OMIS_LIST && has_parameter(v[i].list.v, v[i].list.n)))
			return true;
	return false;
}

static int parse(const char *text, size_t len, struct omis_values **out, struct err *e)
{
	int rc = omis_parse_values(text ? text : "", text ? len : 0, out, e);

	if (rc || !has_parameter((*out)->v, (*out)->n))
		return rc;
	omis_values_free(*out);
	return err_set(e, ERR_INVALID, "a parameter of an event is not a value of a result");
}

static void convert_text(Omis_value *to, const struct omis_value *from)
{
	switch (from->kind) {
	case OMIS_STRING:
		to->kind = OMIS_VALUE_STRING;
		break;
	case OMIS_BINARY:
		to->kind = OMIS_VALUE_BINARY;
		break;
	default:
		to->kind = OMIS_VALUE_TOKEN;
		break;
	}
	to->s = from->s.p;
	to->n = from->s.n;
}

static void convert_list(Omis_value *to, const struct omis_value *from, size_t n,
			 Omis_value **free_node);

static void convert(Omis_value *to, const struct omis_value *from, Omis_value **free_node)
{
	switch (from->kind) {
	case OMIS_INT:
		to->kind = OMIS_VALUE_INT;
		to->i = from->i;
		to->f = (double)from->i;
		break;
	case OMIS_FLOAT:
		to->kind = OMIS_VALUE_FLOAT;
		to->f = from->f;
		break;
	case OMIS_LIST:
		convert_list(to, from->list.v, from->list.n, free_node);
		break;
	default:
		convert_text(to, from);
		break;
	}
}

/* Recursion is bounded by the parser's OMIS_DEPTH_MAX. */
static void convert_list(Omis_value *to, const struct omis_value *from, size_t n,
			 Omis_value **free_node)
{
	Omis_value *item = *free_node;

	*free_node += n;
	for (size_t i = 0; i < n; i++)
		convert(&item[i], &from[i], free_node);
	to->kind = OMIS_VALUE_LIST;
	to->n = n;
	to->list = item;
}

Omis_value *omis_value_parse(const char *text, size_t len)
{
	struct omis_values *parsed;
	struct values *v;
	Omis_value *free_node;
	struct err e = { 0 };

	if (parse(text, len, &parsed, &e)) {
		words_keep(&e);
		return NULL;
	}
	v = calloc(1, sizeof(*v) + count(parsed->v, parsed->n) * sizeof(v->node[0]));
	if (!v) {
		err_nomem(&e);
		words_keep(&e);
		omis_values_free(parsed);
		return NULL;
	}
	v->text = parsed;
	free_node = v->node;
	convert_list(&v->root, parsed->v, parsed->n, &free_node);
	return &v->root;
}

void omis_value_free(Omis_value *value)
{
	struct values *v = (struct values *)(void *)value;

	if (!v)
		return;
	omis_values_free(v->text);
	free(v);
}
