/* SPDX-License-Identifier: Apache-2.0 */
/* Models written and read again, as .lqn and .lqnx. Seed: OMIG_TEST_SEED. */
#include "common/base/array.h"
#include "common/base/rng.h"
#include "common/base/str.h"
#include "model/layered/layered.h"
#include "tests/suite.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define MODELS 300
#define ROOM (1 << 20)

static struct rng rng;

static void begin_random(void)
{
	const char *seed = getenv("OMIG_TEST_SEED");
	uint64_t v = 20;

	if (seed && str_to_u64(seed, 0, UINT64_MAX, &v))
		v = 20;
	printf("# OMIG_TEST_SEED=%llu\n", (unsigned long long)v);
	rng_init(&rng, v);
}

static bool one_of(unsigned n)
{
	return rng_below(&rng, n) == 0;
}

static double value(void)
{
	return one_of(3) ? (double)rng_below(&rng, 5) : exp(20 * rng_double(&rng) - 10);
}

/* --- random models as text */

/* Names with blanks, marks of comments and of XML, and words of the form; in quotes. */
static const char *odd(unsigned i)
{
	static const char *const words[] = { "n", "m", "x#y", "two words", "-1 ", "é", "<&>'" };
	static char text[64];

	snprintf(text, sizeof(text), "\"%s%u\"", words[i % ARRAY_LEN(words)], i);
	return text;
}

#define TASKS_MAX 5

static void put_interval(struct buf *b, unsigned entry, double demand)
{
	buf_printf(b, "#interval %s 1 ", odd(entry));
	if (one_of(4))
		buf_puts(b, "- ");
	else
		buf_printf(b, "%.17g ", demand - value());
	buf_printf(b, "%.17g %g\n", demand + value(), one_of(3) ? 1 : 0.9);
}

static void put_calls(struct buf *b, unsigned tasks)
{
	for (unsigned from = 0; from < 2 * tasks; from++)
		for (unsigned to = 2 * (from / 2) + 2; to < 2 * tasks; to++) {
			const char *keys = from < 2 ? "yz" : "yzyzF";
			char key = keys[rng_below(&rng, strlen(keys))];

			if (one_of(2))
				continue;
			buf_printf(b, "%c %s ", key, odd(from));
			if (key == 'F')
				buf_printf(b, "%s %.17g -1\n", odd(to), 0.1 * rng_double(&rng));
			else
				buf_printf(b, "%s %llu %llu -1\n", odd(to),
					   (unsigned long long)rng_below(&rng, 4),
					   (unsigned long long)rng_below(&rng, 2));
		}
}

static void put_entries(struct buf *b, unsigned tasks, struct buf *intervals)
{
	for (unsigned i = 0; i < 2 * tasks; i++) {
		double demand = value();

		buf_printf(b, "s %s %.17g %.17g -1\n", odd(i), demand, one_of(2) ? value() : 0);
		if (one_of(3))
			buf_printf(b, "Z %s %.17g 0 -1\n", odd(i), value());
		if (one_of(3))
			buf_printf(b, "c %s %.17g 3 -1\n", odd(i), 2 * rng_double(&rng));
		if (one_of(3))
			buf_printf(b, "f %s 1 %u -1\n", odd(i), (unsigned)rng_below(&rng, 2));
		if (i >= 2 && one_of(5))
			buf_printf(b, "a %s %.17g\n", odd(i), value());
		if (one_of(3))
			put_interval(intervals, i, demand);
	}
}

static void random_text(struct buf *b)
{
	unsigned tasks = 2 + (unsigned)rng_below(&rng, TASKS_MAX - 1);
	struct buf intervals = BUF_INIT(ROOM);

	buf_puts(b, "P 0\n");
	for (unsigned i = 0; i < tasks; i++)
		buf_printf(b, "p %s %c m %u R %.17g\n", odd(i), "fpi"[rng_below(&rng, 3)],
			   1 + (unsigned)rng_below(&rng, 3), 0.1 + rng_double(&rng));
	buf_puts(b, "-1\nT 0\n");
	for (unsigned i = 0; i < tasks; i++) {
		buf_printf(b, "t %s %c ", odd(i), i ? "nfi"[rng_below(&rng, 3)] : 'r');
		buf_printf(b, "%s ", odd(2 * i));
		buf_printf(b, "%s -1 ", odd(2 * i + 1));
		buf_printf(b, "%s z %.17g m %u\n", odd((unsigned)rng_below(&rng, tasks)), value(),
			   1 + (unsigned)rng_below(&rng, 9));
	}
	buf_puts(b, "-1\nE 0\n");
	put_entries(b, tasks, &intervals);
	put_calls(b, tasks);
	buf_puts(b, "-1\n");
	buf_put(b, intervals.p, intervals.n);
	buf_done(&intervals);
}

static void random_model(struct layered *m)
{
	struct buf b = BUF_INIT(ROOM);
	struct err e = { 0 };

	random_text(&b);
	ck_assert_msg(!layered_read_lqn(buf_str(&b), b.n, m, &e), "%u:%u: %s\n%s", e.line, e.col,
		      e.text, buf_str(&b));
	buf_done(&b);
}

/* --- comparison: all numbers to the bit */

static bool same(double a, double b)
{
	return isnan(a) ? isnan(b) : a == b;
}

static bool same_phase(const struct layered_phase *a, const struct layered_phase *b)
{
	return a->demand == b->demand && a->think == b->think && a->cv2 == b->cv2 &&
	       a->is_fixed == b->is_fixed && a->level == b->level && same(a->low, b->low) &&
	       same(a->high, b->high);
}

static void same_objects(const struct layered *a, const struct layered *b)
{
	for (size_t i = 0; i < a->nprocessor; i++) {
		const struct layered_processor *p = &a->processor[i], *q = &b->processor[i];

		ck_assert(str_eq(p->name, q->name) && p->kind == q->kind &&
			  p->servers == q->servers && p->speed == q->speed);
	}
	for (size_t i = 0; i < a->ntask; i++) {
		const struct layered_task *p = &a->task[i], *q = &b->task[i];

		ck_assert(str_eq(p->name, q->name) && p->processor == q->processor &&
			  p->is_reference == q->is_reference && p->is_infinite == q->is_infinite &&
			  p->threads == q->threads && p->think == q->think && p->layer == q->layer);
	}
}

static void same_models(const struct layered *a, const struct layered *b)
{
	ck_assert(a->nprocessor == b->nprocessor && a->ntask == b->ntask &&
		  a->nentry == b->nentry && a->ncall == b->ncall);
	same_objects(a, b);
	for (size_t i = 0; i < a->nentry; i++) {
		const struct layered_entry *p = &a->entry[i], *q = &b->entry[i];

		ck_assert(str_eq(p->name, q->name) && p->task == q->task &&
			  p->arrivals == q->arrivals && same_phase(&p->phase[0], &q->phase[0]) &&
			  same_phase(&p->phase[1], &q->phase[1]));
	}
	for (size_t i = 0; i < a->ncall; i++) {
		const struct layered_call *p = &a->call[i], *q = &b->call[i];

		ck_assert(p->from == q->from && p->to == q->to && p->kind == q->kind &&
			  p->count[0] == q->count[0] && p->count[1] == q->count[1]);
	}
}

TEST(a_model_that_was_written_as_lqn_reads_back_equal)
{
	begin_random();
	for (unsigned i = 0; i < MODELS; i++) {
		struct buf b = BUF_INIT(ROOM);
		struct layered m, again;
		struct err e = { 0 };

		random_model(&m);
		ck_assert_int_eq(layered_write_lqn(&m, &b, &e), 0);
		ck_assert_msg(!layered_read(buf_str(&b), b.n, &again, &e), "%u:%u: %s\n%s", e.line,
			      e.col, e.text, buf_str(&b));
		same_models(&m, &again);
		layered_done(&again);
		layered_done(&m);
		buf_done(&b);
	}
}

/* XML has the tasks of a processor together, and calls by entry: one reading sorts them. */
TEST(a_model_that_was_written_as_lqnx_reads_back_equal)
{
	begin_random();
	for (unsigned i = 0; i < MODELS; i++) {
		struct buf b = BUF_INIT(ROOM), c = BUF_INIT(ROOM);
		struct layered m, sorted, again;
		struct err e = { 0 };

		random_model(&m);
		layered_write_lqnx(&m, &b);
		ck_assert_msg(!layered_read(buf_str(&b), b.n, &sorted, &e), "%u:%u: %s\n%s", e.line,
			      e.col, e.text, buf_str(&b));
		ck_assert(sorted.nentry == m.nentry && sorted.ntask == m.ntask);
		layered_write_lqnx(&sorted, &c);
		ck_assert_int_eq(layered_read_lqnx(buf_str(&c), c.n, &again, &e), 0);
		same_models(&sorted, &again);
		layered_done(&again);
		layered_done(&sorted);
		layered_done(&m);
		buf_done(&b);
		buf_done(&c);
	}
}

static const char shop[] =
	"P 0\np desk i\np cpu p m 2\n-1\nT 0\nt user r go -1 desk z 1 m 9\n"
	"t web n buy look -1 cpu m 4\nt log i note -1 cpu\n-1\nE 0\ny go buy 0.5 -1\n"
	"y go look 1 -1\ns buy 0.02 0.01 -1\ns look 0.01 -1\nz buy note 1 1 -1\n"
	"F look note 0.5 -1\ns note 0.001 -1\n-1\n";

/* Results do not depend on the form. */
TEST(a_model_has_the_same_solution_in_xml)
{
	struct buf b = BUF_INIT(ROOM);
	struct layered m, again;
	struct layered_result r, s;
	struct err e = { 0 };

	ck_assert_int_eq(layered_read(shop, strlen(shop), &m, &e), 0);
	layered_write_lqnx(&m, &b);
	ck_assert_msg(!layered_read(buf_str(&b), b.n, &again, &e), "%s", e.text);
	ck_assert_int_eq(layered_solve(&m, &r, &e), 0);
	ck_assert_int_eq(layered_solve(&again, &s, &e), 0);
	for (size_t i = 0; i < m.nentry; i++)
		ck_assert_double_eq_tol(r.entry_throughput[i], s.entry_throughput[i], 1e-9);
	layered_result_done(&r);
	layered_result_done(&s);
	layered_done(&m);
	layered_done(&again);
	buf_done(&b);
}

TEST(a_name_that_lqn_cannot_have_is_refused)
{
	static const char text[] = "<lqn-model><processor name='a &quot;b'><task name='t' "
				   "scheduling='ref'><entry name='e'/></task></processor>"
				   "</lqn-model>";
	struct buf b = BUF_INIT(ROOM);
	struct layered m;
	struct err e = { 0 };

	ck_assert_msg(!layered_read(text, strlen(text), &m, &e), "%s", e.text);
	ck_assert_str_eq(m.processor[0].name, "a \"b");
	ck_assert_int_eq(layered_write_lqn(&m, &b, &e), -ERR_UNSUPPORTED);
	ck_assert(strstr(e.text, "'a \"b' has a quote"));
	layered_done(&m);
	buf_done(&b);
}

/* --- wrong XML */

#define TASK(x)                                                                   \
	"<lqn-model>\n<processor name='p'>\n<task name='t' scheduling='ref'>\n" x \
	"</task></processor></lqn-model>"
#define ACTIVITY(x) \
	TASK("<entry name='e'><entry-phase-activities>\n" x "</entry-phase-activities></entry>")

static const struct {
	const char *text;
	unsigned line, col;
	const char *words;
} wrong[] = {
	{ "<", 1, 2, "a name is missing" },
	{ "<a", 1, 3, "an attribute, > or /> is missing" },
	{ "<lqn-model>", 1, 12, "'lqn-model' has no end" },
	{ "<lqn-model></b>", 1, 15, "the end of another element" },
	{ "<lqn-model/><lqn-model/>", 1, 23, "a second root" },
	{ "<lqn-model/>x", 1, 13, "text between elements" },
	{ "<!DOCTYPE a><lqn-model/>", 1, 1, "neither DTD nor CDATA" },
	{ "<lqn-model a='&x;'/>", 1, 15, "only &lt;" },
	{ "<lqn-model a='1' a='2'/>", 1, 19, "there twice" },
	{ "<lqn-model a=1/>", 1, 14, "in quotes" },
	{ "<lqn-model a='1/>", 1, 18, "does not end with its quote" },
	{ "<!-- x", 1, 7, "ends without -->" },
	{ "<?xml", 1, 6, "ends without ?>" },
	{ "<lqn/>", 1, 2, "element 'lqn' is not served here" },
	{ "<lqn-model/>", 0, 0, "no reference task" },
	{ "<lqn-model>\n <task/></lqn-model>", 2, 3, "'task' is not served here" },
	{ "<lqn-model><processor/></lqn-model>", 1, 13, "a processor needs a name" },
	{ "<lqn-model><processor name='-1'/></lqn-model>", 1, 23, "a name of a processor" },
	{ "<lqn-model><processor name='p' scheduling='rand'/></lqn-model>", 1, 13, "'rand'" },
	{ "<lqn-model><processor name='p' multiplicity='0'/></lqn-model>", 1, 32, "from 1" },
	{ "<lqn-model><processor name='p' colour='0'/></lqn-model>", 1, 32, "'colour'" },
	{ "<lqn-model><processor name='p' replication='2'/></lqn-model>", 1, 32, "only 1" },
	{ TASK(""), 0, 0, "task 't' has no entry" },
	{ TASK("<entry name='e'/><entry name='e'/>"), 4, 19, "a second entry" },
	{ TASK("<entry name='e' type='NONE'/>"), 4, 17, "only PH1PH2" },
	{ TASK("<task-activities/>"), 4, 2, "'task-activities' is not served" },
	{ ACTIVITY("<activity host-demand-mean='1'/>"), 5, 2, "needs its phase" },
	{ ACTIVITY("<activity phase='3'/>"), 5, 2, "third phases" },
	{ ACTIVITY("<activity phase='1' host-demand-mean='nan'/>"), 5, 21, "host-demand-mean" },
	{ ACTIVITY("<activity phase='1' call-order='WITH_CALLS'/>"), 5, 21, "call-order" },
	{ ACTIVITY("<activity phase='1'><synch-call dest='f'/></activity>"), 5, 33,
	  "no task has an entry 'f'" },
	{ ACTIVITY("<activity phase='1'><synch-call/></activity>"), 5, 22, "needs its dest" },
	{ ACTIVITY("<activity phase='1'/>\n<!--interval e 1 2 3 0.9-->"), 6, 22,
	  "the demand 0 is not between" },
};

TEST_EACH(wrong_xml_is_refused_with_its_place, i, (int)ARRAY_LEN(wrong))
{
	struct layered m = { 0 };
	struct err e = { 0 };

	ck_assert_int_lt(layered_read_lqnx(wrong[i].text, strlen(wrong[i].text), &m, &e), 0);
	ck_assert_msg(strstr(e.text, wrong[i].words), "'%s' has no '%s'", e.text, wrong[i].words);
	ck_assert_msg(e.line == wrong[i].line && e.col == wrong[i].col, "%u:%u: %s", e.line, e.col,
		      e.text);
	ck_assert(!m.task);
}

TEST(elements_are_no_deeper_than_the_limit)
{
	for (unsigned deep = 31; deep <= 32; deep++) {
		struct buf b = BUF_INIT(ROOM);
		struct layered m = { 0 };
		struct err e = { 0 };

		buf_puts(&b, "<lqn-model>");
		for (unsigned i = 0; i < deep; i++)
			buf_puts(&b, "<result-general>");
		layered_read_lqnx(buf_str(&b), b.n, &m, &e);
		ck_assert(!strstr(e.text, "too deep") == (deep == 31));
		buf_done(&b);
	}
}

/* Results and parameters that LQNS writes are skipped. */
TEST(a_file_with_results_is_a_model)
{
	static const char text[] =
		"<?xml version=\"1.0\"?>\n<!-- a -->\n"
		"<lqn-model name='x' xmlns:xsi='y'><solver-params it_limit='9'><pragma param='a' "
		"value='b'/><result-general valid='YES'/></solver-params>"
		"<processor name='p' scheduling='inf'><result-processor utilization='1'/>"
		"<task name='t' scheduling='ref' multiplicity='3' think-time='2'>"
		"<result-task throughput='1'/><entry name='e' type='PH1PH2'><result-entry/>"
		"<entry-phase-activities><activity name='e_ph1' phase='1' host-demand-mean='4'>"
		"<result-activity service-time='4'/></activity></entry-phase-activities></entry>"
		"</task></processor></lqn-model>\n";
	struct layered m;
	struct err e = { 0 };

	ck_assert_msg(!layered_read(text, strlen(text), &m, &e), "%u:%u: %s", e.line, e.col,
		      e.text);
	ck_assert(m.ntask == 1 && m.task[0].threads == 3 && m.task[0].think == 2);
	ck_assert(m.entry[0].phase[0].demand == 4);
	layered_done(&m);
}

SUITE("layered forms")
