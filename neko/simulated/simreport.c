/* SPDX-License-Identifier: Apache-2.0 */
/* Reports of a simulation: its failure, and its steps. */
#include "neko/simulated/sim_internal.h"
#include "neko/simulated/simnet.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Ends the run. Only the first failure is reported. */
int sim_fail(struct sim *s, enum err_code code, const char *fmt, ...)
{
	char text[ERR_TEXT_BYTES];
	va_list ap;

	if (s->failure.code)
		return -s->failure.code;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return err_set(&s->failure, code, "%s", text);
}

void sim_trace(struct sim *s, enum sim_step_kind kind, const struct neko_msg *m, uint32_t to)
{
	const struct sim_step t = {
		kind, s->now, to, simnet_name(s->net[m->net]), s->world.type_name[m->type], m
	};

	s->trace(s->trace_arg, &t);
}

void sim_type_names(const struct sim *s, const char *out[NEKO_TYPES_MAX])
{
	memcpy(out, s->world.type_name, NEKO_TYPES_MAX * sizeof(*out));
}
