/* SPDX-License-Identifier: Apache-2.0 */
#include "lm/stops.h"

#include "common/base/buf.h"
#include "common/base/file.h"
#include "common/base/limits.h"
#include "common/base/log.h"
#include "common/base/str.h"
#include "common/loop/loop.h"
#include "lm/proctext.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define JOURNAL_MAX_BYTES (256 * 1024) /* PROCS_MAX lines of some 80 bytes */

struct stop {
	struct list link;
	struct proc *proc;
	uint32_t tool[STOPS_TOOLS_MAX];
	size_t ntool;
};

struct stops {
	struct loop *loop;
	struct host *host;
	struct procs *procs;
	struct procs_listener listener;
	char *journal; /* NULL: none */
	struct list all;
	size_t n;
	struct loop_timer *leash;
	bool is_up;
};

static struct stop *find(const struct stops *s, const struct proc *p)
{
	list_each (i, &s->all)
		if (list_entry(i, struct stop, link)->proc == p)
			return list_entry(i, struct stop, link);
	return NULL;
}

/* A line a process: pid, start, boot id. An empty journal is no file. It outlives us, and no boot. */
static int write_journal(struct stops *s, struct err *e)
{
	struct buf b = BUF_INIT(JOURNAL_MAX_BYTES);
	int rc;

	if (!s->journal)
		return 0;
	list_each (i, &s->all) {
		const struct proc *p = list_entry(i, struct stop, link)->proc;

		buf_printf(&b, "%d %llu %s\n", (int)p->pid, (unsigned long long)p->start,
			   procs_boot_id(s->procs));
	}
	if (list_is_empty(&s->all))
		rc = file_remove(s->journal, e);
	else
		rc = b.failed ? err_nomem(e) : file_replace(s->journal, b.p, b.n, e);
	buf_done(&b);
	return rc;
}

static void drop(struct stops *s, struct stop *st)
{
	list_del(&st->link);
	s->n--;
	free(st);
	if (list_is_empty(&s->all))
		loop_timer_cancel(s->leash);
}

static void let_go(struct stops *s, struct stop *st, const char *why)
{
	struct proc *p = st->proc;

	log_debug("lm", "continuing a stopped process pid=%d reason=%s", (int)p->pid, why);
	if (p->held)
		host_proc_signal(p->held, SIGCONT, NULL);
	drop(s, st);
	procs_set_stopped(p, false);
}

/* Where nothing is stopped the journal stays: it may be one that could not be read. */
static void let_all_go(struct stops *s, const char *why)
{
	if (!s->n)
		return;
	list_each_safe (i, &s->all)
		let_go(s, list_entry(i, struct stop, link), why);
	write_journal(s, NULL);
}

static void on_leash(void *arg)
{
	let_all_go(arg, "nobody can be asked");
}

static void on_proc(void *arg, struct proc *p, enum proc_event what)
{
	struct stops *s = arg;
	struct stop *st = what == PROC_ENDED || what == PROC_FORGOTTEN ? find(s, p) : NULL;

	if (!st)
		return;
	drop(s, st);
	write_journal(s, NULL);
}

static void continue_line(struct stops *s, const char *line)
{
	struct host_proc *held;
	int64_t pid, start;
	char boot[HOST_BOOT_ID_BYTES];
	const char *p = text_number(line, &pid);

	p = p ? text_number(p, &start) : NULL;
	if (!p || pid <= 1 || pid > INT32_MAX)
		return;
	text_line(boot, sizeof(boot), p);
	if (!str_eq(boot, procs_boot_id(s->procs)) ||
	    host_proc_open(s->host, (int32_t)pid, &held, NULL) < 0)
		return;
	if (held->start == (uint64_t)start)
		host_proc_signal(held, SIGCONT, NULL);
	host_proc_close(held);
}

static int replay(struct stops *s, struct err *e)
{
	struct buf b = BUF_INIT(JOURNAL_MAX_BYTES);
	int rc;

	rc = file_read(s->journal, JOURNAL_MAX_BYTES, FILE_SECRET, &b, e);
	for (const char *p = buf_str(&b); rc == 0 && p && *p; p = text_next_line(p))
		continue_line(s, p);
	buf_done(&b);
	if (rc == -ERR_NOTFOUND)
		return 0;
	return rc < 0 ? rc : file_remove(s->journal, e);
}

int stops_open(struct loop *l, struct host *h, struct procs *p, const char *journal,
	       struct stops **out, struct err *e)
{
	struct stops *s = calloc(1, sizeof(*s));
	int rc = 0;

	if (!s)
		return err_nomem(e);
	s->loop = l;
	s->host = h;
	s->procs = p;
	list_init(&s->all);
	s->listener = (struct procs_listener){ .on_proc = on_proc, .arg = s };
	procs_listen(p, &s->listener);
	s->leash = loop_timer_new(l, on_leash, s);
	s->journal = journal ? str_dup(journal) : NULL;
	if (!s->leash || (journal && !s->journal))
		rc = err_nomem(e);
	if (rc == 0 && journal)
		rc = replay(s, e);
	if (rc < 0) {
		stops_free(s);
		return rc;
	}
	*out = s;
	return 0;
}

void stops_free(struct stops *s)
{
	if (!s)
		return;
	let_all_go(s, "the lm ends");
	procs_unlisten(&s->listener);
	loop_timer_free(s->leash);
	free(s->journal);
	free(s);
}

static void note_tool(struct stop *st, uint32_t tool)
{
	for (size_t i = 0; i < st->ntool; i++)
		if (st->tool[i] == tool)
			return;
	if (st->ntool < STOPS_TOOLS_MAX)
		st->tool[st->ntool++] = tool;
}

static int add(struct stops *s, struct proc *p, struct stop **out, struct err *e)
{
	struct stop *st = calloc(1, sizeof(*st));
	int rc;

	if (!st)
		return err_nomem(e);
	st->proc = p;
	list_push_back(&s->all, &st->link);
	s->n++;
	rc = write_journal(s, e); /* first: a crash must not leave a stop that nobody knows of */
	if (rc == 0)
		rc = host_proc_signal(p->held, SIGSTOP, e);
	if (rc < 0) {
		drop(s, st);
		write_journal(s, NULL);
		return rc;
	}
	if (!s->is_up && !loop_timer_is_armed(s->leash))
		loop_timer_arm(s->leash, STOP_LEASH_NS);
	*out = st;
	return 0;
}

int stops_stop(struct stops *s, struct proc *p, uint32_t tool, struct err *e)
{
	struct stop *st = find(s, p);
	int rc;

	if (!p->held)
		return err_set(e, ERR_NOTFOUND, "the process has ended");
	rc = st ? host_proc_signal(p->held, SIGSTOP, e) : add(s, p, &st, e);
	if (rc < 0)
		return rc;
	note_tool(st, tool);
	procs_set_stopped(p, true);
	return 0;
}

int stops_continue(struct stops *s, struct proc *p, struct err *e)
{
	struct stop *st = find(s, p);
	int rc;

	rc = host_proc_signal(p->held, SIGCONT, e);
	if (rc < 0)
		return rc;
	if (st) {
		drop(s, st);
		write_journal(s, NULL);
	}
	procs_set_stopped(p, false);
	return 0;
}

void stops_tool_gone(struct stops *s, uint32_t tool)
{
	size_t before = s->n;

	list_each_safe (i, &s->all) {
		struct stop *st = list_entry(i, struct stop, link);

		for (size_t k = 0; k < st->ntool; k++)
			if (st->tool[k] == tool)
				st->tool[k--] = st->tool[--st->ntool];
		if (!st->ntool)
			let_go(s, st, "its tool is gone");
	}
	if (s->n != before)
		write_journal(s, NULL);
}

void stops_let_go(struct stops *s, const char *reason)
{
	let_all_go(s, reason);
}

void stops_link(struct stops *s, bool is_up)
{
	s->is_up = is_up;
	if (is_up)
		loop_timer_cancel(s->leash);
	else if (s->n && !loop_timer_is_armed(s->leash))
		loop_timer_arm(s->leash, STOP_LEASH_NS);
}

size_t stops_count(const struct stops *s)
{
	return s->n;
}
