/* SPDX-License-Identifier: Apache-2.0 */
#include "lm/record/record_types.h"

#include "common/base/array.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The fields' names follow in the same memory as the type. */
static struct evtype *type_new(const char *name, const char *suffix, unsigned nfield,
			       struct evfield **field)
{
	size_t n = strlen(name) + strlen(suffix) + 1;
	struct evtype *t = calloc(1, sizeof(*t) + nfield * sizeof(**field) + n);
	char *text;

	if (!t)
		return NULL;
	*field = (struct evfield *)(void *)(t + 1);
	text = (char *)(*field + nfield);
	snprintf(text, n, "%s%s", name, suffix);
	*t = (struct evtype){ .name = text, .level = EV_INFO, .nfield = nfield, .field = *field };
	return t;
}

struct evtype *record_type_of_call(const struct call_desc *d, enum call_phase phase)
{
	bool is_start = phase == CALL_START;
	struct evfield *f = NULL;
	struct evtype *t = type_new(d->name, is_start ? ".start" : ".end",
				    is_start ? d->start_npar : d->end_npar, &f);
	unsigned n = 0;

	if (!t)
		return NULL;
	for (unsigned i = 0; i < t->nfield; i++)
		f[i] = (struct evfield){ "rank", EV_INT64 };
	for (unsigned i = 0; is_start && i < d->nparam; i++)
		if (d->param[i].kind != CALL_P_STATUS)
			f[++n].name = d->param[i].name;
	if (!is_start)
		f[1].name = "result";
	if (is_start ? d->start_length : d->end_length)
		f[(is_start ? d->start_length : d->end_length) - 1].name = "nbytes";
	if (is_start ? d->start_partner : d->end_partner)
		f[(is_start ? d->start_partner : d->end_partner) - 1].name = "partner";
	return t;
}

struct evtype *record_type_of_probe(const struct seg_probe *p)
{
	static const char *const names[SEG_PROBE_PARAMS] = { "vt",    "par2",  "par3",	"par4",
							     "par5",  "par6",  "par7",	"par8",
							     "par9",  "par10", "par11", "par12",
							     "par13", "par14" };
	struct evfield *f = NULL;
	struct evtype *t = type_new(p->name, "", p->nparam, &f);

	for (unsigned i = 0; t && i < p->nparam; i++)
		f[i] = (struct evfield){ names[i],
					 SEG_IS_FLOAT(p->type[i]) ? EV_DOUBLE : EV_INT64 };
	return t;
}

void record_describe_stream(struct evwrite *w, const struct proc *p, const char *host, uint32_t tid)
{
	struct evconst c[] = {
		{ "tid", { .kind = EV_INT32, .i32 = (int32_t)tid } },
		{ "HOST",
		  { .kind = EV_STRING,
		    .s = host ? host : "",
		    .n = host ? (uint32_t)strlen(host) : 0 } },
		{ "PROG",
		  { .kind = EV_STRING,
		    .s = p->name,
		    .n = (uint32_t)strnlen(p->name, sizeof(p->name)) } },
		{ "pid", { .kind = EV_INT32, .i32 = p->pid } },
		{ "rank", { .kind = EV_INT32, .i32 = p->own.rank } },
		{ "job",
		  { .kind = EV_STRING, .s = p->own.job, .n = (uint32_t)strlen(p->own.job) } },
	};
	unsigned n = ARRAY_LEN(c);

	if (p->own.rank < 0) /* no number means that there is no rank */
		c[n - 2] = c[n - 1];
	n -= p->own.rank < 0;
	evwrite_define(w, 0, &(struct evtype){ .name = "", .nconst = n, .constant = c }, NULL);
}
