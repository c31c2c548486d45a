/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Positions of fields in node_get_info(): the flag bit, and the index among the values of that bit.
 */
#ifndef TOOLS_SESSION_NODE_FIELDS_H
#define TOOLS_SESSION_NODE_FIELDS_H

#include <stddef.h>

#define NODE_FIELD(bit, place) ((bit) << 3 | (place)) /* no bit has more than eight values */
#define NODE_FLAG(field) (1u << ((field) >> 3)) /* flag to request the field */

enum node_field {
	NODE_NAME = NODE_FIELD(0, 0),
	NODE_CPUS = NODE_FIELD(2, 1),
	NODE_PAGES = NODE_FIELD(3, 0),
	NODE_PAGE_SIZE,
	NODE_SWITCHES = NODE_FIELD(7, 0), /* of contexts, a second */
	NODE_RUNNING = NODE_FIELD(8, 0),
	NODE_LOAD_1MIN = NODE_FIELD(8, 5),
	NODE_LOAD_5MIN,
	NODE_LOAD_15MIN,
	NODE_PAGES_USED = NODE_FIELD(9, 1),
	NODE_SWAP_PAGES_FREE,
	NODE_FAST_PACKETS_IN = NODE_FIELD(12, 2), /* a second */
	NODE_FAST_PACKETS_OUT,
	NODE_SLOW_PACKETS_IN = NODE_FIELD(12, 5),
	NODE_SLOW_PACKETS_OUT,
	NODE_SHARE_USER = NODE_FIELD(14, 0), /* of processor time: 0..1 */
	NODE_SHARE_SYSTEM,
	NODE_SHARE_IDLE,
	NODE_SHARE_IOWAIT,
	NODE_SHARE_STEAL,
	NODE_CPU_SOME = NODE_FIELD(15, 0), /* pressure: percent of 10 s */
	NODE_MEMORY_SOME,
	NODE_MEMORY_FULL,
	NODE_IO_SOME,
	NODE_IO_FULL,
};

/* Index of the field among the values of node_get_info(_, flags), flags with the field's. */
size_t node_field_at(enum node_field field, unsigned flags);

#endif
