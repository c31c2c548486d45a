/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Positions of fields in dfg_has_read, if $read, $until, $more, $lost, $enough, $values are
 * printed.
 */
#ifndef TOOLS_LIBOMIS_READ_FIELDS_H
#define TOOLS_LIBOMIS_READ_FIELDS_H

enum {
	READ_SIZE, /* the number of values that follow */
	READ_NUMBER,
	READ_UNTIL,
	READ_MORE,
	READ_LOST,
	READ_ENOUGH,
	READ_VALUES
};

/* A value. */
enum {
	VALUE_OBJECT,
	VALUE_KEY,
	VALUE_VALUE, /* or the buckets of a histogram */
	VALUE_ERROR,
	VALUE_TIME,
	VALUE_OLDEST,
	VALUE_NEWEST,
	VALUE_K,
	VALUE_N,
	VALUE_FLAGS,
	VALUE_WITH, /* token of a partner, or name of a region */
	VALUE_IN /* of a partner: the name of a region, if it is split by both */
};

#endif
