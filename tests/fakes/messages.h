/* SPDX-License-Identifier: Apache-2.0 */
/* Messages that a fake peer has received, whole, for tests to examine. */
#ifndef TESTS_FAKES_MESSAGES_H
#define TESTS_FAKES_MESSAGES_H

#include "proto/msg.h"

#define MESSAGES_MAX 4096

/* Initially all 0. */
struct messages {
	struct msg *m[MESSAGES_MAX]; /* owned */
	size_t n, seen;
};

/* Adds a copy: a message of a link ends with its callback. */
void messages_add(struct messages *s, const struct msg *m);
/* Returns the next one of that type after those returned or skipped; NULL: there is none. */
const struct msg *messages_next(struct messages *s, uint8_t type);
void messages_skip(struct messages *s);
void messages_done(struct messages *s);

#endif
