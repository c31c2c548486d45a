/* SPDX-License-Identifier: Apache-2.0 */
/* Regions begin and end at probes: see struct seg_meter. */
#ifndef LIBAPP_HOT_METER_H
#define LIBAPP_HOT_METER_H

#include "libapp/hot/hook.h"

#pragma GCC visibility push(hidden)

/* Returns the counts of a block's thread with the partners of a read whose lists fit. Walks through
 * its table of SEG_PARTNERS. Hot. */
uint64_t meter_partners(const uint8_t *block, const struct seg_read *r);

/*
 * Updates the meters of a probe whose word has PROBE_EDGE. The thread is in no call. is_again: a
 * function has called itself, so passes count and nothing else. Uses general registers only. Hot:
 * the rules of hook.h.
 */
void meter_probe(const struct hook_thread *t, unsigned number, uint64_t now, bool is_again);

#pragma GCC visibility pop

#endif
