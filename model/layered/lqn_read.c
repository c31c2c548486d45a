/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/str.h"
#include "common/cli/nearest.h"
#include "model/layered/named.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WORD_BYTES 128

struct reader {
	const char *at, *end, *line_at;
	unsigned line, word_line, word_col;
	char word[WORD_BYTES]; /* "" at the end */
	bool has_word; /* it is not consumed yet */
	struct layered *m;
	struct err *e;
};

static int fail_at(const struct reader *r, int rc)
{
	err_at(r->e, r->word_line, r->word_col);
	return rc;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static void skip_blanks(struct reader *r)
{
	while (r->at < r->end && (is_blank(*r->at) || *r->at == '#')) {
		if (*r->at == '#') {
			while (r->at < r->end && *r->at != '\n')
				r->at++;
			continue;
		}
		if (*r->at++ == '\n') {
			r->line++;
			r->line_at = r->at;
		}
	}
}

/* Reads the next word; quotes keep blanks. A word that is too long is cut, and then unknown. */
static void read_word(struct reader *r)
{
	size_t n = 0;
	bool is_quoted;

	skip_blanks(r);
	r->word_line = r->line;
	r->word_col = (unsigned)(r->at - r->line_at) + 1;
	is_quoted = r->at < r->end && *r->at == '"';
	for (r->at += is_quoted; r->at < r->end; r->at++) {
		if (is_quoted ? *r->at == '"' || *r->at == '\n' : is_blank(*r->at) || *r->at == '#')
			break;
		if (n + 1 < sizeof(r->word))
			r->word[n++] = *r->at;
	}
	if (is_quoted && r->at < r->end && *r->at == '"')
		r->at++;
	r->word[n] = 0;
}

static const char *peek(struct reader *r)
{
	if (!r->has_word)
		read_word(r);
	r->has_word = true;
	return r->word;
}

static const char *take(struct reader *r)
{
	peek(r);
	r->has_word = false;
	return r->word;
}

static bool is_end(struct reader *r)
{
	return !*peek(r) && r->at >= r->end;
}

static int number(struct reader *r, const char *what, double least, double *out)
{
	const char *text = take(r);

	if (str_to_double(text, least, LAYERED_NUMBER_MAX, out))
		return fail_at(r, err_set(r->e, ERR_PARSE, "%s: a number from %g, not '%.30s'",
					  what, least, text));
	return 0;
}

static int whole(struct reader *r, const char *what, unsigned *out)
{
	const char *text = take(r);
	uint64_t v;

	if (str_to_u64(text, 1, NETWORK_POPULATION_MAX, &v))
		return fail_at(r, err_set(r->e, ERR_PARSE, "%s: a whole number from 1, not '%.30s'",
					  what, text));
	*out = (unsigned)v;
	return 0;
}

static int name(struct reader *r, const char *what, char out[LAYERED_NAME_BYTES])
{
	const char *text = take(r);

	if (!layered_is_name(text))
		return fail_at(r,
			       err_set(r->e, ERR_PARSE, "a name of a %s, not '%.30s'", what, text));
	str_copy(out, LAYERED_NAME_BYTES, text);
	return 0;
}

static int unknown_word(struct reader *r, const char *known)
{
	return fail_at(r, err_set(r->e, ERR_PARSE, "'%.30s' is unknown here: %s", r->word, known));
}

/* Takes the word that a line of a section begins with. */
static int key(struct reader *r, const char *word)
{
	if (str_eq(take(r), word))
		return 0;
	return fail_at(
		r, err_set(r->e, ERR_PARSE, "'%.30s' is unknown here: %s or -1", r->word, word));
}

/* --- names of objects */

static int entry(struct reader *r, size_t *out)
{
	struct nearest near;
	const char *text = take(r);

	*out = layered_find_entry(r->m, text);
	if (*out != LAYERED_NOTHING)
		return 0;
	near = nearest_to(text);
	for (size_t i = 0; i < r->m->nentry; i++)
		nearest_try(&near, r->m->entry[i].name);
	return fail_at(r, err_set(r->e, ERR_INVALID, "no task has an entry '%.30s'%s%s", text,
				  near.best ? "; did you mean " : "", near.best ? near.best : ""));
}

static int twice(struct reader *r, const char *what, const char *text)
{
	return fail_at(r, err_set(r->e, ERR_INVALID, "a second %s '%s'", what, text));
}

/* Returns rc of array_grow(), with the reason. */
static int no_room(struct reader *r, int rc, const char *what)
{
	if (rc == -ERR_NOMEM)
		return err_nomem(r->e);
	return fail_at(r, err_set(r->e, ERR_LIMIT, "too many %s", what));
}

/* --- sections */

/* "m 3" and "i" behind a processor or task; *is_infinite and *count are set. */
static int multiplicity(struct reader *r, unsigned *count, bool *is_infinite)
{
	if (str_eq(r->word, "i")) {
		*is_infinite = true;
		return 0;
	}
	return whole(r, "multiplicity", count);
}

static int discipline(struct reader *r, struct layered_processor *p)
{
	const char *text = take(r);

	if (str_eq(text, "f"))
		p->kind = STATION_FCFS;
	else if (str_eq(text, "p"))
		p->kind = STATION_SHARED;
	else if (str_eq(text, "i"))
		p->kind = STATION_DELAY;
	else
		return fail_at(r, err_set(r->e, ERR_UNSUPPORTED,
					  "the discipline '%.30s' is not served: f (FCFS), p "
					  "(processor sharing) or i (infinite)",
					  text));
	return 0;
}

static int read_processor(struct reader *r)
{
	struct layered *m = r->m;
	struct layered_processor p = { .servers = 1, .speed = 1 };
	bool is_infinite = false;
	int rc = key(r, "p");

	if (!rc)
		rc = name(r, "processor", p.name);
	if (!rc && layered_find_processor(m, p.name) != LAYERED_NOTHING)
		rc = twice(r, "processor", p.name);
	if (!rc)
		rc = discipline(r, &p);
	while (!rc && (str_eq(peek(r), "m") || str_eq(r->word, "i") || str_eq(r->word, "R"))) {
		take(r);
		rc = str_eq(r->word, "R") ? number(r, "the speed", 1e-9, &p.speed)
					  : multiplicity(r, &p.servers, &is_infinite);
	}
	if (rc)
		return rc;
	if (is_infinite)
		p.kind = STATION_DELAY;
	rc = layered_add_processor(m, &p);
	return rc ? no_room(r, rc, "processors") : 0;
}

static int task_kind(struct reader *r, struct layered_task *t)
{
	const char *text = take(r);

	t->is_reference = str_eq(text, "r");
	t->is_infinite = str_eq(text, "i");
	if (t->is_reference || t->is_infinite || str_eq(text, "n") || str_eq(text, "f"))
		return 0;
	return fail_at(r, err_set(r->e, ERR_UNSUPPORTED,
				  "the kind of task '%.30s' is not served: r (reference), n or f "
				  "(FCFS), i (infinite)",
				  text));
}

static int read_entries(struct reader *r, size_t task)
{
	struct layered *m = r->m;
	int rc = 0;

	while (!rc && !str_eq(peek(r), "-1")) {
		struct layered_entry v = { .task = task, .phase = { { .cv2 = 1 }, { .cv2 = 1 } } };

		rc = name(r, "entry", v.name);
		if (!rc && layered_find_entry(m, v.name) != LAYERED_NOTHING)
			rc = twice(r, "entry", v.name);
		if (rc)
			break;
		rc = layered_add_entry(m, &v);
		if (rc)
			return no_room(r, rc, "entries");
	}
	if (!rc)
		take(r);
	return rc;
}

static int task_processor(struct reader *r, struct layered_task *t)
{
	const char *text = take(r);

	t->processor = layered_find_processor(r->m, text);
	if (t->processor != LAYERED_NOTHING)
		return 0;
	return fail_at(r, err_set(r->e, ERR_INVALID, "there is no processor '%.30s'", text));
}

static int read_task(struct reader *r)
{
	struct layered *m = r->m;
	struct layered_task t = { .threads = 1 };
	size_t entries = m->nentry;
	int rc = key(r, "t");

	if (!rc)
		rc = name(r, "task", t.name);
	if (!rc && layered_find_task(m, t.name) != LAYERED_NOTHING)
		rc = twice(r, "task", t.name);
	if (!rc)
		rc = task_kind(r, &t);
	if (!rc)
		rc = read_entries(r, m->ntask);
	if (!rc && m->nentry == entries)
		rc = fail_at(r, err_set(r->e, ERR_INVALID, "task '%s' has no entry", t.name));
	if (!rc)
		rc = task_processor(r, &t);
	while (!rc && (str_eq(peek(r), "m") || str_eq(r->word, "z") || str_eq(r->word, "i"))) {
		take(r);
		rc = str_eq(r->word, "z") ? number(r, "the think time", 0, &t.think)
					  : multiplicity(r, &t.threads, &t.is_infinite);
	}
	if (rc)
		return rc;
	rc = layered_add_task(m, &t);
	return rc ? no_room(r, rc, "tasks") : 0;
}

/* Reads numbers of phases up to -1; those that are left out stay as they are. */
static int phases(struct reader *r, const char *what, double out[LAYERED_PHASES])
{
	double v = 0;
	int rc = number(r, what, 0, &out[0]);

	if (!rc && !str_eq(peek(r), "-1"))
		rc = number(r, what, 0, &out[1]);
	while (!rc && !str_eq(peek(r), "-1")) {
		rc = number(r, what, 0, &v);
		if (!rc && v > 0)
			rc = fail_at(r,
				     err_set(r->e, ERR_UNSUPPORTED, "third phases are not served"));
	}
	if (!rc)
		take(r);
	return rc;
}

static int read_call(struct reader *r, enum layered_call_kind kind)
{
	struct layered *m = r->m;
	struct layered_call c = { .kind = kind };
	int rc = entry(r, &c.from);

	if (!rc)
		rc = entry(r, &c.to);
	if (!rc)
		rc = phases(r, kind == LAYERED_FORWARD ? "a probability" : "a number of calls",
			    c.count);
	if (!rc && kind == LAYERED_FORWARD && c.count[1] > 0)
		rc = fail_at(r, err_set(r->e, ERR_UNSUPPORTED,
					"only the end of the first phase can forward"));
	if (rc || !(c.count[0] + c.count[1] > 0))
		return rc;
	rc = layered_add_call(m, &c);
	return rc ? no_room(r, rc, "calls") : 0;
}

/* Reads what a line of one entry has for its phases: s, Z, c or f. */
static int read_phases(struct reader *r, char key)
{
	double v[LAYERED_PHASES] = { 0 };
	size_t at;
	int rc = entry(r, &at);

	if (!rc && key == 'c')
		v[1] = r->m->entry[at].phase[1].cv2;
	if (!rc)
		rc = phases(r,
			    key == 'c'	 ? "a squared coefficient of variation"
			    : key == 'f' ? "0 or 1"
					 : "a time",
			    v);
	for (size_t i = 0; !rc && i < LAYERED_PHASES; i++) {
		struct layered_phase *p = &r->m->entry[at].phase[i];

		if (key == 's')
			p->demand = v[i];
		else if (key == 'Z')
			p->think = v[i];
		else if (key == 'c')
			p->cv2 = v[i];
		else
			p->is_fixed = v[i] > 0;
	}
	return rc;
}

static int read_entry_line(struct reader *r)
{
	static const char known[] = "s, y, z, F, a, c, f, Z or -1";
	size_t at;
	char key = take(r)[0];
	int rc;

	if (!key || r->word[1])
		return unknown_word(r, known);
	if (strchr("pMPA", key))
		return fail_at(r, err_set(r->e, ERR_UNSUPPORTED,
					  "lines '%c' are not served: s, y, z, F, a, c, f, Z are",
					  key));
	if (strchr("yzF", key))
		return read_call(r, key == 'y'	 ? LAYERED_WAIT
				    : key == 'z' ? LAYERED_SEND
						 : LAYERED_FORWARD);
	if (strchr("sZcf", key))
		return read_phases(r, key);
	if (key != 'a')
		return unknown_word(r, known);
	rc = entry(r, &at);
	return rc ? rc : number(r, "a rate", 0, &r->m->entry[at].arrivals);
}

/* The general section: a comment and settings of the solver of LQNS, up to -1. */
static int read_general(struct reader *r)
{
	take(r);
	while (!is_end(r) && !str_eq(peek(r), "-1"))
		take(r);
	if (is_end(r))
		return fail_at(r, err_set(r->e, ERR_PARSE, "the section G does not end with -1"));
	take(r);
	return 0;
}

static int read_section(struct reader *r, int (*one)(struct reader *))
{
	double count;
	int rc = number(r, "the number of lines", 0, &count);

	while (!rc && !str_eq(peek(r), "-1")) {
		if (is_end(r))
			return fail_at(
				r, err_set(r->e, ERR_PARSE, "the section does not end with -1"));
		rc = one(r);
	}
	if (!rc)
		take(r);
	return rc;
}

static int read_sections(struct reader *r)
{
	int rc = 0;

	while (!rc && !is_end(r)) {
		const char *text = take(r);

		if (str_eq(text, "G"))
			rc = read_general(r);
		else if (str_eq(text, "P"))
			rc = read_section(r, read_processor);
		else if (str_eq(text, "T"))
			rc = read_section(r, read_task);
		else if (str_eq(text, "E"))
			rc = read_section(r, read_entry_line);
		else
			rc = unknown_word(r, "a section begins with G, P, T or E");
	}
	return rc;
}

/* --- comments with intervals of demands */

static int interval_end(struct reader *r, const char *what, double *out)
{
	if (!str_eq(peek(r), "-"))
		return number(r, what, -LAYERED_NUMBER_MAX, out);
	take(r);
	*out = NAN;
	return 0;
}

static int set_interval(struct reader *r, struct layered_phase *p, const double v[3])
{
	if (!(v[2] > 0 && v[2] <= 1))
		return fail_at(r, err_set(r->e, ERR_PARSE, "a level above 0, up to 1"));
	if (v[0] > p->demand || v[1] < p->demand)
		return fail_at(r, err_set(r->e, ERR_INVALID,
					  "the demand %g is not between its ends %g and %g",
					  p->demand, v[0], v[1]));
	p->low = v[0];
	p->high = v[1];
	p->level = v[2];
	return 0;
}

static int read_interval(struct reader *r)
{
	double v[3] = { 0 };
	size_t at;
	unsigned phase = 1;
	int rc = entry(r, &at);

	if (!rc)
		rc = whole(r, "the phase", &phase);
	if (!rc && phase > LAYERED_PHASES)
		rc = fail_at(r, err_set(r->e, ERR_UNSUPPORTED, "third phases are not served"));
	if (!rc)
		rc = interval_end(r, "the low end", &v[0]);
	if (!rc)
		rc = interval_end(r, "the high end", &v[1]);
	if (!rc)
		rc = number(r, "the level", 0, &v[2]);
	if (!rc)
		rc = set_interval(r, &r->m->entry[at].phase[phase - 1], v);
	return !rc && *peek(r) ? unknown_word(r, "the line ends behind the level") : rc;
}

int lqn_read_interval(struct layered *m, const struct lqn_part *part, struct err *e)
{
	struct reader r = { .at = part->text,
			    .end = part->text + part->n,
			    .line_at = part->text - (part->col - 1),
			    .line = part->line,
			    .m = m,
			    .e = e };

	return read_interval(&r);
}

/* Reads the text once more, because an interval may stand before its entry. */
static int read_intervals(const struct reader *r, const char *text)
{
	static const char word[] = "#interval";
	int rc = 0;

	for (unsigned line = 1; !rc && text < r->end; line++) {
		const char *stop = memchr(text, '\n', (size_t)(r->end - text));
		size_t n = (size_t)((stop ? stop : r->end) - text), skip = strlen(word);

		if (n > skip && !memcmp(text, word, skip) && is_blank(text[skip]))
			rc = lqn_read_interval(r->m,
					       &(struct lqn_part){ text + skip, n - skip, line,
								   (unsigned)skip + 1 },
					       r->e);
		text += n + 1;
	}
	return rc;
}

int layered_read_lqn(const char *text, size_t n, struct layered *out, struct err *e)
{
	struct err own = { 0 };
	struct layered m = { 0 };
	struct reader r = {
		.at = text, .end = text + n, .line_at = text, .line = 1, .m = &m, .e = e ? e : &own
	};
	int rc = read_sections(&r);

	if (!rc)
		rc = read_intervals(&r, text);
	if (!rc)
		rc = layered_check(&m, r.e);
	if (rc)
		layered_done(&m);
	else
		*out = m;
	return rc;
}
