/* SPDX-License-Identifier: Apache-2.0 */
/* Inside tools/profile: the columns of tables. */
#ifndef TOOLS_PROFILE_PROFILE_COLUMNS_H
#define TOOLS_PROFILE_PROFILE_COLUMNS_H

#include "tools/profile/profile.h"
#include "tools/term/table.h"

enum profile_value {
	PROFILE_V_NAME,
	PROFILE_V_CLASS,
	PROFILE_V_RANK,
	PROFILE_V_PARTNER,
	PROFILE_V_RANKS,
	PROFILE_V_CALLS,
	PROFILE_V_SECONDS,
	PROFILE_V_WALL,
	PROFILE_V_OF_MPI,
	PROFILE_V_OF_WALL,
	PROFILE_V_MEAN,
	PROFILE_V_MOST,
	PROFILE_V_MOST_RANK,
	PROFILE_V_MOST_CALL,
	PROFILE_V_IN_CALL,
	PROFILE_V_OUT,
	PROFILE_V_IN,
	PROFILE_V_STATE,
	PROFILE_V_SHORTEST,
	PROFILE_V_LONGEST,
	PROFILE_V_SIZE,
	PROFILE_V_FROM,
	PROFILE_V_TO,
	PROFILE_V_BYTES,
	PROFILE_V_FUNCTION, /* of a site */
	PROFILE_V_SOURCE,
	PROFILE_V_CALLERS,
};

enum profile_unit {
	PROFILE_WORD,
	PROFILE_NUMBER, /* of few digits: not rounded */
	PROFILE_COUNT,
	PROFILE_TIME,
	PROFILE_PERCENT,
	PROFILE_BYTES,
};

#define PROFILE_SITE_TEXT_BYTES (PROFILE_FRAMES * (2 * PROFILE_PLACE_BYTES + 8))

/* Writes 850 ns, 2.14 ms, 21.3 s, 4m05s; "-" if unknown. Returns out. */
char *profile_time(char out[TABLE_QUANTITY_BYTES], double seconds);

/* Writes "solve heat.c:88": the place of the call. */
void profile_site_text(const struct profile_row *r, struct buf *out);

/* Makes a table of the first `rows` rows. -ERR_NOMEM. */
int profile_table(const struct profile *p, size_t rows, size_t width, struct buf *out);

#endif
