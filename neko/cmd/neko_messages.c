/* SPDX-License-Identifier: Apache-2.0 */
#include "neko/cmd/neko_messages.h"

#include "common/base/array.h"
#include "tools/term/say.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct neko_messages_line {
	nsec_t at;
	size_t number; /* order of lines with equal times */
	size_t from; /* offset in the text */
};

int neko_messages_open(struct neko_messages *m, const char *path)
{
	*m = (struct neko_messages){ .path = path };
	if (!path)
		return CMD_OK;
	m->file = fopen(path, "we");
	return m->file ? CMD_OK : cmd_fail(CMD_FAILURE, "%s: %s", path, strerror(errno));
}

void neko_messages_begin(struct neko_messages *m, const struct run *r, bool is_real)
{
	struct stat st;

	m->run = r;
	m->is_real = is_real;
	if (!is_real)
		return;
	m->text = BUF_INIT(NEKO_MESSAGES_MAX_BYTES);
	m->is_live = m->file && fstat(fileno(m->file), &st) == 0 && S_ISREG(st.st_mode);
}

/* Ends the line that was appended to the text. Lines of a simulation are written to the file. */
static void end_line(struct neko_messages *m, nsec_t at, size_t from)
{
	buf_putc(&m->text, '\n');
	buf_putc(&m->text, 0);
	if (m->text.failed ||
	    array_grow(&m->line, &m->cap, m->n + 1, sizeof(*m->line), NEKO_MESSAGES_MAX_BYTES)) {
		m->has_lost = true;
		return;
	}
	m->line[m->n] = (struct neko_messages_line){ at, m->n, from };
	m->n++;
}

void neko_messages_step(struct neko_messages *m, const struct sim_step *t)
{
	static const char *const kind[] = { "sent", "lost", "delivered" };

	if (m->file)
		fprintf(m->file, "%.9f %s %u > %u %s.%s %u\n", (double)t->at / 1e9, kind[t->kind],
			t->msg->from, t->to, t->net, t->type, t->msg->n);
}

static void add_clock(struct buf *b, nsec_t error)
{
	if (error)
		buf_printf(b, " clock +- %.9f", (double)error / 1e9);
}

static void add_message(struct neko_messages *m, nsec_t at, const char *kind,
			const struct neko_delay *d)
{
	size_t from = m->text.n;

	buf_printf(&m->text, "%.9f %s %u > %u %s.%s ", (double)at / 1e9, kind, d->from, d->to,
		   run_net_name(m->run, d->net), run_type_name(m->run, d->type));
	if (d->type < NEKO_TYPES_MAX)
		buf_printf(&m->text, "%u", d->bytes);
	else
		buf_putc(&m->text, '-');
	add_clock(&m->text, at == d->sent_at ? 0 : d->error);
	end_line(m, at, from);
}

void neko_messages_delay(struct neko_messages *m, const struct neko_delay *d)
{
	if (!m->file)
		return;
	add_message(m, d->sent_at, d->delay == NEKO_DELAY_LOST ? "lost" : "sent", d);
	if (d->delay >= 0)
		add_message(m, d->sent_at + d->delay, "delivered", d);
}

void neko_messages_event(struct neko_messages *m, const struct neko_event *v)
{
	char content[RUN_EVENT_TEXT_BYTES];
	size_t from = m->text.n;

	if (!m->file)
		return;
	run_event_text(m->run, v, content);
	if (!m->is_real) {
		fprintf(m->file, "%.9f event %u %s %s\n", (double)v->at / 1e9, v->process, v->what,
			content);
		return;
	}
	buf_printf(&m->text, "%.9f event %u %s %s", (double)v->at / 1e9, v->process, v->what,
		   content);
	add_clock(&m->text, v->error);
	end_line(m, v->at, from);
	if (m->is_live && !m->has_lost) {
		fputs((const char *)m->text.p + from, m->file);
		fflush(m->file);
	}
}

static int by_time(const void *p, const void *q)
{
	const struct neko_messages_line *a = p, *b = q;

	if (a->at != b->at)
		return a->at < b->at ? -1 : 1;
	return a->number < b->number ? -1 : a->number > b->number;
}

/* Returns false if the file cannot be written. */
static bool write_sorted(struct neko_messages *m)
{
	if (m->is_live && (fseek(m->file, 0, SEEK_SET) || ftruncate(fileno(m->file), 0)))
		return false;
	if (m->n)
		qsort(m->line, m->n, sizeof(*m->line), by_time);
	for (size_t i = 0; i < m->n; i++)
		fputs((const char *)m->text.p + m->line[i].from, m->file);
	return !ferror(m->file);
}

int neko_messages_finish(struct neko_messages *m)
{
	bool has_failed;

	if (!m->file)
		return CMD_OK;
	has_failed = m->is_real ? !write_sorted(m) : ferror(m->file) != 0;
	has_failed |= fclose(m->file) != 0;
	m->file = NULL;
	if (has_failed)
		return cmd_fail(CMD_FAILURE, "%s: could not be written", m->path);
	if (!m->has_lost)
		return CMD_OK;
	cmd_warn("%s is incomplete: there were more lines than room for them", m->path);
	return CMD_PARTIAL;
}

void neko_messages_done(struct neko_messages *m)
{
	if (m->file)
		fclose(m->file);
	buf_done(&m->text);
	free(m->line);
	*m = (struct neko_messages){ 0 };
}
