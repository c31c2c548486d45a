/* SPDX-License-Identifier: Apache-2.0 */
#include "model/experiment/printed.h"

const char *const printed_laws[PRINTED_LAWS] = {
	"constant", "normal(0.05)", "normal(0.15)", "normal(0.25)", "normal(0.35)", "exponential",
};

const unsigned printed_sizes[PRINTED_SIZES] = { 3, 5, 10 };

const struct printed_cell printed_table2[PRINTED_LAWS][PRINTED_SIZES] = {
	{ { 0.0073, 0.0116 }, { 0.0203, 0.0302 }, { 0.2920, 0.4303 } },
	{ { 0.0103, 0.0182 }, { 0.0254, 0.0366 }, { 0.2996, 0.4513 } },
	{ { 0.0272, 0.0449 }, { 0.0502, 0.0784 }, { 0.3037, 0.4317 } },
	{ { 0.0416, 0.0709 }, { 0.0734, 0.1129 }, { 0.3485, 0.4863 } },
	{ { 0.0575, 0.0974 }, { 0.1026, 0.1521 }, { 0.4256, 0.5914 } },
	{ { 0.1791, 0.2940 }, { 0.2936, 0.4499 }, { 0.7071, 0.9760 } },
};

const struct printed_row printed_table1[PRINTED_SOURCES] = {
	[PRINTED_SERVICE_LAW] = { "service time distribution", 40.1 },
	[PRINTED_SERVICE_PATTERN] = { "service time pattern", 1.4 },
	[PRINTED_ARRIVAL_LAW] = { "inter-arrival time distribution", 6.3 },
	[PRINTED_ARRIVAL_PATTERN] = { "inter-arrival time pattern", 0.3 },
	[PRINTED_SERVICES] = { "number of services", 10.7 },
	[PRINTED_INTERACTIONS] = { "interactions", 17.1 },
	[PRINTED_ERROR] = { "error", 24.1 },
};

const double printed_squares = 0.4637;
const double printed_of_mean = 0.2899;
