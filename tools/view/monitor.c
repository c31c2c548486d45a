/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/view/monitor.h"

#include "common/base/clock.h"
#include "common/base/str.h"
#include "tools/session/session.h"
#include "tools/libomis/tree_fields.h"
#include "tools/term/table.h"
#include "tools/view/health.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* --- causes */

static void add_problem(struct monitor *m, const char *where, const char *text, const char *remedy)
{
	struct monitor_problem *p;

	for (size_t i = 0; i < m->nproblem && i < MONITOR_PROBLEMS_MAX; i++) {
		if (m->problem[i].remedy != remedy)
			continue;
		m->problem[i].places++;
		return;
	}
	if (m->nproblem++ >= MONITOR_PROBLEMS_MAX)
		return;
	p = &m->problem[m->nproblem - 1];
	*p = (struct monitor_problem){ .remedy = remedy, .places = 1 };
	snprintf(p->where, sizeof(p->where), "%s", where);
	snprintf(p->text, sizeof(p->text), "%s", text);
}

/* --- objects */

static bool is_process_that_lives(const Omis_value *o)
{
	return value_text(o, TREE_TOKEN)[0] == 'p' && !str_eq(value_text(o, TREE_STATE), "ended");
}

static const char *name_of(const Omis_value *o)
{
	const char *host = value_text(o, TREE_HOST);

	return host[0] ? host : value_text(o, TREE_NAME);
}

static void judge_node(struct monitor *m, const Omis_value *o)
{
	static const char remedy[] = "its values are missing; see \"When something does not "
				     "work\" in the manual";
	const char *state = value_text(o, TREE_STATE);
	char where[128], text[64], time[TABLE_NUMBER_BYTES];

	if (str_eq(state, "up"))
		return;
	snprintf(where, sizeof(where), "host %.100s", name_of(o));
	snprintf(text, sizeof(text), "%.16s for %s", state,
		 table_duration(time, value_float(o, TREE_AGE) / 1e9));
	add_problem(m, where, text, remedy);
}

static void read_tree(struct monitor *m, const Omis_value *tree)
{
	for (size_t i = 0; tree && i < tree->n; i++) {
		const Omis_value *o = &tree->list[i];
		char class = value_text(o, TREE_TOKEN)[0];

		m->sites += class == 's';
		m->hosts += class == 'n';
		m->processes += is_process_that_lives(o);
		if (class == 'n')
			judge_node(m, o);
	}
}

char *monitor_daemon(const Omis_value *tree, const char *program, const char *token, char *out,
		     size_t size)
{
	char safe[128];

	snprintf(out, size, "%s", program);
	for (size_t i = 0; tree && token[0] && i < tree->n; i++)
		if (str_eq(value_text(&tree->list[i], TREE_TOKEN), token)) {
			const char *name = name_of(&tree->list[i]);

			snprintf(out, size, "%.20s of %s", program,
				 str_show(safe, sizeof(safe), name));
		}
	return out;
}

/* --- daemons */

static void note_certificate(struct monitor *m, const char *name, double v)
{
	double end = str_eq(name, "certificate_expires_ns") ? v / 1e9 : (double)NAN;

	if (!isnan(end) && !(end >= m->certificates_s))
		m->certificates_s = end;
}

static void note_mainsm(struct monitor *m, const char *name, double v)
{
	if (str_eq(name, "tools"))
		m->tools = v;
	else if (str_eq(name, "dfgs_running"))
		m->measurements = v;
	else if (str_eq(name, "csrs_enabled"))
		m->csrs = v;
	else if (str_eq(name, "subscriptions"))
		m->subscriptions = v;
	else if (str_eq(name, "rss_bytes"))
		m->rss_bytes = v;
}

/* where: "lm of node1" */
static void read_daemon(struct monitor *m, const char *where, const Omis_value *v, double now_s,
			const char *version)
{
	struct health_note note[MONITOR_NOTES_MAX];
	bool is_mainsm = str_eq(value_text(v, 0), "mainsm");
	size_t n = health_notes(v, now_s, version, note, MONITOR_NOTES_MAX);
	const Omis_value *pair;

	m->daemons++;
	for (size_t i = 0; i < n && i < MONITOR_NOTES_MAX; i++)
		add_problem(m, where, note[i].text, note[i].remedy);
	for (size_t i = 3; (pair = value_at(v, i)); i++) {
		note_certificate(m, value_text(pair, 0), value_float(pair, 1));
		if (is_mainsm)
			note_mainsm(m, value_text(pair, 0), value_float(pair, 1));
	}
	if (is_mainsm) {
		m->up_s = value_float(v, 2) / 1e9;
		str_copy(m->version, sizeof(m->version), value_text(v, 1));
	}
}

static void note_missing(struct monitor *m, Omis_reply r)
{
	Omis_coverage c;
	char text[160];

	omis_reply_coverage(r, &c);
	if (c.answered >= c.asked)
		return;
	snprintf(text, sizeof(text), "%u of %u daemons replied%s%.100s", c.answered, c.asked,
		 c.n_missing ? "; " : "", c.n_missing ? c.missing[0].reason : "");
	add_problem(m, c.n_missing ? c.missing[0].object : "status", text,
		    "ask again; omig doctor looks for the cause");
}

void monitor_read(struct monitor *m, const Omis_value *tree, Omis_reply r, double now_s,
		  const char *version)
{
	const double none = (double)NAN;

	*m = (struct monitor){ .measurements = none,
			       .csrs = none,
			       .subscriptions = none,
			       .tools = none,
			       .up_s = none,
			       .rss_bytes = none,
			       .certificates_s = none };
	for (Omis_service_result s = r[0] && r[1] ? r[1] : NULL; s && s->obj_list; s++) {
		Omis_value *v = s->status < OMIS_FIRST_ERROR && s->result
					? omis_value_parse(s->result, s->result_len)
					: NULL;

		char where[128];

		monitor_daemon(tree, value_text(v, 0), s->obj_list, where, sizeof(where));
		if (v)
			read_daemon(m, where, v, now_s, version);
		else if (s->status >= OMIS_FIRST_ERROR)
			add_problem(m, s->obj_list, omis_strerror(s->status),
				    "omig doctor looks for the cause");
		omis_value_free(v);
	}
	read_tree(m, tree);
	note_missing(m, r);
}

/* --- lines */

static void put_problems(const struct term *t, const struct monitor *m, struct buf *out)
{
	for (size_t i = 0; i < m->nproblem && i < MONITOR_PROBLEMS_MAX; i++) {
		const struct monitor_problem *p = &m->problem[i];
		char safe[640];

		buf_printf(out, "%sWARN%s %s", term_paint(t, TERM_YELLOW),
			   term_paint(t, TERM_PLAIN), str_show(safe, sizeof(safe), p->where));
		if (p->places > 1)
			buf_printf(out, " and %zu more", p->places - 1);
		buf_printf(out, ": %s -> %s\n", str_show(safe, sizeof(safe), p->text), p->remedy);
	}
	if (m->nproblem > MONITOR_PROBLEMS_MAX)
		buf_printf(out, "... %zu more\n", m->nproblem - MONITOR_PROBLEMS_MAX);
}

static void put_well(const struct term *t, const struct monitor *m, struct buf *out)
{
	char when[CLOCK_TEXT_BYTES];

	buf_printf(out, "%sall well%s: nothing lost, no daemon is late", term_paint(t, TERM_GREEN),
		   term_paint(t, TERM_PLAIN));
	if (!isnan(m->certificates_s))
		buf_printf(out, ", certificates until %.10s",
			   clock_format_rfc3339(when, (nsec_t)(m->certificates_s * 1e9), 0));
	buf_putc(out, '\n');
}

static void put_count(struct buf *out, const char *before, double n, const char *one,
		      const char *many)
{
	char text[TABLE_NUMBER_BYTES];

	buf_printf(out, "%s%s %s", before, table_count(text, n), n == 1 ? one : many);
}

void monitor_show(const struct term *t, const struct monitor *m, struct buf *out)
{
	char up[TABLE_NUMBER_BYTES], rss[TABLE_NUMBER_BYTES], safe[160];

	if (m->nproblem)
		put_problems(t, m, out);
	else
		put_well(t, m, out);
	buf_printf(out, "mainsm   version %s, up %s, %s of memory",
		   str_show(safe, sizeof(safe), m->version), table_duration(up, m->up_s),
		   table_bytes(rss, m->rss_bytes));
	put_count(out, ", ", m->tools, "tool", "tools");
	put_count(out, "\nwatched  ", (double)m->sites, "site", "sites");
	put_count(out, ", ", (double)m->hosts, "host", "hosts");
	put_count(out, ", ", (double)m->processes, "process", "processes");
	put_count(out, "\nwork     ", m->measurements, "measurement", "measurements");
	put_count(out, ", ", m->csrs, "conditional request", "conditional requests");
	put_count(out, ", ", m->subscriptions, "subscription", "subscriptions");
	put_count(out, "\n-v shows all counters of ", (double)m->daemons, "daemon", "daemons");
	buf_putc(out, '\n');
}
