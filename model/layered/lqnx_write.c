/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/str.h"
#include "model/layered/named.h"

#include <string.h>

static void put_attribute(struct buf *out, const char *name, const char *value)
{
	buf_printf(out, " %s=\"", name);
	for (; *value; value++)
		switch (*value) {
		case '<':
			buf_puts(out, "&lt;");
			break;
		case '&':
			buf_puts(out, "&amp;");
			break;
		case '"':
			buf_puts(out, "&quot;");
			break;
		default:
			buf_putc(out, (uint8_t)*value);
		}
	buf_putc(out, '"');
}

static void put_number(struct buf *out, const char *name, double v)
{
	char text[STR_DOUBLE_BYTES];

	put_attribute(out, name, str_from_double(text, v));
}

/* Leaves out the usual value. */
static void put_unusual(struct buf *out, const char *name, double v, double usual)
{
	if (v != usual)
		put_number(out, name, v);
}

static void put_calls(const struct layered *m, size_t entry, size_t phase, struct buf *out)
{
	for (size_t i = 0; i < m->ncall; i++) {
		const struct layered_call *c = &m->call[i];

		if (c->from != entry || c->kind == LAYERED_FORWARD || !(c->count[phase] > 0))
			continue;
		buf_puts(out, c->kind == LAYERED_WAIT ? "            <synch-call"
						      : "            <asynch-call");
		put_attribute(out, "dest", m->entry[c->to].name);
		put_number(out, "calls-mean", c->count[phase]);
		buf_puts(out, "/>\n");
	}
}

static bool has_calls(const struct layered *m, size_t entry, size_t phase)
{
	for (size_t i = 0; i < m->ncall; i++)
		if (m->call[i].from == entry && m->call[i].kind != LAYERED_FORWARD &&
		    m->call[i].count[phase] > 0)
			return true;
	return false;
}

static void put_phase(const struct layered *m, size_t entry, size_t phase, struct buf *out)
{
	const struct layered_phase *p = &m->entry[entry].phase[phase];
	char name[LAYERED_NAME_BYTES + 8];
	bool has = has_calls(m, entry, phase);
	struct buf text = BUF_INIT(sizeof(name));

	if (phase && !has && !(p->demand + p->think > 0) && p->cv2 == 1 && !p->is_fixed)
		return;
	buf_printf(&text, "%s_ph%zu", m->entry[entry].name, phase + 1);
	buf_puts(out, "          <activity");
	put_attribute(out, "name", buf_str(&text));
	buf_done(&text);
	put_number(out, "phase", (double)phase + 1);
	put_number(out, "host-demand-mean", p->demand);
	put_unusual(out, "host-demand-cvsq", p->cv2, 1);
	put_unusual(out, "think-time", p->think, 0);
	if (p->is_fixed)
		put_attribute(out, "call-order", "DETERMINISTIC");
	buf_puts(out, has ? ">\n" : "/>\n");
	if (!has)
		return;
	put_calls(m, entry, phase, out);
	buf_puts(out, "          </activity>\n");
}

static void put_entry(const struct layered *m, size_t entry, struct buf *out)
{
	buf_puts(out, "      <entry");
	put_attribute(out, "name", m->entry[entry].name);
	put_attribute(out, "type", "PH1PH2");
	put_unusual(out, "open-arrival-rate", m->entry[entry].arrivals, 0);
	buf_puts(out, ">\n");
	for (size_t i = 0; i < m->ncall; i++) {
		const struct layered_call *c = &m->call[i];

		if (c->from != entry || c->kind != LAYERED_FORWARD)
			continue;
		buf_puts(out, "        <forwarding");
		put_attribute(out, "dest", m->entry[c->to].name);
		put_number(out, "prob", c->count[0]);
		buf_puts(out, "/>\n");
	}
	buf_puts(out, "        <entry-phase-activities>\n");
	for (size_t phase = 0; phase < LAYERED_PHASES; phase++)
		put_phase(m, entry, phase, out);
	buf_puts(out, "        </entry-phase-activities>\n      </entry>\n");
}

static void put_task(const struct layered *m, size_t task, struct buf *out)
{
	const struct layered_task *t = &m->task[task];

	buf_puts(out, "    <task");
	put_attribute(out, "name", t->name);
	put_attribute(out, "scheduling", t->is_reference ? "ref" : t->is_infinite ? "inf" : "fcfs");
	put_unusual(out, "multiplicity", t->threads, 1);
	put_unusual(out, "think-time", t->think, 0);
	buf_puts(out, ">\n");
	for (size_t i = 0; i < m->nentry; i++)
		if (m->entry[i].task == task)
			put_entry(m, i, out);
	buf_puts(out, "    </task>\n");
}

static void put_processor(const struct layered *m, size_t processor, struct buf *out)
{
	static const char *const kinds[] = {
		[STATION_SHARED] = "ps", [STATION_FCFS] = "fcfs", [STATION_DELAY] = "inf"
	};
	const struct layered_processor *p = &m->processor[processor];

	buf_puts(out, "  <processor");
	put_attribute(out, "name", p->name);
	put_attribute(out, "scheduling", kinds[p->kind]);
	put_unusual(out, "multiplicity", p->servers, 1);
	put_unusual(out, "speed-factor", p->speed, 1);
	buf_puts(out, ">\n");
	for (size_t i = 0; i < m->ntask; i++)
		if (m->task[i].processor == processor)
			put_task(m, i, out);
	buf_puts(out, "  </processor>\n");
}

/* A comment: an interval of a name that ends a comment is left out. */
static void put_interval(const struct layered_entry *v, unsigned phase, struct buf *out)
{
	if (!(v->phase[phase].level > 0) || strstr(v->name, "--") || strchr(v->name, '"'))
		return;
	buf_printf(out, "  <!--interval \"%s\"", v->name);
	lqn_put_interval(&v->phase[phase], phase + 1, out);
	buf_puts(out, "-->\n");
}

void layered_write_lqnx(const struct layered *m, struct buf *out)
{
	buf_puts(out, "<?xml version=\"1.0\"?>\n<lqn-model name=\"omig\">\n"
		      "  <solver-params conv_val=\"1e-06\" it_limit=\"50\"/>\n");
	for (size_t i = 0; i < m->nprocessor; i++)
		put_processor(m, i, out);
	for (size_t i = 0; i < m->nentry; i++)
		for (unsigned k = 0; k < LAYERED_PHASES; k++)
			put_interval(&m->entry[i], k, out);
	buf_puts(out, "</lqn-model>\n");
}
