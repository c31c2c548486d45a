/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/why/figures.h"

#include "common/base/array.h"
#include "common/base/limits.h"
#include "common/base/str.h"
#include "tools/libomis/read_fields.h"
#include "tools/session/session.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *metric;
	bool is_of_node;
} rows[FIGURES] = {
	[FIGURE_COMPUTE] = { "Compute_time", false },
	[FIGURE_RUN_DELAY] = { "Run_delay", false },
	[FIGURE_SWITCHES] = { "Context_switches", false },
	[FIGURE_FAULTS] = { "Page_faults", false },
	[FIGURE_BLOCK_DELAY] = { "Block_delay", false },
	[FIGURE_THROTTLED] = { "Throttled_time", false },
	[FIGURE_FREQUENCY] = { "Core_frequency", false },
	[FIGURE_BUSY] = { "Node_cpu_usage", true },
	[FIGURE_STEAL] = { "Node_steal", true },
	[FIGURE_CPU_PRESSURE] = { "Node_cpu_pressure", true },
	[FIGURE_MEMORY_PRESSURE] = { "Node_memory_pressure", true },
	[FIGURE_IO_PRESSURE] = { "Node_io_pressure", true },
};

const char *figure_metric(enum figure f)
{
	return rows[f].metric;
}

/* --- measurements */

/* Appends the tokens of all measurements, separated by commas. Returns their number. */
static size_t put_tokens(const struct figures *f, struct buf *out)
{
	size_t n = 0;

	for (size_t i = 0; i < FIGURES; i++)
		if (f->dfg[i][0])
			buf_printf(out, "%s%s", n++ ? "," : "", f->dfg[i]);
	return n;
}

static int create(struct figures *f, enum figure which)
{
	Omis_value *v;
	int rc = session_ask_value(&v, ":dfg_create([],\"\",\"%s\",[\"every_ms\",0,\"by\",\"%s\"])",
				   rows[which].metric, rows[which].is_of_node ? "node" : "process");

	if (rc != CMD_OK)
		return rc;
	str_copy(f->dfg[which], sizeof(f->dfg[which]), value_text(v, 0));
	omis_value_free(v);
	return CMD_OK;
}

static int act(const struct figures *f, const char *service)
{
	struct buf request = BUF_INIT(OMIS_REQUEST_MAX_BYTES);
	Omis_reply r = NULL;
	int rc = CMD_OK;

	buf_printf(&request, ":%s([", service);
	if (put_tokens(f, &request)) {
		buf_puts(&request, "])");
		rc = session_ask(&r, "%s", buf_str(&request));
	}
	omis_reply_free(r);
	buf_done(&request);
	return rc;
}

int figures_begin(struct figures *f)
{
	int rc = CMD_OK;

	*f = (struct figures){ 0 };
	for (size_t i = 0; i < FIGURES && rc == CMD_OK; i++)
		rc = create(f, (enum figure)i);
	if (rc == CMD_OK)
		rc = act(f, "dfg_start");
	if (rc != CMD_OK)
		figures_end(f);
	return rc;
}

void figures_end(struct figures *f)
{
	act(f, "dfg_delete");
	*f = (struct figures){ 0 };
}

void figures_ask(const struct figures *f, struct buf *request)
{
	struct buf tokens = BUF_INIT(FIGURES * FIGURES_TOKEN_BYTES);

	if (put_tokens(f, &tokens))
		buf_printf(request, " dfg_read([%s])", buf_str(&tokens));
	buf_done(&tokens);
}

/* --- values */

static int by_object(const void *a, const void *b)
{
	return strcmp(((const struct figure_values *)a)->object,
		      ((const struct figure_values *)b)->object);
}

/* The entry of an object of a sorted read; NULL: it has none. */
static struct figure_values *find(const struct figures_read *r, const char *object)
{
	struct figure_values key;

	str_copy(key.object, sizeof(key.object), object);
	return r->n ? bsearch(&key, r->object, r->n, sizeof(key), by_object) : NULL;
}

static struct figure_values *add_object(struct figures_read *r, const char *object)
{
	struct figure_values *to;

	if (array_grow(&r->object, &r->cap, r->n + 1, sizeof(*to),
		       (size_t)OMIS_OBJECTS_MAX * FIGURES))
		return NULL;
	to = &r->object[r->n++];
	str_copy(to->object, sizeof(to->object), object);
	for (size_t i = 0; i < FIGURES; i++)
		to->v[i] = NAN;
	return to;
}

/* Entries of one object are joined after sorting: one for each metric. */
static bool take_values(struct figures_read *out, enum figure which, const Omis_value *list)
{
	for (size_t i = 0; list && i < list->n; i++) {
		const Omis_value *v = &list->list[i];
		struct figure_values *to;

		if (!value_int(v, VALUE_K))
			continue; /* no host had a value */
		to = add_object(out, value_text(v, VALUE_OBJECT));
		if (!to)
			return false;
		to->v[which] = value_float(v, VALUE_VALUE);
	}
	return true;
}

static void join(struct figures_read *r)
{
	size_t n = 0;

	if (r->n)
		qsort(r->object, r->n, sizeof(*r->object), by_object);
	for (size_t i = 0; i < r->n; i++) {
		if (!n || by_object(&r->object[n - 1], &r->object[i])) {
			r->object[n++] = r->object[i];
			continue;
		}
		for (size_t k = 0; k < FIGURES; k++)
			if (!isnan(r->object[i].v[k]))
				r->object[n - 1].v[k] = r->object[i].v[k];
	}
	r->n = n;
}

/* The values of dfg_read: read, until, [values]. */
#define READ_LIST 2

static bool take_entry(struct figures_read *out, const struct figures *f,
		       const Omis_object_result *o)
{
	Omis_value *v = omis_value_parse(o->result, o->result_len);
	bool ok = true;

	for (size_t i = 0; v && i < FIGURES; i++)
		if (f->dfg[i][0] && str_eq(f->dfg[i], o->obj_list))
			ok = take_values(out, (enum figure)i, value_at(v, READ_LIST));
	omis_value_free(v);
	return ok;
}

bool figures_take(struct figures_read *out, const struct figures *f,
		  const Omis_object_result *entries)
{
	bool ok = true;

	*out = (struct figures_read){ 0 };
	for (const Omis_object_result *o = entries; ok && o && o->obj_list; o++)
		if (o->status < OMIS_FIRST_ERROR && o->result)
			ok = take_entry(out, f, o);
	if (!ok)
		figures_read_done(out);
	join(out);
	return ok;
}

void figures_read_done(struct figures_read *r)
{
	free(r->object);
	*r = (struct figures_read){ 0 };
}

double figures_value(const struct figures_read *r, const char *object, enum figure f)
{
	const struct figure_values *v = find(r, object);

	return v && v->v[f] >= 0 && isfinite(v->v[f]) ? v->v[f] : (double)NAN;
}

double figures_increase(const struct figures_read *before, const struct figures_read *now,
			const char *object, enum figure f)
{
	double by = figures_value(now, object, f) - figures_value(before, object, f);

	return by >= 0 ? by : (double)NAN;
}
