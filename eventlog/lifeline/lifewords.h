/* SPDX-License-Identifier: Apache-2.0 */
/* Sentences about a model, for pages and terminals. */
#ifndef EVENTLOG_LIFELINE_LIFEWORDS_H
#define EVENTLOG_LIFELINE_LIFEWORDS_H

#include "common/base/buf.h"
#include "eventlog/lifeline/life.h"

#define LIFEWORDS_TIME_BYTES 24

/* Writes "10.2 ms": three digits. Returns out, of LIFEWORDS_TIME_BYTES. */
char *lifewords_time(char *out, nsec_t ns);

/* Writes "1,000,000". Returns out, of LIFEWORDS_TIME_BYTES + 8. */
char *lifewords_count(char *out, uint64_t n);

/*
 * Describes the slowest step in a sentence of three parts: the text before its name, the name, and
 * the text after it. Without steps it returns NULL, and the first part is the whole sentence.
 */
const char *lifewords_verdict(const struct life_model *m, struct buf *before, struct buf *behind);

/* Writes the numbers of events, lines and complete lines, and their time. */
void lifewords_facts(const struct life_model *m, const char *key, struct buf *out);

/*
 * Writes the reservations about the picture: events that were left out, clocks that differ. Empty
 * if there are none.
 */
void lifewords_doubts(const struct life_model *m, struct buf *out);

#endif
