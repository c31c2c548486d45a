/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A model as one JSON object, for the script of the page: numbers in base64, and density if there
 * are too many lines.
 */
#ifndef EVENTLOG_LIFELINE_LIFEPACK_H
#define EVENTLOG_LIFELINE_LIFEPACK_H

#include "common/base/buf.h"
#include "eventlog/lifeline/life.h"

/*
 * A page with more opens slowly (some 8 bytes each): then it has each n-th line, and the slowest.
 */
#define LIFEPACK_POINTS_MAX (2u << 20)
#define LIFEPACK_SLOWEST 1000
/* More steps in one view are shown as density; a browser draws fewer in a tenth of a second. */
#define LIFEPACK_STEPS_EXACT 40000
/*
 * A screen has fewer pixels: more samples of a load become the smallest and the largest of each
 * part of the time.
 */
#define LIFEPACK_SAMPLES_MAX 32768

/* Sampling of lines for a page; 1 = all, n = each n-th and the slowest. */
unsigned lifepack_sampling(const struct life_model *m);

/* title: of the log. key: name of the lines. ERR_NOMEM. */
int lifepack_json(struct buf *out, const struct life_model *m, const char *title, const char *key,
		  struct err *e);

#endif
