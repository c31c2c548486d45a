/* SPDX-License-Identifier: Apache-2.0 */
/* E_rel of plain least squares in table 2: mean and deviation of 2000 replications. */
#ifndef TESTS_UNIT_MODEL_EXPERIMENT_LONG_RUN_H
#define TESTS_UNIT_MODEL_EXPERIMENT_LONG_RUN_H

static const struct long_run {
	double mean, deviation;
} long_run[] = {
	{ 0.002877, 0.001598 }, /* constant, 3 */
	{ 0.009126, 0.003942 }, /* constant, 5 */
	{ 0.129713, 0.048634 }, /* constant, 10 */
	{ 0.009166, 0.005151 }, /* normal(0.05), 3 */
	{ 0.017708, 0.007283 }, /* normal(0.05), 5 */
	{ 0.138377, 0.053413 }, /* normal(0.05), 10 */
	{ 0.026436, 0.015210 }, /* normal(0.15), 3 */
	{ 0.045421, 0.018640 }, /* normal(0.15), 5 */
	{ 0.191167, 0.067389 }, /* normal(0.15), 10 */
	{ 0.044423, 0.024243 }, /* normal(0.25), 3 */
	{ 0.075103, 0.030103 }, /* normal(0.25), 5 */
	{ 0.262654, 0.091189 }, /* normal(0.25), 10 */
	{ 0.061327, 0.032536 }, /* normal(0.35), 3 */
	{ 0.103800, 0.044538 }, /* normal(0.35), 5 */
	{ 0.345423, 0.116838 }, /* normal(0.35), 10 */
	{ 0.181504, 0.097385 }, /* exponential, 3 */
	{ 0.297052, 0.126417 }, /* exponential, 5 */
	{ 0.885850, 0.295154 }, /* exponential, 10 */
};

#endif
