/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Analysis of variance of a 2^k experiment with replications, by the table of signs. Source: Jain,
 * The Art of Computer Systems Performance Analysis, 1991, chapter 18.
 */
#ifndef MODEL_EXPERIMENT_ANOVA_H
#define MODEL_EXPERIMENT_ANOVA_H

#include <stddef.h>

#define ANOVA_FACTORS_MAX 10

struct anova {
	unsigned k; /* factors */
	double squares; /* sum of y^2 */
	double of_mean; /* runs times the squared mean */
	double total; /* squares - of_mean: the variation */
	double effect[1 << ANOVA_FACTORS_MAX]; /* sum of squares by set of factors; [0] unused */
	double error;
};

/* y: 2^k runs of r replications; bit i of a run's number is the level of factor i. r > 0. */
void anova_of(const double *y, unsigned k, size_t r, struct anova *out);

/* Returns the sum over all sets of two and more factors. */
double anova_interactions(const struct anova *a);

#endif
