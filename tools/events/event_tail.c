/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/events/event_tail.h"

#include "common/base/limits.h"
#include "common/base/str.h"
#include "common/omis/text/value.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define KIND_PROCESS 'p'
/* blocks of each process in one request; a limit of bytes may cut the reply before */
#define FETCH_MAX 1000

/* --- the request */

static void on_reply(Omis_reply r, void *arg)
{
	struct event_tail *f = arg;
	Omis_status s = session_csr_note(&f->csr, r);

	if (s == OMIS_CSR_DISABLED && r[0]->result) {
		Omis_value *v = omis_value_parse(r[0]->result, r[0]->result_len);

		f->is_over = true;
		cmd_warn("%s", value_text(v, 0));
		omis_value_free(v);
	} else if (s >= OMIS_FIRST_ERROR) {
		f->csr.token[0] = '\0';
	}
	omis_reply_free(r);
}

static void write_event(const struct event_tail_options *w, struct buf *b)
{
	struct omis_writer out = OMIS_WRITER(b);

	buf_puts(b, "thread_writes_events([],");
	omis_write_list(&out);
	for (char **name = w->names; *name; name++)
		omis_write_string(&out, *name);
	omis_write_list_end(&out);
	omis_write_string(&out, w->where ? w->where : "");
	omis_write_int(&out, (w->for_ns + 999999999) / 1000000000);
	buf_puts(b, ")");
}

static void write_request(const struct event_tail *f, struct buf *b)
{
	const struct event_tail_options *w = f->options;

	if (w->write_event)
		w->write_event(w->arg, b);
	else
		write_event(w, b);
	buf_printf(b, ": trace_buffer_append(%s,$time,0,[$block])", f->buffer);
}

static int fail(const struct event_tail *f)
{
	return session_csr_fail(&f->csr, session_status_of(f->csr.ended), "");
}

static int report_end(struct event_tail *f)
{
	f->is_over = true;
	f->status = fail(f);
	return f->status;
}

static int make_csr(struct event_tail *f)
{
	struct buf b = BUF_INIT(OMIS_REQUEST_MAX_BYTES);
	int rc;

	write_request(f, &b);
	if (b.failed) {
		buf_done(&b);
		return cmd_fail(CMD_USAGE, "the names are longer than a request may be");
	}
	rc = session_csr_define(&f->csr, (const char *)b.p, b.n, on_reply, f);
	buf_done(&b);
	if (rc == CMD_OK)
		return CMD_OK;
	return f->csr.ended ? fail(f) : cmd_fail(CMD_FAILURE, "mainsm does not accept the request");
}

static int ask_for(struct event_tail *f)
{
	Omis_value *v;
	int rc = session_ask_value(&v, ":trace_buffer_create([])");

	if (rc != CMD_OK)
		return rc;
	str_copy(f->buffer, sizeof(f->buffer), value_text(v, 0));
	omis_value_free(v);
	rc = make_csr(f);
	if (rc == CMD_OK)
		rc = session_csr_enable(&f->csr);
	return f->status ? f->status : rc;
}

static void remove_request(struct event_tail *f);

static int poll_tree(struct event_tail *f)
{
	omis_value_free(f->tree);
	return session_ask_value(&f->tree, ":omig_tree()");
}

/* Begins again with another mainsm: the buffer of the earlier one is lost. */
static int begin_again(void *arg)
{
	struct event_tail *f = arg;
	int rc;

	session_csr_reset(&f->csr);
	f->status = CMD_OK;
	f->is_over = false;
	f->buffer[0] = 0;
	buf_clear(&f->in);
	rc = session_attach(f->options->job);
	if (rc == CMD_OK)
		rc = poll_tree(f);
	if (rc == CMD_OK)
		rc = ask_for(f);
	if (rc != CMD_OK)
		remove_request(f);
	return rc;
}

int event_tail_check(struct event_tail *f)
{
	bool has_ended;
	int rc = session_csr_check(&f->csr, &has_ended);

	return has_ended ? report_end(f) : rc;
}

int event_tail_begin(struct event_tail *f)
{
	int rc = session_attach(f->options->job);

	f->csr.gap = (struct session_gap){ .limit_ns = f->options->reconnect_ns,
					   .again = begin_again,
					   .arg = f };
	f->copy_to = -1;
	buf_init(&f->in, 4 * EVBLOCK_MAX_BYTES + FRAME_MAX_BYTES);
	f->reader = evread_new();
	if (!f->reader)
		return cmd_fail(CMD_FAILURE, "out of memory");
	if (rc == CMD_OK && f->options->to) {
		f->copy_to = open(f->options->to, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
		if (f->copy_to < 0)
			return cmd_fail(CMD_FAILURE, "%s: %s", f->options->to, strerror(errno));
	}
	if (rc == CMD_OK && !f->options->on_block)
		rc = logwrite_open(f->options->common.json ? "json" : "bp", NULL, &f->show);
	if (rc == CMD_OK)
		rc = poll_tree(f);
	return rc == CMD_OK ? ask_for(f) : rc;
}

/* --- received events */

static int copy_to(const struct event_tail *f, const char *p, size_t n)
{
	while (n && f->copy_to >= 0) {
		ssize_t got = write(f->copy_to, p, n);

		if (got < 0 && errno != EINTR)
			return cmd_fail(CMD_FAILURE, "%s: %s", f->options->to, strerror(errno));
		p += got > 0 ? got : 0;
		n -= got > 0 ? (size_t)got : 0;
	}
	return CMD_OK;
}

static bool has_enough(const struct event_tail *f)
{
	return f->options->count && f->nevent >= (uint64_t)f->options->count;
}

/* The reader expects more bytes: an incomplete block remains in the buffer. */
static int read_blocks(struct event_tail *f)
{
	struct event ev;
	size_t used, at = 0;
	int got, rc = CMD_OK;

	do {
		got = evread_push(f->reader, f->in.p + at, f->in.n - at, false, &used);
		while (rc == CMD_OK && got == EVREAD_BLOCK && !has_enough(f) &&
		       evread_next(f->reader, &ev)) {
			f->nevent++;
			rc = logwrite_event(f->show, &ev);
		}
		at += used;
	} while (rc == CMD_OK && got == EVREAD_BLOCK && !has_enough(f));
	buf_drop_front(&f->in, at);
	return got < 0 ? cmd_fail(CMD_FAILURE, "out of memory") : rc;
}

static int take_block(struct event_tail *f, const Omis_value *block)
{
	int rc;

	if (!block || block->kind != OMIS_VALUE_BINARY)
		return CMD_OK;
	if (f->options->on_block)
		return f->options->on_block(f->options->arg, block->s, block->n);
	rc = copy_to(f, block->s, block->n);
	buf_put(&f->in, block->s, block->n);
	if (rc == CMD_OK && f->in.failed)
		rc = cmd_fail(CMD_FAILURE, "out of memory");
	return rc == CMD_OK && !has_enough(f) ? read_blocks(f) : rc;
}

/*
 * Takes a part of a reply: buffer, number of the first record, remaining and dropped records, then
 * [time, type, [block]]...
 */
static int take_part(struct event_tail *f, const Omis_value *v, bool *more)
{
	int rc = CMD_OK;

	*more |= value_int(v, 2) > 0;
	for (size_t i = 4; rc == CMD_OK && value_at(v, i); i++)
		rc = take_block(f, value_at(value_at(value_at(v, i), 2), 0));
	return rc;
}

/* A new lm has no buffer before its first block, which is not an error. */
static int fault_of(Omis_reply r)
{
	Omis_status s = omis_reply_status(r) & ~OMIS_FATAL;

	if (s < OMIS_FIRST_ERROR || s == OMIS_UNKNOWN_OBJECT)
		return CMD_OK;
	if (session_link() != SESSION_UP)
		return CMD_UNREACHABLE; /* event_tail_check() reports it */
	return cmd_fail(s == OMIS_OS_ERROR ? CMD_UNREACHABLE : session_status_of(s), "%s",
			omis_strerror(s));
}

int event_tail_fetch(struct event_tail *f, bool *more)
{
	char text[96];
	Omis_reply r;
	int rc;

	snprintf(text, sizeof(text), ":trace_buffer_read([%s],%d)", f->buffer, FETCH_MAX);
	r = omis_request(text, NULL, NULL, 0);
	*more = false;
	if (!r)
		return cmd_fail(CMD_FAILURE, "out of memory");
	rc = fault_of(r);
	for (Omis_service_result part = rc == CMD_OK && r[0] ? r[1] : NULL;
	     rc == CMD_OK && part && part->obj_list; part++) {
		Omis_value *v = NULL;

		if (part->status < OMIS_FIRST_ERROR && part->result)
			v = omis_value_parse(part->result, part->result_len);

		rc = take_part(f, v, more);
		omis_value_free(v);
	}
	omis_reply_free(r);
	if (rc == CMD_OK && f->show)
		rc = logwrite_flush(f->show);
	f->nlost = evread_report(f->reader)->dropped + evread_report(f->reader)->lost_events;
	f->is_over |= has_enough(f);
	return rc;
}

/* --- new nodes */

/* Returns the node of a process, from its line of the tree: token, parent, name, state, ... */
static const char *node_of(const Omis_value *line)
{
	return value_text(line, 0)[0] == KIND_PROCESS ? value_text(line, 1) : NULL;
}

static bool has_node(const Omis_value *tree, const char *node)
{
	for (size_t i = 0; tree && i < tree->n; i++) {
		const char *other = node_of(&tree->list[i]);

		if (other && str_eq(other, node))
			return true;
	}
	return false;
}

static void remove_request(struct event_tail *f)
{
	Omis_reply r;
	bool more;

	session_csr_delete(&f->csr);
	while (f->buffer[0] && event_tail_fetch(f, &more) == CMD_OK && more)
		;
	if (f->buffer[0] && session_ask(&r, ":trace_buffer_delete([%s])", f->buffer) == CMD_OK)
		omis_reply_free(r);
	f->buffer[0] = 0;
}

/* A buffer exists on the nodes of the processes that ran when it was made. */
int event_tail_attach(struct event_tail *f)
{
	Omis_value *before = f->tree;
	bool is_new = false;
	int rc = session_attach(f->options->job);

	if (rc == CMD_NOTFOUND)
		rc = CMD_OK; /* the job has ended; another job with that name may start */
	if (rc != CMD_OK)
		return rc;
	f->tree = NULL;
	rc = poll_tree(f);
	for (size_t i = 0; f->tree && i < f->tree->n && !is_new; i++) {
		const char *node = node_of(&f->tree->list[i]);

		is_new = node && !has_node(before, node);
	}
	omis_value_free(before);
	if (!is_new || rc != CMD_OK)
		return rc;
	remove_request(f);
	return ask_for(f);
}

int event_tail_end(struct event_tail *f)
{
	int rc = f->status, end;

	remove_request(f);
	if (f->show) {
		end = logwrite_finish(f->show);
		rc = rc ? rc : end;
		logwrite_close(f->show);
	}
	if (f->copy_to >= 0 && close(f->copy_to) && !rc)
		rc = cmd_fail(CMD_FAILURE, "%s: %s", f->options->to, strerror(errno));
	evread_free(f->reader);
	omis_value_free(f->tree);
	buf_done(&f->in);
	return rc;
}
