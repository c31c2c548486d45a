/* SPDX-License-Identifier: Apache-2.0 */
/* Limits of a graph, besides FLOW_... in common/base/limits.h. */
#ifndef COMMON_FLOW_GRAPH_GRAPH_LIMITS_H
#define COMMON_FLOW_GRAPH_GRAPH_LIMITS_H

#include "common/base/limits.h"

#include <stdint.h>

#define FLOW_DEPTH_MAX 128 /* the engine recurses along a path; twice PMSL_DEPTH_MAX */
/* Inputs of a node, which may have a link to each host of a large site. */
#define FLOW_INPUTS_MAX FLOW_NODES_MAX
#define FLOW_NAMES_MAX 1024 /* partners or regions of one source */
/* strings and inputs of a graph, which arrives in a frame */
#define FLOW_TEXT_MAX_BYTES (4 * 1024 * 1024)
#define FLOW_WINDOW_MAX 16384 /* keys: a second of a fast probe at a site */
#define FLOW_WINDOW_OP 64 /* inputs of one process arrive within an iteration or two */
/* processes advance differently, and rings are read one after the other */
#define FLOW_WINDOW_SET 512
#define FLOW_WINDOW_SKETCH 16 /* each key needs a sketch */
#define FLOW_WINDOW_LINK 1024 /* tokens of one interval */
#define FLOW_READS_OPEN 8 /* reads by which a fast branch may be ahead of a slow one */
#define FLOW_SHIFT_MAX INT64_C(1000000000) /* prevents overflow of keys in transit */
#define FLOW_BEHIND_MAX 1000000 /* contributors, whose sums stay within 32 bits */
/* outputs: objects times partners of one measurement in one daemon */
#define FLOW_OUTPUT_MAX 65535

/* Largest sizes of entries in the engine's tables, which the engine asserts. */
#define FLOW_TOKEN_BYTES 64
#define FLOW_PARTIAL_BYTES 192
#define FLOW_SKETCH_BYTES 6400
#define FLOW_RULE_BYTES 768 /* of a stop */
#define FLOW_KEY_BYTES 48 /* bytes of an open key, besides its values */

#endif
