/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two summaries side by side by the sizes of messages, or by call sites. A summary has one sum of
 * each, so a change has no interval here, unlike those of calls (compare.h).
 */
#ifndef TOOLS_SUMMARY_COMPARE_PARTS_H
#define TOOLS_SUMMARY_COMPARE_PARTS_H

#include "common/base/buf.h"
#include "tools/summary/summary.h"

#include <stdbool.h>

enum compare_by { COMPARE_ALL, COMPARE_BY_CALL, COMPARE_BY_SIZE, COMPARE_BY_SITE };

/* [0]: of the first summary, [1]: of the second. */
struct compare_part {
	char name[SUMMARY_NAME_BYTES]; /* of the call */
	int64_t from, to; /* bytes of one call, as struct summary_size has them */
	/*
	 * Place of a site: function and file, since line numbers differ between two builds. Without
	 * debug information the function is "", and the file is "solver+0x1234".
	 */
	char function[SUMMARY_TEXT_BYTES], file[SUMMARY_TEXT_BYTES];
	int64_t line[2]; /* 0: not known, or several calls of the function there */
	uint64_t count[2], bytes[2];
	double seconds[2]; /* per rank, on average */
};

struct compare_parts {
	enum compare_by by;
	struct compare_part *part; /* owned; the largest changes first */
	size_t n, cap;
};

/* True if a summary has such values. */
bool compare_has_parts(const struct summary *s, enum compare_by by);

/* by: COMPARE_BY_SIZE or COMPARE_BY_SITE. -ERR_NOMEM. For compare_parts_done(). */
int compare_parts(const struct summary *a, const struct summary *b, enum compare_by by,
		  struct compare_parts *out);
void compare_parts_done(struct compare_parts *p);

/* At most `rows` rows (0: all), with a caption. Appends nothing without rows. -ERR_NOMEM. */
int compare_parts_table(const struct compare_parts *p, size_t rows, struct buf *out);
void compare_parts_csv(const struct compare_parts *p, struct buf *out);
struct json;
/* An array. */
void compare_parts_json(const struct compare_parts *p, struct json *j);

#endif
