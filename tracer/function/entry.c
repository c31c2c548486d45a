/* SPDX-License-Identifier: Apache-2.0 */
#include "tracer/function/plan.h"

#include <string.h>

bool plan_find_entry(const struct function_code *c, const uint8_t *now, struct plan_entry *out)
{
	size_t at = c->part[0].n >= PLAN_ENDBR_BYTES && !memcmp(now, PLAN_ENDBR, PLAN_ENDBR_BYTES)
			    ? PLAN_ENDBR_BYTES
			    : 0;
	int32_t by;

	if (at + PLAN_JUMP_BYTES > c->part[0].n || now[at] != PLAN_JUMP)
		return false;
	memcpy(&by, now + at + 1, sizeof(by));
	out->to = c->part[0].at + at + PLAN_JUMP_BYTES + (uint64_t)(int64_t)by;
	return true;
}

bool plan_find_id(const struct plan_entry *p, uint32_t *id)
{
	if (p->call[0] != PLAN_PUSH)
		return false;
	memcpy(id, p->call + 1, sizeof(*id));
	return true;
}
