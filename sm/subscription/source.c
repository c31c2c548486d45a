/* SPDX-License-Identifier: Apache-2.0 */
/* The sources of a subscription. The list is on our disk too: an end waits for sources that are
 * away, after a restart of either side. */
#include "common/base/file.h"
#include "common/base/log.h"
#include "common/base/str.h"
#include "sm/subscription/subscription_internal.h"

#include <stdlib.h>
#include <string.h>

#define HOSTS ".hosts"
#define HOSTS_MAX_BYTES ((size_t)BRANCHES_MAX * (NAME_MAX_BYTES + 4))
#define WORD_BYTES 3 /* "lm " and "sm " */

static void note_change(struct site_subscription *s)
{
	s->has_changed = true;
	if (!loop_timer_is_armed(s->kt->saving))
		loop_timer_arm(s->kt->saving, SUBSCRIPTION_SAVE_NS);
}

/* --- how many there are */

static void count(struct site_subscription *s)
{
	int n, more;

	if (!s->n[STREAM_AWAY]) {
		s->awaits = false;
		loop_timer_cancel(s->coming);
	}
	n = (int)(s->n[STREAM_OPEN] + s->n[STREAM_SHUT]) + s->awaits;
	more = n - s->sources;
	s->sources = n;
	if (more)
		keep_feed(s->k, more);
}

static void begin_to_await(struct site_subscription *s)
{
	s->awaits = true;
	loop_timer_arm(s->coming, SUBSCRIPTION_RETURN_NS);
}

void source_step(struct site_subscription *s, struct source *f, enum stream_event ev)
{
	enum stream_state was = f->state;

	f->state = states_step(&stream_states, was, ev, f->host);
	if ((was == STREAM_ENDED) != (f->state == STREAM_ENDED))
		note_change(s);
	s->n[was]--;
	s->n[f->state]++;
	if (was != STREAM_AWAY && f->state == STREAM_AWAY && keep_request(s->k)->ending)
		begin_to_await(s);
	count(s);
}

void site_subscription_await(struct site_subscription *s)
{
	if (s->awaits || !s->n[STREAM_AWAY])
		return;
	begin_to_await(s);
	count(s);
}

static void on_come(void *arg)
{
	struct site_subscription *s = arg;

	s->awaits = false;
	count(s);
}

/* --- one of them */

static struct source *source_new(struct site_subscription *s, bool is_sm, const char *host,
				 enum stream_state state)
{
	struct source *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->is_sm = is_sm;
	f->state = state;
	str_copy(f->host, sizeof(f->host), host);
	map_init(&f->seqs);
	list_push_back(&s->all, &f->link);
	s->n[state]++;
	return f;
}

static void source_forget_seqs(struct site_subscription *s, struct source *f)
{
	s->nseq -= f->seqs.n;
	map_done(&f->seqs);
}

static void source_free(struct site_subscription *s, struct source *f)
{
	s->n[f->state]--;
	source_forget_seqs(s, f);
	list_del(&f->link);
	free(f->missing);
	free(f);
}

struct source *source_at(const struct site_subscription *s, const struct branch *b)
{
	return map_find(&s->by_branch, b->index);
}

static struct source *find_away(struct site_subscription *s, const struct branch *b)
{
	list_each (i, &s->all) {
		struct source *f = list_entry(i, struct source, link);

		if (!f->has_branch && f->is_sm == b->is_sm && str_eq(f->host, b->host))
			return f;
	}
	return NULL;
}

struct source *source_come(struct site_subscription *s, const struct branch *b)
{
	struct source *f = source_at(s, b);
	bool is_new = false;

	if (f)
		return f;
	f = find_away(s, b);
	if (!f) {
		f = source_new(s, b->is_sm, b->host, STREAM_OPEN);
		is_new = true;
	}
	if (!f || map_put(&s->by_branch, b->index, f, NULL)) {
		if (f && is_new)
			source_free(s, f);
		return NULL;
	}
	if (is_new)
		note_change(s);
	f->has_branch = true;
	f->branch = b->index;
	count(s);
	return f;
}

void source_leave(struct site_subscription *s, struct source *f)
{
	map_del(&s->by_branch, f->branch);
	f->has_branch = false;
	f->id = 0;
	source_forget_seqs(s, f);
	source_step(s, f, STREAM_LOST);
	if (f->state == STREAM_ENDED && !f->missing)
		source_free(s, f);
}

void source_forget_host(struct site_subscription *s, const char *host)
{
	list_each_safe (i, &s->all) {
		struct source *f = list_entry(i, struct source, link);

		if (f->has_branch || f->is_sm || !str_eq(f->host, host))
			continue;
		source_free(s, f);
		note_change(s);
	}
	count(s);
}

/* --- on the disk */

static void write_hosts(const struct site_subscription *s, struct buf *b)
{
	list_each (i, &s->all) {
		const struct source *f = list_entry(i, struct source, link);

		if (f->state != STREAM_ENDED && !strchr(f->host, '\n'))
			buf_printf(b, "%s %s\n", f->is_sm ? "sm" : "lm", f->host);
	}
}

/* Waits for the disk. After a power failure an end does not wait for an unknown source, and
 * discards its events. */
void site_subscription_save_sources(struct site_subscription *s)
{
	struct buf b = BUF_INIT(HOSTS_MAX_BYTES);
	char path[FILE_PATH_BYTES];
	struct err e = { 0 };

	if (!s->has_changed)
		return;
	s->has_changed = false;
	write_hosts(s, &b);
	if (b.failed || keep_path(s->k, HOSTS, path, sizeof(path), &e) ||
	    file_write_atomic(path, b.p, b.n, &e))
		log_warn("sm", "a later sm will not know the sources of subscription=%s: %s",
			 keep_name(s->k), e.text);
	buf_done(&b);
}

static int read_line(struct site_subscription *s, char *line)
{
	bool is_sm = str_has_prefix(line, "sm ");

	if ((!is_sm && !str_has_prefix(line, "lm ")) || strlen(line) > WORD_BYTES + NAME_MAX_BYTES)
		return 0;
	return source_new(s, is_sm, line + WORD_BYTES, STREAM_AWAY) ? 0 : -ERR_NOMEM;
}

static int load(struct site_subscription *s)
{
	struct buf b = BUF_INIT(HOSTS_MAX_BYTES + 1);
	char path[FILE_PATH_BYTES], *at = NULL;
	int rc = 0;

	if (!keep_path(s->k, HOSTS, path, sizeof(path), NULL) &&
	    !file_read(path, HOSTS_MAX_BYTES, FILE_SECRET, &b, NULL) && b.n)
		at = (char *)(uintptr_t)buf_str(&b);
	while (at && *at && !rc) {
		char *end = at + strcspn(at, "\n");

		if (*end)
			*end++ = 0;
		rc = read_line(s, at);
		at = end;
	}
	buf_done(&b);
	return rc;
}

int site_subscription_init_sources(struct site_subscription *s)
{
	list_init(&s->all);
	map_init(&s->by_branch);
	s->coming = loop_timer_new(s->kt->conf.loop, on_come, s);
	return s->coming ? load(s) : -ERR_NOMEM;
}

void site_subscription_free_sources(struct site_subscription *s)
{
	list_each_safe (i, &s->all)
		source_free(s, list_entry(i, struct source, link));
	map_done(&s->by_branch);
	loop_timer_free(s->coming);
}

/* --- for people */

void site_subscription_write_missing(const struct site_subscription *s, struct buf *b)
{
	list_each (i, &s->all) {
		const struct source *f = list_entry(i, struct source, link);

		if (f->state == STREAM_AWAY)
			msg_events_add_missing(b, f->is_sm ? "sm " : "", f->host);
		else if (f->missing)
			msg_events_add_missing(b, "", f->missing);
	}
}
