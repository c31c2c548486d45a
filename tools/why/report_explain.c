/* SPDX-License-Identifier: Apache-2.0 */
/* The figures behind a finding: its culprits against the median rank, block by block. */
#include "common/base/array.h"
#include "tools/term/table.h"
#include "tools/why/culprits.h"
#include "tools/why/report.h"

static void put_share(struct table *t, double v)
{
	char text[TABLE_NUMBER_BYTES];

	table_cell(t, "%s", table_percent(text, v * 100));
}

int report_explain(const struct report *r, const struct term *term, const struct why_finding *f,
		   struct buf *out)
{
	static const char *const heads[] = { "BLOCK",	 "SECONDS", "RANKS",  "USEFUL%", "MEDIAN%",
					     "CULPRIT%", "CPU%",    "READY%", "DISK%" };
	struct table *t = table_new(ARRAY_LEN(heads), heads, "rrrrrrrrr");
	bool ok = t != NULL;

	report_finding(r, term, f, out);
	buf_puts(out, "\n");
	for (size_t i = 0; ok && i < r->kept->n; i++) {
		struct culprits_line l;

		ok = culprits_line(f, &r->kept->block[i].block, &l);
		if (!ok)
			break;
		table_cell(t, "%zu", i + 1);
		table_cell(t, "%.2f", l.seconds);
		table_cell(t, "%zu", l.ranks);
		put_share(t, l.useful);
		put_share(t, l.median);
		put_share(t, l.late);
		put_share(t, l.compute);
		put_share(t, l.run_delay);
		put_share(t, l.block_delay);
	}
	if (!ok) {
		table_free(t);
		return -ERR_NOMEM;
	}
	if (table_end(t, 0, out))
		return -ERR_NOMEM;
	buf_puts(out,
		 "\nUSEFUL is the time of all ranks outside of MPI calls, MEDIAN that of the "
		 "median rank, CULPRIT that of\nthe ranks above; CPU, READY and DISK are their "
		 "processor time, their time without a processor and\ntheir time blocked on "
		 "disks.\n");
	return 0;
}

void report_explain_json(const struct report *r, const struct why_finding *f, struct json *j)
{
	json_key_array(j, "blocks");
	for (size_t i = 0; i < r->kept->n; i++) {
		struct culprits_line l;

		if (!culprits_line(f, &r->kept->block[i].block, &l))
			break;
		json_object(j);
		json_key_double(j, "seconds", l.seconds);
		json_key_u64(j, "ranks", l.ranks);
		json_key_double(j, "useful", l.useful);
		json_key_double(j, "median", l.median);
		json_key_double(j, "culprit", l.late);
		json_key_double(j, "cpu", l.compute);
		json_key_double(j, "run_delay", l.run_delay);
		json_key_double(j, "block_delay", l.block_delay);
		json_object_end(j);
	}
	json_array_end(j);
}
