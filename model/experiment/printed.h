/* SPDX-License-Identifier: Apache-2.0 */
/* The figures of tables 1 and 2 of Rolia and Vetland 1995. */
#ifndef MODEL_EXPERIMENT_PRINTED_H
#define MODEL_EXPERIMENT_PRINTED_H

#define PRINTED_LAWS 6
#define PRINTED_SIZES 3
#define PRINTED_CELLS (PRINTED_LAWS * PRINTED_SIZES)
#define PRINTED_REPLICATIONS 100

/* Table 2: rows by service time distribution, columns by number of services. */
extern const char *const printed_laws[PRINTED_LAWS];
extern const unsigned printed_sizes[PRINTED_SIZES];
struct printed_cell {
	double mean, p90; /* of E_rel */
};
extern const struct printed_cell printed_table2[PRINTED_LAWS][PRINTED_SIZES];

/* Table 1: sums of squares of a 2^5 experiment with three replications. */
enum printed_source {
	PRINTED_SERVICE_LAW,
	PRINTED_SERVICE_PATTERN,
	PRINTED_ARRIVAL_LAW,
	PRINTED_ARRIVAL_PATTERN,
	PRINTED_SERVICES,
	PRINTED_INTERACTIONS,
	PRINTED_ERROR,
	PRINTED_SOURCES
};
#define PRINTED_FACTORS 5
struct printed_row {
	const char *words;
	double percent; /* of the variation */
};
extern const struct printed_row printed_table1[PRINTED_SOURCES];
extern const double printed_squares; /* sum of y^2 */
extern const double printed_of_mean; /* number of runs times the squared mean */

#endif
