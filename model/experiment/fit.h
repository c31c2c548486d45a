/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How well a setting explains printed means: chi-square, the sum of the squared distances of the
 * cells. A printed mean of the setting is about normal, so chi-square has one degree of freedom
 * for each cell.
 */
#ifndef MODEL_EXPERIMENT_FIT_H
#define MODEL_EXPERIMENT_FIT_H

#include "model/experiment/study.h"

struct fit {
	unsigned cells, outside; /* outside: of the 99.9 % band */
	double chi_square;
	double p; /* of a chi-square as large or larger, if the setting is that of the print */
};

#define FIT_BAND 0.999
#define FIT_P_MIN 0.001 /* a smaller p contradicts the setting */

/* Begins with zeros; distance: of study_distance(). */
void fit_add(struct fit *f, double distance);
void fit_end(struct fit *f);

/* Returns P(X > x) for chi-square with df degrees of freedom. */
double fit_tail(double x, unsigned df);

/* A setting that may be that of the print. */
struct fit_setting {
	double period;
	enum estimate_method method; /* OLS, or NNLS: no demand below 0 */
	enum server_count count;
	enum server_credit credit;
};
extern const struct fit_setting fit_settings[];
extern const size_t fit_settings_count;

/* Writes where it differs from the stated setting: "period 5000, counted at arrival". Returns out.
 */
#define FIT_WORDS_BYTES 128
const char *fit_words(const struct fit_setting *w, char out[FIT_WORDS_BYTES]);

/* Makes the study of a cell of table 2 in a setting; `base` has all other factors. */
void fit_apply(const struct fit_setting *w, const struct study *base, struct study *out);

#endif
