/* SPDX-License-Identifier: Apache-2.0 */
/* omig model simulate, and solve --check: a simulation, alone or beside a solution. */
#ifndef TOOLS_MODEL_SIMULATE_SHOW_H
#define TOOLS_MODEL_SIMULATE_SHOW_H

#include "common/base/buf.h"
#include "common/json/json.h"
#include "model/simulate/simulate.h"
#include "tools/model/demands.h"

struct simulate_request {
	uint64_t seed, events;
	double level;
	const char *until; /* a stop rule; NULL: within 1 % */
	struct demands_options demands;
	bool json, csv;
};

#define SIMULATE_REQUEST_OPTIONS(s)                                                            \
	OPTION_RANGE("events", 0, "N",                                                         \
		     "simulate, solve --check: end after so many events (default 50 million)", \
		     OPT_U64, &(s)->events, 1000, INT64_MAX),                                  \
		DEMANDS_OPTIONS(&(s)->demands)

/* path: "-" is the standard input. Returns an exit status. */
int simulate_show(const struct simulate_request *w, const char *path);

/* Simulates m, which came from path. Shows progress. Returns an exit status, after a message. */
int simulate_model(const struct simulate_request *w, const struct layered *m, const char *path,
		   struct simulate_result *out);

/* A sentence for each reference task, and a table of all values. */
void simulate_differences(const struct layered *m, const struct layered_result *solved,
			  const struct simulate_result *r, struct buf *out);
void simulate_table(const struct layered *m, const struct layered_result *solved,
		    const struct simulate_result *r, struct buf *out);

/* Writes members of an open object. */
void simulate_json(const struct layered *m, const struct simulate_result *r, struct json *j);

#endif
