/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A request of a page: one JSON object of texts, numbers and truths. An object or list within it is
 * refused.
 */
#ifndef TOOLS_PAGE_FORM_H
#define TOOLS_PAGE_FORM_H

#include "common/base/buf.h"
#include "common/base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FORM_FIELDS_MAX 16
#define FORM_NAME_BYTES 16

struct form_field {
	char name[FORM_NAME_BYTES];
	char *text; /* owned; NULL: it is a number or truth */
	int64_t number;
};

struct form {
	struct form_field field[FORM_FIELDS_MAX];
	size_t n;
};

/*
 * ERR_PARSE: no such object, a repeated name, or a text with a 0 in it; ERR_LIMIT: too many fields,
 * or too long a name; ERR_NOMEM. *f is to be freed in any case.
 */
int form_read(struct form *f, const void *p, size_t n, struct err *e);
void form_done(struct form *f);

/* NULL: there is no such text. */
const char *form_text(const struct form *f, const char *name);
/* Within [min, max], or `otherwise` if there is no such number. */
int64_t form_number(const struct form *f, const char *name, int64_t min, int64_t max,
		    int64_t otherwise);

#endif
