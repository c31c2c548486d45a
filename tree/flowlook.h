/* SPDX-License-Identifier: Apache-2.0 */
/* The answer to omig_dfg_look, shared by lm and sm. */
#ifndef TREE_FLOWLOOK_H
#define TREE_FLOWLOOK_H

#include "common/flow/engine/flow.h"
#include "common/omis/text/value.h"

/* Writes node `number` of the measurement's graph; nothing if there is none. */
void flowlook_node(const struct flow *f, uint32_t measurement, uint32_t number, enum flow_kind kind,
		   struct omis_writer *w);

/* Writes the traffic in one direction: "up", or the token of the host that it came from. */
void flowlook_way(const char *way, uint64_t frames, uint64_t bytes, struct omis_writer *w);

#endif
