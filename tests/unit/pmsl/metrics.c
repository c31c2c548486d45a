/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/pmsl/metrics.h"

#include "common/base/str.h"

#include <check.h>
#include <stdarg.h>
#include <stdio.h>

#define SECOND INT64_C(1000000000)

static unsigned roll(struct rng *rng, unsigned n)
{
	return (unsigned)rng_below(rng, n);
}

/* --- the world: two sites of two nodes of two processes */

static struct world_object objects[2 + 4 + WALK_PROCS];
static char tokens[2 + 4 + WALK_PROCS][8];
static const struct world all = { objects, 2 + 4 + WALK_PROCS };
static uint32_t proc_at[WALK_PROCS]; /* rank -> object */

static uint32_t put_object(uint32_t i, enum pmsl_kind kind, char letter, int64_t rank,
			   uint32_t parent)
{
	snprintf(tokens[i], sizeof(tokens[i]), "%c_%u", letter, i);
	objects[i] = (struct world_object){
		.kind = kind, .token = tokens[i], .rank = rank, .parent = parent
	};
	return i;
}

const struct world *metrics_world(void)
{
	uint32_t at = 0, site = 0, node = 0;

	for (unsigned p = 0; p < WALK_PROCS; p++) {
		if (p % 4 == 0)
			site = put_object(at, PMSL_T_SITE, 's', -1, WORLD_NONE), at++;
		if (p % 2 == 0)
			node = put_object(at, PMSL_T_NODE, 'n', -1, site), at++;
		proc_at[p] = put_object(at, PMSL_T_PROCESS, 'p', p, node);
		at++;
	}
	return &all;
}

unsigned metrics_rank(const char *token)
{
	for (unsigned p = 0; p < WALK_PROCS; p++)
		if (str_eq(tokens[proc_at[p]], token))
			return p;
	ck_abort_msg("no process %s", token);
}

uint32_t metrics_node(unsigned rank)
{
	return objects[proc_at[rank]].parent;
}

/* --- a log */

void metrics_log(struct rng *rng, struct walk_log *story)
{
	for (unsigned p = 0; p < WALK_PROCS; p++) {
		nsec_t t = 1 + roll(rng, 1000);
		double sent = 0;

		for (unsigned vt = 1; vt <= WALK_VTS; vt++) {
			t += SECOND + (nsec_t)roll(rng, 2000) * 1000000;
			sent += roll(rng, 100);
			story->event[p][vt] = (struct walk_event){
				.time = t, .sent = sent, .extra = (double)roll(rng, 50) - 10
			};
		}
		for (unsigned r = 1; r <= WALK_READS; r++)
			story->sent_at_read[p][r] =
				story->sent_at_read[p][r - 1] * (r > 1) + roll(rng, 1000);
	}
}

/* --- random metrics: numbers only, so that units fit */

static void say(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void say(struct buf *b, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	buf_vprintf(b, fmt, ap);
	va_end(ap);
}

/* A value of process p at virtual time vt. */
static void say_event(struct rng *rng, struct buf *b, unsigned depth)
{
	static const char *const leaves[] = {
		"(r AT e(p, vt))",
		"(r AT e(p, vt-1))",
		"(1 AT e(p, vt))",
		("((Send_volume(p, [START,NOW]) AT e(p, vt) - "
		 "Send_volume(p, [START,NOW]) AT e(p, vt-1)) / b)"),
		"((r * 2 + p.rank) AT e(p, vt))",
		"((Time(NOW) AT e(p, vt) - Time(NOW) AT e(p, vt-2)) / s)",
	};
	static const char *const ops[] = { "+", "-", "*" };

	if (!depth || roll(rng, 3) == 0) {
		say(b, "%s", leaves[roll(rng, 6)]);
		return;
	}
	if (roll(rng, 4) == 0) {
		say(b, "IF(");
		say_event(rng, b, depth - 1);
		say(b, " > %u, ", roll(rng, 10));
		say_event(rng, b, depth - 1);
		say(b, ", ");
		say_event(rng, b, depth - 1);
	} else {
		say(b, "(");
		say_event(rng, b, depth - 1);
		say(b, " %s ", ops[roll(rng, 3)]);
		say_event(rng, b, depth - 1);
	}
	say(b, ")");
}

static const char *any_fold(struct rng *rng)
{
	static const char *const folds[] = { "SUM", "MIN", "MAX", "MEAN", "COUNT" };

	return folds[roll(rng, 5)];
}

/*
 * The last one may also be of powers: its result is compared with no limit. The rounding of folds
 * below must not be all that its values differ by. A shape depends on it, and is of events only.
 */
static const char *any_last_fold(struct rng *rng, enum metrics_kind kind)
{
	static const char *const folds[] = { "VARIANCE", "CI",	       "STDEV",	     "SKEWNESS",
					     "KURTOSIS", "COVARIANCE", "CORRELATION" };

	return roll(rng, 2) ? any_fold(rng) : folds[roll(rng, kind == METRICS_OF_BOTH ? 7 : 3)];
}

static bool is_of_pairs(const char *fold)
{
	return str_eq(fold, "COVARIANCE") || str_eq(fold, "CORRELATION");
}

static const char *any_choice(struct rng *rng)
{
	static const char *const choices[] = { "", " AND p.rank > 1", " AND p.rank % 2 == 0",
					       " AND (p.rank < 3 OR p.rank == 7)" };

	return choices[roll(rng, 4)];
}

/* Virtual times: alone, and with other conditions. */
static const char *any_times(struct rng *rng)
{
	static const char *const choices[] = {
		" AND vt > 4",
		" AND vt % 3 == 0",
		" AND vt IN [3, 9]",
		" AND vt IN some",
		" AND NOT (vt == 7 OR vt - 1 <= 2)",
		" AND (vt - 2) % 4 != 1 AND 10 >= vt",
		" AND NOT vt IN some AND vt < 11",
	};

	return roll(rng, 2) ? "" : choices[roll(rng, 7)];
}

struct metrics_shape metrics_say(struct rng *rng, struct buf *b)
{
	enum metrics_kind kind = (enum metrics_kind)roll(rng, 4);
	const char *inner = any_fold(rng), *outer = any_last_fold(rng, kind);
	const char *level = str_eq(outer, "CI") ? "0.9, " : "";
	struct metrics_shape shape = { .kind = kind, .inner = inner, .outer = outer };

	/* One byte and one second: divisors that remove a unit. */
	say(b, "Byte(Value v) : Unit(\"B\") { RETURN v; }\nSecond(Value v) : Unit(\"s\") { RETURN "
	       "v; }\n");
	say(b,
	    "M(Process[] ps, VirtualTime[] some, TimeInterval t) { PROBE e(Process, VirtualTime, Value r);\nProcess "
	    "p; VirtualTime vt;"
	    " Value[][] x; Value[][] with; Value[] y; Value b = Byte(1), s = Second(1);\nx[p][vt] = ");
	say_event(rng, b, 2);
	say(b, ";\nwith[p][vt] = ");
	say_event(rng, b, 2);
	say(b, ";\n");
	switch (kind) {
	case METRICS_OF_VT: /* over processes, then over virtual time */
		say(b,
		    "y[vt] = %s(x[p][vt] WHERE p IN ps%s%s);\nRETURN %s(%sy[vt] WHERE y[vt].time IN "
		    "t%s%s);",
		    inner, any_choice(rng), roll(rng, 2) ? "" : any_times(rng), outer, level,
		    roll(rng, 2) ? "" : " AND y[vt] > 3", any_times(rng));
		break;
	case METRICS_OF_PROCESSES: /* over virtual time, then over processes */
		say(b,
		    "y[p] = %s(x[p][vt] WHERE x[p][vt].time IN t%s%s);\nRETURN %s(%sy[p] WHERE p IN "
		    "ps%s);",
		    inner, any_times(rng), roll(rng, 2) ? "" : " AND x[p][vt] > 0", outer, level,
		    any_choice(rng));
		break;
	case METRICS_OF_BOTH: /* over both at once */
		say(b, "RETURN %s(%sx[p][vt]%s WHERE p IN ps%s%s AND x[p][vt].time IN t);", outer,
		    level, is_of_pairs(outer) ? ", with[p][vt]" : "", any_choice(rng),
		    any_times(rng));
		break;
	default: /* of reads */
		say(b,
		    "y[p] = Send_volume(p, t) / b * %u + p.rank;\nRETURN %s(%sy[p] WHERE p IN ps%s "
		    "AND y[p] > %u) + 1;",
		    roll(rng, 5), outer, level, any_choice(rng), roll(rng, 900));
	}
	say(b, " }");
	return shape;
}

double metrics_value(const struct walk_log *story, const struct flow_source *s, unsigned p,
		     unsigned vt)
{
	if (s->kind == FLOW_SOURCE_EVENT)
		return 1;
	if (s->kind == FLOW_SOURCE_TIME)
		return (double)story->event[p][vt].time / 1e9;
	return s->kind == FLOW_SOURCE_PARAMETER ? story->event[p][vt].extra
						: story->event[p][vt].sent;
}

static bool is_sum(const char *fold)
{
	return str_eq(fold, "SUM") || str_eq(fold, "COUNT");
}

bool metrics_adds_up(const struct metrics_shape *shape)
{
	switch (shape->kind) {
	case METRICS_OF_PROCESSES:
		return is_sum(shape->inner) && str_eq(shape->outer, "SUM");
	case METRICS_OF_VT:
	case METRICS_OF_BOTH:
		return is_sum(shape->outer);
	default:
		return false;
	}
}
