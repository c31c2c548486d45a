/* SPDX-License-Identifier: Apache-2.0 */
/* Metrics of plug-ins: services with OMIG_PLUGIN_COUNTER or OMIG_PLUGIN_VALUE. */
#ifndef LM_PLUGIN_PLUGIN_METRIC_H
#define LM_PLUGIN_PLUGIN_METRIC_H

#include "common/base/err.h"

#include <stdint.h>

struct plugins;

/* A request for one value; the answer comes from the loop. Heap only: plugin_value_free(). */
struct plugin_value;

struct plugin_value_ask {
	const char *metric;
	int32_t pid; /* 0: of the node */
	uint64_t start; /* with the pid it names the process */
	/* rc 0: a finite number, else e has the reason. The request is still to be freed. */
	void (*fn)(void *arg, int rc, double value, const struct err *e);
	void *arg;
};

/*
 * ERR_UNSUPPORTED: no plug-in of this node has such a metric. ERR_AGAIN: its process ended shortly
 * before. ERR_LIMIT, ERR_NOMEM, ERR_SYS. Never calls fn within the call.
 */
int plugin_value_ask(struct plugins *all, const struct plugin_value_ask *q,
		     struct plugin_value **out, struct err *e);

/* No callback follows. NULL is fine. */
void plugin_value_free(struct plugin_value *v);

#endif
