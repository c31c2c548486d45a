/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Units: products of powers of base units. The bases are s, B, calls, % and those that a text
 * defines ("iterations"). A number in the text fits any unit.
 */
#ifndef PMSL_TEXT_UNIT_H
#define PMSL_TEXT_UNIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PMSL_UNIT_BASES 8
#define PMSL_UNIT_NAME_BYTES 24
#define PMSL_UNIT_TEXT_BYTES 96

/* A base is an index here; the first PMSL_UNIT_KNOWN are built in. */
struct pmsl_units {
	char name[PMSL_UNIT_BASES][PMSL_UNIT_NAME_BYTES];
	unsigned n;
};

struct pmsl_unit {
	bool is_any;
	int8_t power[PMSL_UNIT_BASES];
};

#define PMSL_UNIT_ANY ((struct pmsl_unit){ .is_any = true })
#define PMSL_UNIT_ONE ((struct pmsl_unit){ 0 })

void pmsl_units_init(struct pmsl_units *u);

/*
 * Parses "s", "B/s", "iterations", "1": names joined by * and /, with ^2. A new name becomes a
 * base. -ERR_PARSE, -ERR_LIMIT if there are too many bases or a power exceeds 9.
 */
int pmsl_unit_parse(struct pmsl_units *u, const char *text, struct pmsl_unit *out);

/* Writes a unit, such as "B/s" or "1". Returns out. */
const char *pmsl_unit_text(const struct pmsl_units *u, struct pmsl_unit v,
			   char out[PMSL_UNIT_TEXT_BYTES]);

bool pmsl_unit_is_one(struct pmsl_unit v); /* True if the unit has no base, or fits any unit */
/* True if values of both units may be added and compared */
bool pmsl_unit_fits(struct pmsl_unit a, struct pmsl_unit b);
/* Returns the unit of a sum of two units that fit */
struct pmsl_unit pmsl_unit_join(struct pmsl_unit a, struct pmsl_unit b);

/*
 * Returns the unit of a product (sign 1) or quotient (-1). Powers are limited to +-9, the largest
 * that can be parsed.
 */
struct pmsl_unit pmsl_unit_product(struct pmsl_unit a, struct pmsl_unit b, int sign);

#endif
