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

#define SETUP_MAX_BYTES (1024 * 1024) /* configurations are written by hand */
#define SETUP_KEYS_MAX 10000 /* a line or two for each of some thousand processes */
#define SETUP_KEY_BYTES 128

struct setup;

/*
 * The text is copied. Fails with ERR_PARSE, ERR_EXISTS for a repeated key, ERR_LIMIT, ERR_NOMEM; e
 * has the line.
 */
int setup_parse(const char *text, size_t n, struct setup **out, struct err *e);

/* Reads the file. Fails as above, and like file_read(). Blocks for the disk. */
int setup_read(const char *path, struct setup **out, struct err *e);
void setup_free(struct setup *s);

/* Sets a key, or replaces its value; such a key has the line 0. Fails with ERR_NOMEM, ERR_LIMIT. */
int setup_set(struct setup *s, const char *key, const char *value, struct err *e);

/* Appends all lines in the form for setup_parse(). Fails with ERR_NOMEM, ERR_LIMIT. */
int setup_print(const struct setup *s, struct buf *out);

/* Returns NULL if the key is missing. Marks the key as read. */
const char *setup_get(struct setup *s, const char *key);

/*
 * *inout is the default. Fails with ERR_INVALID if the value has another type, or is out of range;
 * e has the line and a remedy.
 */
int setup_nsec(struct setup *s, const char *key, nsec_t min, nsec_t max, nsec_t *inout,
	       struct err *e);
int setup_u64(struct setup *s, const char *key, uint64_t min, uint64_t max, uint64_t *inout,
	      struct err *e);
int setup_double(struct setup *s, const char *key, double min, double max, double *inout,
		 struct err *e);
int setup_bool(struct setup *s, const char *key, bool *inout, struct err *e);

/*
 * Returns the last value of a key of this form, such as ("process.%u.crash", 7). A key such as
 * process.5-9.crash counts. Returns NULL if it is missing.
 */
const char *setup_of_process(struct setup *s, uint32_t id, const char *what);

/*
 * Puts the key and line of an entry in front of e's text, for callers that check the value
 * themselves. Returns the error of e.
 */
int setup_blame(const struct setup *s, const char *key, struct err *e);
int setup_blame_process(const struct setup *s, uint32_t id, const char *what, struct err *e);

/* Checks that the numbers of each process.A-B.what are in 1..m. Fails with ERR_INVALID. */
int setup_check_processes(const struct setup *s, uint32_t m, struct err *e);

/*
 * Checks that all keys were read. Fails with ERR_NOTFOUND for a key that no part reads, with the
 * nearest known one in the text; with ERR_INVALID if setup_set() has set it.
 */
int setup_finish(const struct setup *s, struct err *e);

#endif
