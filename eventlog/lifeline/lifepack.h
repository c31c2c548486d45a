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
 * A page with more points (about 8 bytes each) opens slowly: then it contains each n-th line, and
 * the slowest lines.
 */
#define LIFEPACK_POINTS_MAX (2u << 20)
#define LIFEPACK_SLOWEST 1000
/*
 * If a view has more steps, it shows density. A browser draws fewer steps in a tenth of a second.
 */
#define LIFEPACK_STEPS_EXACT 40000
/*
 * A screen has fewer pixels. Of more samples, the page has the smallest and largest of each part of
 * the time.
 */
#define LIFEPACK_SAMPLES_MAX 32768

/* Returns the sampling of lines for a page: 1 = all lines, n = each n-th line and the slowest. */
unsigned lifepack_sampling(const struct life_model *m);

/* title: of the log. key: name of the key. Fails with ERR_NOMEM. */
int lifepack_json(struct buf *out, const struct life_model *m, const char *title, const char *key,
		  struct err *e);

#endif
