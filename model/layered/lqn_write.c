/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/str.h"
#include "model/layered/named.h"

#include <math.h>
#include <string.h>

static void put_number(struct buf *out, double v)
{
	char text[STR_DOUBLE_BYTES];

	buf_printf(out, " %s", str_from_double(text, v));
}

static bool needs_quotes(const char *name)
{
	return strpbrk(name, " #") || name[0] == '"';
}

/* Writes a blank and a name. */
static void put_name(struct buf *out, const char *name)
{
	buf_printf(out, needs_quotes(name) ? " \"%s\"" : " %s", name);
}

static int check_name(const char *name, struct err *e)
{
	if (!needs_quotes(name) || !strchr(name, '"'))
		return 0;
	return err_set(e, ERR_UNSUPPORTED,
		       "the name '%s' has a quote: .lqn cannot have it, .lqnx can", name);
}

static int check_names(const struct layered *m, struct err *e)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < m->nprocessor; i++)
		rc = check_name(m->processor[i].name, e);
	for (size_t i = 0; !rc && i < m->ntask; i++)
		rc = check_name(m->task[i].name, e);
	for (size_t i = 0; !rc && i < m->nentry; i++)
		rc = check_name(m->entry[i].name, e);
	return rc;
}

static void put_processors(const struct layered *m, struct buf *out)
{
	static const char *const kinds[] = {
		[STATION_SHARED] = "p", [STATION_FCFS] = "f", [STATION_DELAY] = "i"
	};

	buf_printf(out, "P %zu\n", m->nprocessor);
	for (size_t i = 0; i < m->nprocessor; i++) {
		const struct layered_processor *p = &m->processor[i];

		buf_puts(out, "p");
		put_name(out, p->name);
		buf_printf(out, " %s", kinds[p->kind]);
		if (p->servers != 1)
			buf_printf(out, " m %u", p->servers);
		if (p->speed != 1) {
			buf_puts(out, " R");
			put_number(out, p->speed);
		}
		buf_putc(out, '\n');
	}
	buf_puts(out, "-1\n");
}

static void put_tasks(const struct layered *m, struct buf *out)
{
	buf_printf(out, "T %zu\n", m->ntask);
	for (size_t i = 0; i < m->ntask; i++) {
		const struct layered_task *t = &m->task[i];

		buf_puts(out, "t");
		put_name(out, t->name);
		buf_puts(out, t->is_reference ? " r" : t->is_infinite ? " i" : " n");
		for (size_t k = 0; k < m->nentry; k++)
			if (m->entry[k].task == i)
				put_name(out, m->entry[k].name);
		buf_puts(out, " -1");
		put_name(out, m->processor[t->processor].name);
		if (t->think > 0) {
			buf_puts(out, " z");
			put_number(out, t->think);
		}
		if (t->threads != 1)
			buf_printf(out, " m %u", t->threads);
		if (t->is_reference && t->is_infinite)
			buf_puts(out, " i");
		buf_putc(out, '\n');
	}
	buf_puts(out, "-1\n");
}

/* Writes a line of both phases, unless they have the usual value. */
static void put_phases(struct buf *out, const char *key, const char *name, const double v[2],
		       double usual)
{
	if (v[0] == usual && v[1] == usual)
		return;
	buf_puts(out, key);
	put_name(out, name);
	put_number(out, v[0]);
	if (v[1] != usual)
		put_number(out, v[1]);
	buf_puts(out, " -1\n");
}

static void put_entry(const struct layered_entry *v, struct buf *out)
{
	const struct layered_phase *p = v->phase;

	if (v->arrivals > 0) {
		buf_puts(out, "a");
		put_name(out, v->name);
		put_number(out, v->arrivals);
		buf_putc(out, '\n');
	}
	put_phases(out, "s", v->name, (double[]){ p[0].demand, p[1].demand }, 0);
	put_phases(out, "Z", v->name, (double[]){ p[0].think, p[1].think }, 0);
	put_phases(out, "c", v->name, (double[]){ p[0].cv2, p[1].cv2 }, 1);
	put_phases(out, "f", v->name, (double[]){ p[0].is_fixed, p[1].is_fixed }, 0);
}

static void put_call(const struct layered *m, const struct layered_call *c, struct buf *out)
{
	static const char *const keys[] = {
		[LAYERED_WAIT] = "y", [LAYERED_SEND] = "z", [LAYERED_FORWARD] = "F"
	};

	buf_puts(out, keys[c->kind]);
	put_name(out, m->entry[c->from].name);
	put_name(out, m->entry[c->to].name);
	put_number(out, c->count[0]);
	if (c->count[1] > 0)
		put_number(out, c->count[1]);
	buf_puts(out, " -1\n");
}

void lqn_put_interval(const struct layered_phase *p, unsigned phase, struct buf *out)
{
	const double ends[] = { p->low, p->high };

	buf_printf(out, " %u", phase);
	for (size_t i = 0; i < 2; i++) {
		if (isnan(ends[i]))
			buf_puts(out, " -");
		else
			put_number(out, ends[i]);
	}
	put_number(out, p->level);
}

int layered_write_lqn(const struct layered *m, struct buf *out, struct err *e)
{
	int rc = check_names(m, e);

	if (rc)
		return rc;
	buf_puts(out, "G \"\" 1e-06 50 1 0.9 -1\n");
	put_processors(m, out);
	put_tasks(m, out);
	buf_printf(out, "E %zu\n", m->nentry);
	for (size_t i = 0; i < m->nentry; i++)
		put_entry(&m->entry[i], out);
	for (size_t i = 0; i < m->ncall; i++)
		put_call(m, &m->call[i], out);
	buf_puts(out, "-1\n");
	for (size_t i = 0; i < m->nentry; i++)
		for (unsigned k = 0; k < LAYERED_PHASES; k++) {
			if (!(m->entry[i].phase[k].level > 0))
				continue;
			buf_puts(out, "#interval");
			put_name(out, m->entry[i].name);
			lqn_put_interval(&m->entry[i].phase[k], k + 1, out);
			buf_putc(out, '\n');
		}
	return 0;
}
