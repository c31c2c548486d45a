/* SPDX-License-Identifier: Apache-2.0 */
/* Analysed networks as JSON: the results, and the networks themselves. */
#ifndef INTERACTION_FORM_NETPUT_H
#define INTERACTION_FORM_NETPUT_H

#include "common/json/json.h"
#include "interaction/netanalysis.h"
#include "interaction/netretime.h"

/* Keys of one result, in an open object: counts, arcs, ..., meters. The network is built. */
void netput_result(struct json *j, const char *name, const struct network *w,
		   const struct netanalysis *a);

/* The key "what_if": the changed arcs, and the network with them. */
void netput_what_if(struct json *j, const struct network *w, const struct netretime_change *change,
		    size_t n, const struct netretime *r);

/* The key "critical_path": names of vertices. */
void netput_path(struct json *j, const char *key, const struct network *w, const struct netpath *p);

/* The key "near": the longest paths, with their lengths. */
void netput_near(struct json *j, const struct network *w, const struct netpath *p, size_t n);

/* Keys "composite", "exclusive", "cp_by_subtask". */
void netput_states(struct json *j, const struct network *w, const struct netspent *s);

/* Keys of totals: interactions, discarded, sum_RT, sum_TState. use: of the states. */
void netput_meters(struct json *j, const struct netuse *use, const struct netmeter *m);

/*
 * An object {"network": {...}} that netjson_read() reads back. The network may be unbuilt, and
 * incomplete. node: names of nodes, or NULL.
 */
void netput_network(struct json *j, const char *name, const struct network *w,
		    const char *const *node);

#endif
