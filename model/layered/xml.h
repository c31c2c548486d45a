/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A strict reader of the part of XML that models use: elements with attributes, comments and the
 * declaration at the begin. Between elements is only white space. It refuses a DTD, CDATA, and all
 * entities but the five named ones. So nothing expands, and nothing outside of the text is read.
 */
#ifndef MODEL_LAYERED_XML_H
#define MODEL_LAYERED_XML_H

#include "common/base/err.h"

#include <stdbool.h>
#include <stddef.h>

#define XML_DEPTH_MAX 32 /* models are 7 deep, their results some more */
#define XML_NAME_BYTES 64
#define XML_VALUE_BYTES 256
#define XML_ATTRIBUTES_MAX 64 /* results of LQNS have some 20 */

struct xml_attribute {
	char name[XML_NAME_BYTES], value[XML_VALUE_BYTES];
	unsigned line, col; /* of the name */
	bool is_used; /* for the caller */
};

enum xml_event { XML_END_OF_TEXT, XML_BEGIN, XML_END, XML_COMMENT };

struct xml {
	const char *at, *end, *line_at;
	unsigned line;
	unsigned depth;
	char open[XML_DEPTH_MAX][XML_NAME_BYTES];
	bool is_empty; /* the element that has begun has no content: its end is the next event */
	bool has_root;
	/* of the last event: an element, or the text of a comment */
	char name[XML_NAME_BYTES];
	unsigned name_line, name_col;
	struct xml_attribute attribute[XML_ATTRIBUTES_MAX];
	size_t n;
	const char *comment;
	size_t comment_bytes;
};

void xml_init(struct xml *x, const char *text, size_t n);

/* Returns an event, or an error with line and column: ERR_PARSE, ERR_LIMIT, ERR_UNSUPPORTED. */
int xml_next(struct xml *x, struct err *e);

/* Returns the attribute of the element that has begun, and marks it as used; NULL: none. */
struct xml_attribute *xml_find(struct xml *x, const char *name);

#endif
