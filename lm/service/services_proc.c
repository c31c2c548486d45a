/* SPDX-License-Identifier: Apache-2.0 */
/* Figures of processes and threads. */
#include "lm/service/families.h"

#include "common/base/buf.h"
#include "common/base/limits.h"
#include "common/base/str.h"
#include "common/loop/loop.h"

#include <string.h>

enum {
	PROC_GLOBAL_ID = 1 << 0,
	PROC_ARGV = 1 << 1,
	PROC_UID = 1 << 2,
	PROC_GID = 1 << 3,
	PROC_USER_ARGV = 1 << 4,
	PROC_ENVP = 1 << 5,
	PROC_PARENT = 1 << 6,
	PROC_QUEUE = 1 << 7,
	PROC_NODE = 1 << 8,
	PROC_LOCAL_ID = 1 << 9,
	PROC_STATE = 1 << 10,
	PROC_TOTAL_TIME = 1 << 11,
	PROC_PRIORITY = 1 << 12,
	PROC_SYSTEM_TIME = 1 << 13,
	PROC_SIZES_FIRST = 14, /* memory, resident, its peak, its integral */
	PROC_COUNTS_FIRST = 18, /* minor, major, swaps, input, output, switches */
	PROC_INPUT = 1 << 21,
	PROC_OUTPUT = 1 << 22,
	PROC_VOLUNTARY = 1 << 23,
	PROC_INVOLUNTARY = 1 << 24,
	PROC_PROGRAM = 1 << 25,
	PROC_AGE = 1 << 26,
	PROC_ENDED_AGE = 1 << 27,
	PROC_JOB = 1 << 28,
	PROC_PARENT_ID = 1 << 29,
	PROC_ATTACHED_AGE = 1 << 30,
};

#define PROC_FLAGS INT64_C(0x7fffffff)

enum sched_state { SCHED_RUN, SCHED_BLOCKED, SCHED_READY, SCHED_ZOMBIE, SCHED_STOPPED };

/* For other tools, a process that a tool has suspended is in the state waiting. */
static enum sched_state sched_state(const struct proc *p, char state)
{
	switch (state) {
	case 'R':
		return SCHED_RUN;
	case 'T':
		if (p->is_suspended && p->state != MSG_STATE_STOPPED)
			return SCHED_BLOCKED;
		return SCHED_STOPPED;
	case 't':
		return SCHED_STOPPED;
	case 'Z':
	case 'X':
		return SCHED_ZOMBIE;
	default:
		return SCHED_BLOCKED;
	}
}

static unsigned what_for(int64_t flags)
{
	unsigned what = HOST_FIGURES_STAT | HOST_FIGURES_STATUS;

	if (flags & (PROC_INPUT | PROC_OUTPUT))
		what |= HOST_FIGURES_IO;
	if (flags & (PROC_VOLUNTARY | PROC_INVOLUNTARY))
		what |= HOST_FIGURES_SWITCHES;
	return what;
}

/* Called after a read by pid: the data belong to this process if it still exists. */
static bool is_there(const struct proc *p)
{
	return p->held && !host_proc_signal(p->held, 0, NULL);
}

/* The counters of a process; of an ended one the last ones. */
static void get_figures(struct service_call *c, const struct proc *p, int64_t flags,
			struct host_figures *f)
{
	if (p->held && !host_figures(c->of, p->pid, what_for(flags), f, NULL) &&
	    f->start == p->start)
		return;
	*f = p->figures;
	if (f->age_s >= 0)
		f->age_s += (double)(loop_now(c->loop) - p->figures_at) / 1e9;
	if (!p->held)
		f->state = 'Z';
}

/* The start of a connection string, which ends with a dot and the secret of its token. */
#define STRING_HEAD "omig1:"
#define SECRET_MIN_BYTES 20 /* the text after the dots of an address is shorter */

/* Overwrites the token in the environment, with which a tool could enrol. */
static void hide_secret(uint8_t *p, size_t n)
{
	static const char letters[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
	uint8_t *head = memmem(p, n, STRING_HEAD, strlen(STRING_HEAD));
	uint8_t *dot = head ? memrchr(head, '.', (size_t)(p + n - head)) : NULL;
	size_t len = 0;

	if (!dot)
		return;
	for (dot++; dot + len < p + n && dot[len] && strchr(letters, dot[len]); len++)
		continue;
	if (len >= SECRET_MIN_BYTES)
		memset(dot, '*', len);
}

/* Writes a list of strings; an empty one when they cannot be read. */
static void write_strings(struct service_call *c, struct omis_writer *w, const struct proc *p,
			  bool environment)
{
	struct buf b = BUF_INIT(HOST_STRINGS_MAX_BYTES);
	size_t at = 0, n;

	if (p->held)
		host_strings(c->of, p->pid, environment, &b, NULL);
	if (!is_there(p))
		buf_clear(&b);
	omis_write_list(w);
	for (; at < b.n; at += n + 1) {
		n = strnlen((const char *)b.p + at, b.n - at);
		hide_secret(b.p + at, n);
		omis_write_string_n(w, b.p + at, n);
	}
	omis_write_list_end(w);
	buf_done(&b);
}

/* Writes the last part of argv[0], or the kernel's name if there are no arguments. */
static void write_program(struct service_call *c, struct omis_writer *w, const struct proc *p,
			  const struct host_figures *f)
{
	struct buf b = BUF_INIT(HOST_STRINGS_MAX_BYTES);
	const char *name;

	if (p->held)
		host_strings(c->of, p->pid, false, &b, NULL);
	if (!is_there(p) || !b.n)
		buf_clear(&b);
	name = b.n ? buf_str(&b) : f->name;
	omis_write_string(w, str_base_name(name));
	buf_done(&b);
}

static void write_token(struct omis_writer *w, const char *token)
{
	omis_write_token(w, token && *token ? token : "u_0");
}

static void write_static(struct service_call *c, struct omis_writer *w, const struct proc *p,
			 int64_t flags, const struct host_figures *f)
{
	const struct proc *parent;

	if (flags & PROC_GLOBAL_ID)
		omis_write_int(w, p->own.rank);
	if (flags & PROC_ARGV)
		write_strings(c, w, p, false);
	if (flags & PROC_UID)
		omis_write_int(w, f->uid);
	if (flags & PROC_GID)
		omis_write_int(w, f->gid);
	if (flags & PROC_USER_ARGV) /* nothing removes arguments on the way to the program */
		write_strings(c, w, p, false);
	if (flags & PROC_ENVP)
		write_strings(c, w, p, true);
	if (flags & PROC_PARENT) {
		parent = procs_find_pid(c->procs, p->parent_pid);
		write_token(w, parent ? parent->token.s : NULL);
	}
	if (flags & PROC_QUEUE)
		omis_write_string(w, "");
}

static double sum(double a, double b)
{
	return a < 0 || b < 0 ? -1 : a + b;
}

static void write_dynamic(struct service_call *c, struct omis_writer *w, const struct proc *p,
			  int64_t flags, const struct host_figures *f)
{
	const int64_t size[4] = { f->size, f->resident, f->resident_max,
				  -1 /* Linux keeps no integral */ };
	const int64_t count[7] = { f->minor_faults, f->major_faults, f->swaps,	    f->read_blocks,
				   f->write_blocks, f->voluntary,    f->involuntary };

	if (flags & PROC_NODE)
		write_token(w, procs_node_token(c->procs));
	if (flags & PROC_LOCAL_ID)
		omis_write_int(w, p->pid);
	if (flags & PROC_STATE)
		omis_write_int(w, sched_state(p, f->state));
	if (flags & PROC_TOTAL_TIME)
		omis_write_float(w, sum(f->user_s, f->system_s));
	if (flags & PROC_PRIORITY)
		omis_write_int(w, f->priority);
	if (flags & PROC_SYSTEM_TIME)
		omis_write_float(w, f->system_s);
	for (int i = 0; i < 4; i++)
		if (flags >> (PROC_SIZES_FIRST + i) & 1)
			omis_write_int(w, size[i]);
	for (int i = 0; i < 7; i++)
		if (flags >> (PROC_COUNTS_FIRST + i) & 1)
			omis_write_int(w, count[i]);
	if (flags & PROC_PROGRAM)
		write_program(c, w, p, f);
	if (flags & PROC_AGE)
		omis_write_float(w, f->age_s);
	if (flags & PROC_ENDED_AGE)
		omis_write_float(w, p->held ? -1 : (double)(loop_now(c->loop) - p->ended_at) / 1e9);
	if (flags & PROC_JOB)
		omis_write_string(w, p->own.job);
	if (flags & PROC_PARENT_ID)
		omis_write_int(w, p->parent_pid);
	if (flags & PROC_ATTACHED_AGE)
		omis_write_float(w, procs_attached_age(p));
}

static int add_proc(struct service_call *c, const struct object *o)
{
	int64_t flags = call_int(c, 1) & PROC_FLAGS;
	struct buf b = BUF_INIT(FRAME_MAX_BYTES);
	struct omis_writer w = OMIS_WRITER(&b);
	struct host_figures f;

	if (flags) {
		get_figures(c, o->proc, flags, &f);
		write_static(c, &w, o->proc, flags, &f);
		write_dynamic(c, &w, o->proc, flags, &f);
	}
	return call_add_values(c, o->token, &b);
}

static int serve_proc_get_info(struct service_call *c)
{
	return call_each_object(c, 'p', add_proc);
}

static void write_probe(struct omis_writer *w, const struct seg_probe *p)
{
	omis_write_list(w);
	omis_write_string(w, p->name);
	omis_write_list(w);
	for (uint32_t i = 0; i < p->nparam; i++)
		omis_write_string(w, seg_type_name(p->type[i]));
	omis_write_list_end(w);
	omis_write_list_end(w);
}

/* A process without a segment has no known probes. */
static int add_probes(struct service_call *c, const struct object *o)
{
	struct buf b = BUF_INIT(FRAME_MAX_BYTES);
	struct omis_writer w = OMIS_WRITER(&b);
	const struct segview *v = o->proc->seg;
	const struct seg_probe *p;

	omis_write_int(&w, v ? segview_probes(v) : 0);
	for (unsigned i = 0; v && i < SEG_COLLECTIVE_FIRST; i++) {
		p = segview_probe(v, i);
		if (p)
			write_probe(&w, p);
	}
	return call_add_values(c, o->token, &b);
}

static int serve_get_probes(struct service_call *c)
{
	struct objects o = { 0 };
	int rc = call_resolve(c, 'p', &o);

	for (size_t i = 0; !rc && i < o.n; i++)
		rc = add_probes(c, &o.v[i]);
	objects_done(&o);
	return rc;
}

enum {
	THREAD_PROCESS = 1 << 0,
	THREAD_GLOBAL_ID = 1 << 1,
	THREAD_ROOT = 1 << 2,
	THREAD_PARENT = 1 << 3,
	THREAD_QUEUE = 1 << 4,
	THREAD_STACK = 1 << 5,
	THREAD_NODE = 1 << 6,
	THREAD_LOCAL_ID = 1 << 7,
	THREAD_STATE = 1 << 8,
	THREAD_TOTAL_TIME = 1 << 9,
	THREAD_PRIORITY = 1 << 10,
	THREAD_SYSTEM_TIME = 1 << 11,
};

/* The kernel reports neither the start function of a thread nor its creator. */
static void write_thread_static(struct omis_writer *w, const struct object *o, int64_t flags)
{
	if (flags & THREAD_PROCESS)
		omis_write_token(w, o->proc->token.s);
	if (flags & THREAD_GLOBAL_ID)
		omis_write_int(w, o->proc->own.rank);
	if (flags & THREAD_ROOT)
		omis_write_string(w, "");
	if (flags & THREAD_PARENT)
		write_token(w, NULL);
	if (flags & THREAD_QUEUE)
		omis_write_string(w, "");
}

static int add_thread(struct service_call *c, const struct object *o)
{
	int64_t flags = call_int(c, 1);
	bool is_first = o->thread->tid == o->proc->pid;
	struct buf b = BUF_INIT(FRAME_MAX_BYTES);
	struct omis_writer w = OMIS_WRITER(&b);
	struct host_figures f;
	int rc;

	rc = host_thread_figures(c->of, o->proc->pid, o->thread->tid,
				 HOST_FIGURES_STAT | HOST_FIGURES_STATUS, &f);
	if (rc || !is_there(o->proc))
		return reply_add_error(c->reply, c->action, o->token, STATUS_UNKNOWN_OBJECT,
				       "the thread has ended");
	write_thread_static(&w, o, flags);
	/* for other threads the kernel reports the mapping only, and not that it is a stack */
	if (flags & THREAD_STACK)
		omis_write_int(&w, is_first ? f.stack : -1);
	if (flags & THREAD_NODE)
		write_token(&w, procs_node_token(c->procs));
	if (flags & THREAD_LOCAL_ID)
		omis_write_int(&w, o->thread->tid);
	if (flags & THREAD_STATE)
		omis_write_int(&w, sched_state(o->proc, f.state));
	if (flags & THREAD_TOTAL_TIME)
		omis_write_float(&w, sum(f.user_s, f.system_s));
	if (flags & THREAD_PRIORITY)
		omis_write_int(&w, f.priority);
	if (flags & THREAD_SYSTEM_TIME)
		omis_write_float(&w, f.system_s);
	return call_add_values(c, o->token, &b);
}

static int serve_thread_get_info(struct service_call *c)
{
	return call_each_object(c, 't', add_thread);
}

/* exec is argv[0], or a path whose last part is the program's name as the kernel cuts it. */
static bool runs(struct host *h, int32_t pid, const char *name, const char *exec)
{
	struct buf b = BUF_INIT(HOST_STRINGS_MAX_BYTES);
	bool same;

	host_strings(h, pid, false, &b, NULL);
	same = str_eq(buf_str(&b), exec) ||
	       !strncmp(name, str_base_name(exec), sizeof(((struct proc *)0)->name) - 1);
	buf_done(&b);
	return same;
}

/* The program is examined before the process is held: other programs are not watched. */
static int take(struct service_call *c, struct proc **out, struct err *e)
{
	int64_t pid = call_int(c, 1);
	struct proc_registration in = { .pid = pid > 1 && pid <= INT32_MAX ? (int32_t)pid : 0 };
	struct host *h = c->of;
	const char *exec = call_text(c, 2);
	struct host_figures f;
	int rc;

	rc = host_figures(h, in.pid, HOST_FIGURES_STAT, &f, NULL);
	if (rc || (*exec && !runs(h, in.pid, f.name, exec)))
		return -ERR_NOTFOUND;
	rc = procs_take(c->procs, &in, out, e);
	/* Another process may have got the pid in between. */
	return !rc && (*out)->start != f.start ? -ERR_NOTFOUND : rc;
}

/*
 * Takes a process. The reply is the same for a missing one, one of another user, and another
 * program.
 */
static int serve_proc_take(struct service_call *c)
{
	struct buf b = BUF_INIT(TOKEN_BYTES);
	struct err e = { 0 };
	struct proc *p = NULL;
	int rc;

	if (!call_is_for_us(c))
		return 0;
	rc = take(c, &p, &e);
	if (rc == -ERR_NOTFOUND)
		return reply_add_error(
			c->reply, c->action, procs_node_token(c->procs), STATUS_UNKNOWN_OBJECT,
			"there is no process of this user with that pid and program");
	if (rc)
		return call_add_failure(c, procs_node_token(c->procs), rc, &e);
	omis_write_token(&(struct omis_writer){ .b = &b }, p->token.s);
	return call_add_values(c, procs_node_token(c->procs), &b);
}

const struct service proc_services[] = {
	{ "omig_proc_take", serve_proc_take },
	{ "proc_get_info", serve_proc_get_info },
	{ "proc_get_probes", serve_get_probes },
	{ "thread_get_info", serve_thread_get_info },
	{ NULL, NULL },
};
