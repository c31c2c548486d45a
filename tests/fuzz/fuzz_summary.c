/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files of summaries. Any text is a summary or is refused with an error. An accepted summary is
 * written, shown, and read back unchanged.
 */
#include "common/json/json.h"
#include "tools/summary/compare.h"
#include "tools/summary/compare_parts.h"
#include "tools/summary/summary_text.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

#define TEXT_MAX_BYTES (1u << 26)

static void demand(int truth)
{
	if (!truth)
		abort();
}

static void show(const struct summary *s)
{
	const struct summary_text_options all = { .prefix = "omig: ", .all = true },
					  some = { .prefix = "" };
	struct buf out = BUF_INIT(TEXT_MAX_BYTES);

	demand(summary_text(s, &all, &out) == 0);
	buf_clear(&out);
	demand(summary_text(s, &some, &out) == 0);
	buf_clear(&out);
	demand(summary_html(s, &out) == 0);
	buf_done(&out);
}

/* Compares with itself in the other order: an increase becomes a decrease. */
static void compare(const struct summary *s)
{
	const struct compare_options w = { .level = 0.95, .least = 0.001 };
	const struct summary_section *a = &s->section[0], *b = &s->section[s->n - 1];
	struct buf out = BUF_INIT(TEXT_MAX_BYTES);
	struct comparison c, back;

	demand(compare_sections(a, b, &w, &c) == 0 && compare_sections(b, a, &w, &back) == 0);
	demand(c.n == back.n);
	if (a == b)
		demand(!c.sure);
	compare_say(&c, &out);
	demand(compare_table(&c, &out) == 0);
	compare_csv(&back, 1, &out);
	demand(!out.failed);
	compare_done(&c);
	compare_done(&back);
	buf_done(&out);
}

static void compare_by(const struct summary *s, enum compare_by by)
{
	struct buf out = BUF_INIT(TEXT_MAX_BYTES);
	struct compare_parts p;
	struct json j;

	demand(compare_parts(s, s, by, &p) == 0);
	for (size_t i = 0; i < p.n; i++)
		demand(p.part[i].count[0] == p.part[i].count[1]);
	demand(compare_parts_table(&p, 0, &out) == 0);
	compare_parts_csv(&p, &out);
	json_init(&j, &out);
	compare_parts_json(&p, &j);
	demand(!json_end(&j));
	compare_parts_done(&p);
	buf_done(&out);
}

static void write_again(const struct summary *s)
{
	struct buf first = BUF_INIT(TEXT_MAX_BYTES), second = BUF_INIT(TEXT_MAX_BYTES);
	struct summary again = { 0 };
	struct err e = { 0 };

	demand(!summary_write(s, &first));
	demand(!summary_read(buf_str(&first), first.n, &again, &e));
	demand(!summary_write(&again, &second));
	demand(first.n == second.n && !memcmp(first.p, second.p, first.n));
	summary_done(&again);
	buf_done(&first);
	buf_done(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	struct buf text = BUF_INIT(TEXT_MAX_BYTES);
	struct summary s = { 0 };
	struct err e = { 0 };

	buf_put(&text, p, n);
	if (summary_read(buf_str(&text), n, &s, &e)) {
		demand(e.text[0] && !s.n);
	} else {
		write_again(&s);
		show(&s);
		if (s.n)
			compare(&s);
		compare_by(&s, COMPARE_BY_SIZE);
		compare_by(&s, COMPARE_BY_SITE);
	}
	summary_done(&s);
	buf_done(&text);
	return 0;
}
