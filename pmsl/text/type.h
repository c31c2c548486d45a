/* SPDX-License-Identifier: Apache-2.0 */
/* Types of the metric language: a kind, and the number of its array dimensions. */
#ifndef PMSL_TEXT_TYPE_H
#define PMSL_TEXT_TYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum pmsl_kind {
	PMSL_T_NONE, /* a type after an error, which fits any type */
	PMSL_T_VALUE, /* a number */
	PMSL_T_BOOL,
	PMSL_T_HISTOGRAM,
	PMSL_T_RANKING, /* values with their objects */
	PMSL_T_PROCESS,
	PMSL_T_NODE,
	PMSL_T_SITE,
	PMSL_T_REGION,
	PMSL_T_VT, /* VirtualTime */
	PMSL_T_INTERVAL, /* TimeInterval */
	PMSL_T_TIME, /* PointOfTime: NOW, START, LAST, x[vt].time */
	PMSL_T_KEY, /* a number computed from a virtual time: vt % 10 */
	PMSL_T_CHOICE, /* a condition on virtual times alone: vt > 10 */
	PMSL_KINDS
};

#define PMSL_DIMS_MAX 4

struct pmsl_type {
	enum pmsl_kind kind;
	uint8_t dims;
};

/*
 * Finds a kind that a text may name: "Process", "VirtualTime". Returns PMSL_T_NONE for other names.
 */
enum pmsl_kind pmsl_kind_find(const char *name, size_t n);

/* Returns the kind as in messages: "Process", "number". */
const char *pmsl_kind_name(enum pmsl_kind k);

/* Writes the type, such as "Process[]". Returns out. */
#define PMSL_TYPE_BYTES 32
const char *pmsl_type_name(struct pmsl_type t, char out[PMSL_TYPE_BYTES]);

/* True for a result that can only be returned, and is not a number. */
bool pmsl_is_result(enum pmsl_kind k);

bool pmsl_is_object(enum pmsl_kind k); /* True for Process, Node and Site. */

#endif
