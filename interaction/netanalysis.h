/* SPDX-License-Identifier: Apache-2.0 */
/* The analysis of one network: its path, the states of the path, and its meters. */
#ifndef INTERACTION_NETANALYSIS_H
#define INTERACTION_NETANALYSIS_H

#include "interaction/netmeter.h"
#include "interaction/netspent.h"

struct netanalysis {
	struct netpath path;
	struct netspent spent;
	struct netmeter meter; /* of this network alone */
};

/* Of a built network. ERR_INTERNAL: path and meters differ; ERR_NOMEM. */
int netanalysis_run(const struct network *w, struct netanalysis *out, struct err *e);
void netanalysis_done(struct netanalysis *a);

#endif
