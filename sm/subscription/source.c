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
#define OF_LM "lm "
#define OF_SM "sm "

static const struct store_kind file_kind = {
	.what = "sources", .version = 1, .max_bytes = HOSTS_MAX_BYTES, .is_expendable = true
};

static void note_change(struct site_subscription *s)
{
	s->has_changed = true;
	if (!loop_timer_is_armed(s->kt->saving))
		loop_timer_arm(s->kt->saving, SUBSCRIPTION_SAVE_NS);
}

/* --- counters */

static void count(struct site_subscription *s)
{
	const unsigned *of = s->streams.n;
	int n, more;

	if (!of[STREAM_AWAY]) {
		s->awaits = false;
		loop_timer_cancel(s->coming);
	}
	n = (int)(of[STREAM_OPEN] + of[STREAM_SHUT]) + s->awaits;
	more = n - s->sources;
	s->sources = n;
	if (more)
		keep_feed(s->k, more);
}

static void begin_to_await(struct site_subscription *s)
{
	s->awaits = true;
	loop_timer_arm(s->coming, STREAM_RETURN_NS);
}

static void on_step(void *arg, struct stream *x, enum stream_state was)
{
	struct site_subscription *s = arg;

	if ((was == STREAM_ENDED) != (x->state == STREAM_ENDED))
		note_change(s);
	if (was != STREAM_AWAY && x->state == STREAM_AWAY && keep_request(s->k)->ending)
		begin_to_await(s);
	count(s);
}

void site_subscription_await(struct site_subscription *s)
{
	if (s->awaits || !s->streams.n[STREAM_AWAY])
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

/* --- single sources */

static struct source *source_of(struct stream *x)
{
	return (struct source *)x;
}

static void forget_seqs(struct site_subscription *s, struct source *f)
{
	s->nseq -= f->seqs.n;
	map_done(&f->seqs);
}

static void on_free(void *arg, struct stream *x)
{
	forget_seqs(arg, source_of(x));
}

struct source *source_at(const struct site_subscription *s, const struct branch *b)
{
	return source_of(streams_at(&s->streams, b->index));
}

struct source *source_come(struct site_subscription *s, const struct branch *b)
{
	char name[NAME_MAX_BYTES + sizeof(OF_SM)];
	struct stream *x;
	bool is_new;

	snprintf(name, sizeof(name), "%s%s", b->is_sm ? OF_SM : "", b->host);
	x = streams_come(&s->streams, b->index, name, &is_new);
	if (x && is_new) {
		map_init(&source_of(x)->seqs);
		note_change(s);
	}
	return source_of(x);
}

void source_leave(struct site_subscription *s, struct source *f)
{
	f->id = 0;
	forget_seqs(s, f);
	stream_leave(&s->streams, &f->stream);
	if (f->stream.state == STREAM_ENDED && !f->stream.missing)
		stream_free(&s->streams, &f->stream);
}

void source_forget_host(struct site_subscription *s, const char *host)
{
	list_each_safe (i, &s->streams.all) {
		struct stream *x = list_entry(i, struct stream, in_all);

		if (x->has_branch || !str_eq(x->name, host))
			continue;
		stream_free(&s->streams, x);
		note_change(s);
	}
	count(s);
}

/* --- on the disk */

static void write_hosts(const struct site_subscription *s, struct buf *b)
{
	list_each (i, &s->streams.all) {
		const struct stream *x = list_entry(i, struct stream, in_all);

		if (x->state != STREAM_ENDED && !strchr(x->name, '\n'))
			buf_printf(b, "%s%s\n", str_has_prefix(x->name, OF_SM) ? "" : OF_LM,
				   x->name);
	}
}

/* Waits for the disk. After a power failure an end does not wait for an unknown source, and
 * discards its events. */
void site_subscription_save_sources(struct site_subscription *s)
{
	struct buf b = BUF_INIT(HOSTS_MAX_BYTES);
	struct err e = { 0 };
	struct keep_file file;

	if (!s->has_changed)
		return;
	s->has_changed = false;
	write_hosts(s, &b);
	if (keep_store(s->k, &file_kind, HOSTS, &file, &e) || store_write(&file.store, &b, &e))
		log_warn("sm", "a later sm will not know the sources of subscription=%s: %s",
			 keep_name(s->k), e.text);
	buf_done(&b);
}

static int read_line(void *arg, char *line, struct err *e)
{
	struct site_subscription *s = arg;
	bool is_sm = str_has_prefix(line, OF_SM);
	struct stream *x;

	if ((!is_sm && !str_has_prefix(line, OF_LM)) ||
	    strlen(line) > strlen(OF_LM) + NAME_MAX_BYTES)
		return err_set(e, ERR_PARSE, "not the name of a source");
	x = streams_add(&s->streams, is_sm ? line : line + strlen(OF_LM), STREAM_AWAY);
	if (!x)
		return err_nomem(e);
	map_init(&source_of(x)->seqs);
	return 0;
}

static int load(struct site_subscription *s)
{
	struct err e = { 0 };
	struct keep_file file;
	int rc = keep_store(s->k, &file_kind, HOSTS, &file, &e);

	rc = rc ? rc : store_read_lines(&file.store, read_line, s, &e);
	if (rc && rc != -ERR_NOMEM)
		log_warn("sm", "not all sources are known of subscription=%s: %s", keep_name(s->k),
			 e.text);
	return rc == -ERR_NOMEM ? rc : 0;
}

int site_subscription_init_sources(struct site_subscription *s)
{
	streams_init(&s->streams, &(struct streams_conf){ .bytes = sizeof(struct source),
							  .number = &s->kt->stream,
							  .on_step = on_step,
							  .on_free = on_free,
							  .arg = s });
	s->coming = loop_timer_new(s->kt->conf.loop, on_come, s);
	return s->coming ? load(s) : -ERR_NOMEM;
}

void site_subscription_free_sources(struct site_subscription *s)
{
	streams_done(&s->streams);
	loop_timer_free(s->coming);
}
