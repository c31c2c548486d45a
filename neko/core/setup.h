/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The configuration of a run: lines `key = value`, with # before comments, as in Neko. Each part
 * reads the keys that it needs. A key that no part has read is an error with its line and a remedy.
 */
#ifndef NEKO_CORE_SETUP_H
#define NEKO_CORE_SETUP_H

#include "common/base/buf.h"
#include "common/base/clock.h"
#include "common/base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SETUP_MAX_BYTES (1024 * 1024) /* people write these */
#define SETUP_KEYS_MAX 10000 /* a line or two for each of some thousand processes */
#define SETUP_KEY_BYTES 128

struct setup;

/* text is copied. ERR_PARSE, ERR_EXISTS (a repeated key), ERR_LIMIT, ERR_NOMEM; e has the line. */
int setup_parse(const char *text, size_t n, struct setup **out, struct err *e);

/* Reads the file. Errors as above, and as file_read(). Blocks for the disk. */
int setup_read(const char *path, struct setup **out, struct err *e);
void setup_free(struct setup *s);

/* Sets a key, or replaces its value; the line is 0. ERR_NOMEM, ERR_LIMIT. */
int setup_set(struct setup *s, const char *key, const char *value, struct err *e);

/* Appends all lines, for setup_parse(). -ERR_NOMEM, -ERR_LIMIT. */
int setup_print(const struct setup *s, struct buf *out);

/* Returns NULL if it is missing. Marks the key as read. */
const char *setup_get(struct setup *s, const char *key);

/*
 * *inout is the default. ERR_INVALID with line and remedy if the value has another type, or is out
 * of range.
 */
int setup_nsec(struct setup *s, const char *key, nsec_t min, nsec_t max, nsec_t *inout,
	       struct err *e);
int setup_u64(struct setup *s, const char *key, uint64_t min, uint64_t max, uint64_t *inout,
	      struct err *e);
int setup_double(struct setup *s, const char *key, double min, double max, double *inout,
		 struct err *e);
int setup_bool(struct setup *s, const char *key, bool *inout, struct err *e);

/*
 * Returns the last key with a name of this form, such as ("process.%u.crash", 7). Includes
 * process.5-9.crash. NULL if it is missing.
 */
const char *setup_of_process(struct setup *s, uint32_t id, const char *what);

/*
 * Puts key and line of an entry in front of e's text, for callers that check the value themselves.
 * Returns -code.
 */
int setup_blame(const struct setup *s, const char *key, struct err *e);
int setup_blame_process(const struct setup *s, uint32_t id, const char *what, struct err *e);

/* Checks that the numbers of each process.A-B.what are in 1..m. ERR_INVALID. */
int setup_check_processes(const struct setup *s, uint32_t m, struct err *e);

/*
 * Checks that all keys were read. ERR_NOTFOUND for a key that no part reads, with the nearest known
 * one; ERR_INVALID if it was set by setup_set().
 */
int setup_finish(const struct setup *s, struct err *e);

#endif
