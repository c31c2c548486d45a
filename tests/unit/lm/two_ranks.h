/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For tests of conditional requests: an lm with two ranks, and short functions to arm, call and
 * read.
 */
#ifndef TESTS_UNIT_LM_TWO_RANKS_H
#define TESTS_UNIT_LM_TWO_RANKS_H

#include "tests/unit/lm/world.h"

#include <stdlib.h>
#include <string.h>

static struct world w;
static struct fake_segment seg, other;
static char rank0[TOKEN_BYTES], rank1[TOKEN_BYTES];

static inline void open_ranks(void)
{
	world_open(&w);
	world_add_rank(&w, &seg, 100, 0, rank0);
	world_add_rank(&w, &other, 200, 1, rank1);
}

static inline void close_ranks(void)
{
	world_close(&w);
	fake_segment_close(&seg);
	fake_segment_close(&other);
}

/* The pattern with each @ replaced by the token. */
static inline const char *with(const char *pattern, const char *token)
{
	static char text[512];
	size_t n = 0;

	for (; *pattern && n < sizeof(text) - TOKEN_BYTES; pattern++) {
		if (*pattern != '@')
			text[n++] = *pattern;
		else
			n += (size_t)snprintf(text + n, sizeof(text) - n, "%s", token);
	}
	text[n] = 0;
	return text;
}

static inline const struct msg_arm_ack *arm(const char *pattern, const char *token, uint32_t prefix,
					    bool reply)
{
	return world_arm(&w, "c_5", with(pattern, token), prefix, reply);
}

static inline const struct msg_triggered *next_triggered(void)
{
	const struct msg *m = above_next(&w.mainsm, MSG_TRIGGERED);

	return m ? &m->triggered : NULL;
}

static inline const char *par(const struct msg_triggered *t, uint32_t index)
{
	static char text[64];

	for (size_t i = 0; i < t->npar; i++)
		if (t->par[i].index == index) {
			snprintf(text, sizeof(text), "%.*s", (int)t->par[i].value.n,
				 (const char *)t->par[i].value.p);
			return text;
		}
	return "";
}

static inline void call(struct fake_segment *s, const char *name, int64_t bytes, int64_t partner)
{
	fake_segment_call(s, &(struct fake_call){ .name = name,
						  .bytes_out = bytes,
						  .partner = partner,
						  .result = 0,
						  .ticks = 100 });
	world_run(&w, 30 * MS);
}

static inline int64_t read_counter(const char *counter)
{
	const struct msg_reply *r = world_ask(&w, OBSERVER, with(":pa_counter_read([@])", counter));
	int64_t sum = 0;

	for (size_t i = 0; i < r->nentry; i++) {
		const char *text = entry_text(&r->entry[i]), *comma = strrchr(text, ',');

		if (r->entry[i].status == STATUS_OK)
			sum += strtoll(comma ? comma + 1 : text, NULL, 10);
	}
	return sum;
}

#endif
