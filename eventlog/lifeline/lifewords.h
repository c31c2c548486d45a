/* SPDX-License-Identifier: Apache-2.0 */
/* What a model says in words, for people: on pages and on terminals alike. */
#ifndef EVENTLOG_LIFELINE_LIFEWORDS_H
#define EVENTLOG_LIFELINE_LIFEWORDS_H

#include "common/base/buf.h"
#include "eventlog/lifeline/life.h"

#define LIFEWORDS_TIME_BYTES 24

/* "10.2 ms": three digits. Returns out, of LIFEWORDS_TIME_BYTES. */
char *lifewords_time(char *out, nsec_t ns);

/* "1,000,000". Returns out, of LIFEWORDS_TIME_BYTES + 8. */
char *lifewords_count(char *out, uint64_t n);

/*
 * Which step is slowest, in a sentence of three parts: what stands before its name, the name (NULL
 * when there are no steps: all is said before), what stands behind.
 */
const char *lifewords_verdict(const struct life_model *m, struct buf *before, struct buf *behind);

/* How many events, lines and complete lines, over what time. */
void lifewords_facts(const struct life_model *m, const char *key, struct buf *out);

/* What a reader must know to believe the picture: what is left out, clocks that differ. Empty:
 * nothing. */
void lifewords_doubts(const struct life_model *m, struct buf *out);

#endif
