/* SPDX-License-Identifier: Apache-2.0 */
/* What omig_dfg_look answers, the same of an lm and an sm. */
#ifndef TREE_FLOWLOOK_H
#define TREE_FLOWLOOK_H

#include "common/flow/engine/flow.h"
#include "common/omis/text/value.h"

/* Node `number` of the measurement's graph. Nothing when there is none of it. */
void flowlook_node(const struct flow *f, uint32_t measurement, uint32_t number, enum flow_kind kind,
		   struct omis_writer *w);

/* What has gone one way ("up") or come from there (a host's token). */
void flowlook_way(const char *way, uint64_t frames, uint64_t bytes, struct omis_writer *w);

#endif
