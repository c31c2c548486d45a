/* SPDX-License-Identifier: Apache-2.0 */
/* A model as a page: one HTML file that loads no other file. Or as an SVG picture for papers. */
#ifndef EVENTLOG_LIFELINE_LIFEPAGE_H
#define EVENTLOG_LIFELINE_LIFEPAGE_H

#include "common/base/buf.h"
#include "eventlog/lifeline/life.h"

#define LIFEPAGE_MAX_BYTES (1u << 30) /* bytes of a page: no browser opens a larger one */

struct lifepage_words {
	const char *title; /* title of the log; may be invalid UTF-8 */
	const char *key; /* name of the lifelines' key */
	const char *complaints; /* messages about damage in the log, or "" */
};

/* Fails with ERR_NOMEM, ERR_LIMIT. */
int lifepage_html(struct buf *out, const struct life_model *m, const struct lifepage_words *words,
		  struct err *e);

/* Draws lines if there are at most LIFESVG_LINES_MAX, otherwise density. */
#define LIFESVG_LINES_MAX 2000
int lifepage_svg(struct buf *out, const struct life_model *m, const char *title, const char *key,
		 struct err *e);

/*
 * Appends text, escaped for HTML, SVG and their attributes. Bytes that are not UTF-8 are escaped as
 * in C.
 */
void lifepage_put_text(struct buf *out, const char *s);

#endif
