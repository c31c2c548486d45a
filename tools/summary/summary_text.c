/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/summary/summary_text.h"

#include "tools/summary/summary_tables.h"

#include <stdlib.h>

struct sentences {
	const char *prefix;
	struct buf *out;
	struct buf words; /* the sentence that is being composed */
};

static int put_table(struct buf *out, const char *caption, const struct table *tab)
{
	buf_printf(out, "\n%s\n", caption);
	return table_print(tab, 0, out);
}

static void end_sentence(struct sentences *t)
{
	if (t->words.n)
		buf_printf(t->out, "%s%s\n", t->prefix, buf_str(&t->words));
	buf_clear(&t->words);
}

static void put_world(struct summary_writer *w, struct sentences *t,
		      const struct summary_section *of)
{
	size_t n;
	struct call_sum *sum = efficiency_calls(of, &n);

	if (!summary_only_world(w->s)) {
		summary_say_section(of, &t->words);
		end_sentence(t);
	}
	summary_say_calls(sum, n, &t->words);
	end_sentence(t);
	summary_say_efficiency(of, &t->words);
	end_sentence(t);
	if (n)
		summary_put_calls(w, of, sum, n);
	summary_put_ranks(w, of);
	summary_put_pairs(w, of);
	summary_put_hosts(w, of);
	free(sum);
}

int summary_text(const struct summary *s, const struct summary_text_options *options,
		 struct buf *out)
{
	struct summary_writer w = { .s = s, .all = options->all, .out = out, .put = put_table };
	struct sentences t = { options->prefix, out, BUF_INIT(SUMMARY_FILE_MAX_BYTES) };

	summary_say_job(s, &t.words);
	end_sentence(&t);
	for (size_t i = 0; i < s->nnote; i++)
		buf_printf(out, "%snot covered: %s\n", options->prefix, s->note[i]);
	summary_say_sites(s, &t.words);
	end_sentence(&t);
	for (size_t i = 0; i < s->n; i++) {
		if (i && s->section[i].world_size)
			buf_putc(out, '\n');
		if (s->section[i].world_size)
			put_world(&w, &t, &s->section[i]);
		else
			summary_put_programs(&w, &s->section[i]);
	}
	summary_put_sites(&w);
	summary_put_sizes(&w);
	buf_done(&t.words);
	return w.rc ? w.rc : out->failed ? -ERR_NOMEM : 0;
}
