/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/summary/compare.h"

#include "common/base/array.h"
#include "common/base/str.h"
#include "common/json/json.h"
#include "stats/report.h"
#include "tools/summary/summary_text.h"
#include "tools/term/table.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#define SUMS 2 /* rows before the calls */

static double percent(double v, double of)
{
	return of > 0 ? 100 * v / of : NAN;
}

/* --- words */

static const char *program_of(const struct comparison *c)
{
	const struct summary_section *of = c->section[1];

	return of->n ? of->process[0].program : "-";
}

static void say_call(const struct compare_row *r, struct buf *out)
{
	char now[SUMMARY_SECONDS_BYTES], was[SUMMARY_SECONDS_BYTES];

	if (r->verdict == COMPARE_NEW || r->verdict == COMPARE_GONE) {
		buf_printf(out, "%s is %s", r->name, compare_verdicts[r->verdict]);
		return;
	}
	buf_printf(out, "%s %s a rank, was %s (%+.3g %%, sure)", r->name,
		   summary_seconds(now, r->seconds[1]), summary_seconds(was, r->seconds[0]),
		   percent(r->difference, r->seconds[0]));
}

void compare_say(const struct comparison *c, struct buf *out)
{
	char now[SUMMARY_SECONDS_BYTES], was[SUMMARY_SECONDS_BYTES];
	size_t a = c->section[0]->n, b = c->section[1]->n;

	buf_printf(out, "%s: %s, was %s", program_of(c), summary_seconds(now, c->seconds[1]),
		   summary_seconds(was, c->seconds[0]));
	if (c->seconds[0] > 0)
		buf_printf(out, " (%+.3g %%)",
			   percent(c->seconds[1] - c->seconds[0], c->seconds[0]));
	if (a != b)
		buf_printf(out, "; %zu ranks, was %zu", b, a);
	buf_puts(out, ": ");
	if (c->sure) {
		say_call(&c->row[SUMS], out);
		buf_printf(out, "; %zu of %zu calls surely changed", c->sure, c->n - SUMS);
	} else {
		buf_printf(out, "no call surely changed, of %zu", c->n - SUMS);
	}
}

/* --- the table */

static void cell_percent(struct table *t, double v)
{
	if (isfinite(v))
		table_cell(t, "%+.1f %%", v);
	else
		table_cell(t, "-");
}

static void put_row(struct table *t, const struct compare_row *r)
{
	char text[SUMMARY_SECONDS_BYTES], number[TABLE_NUMBER_BYTES];
	double low = percent(r->difference - r->half, r->seconds[0]),
	       high = percent(r->difference + r->half, r->seconds[0]);

	table_cell(t, "%s", compare_verdicts[r->verdict]);
	table_cell(t, "%s", r->name);
	table_cell(t, "%s", summary_seconds(text, r->seconds[1]));
	table_cell(t, "%s", summary_seconds(text, r->seconds[0]));
	cell_percent(t, percent(r->difference, r->seconds[0]));
	if (isfinite(low) && isfinite(high))
		table_cell(t, "%+.1f .. %+.1f %%", low, high);
	else
		table_cell(t, "-");
	table_cell(t, "%s", compare_bases[r->basis]);
	table_cell(t, "%s", summary_seconds(text, r->mean[1]));
	table_cell(t, "%s", summary_seconds(text, r->mean[0]));
	for (int side = 1; side >= 0; side--)
		table_cell(t, "%s",
			   table_count(number, r->count[side] ? (double)r->count[side] : NAN));
}

int compare_table(const struct comparison *c, struct buf *out)
{
	static const char *const heads[] = { "CHANGE", "CALL", "TIME", "WAS",	"DIFF", "BETWEEN",
					     "BY",     "MEAN", "WAS",  "CALLS", "WAS" };
	struct table *t = table_new(ARRAY_LEN(heads), heads, "llrrrrlrrrr");

	for (size_t i = 0; t && i < c->n; i++)
		put_row(t, &c->row[i]);
	return table_end(t, 0, out);
}

/* --- for programs */

void compare_csv_head(struct buf *out)
{
	buf_puts(out, "program,change,call,seconds,seconds_base,difference,half,p,by,calls,"
		      "calls_base,bytes,bytes_base\n");
}

static void put_number(struct buf *out, double v)
{
	char text[STR_DOUBLE_BYTES];

	buf_printf(out, ",%s", isfinite(v) ? str_from_double(text, v) : "");
}

/* Puts nothing if both sums have times only. */
static void put_amount(struct buf *out, const struct compare_row *r, uint64_t n)
{
	buf_putc(out, ',');
	if (!r->is_sum)
		buf_printf(out, "%" PRIu64, n);
}

void compare_csv(const struct comparison *c, size_t program, struct buf *out)
{
	for (size_t i = 0; i < c->n; i++) {
		const struct compare_row *r = &c->row[i];

		buf_printf(out, "%zu,%s,", program, compare_verdicts[r->verdict]);
		report_csv_text(r->name, out);
		put_number(out, r->seconds[1]);
		put_number(out, r->seconds[0]);
		put_number(out, r->difference);
		put_number(out, r->half);
		put_number(out, r->p);
		buf_printf(out, ",%s", compare_bases[r->basis]);
		put_amount(out, r, r->count[1]);
		put_amount(out, r, r->count[0]);
		put_amount(out, r, r->bytes[1]);
		put_amount(out, r, r->bytes[0]);
		buf_putc(out, '\n');
	}
}

static void json_amount(struct json *j, const char *key, const struct compare_row *r, uint64_t n)
{
	json_key(j, key);
	if (r->is_sum)
		json_null(j);
	else
		json_u64(j, n);
}

static void row_json(const struct compare_row *r, struct json *j)
{
	json_object(j);
	json_key_str(j, "call", r->name);
	json_key_str(j, "change", compare_verdicts[r->verdict]);
	json_key_double(j, "seconds", r->seconds[1]);
	json_key_double(j, "seconds_base", r->seconds[0]);
	json_key_double(j, "difference", r->difference);
	json_key_double(j, "half", r->half);
	json_key_double(j, "p", r->p);
	json_key_str(j, "by", r->basis == COMPARE_NONE ? NULL : compare_bases[r->basis]);
	json_amount(j, "calls", r, r->count[1]);
	json_amount(j, "calls_base", r, r->count[0]);
	json_amount(j, "bytes", r, r->bytes[1]);
	json_amount(j, "bytes_base", r, r->bytes[0]);
	json_object_end(j);
}

void compare_json(const struct comparison *c, struct json *j)
{
	json_object(j);
	json_key_str(j, "program", program_of(c));
	json_key_u64(j, "ranks", c->section[1]->n);
	json_key_u64(j, "ranks_base", c->section[0]->n);
	json_key_double(j, "seconds", c->seconds[1]);
	json_key_double(j, "seconds_base", c->seconds[0]);
	json_key_u64(j, "changed", c->sure);
	json_key_array(j, "rows");
	for (size_t i = 0; i < c->n; i++)
		row_json(&c->row[i], j);
	json_array_end(j);
	json_object_end(j);
}
