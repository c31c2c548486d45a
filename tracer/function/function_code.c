/* SPDX-License-Identifier: Apache-2.0 */
#include "tracer/function/function_code.h"

int function_code_part(const struct function_code *c, uint64_t at)
{
	for (int i = 0; i < FUNCTION_PARTS; i++)
		if (at >= c->part[i].at && at - c->part[i].at < c->part[i].n)
			return i;
	return -1;
}

void function_code_led(struct function_code *c, uint64_t at)
{
	for (unsigned i = 0; i < FUNCTION_PARTS; i++)
		if (c->part[i].at == at)
			return;
	for (size_t i = 0; i < c->nled; i++)
		if (c->led[i] == at)
			return;
	if (c->nled < FUNCTION_LED_MAX)
		c->led[c->nled++] = at;
}
