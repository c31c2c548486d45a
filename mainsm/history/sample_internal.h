/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the writer and the reader of samples. */
#ifndef MAINSM_HISTORY_SAMPLE_INTERNAL_H
#define MAINSM_HISTORY_SAMPLE_INTERNAL_H

#include "eventlog/evtype.h"

/* Version of a packed sample: a later one may have more numbers behind the known ones. */
#define HISTORY_VERSION 1
#define HISTORY_JOB_NUMBERS 18 /* the last is the number of functions */

enum history_type { HISTORY_TYPE_CALL, HISTORY_TYPE_JOB, HISTORY_TYPE_RANKS, HISTORY_TYPES };

extern const struct evtype history_types[HISTORY_TYPES];

struct history_name {
	char *text, *class; /* owned; the writer has no class */
};

#endif
