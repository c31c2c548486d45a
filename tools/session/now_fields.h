/* SPDX-License-Identifier: Apache-2.0 */
/* Positions of fields in omig_calls_now(): of a process, and then of each of its threads. */
#ifndef TOOLS_SESSION_NOW_FIELDS_H
#define TOOLS_SESSION_NOW_FIELDS_H

enum { NOW_SIZE = 3, NOW_FIRST };
enum {
	NOW_TID,
	NOW_NAME,
	NOW_CLASS,
	NOW_STATE,
	NOW_SECONDS,
	NOW_EXACT,
	NOW_PARTNER,
	NOW_TAG,
	NOW_COMM,
	NOW_NUMBER,
	NOW_SOURCE,
	NOW_SOURCE_TAG,
	NOW_WORLD,
};

#endif
