/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs that run unwatched: their ranks are listed, attached and detached. lm-trace lets libomig
 * enter (tracer/enter.h). The process registers as any other, at its next call of MPI.
 */
#include "common/base/array.h"
#include "common/base/file.h"
#include "common/base/limits.h"
#include "common/base/str.h"
#include "common/gate/gate.h"
#include "lm/helper/helper.h"
#include "lm/service/families.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* One process of a request. */
struct entered {
	struct entering *owner;
	struct helper_ask *ask; /* NULL: answered, or never asked */
	int64_t pid; /* as requested */
	const char *state;
	int64_t slots, skipped, stopped_ns;
	char why[ERR_TEXT_BYTES];
};

/* A request that waits for lm-trace. */
struct entering {
	struct task *task;
	struct procs *procs; /* borrowed */
	uint32_t what; /* enum tracer_enter */
	size_t n, left; /* left: missing answers */
	struct entered v[];
};

static void entering_free(void *arg)
{
	struct entering *n = arg;

	for (size_t i = 0; i < n->n; i++)
		helper_ask_forget(n->v[i].ask);
	free(n);
}

static void refuse(struct entered *p, const char *why)
{
	p->state = "refused";
	str_copy(p->why, sizeof(p->why), why);
}

/* The program runs on without us; its segment may stay for the next time. */
static void forget_calls(struct entering *n, int32_t pid)
{
	struct proc *p = procs_find_pid(n->procs, pid);

	if (p)
		procs_detach(p, "a tool has detached the program");
}

static void on_answer(void *arg, const struct tracer_msg *m)
{
	struct entered *p = arg;
	struct entering *n = p->owner;

	p->ask = NULL;
	if (m->type == TRACER_ENTERED) {
		p->state = gate_state_name((unsigned)m->value[0]);
		p->slots = (int64_t)m->value[1];
		p->skipped = (int64_t)m->value[2];
		p->stopped_ns = (int64_t)m->value[3];
		str_copy(p->why, sizeof(p->why), m->text[0]);
		if (n->what == TRACER_ENTER_LEAVE)
			forget_calls(n, (int32_t)p->pid);
	} else {
		refuse(p, m->type == TRACER_FAILED ? m->text[0] : "lm-trace said something else");
	}
	if (!--n->left)
		task_go_on(n->task);
}

/* --- where libomig and the lm are */

struct places {
	char library[PATH_MAX], conn[64], runtime[GATE_PATH_BYTES], host[GATE_WORD_BYTES];
};

/* The file itself, not a link to it: both processes must see the same one. */
static int find_library(char *out, struct err *e)
{
	static const char *const place[] = { "libomig.so", "../lib/libomig.so" };
	char path[FILE_PATH_BYTES];

	for (size_t i = 0; i < ARRAY_LEN(place); i++)
		if (!file_beside_program(path, place[i], e) && realpath(path, out))
			return 0;
	return err_set(e, ERR_NOTFOUND, "libomig.so is missing: is the installation whole?");
}

/* Makes the connection string without address and token, which names the lm's socket. */
static int find_places(const struct enterer *of, struct places *out, struct err *e)
{
	const char *slash = of->socket ? strrchr(of->socket, '/') : NULL;
	int rc = slash ? find_library(out->library, e)
		       : err_set(e, ERR_UNSUPPORTED, "this lm takes no registrations");

	if (rc)
		return rc;
	snprintf(out->conn, sizeof(out->conn), "omig1:lm:0:%s",
		 of->memfd + strcspn(of->memfd, "-") + 1);
	if ((size_t)(slash - of->socket) >= sizeof(out->runtime) ||
	    strlen(out->library) >= GATE_PATH_BYTES)
		return err_set(e, ERR_LIMIT, "%s is too long", of->socket);
	memcpy(out->runtime, of->socket, (size_t)(slash - of->socket));
	out->runtime[slash - of->socket] = 0;
	if (gethostname(out->host, sizeof(out->host) - 1) < 0)
		return err_sys(e, "gethostname");
	return 0;
}

/* --- requests to lm-trace */

static int check(const struct entered *of, uint64_t *start, struct host *host, struct err *e)
{
	int32_t pid = of->pid > 0 && of->pid <= INT32_MAX ? (int32_t)of->pid : 0;
	const struct proc *p = procs_find_pid(of->owner->procs, pid);
	struct host_proc *held;
	int rc = host_proc_open(host, pid, &held, e);

	if (rc)
		return rc;
	*start = held->start;
	host_proc_close(held);
	if (of->owner->what == TRACER_ENTER_ARM && p && p->seg && !p->own.was_entered)
		return err_set(e, ERR_EXISTS, "it is watched already");
	return 0;
}

static int ask(struct service_call *c, struct entered *p, const struct places *at, struct err *e)
{
	const struct enterer *of = c->of;
	struct tracer_msg *m = calloc(1, sizeof(*m));
	int rc = m ? check(p, &m->start, of->host, e) : err_nomem(e);

	if (!rc) {
		m->type = TRACER_ENTER;
		m->what = p->owner->what;
		m->pid = (int32_t)p->pid;
		m->text[m->ntext++] = at->library;
		m->text[m->ntext++] = at->conn;
		m->text[m->ntext++] = at->runtime;
		m->text[m->ntext++] = at->host;
		rc = helper_ask(of->trace, m, &(struct helper_reply){ on_answer, p }, &p->ask, e);
	}
	free(m);
	return rc;
}

static void ask_all(struct service_call *c, struct entering *n)
{
	const struct omis_value *pids = &c->call->param[1];
	struct places *at = calloc(1, sizeof(*at));
	struct err e = { 0 };
	int bad = at ? find_places(c->of, at, &e) : err_nomem(&e);

	for (size_t i = 0; i < pids->list.n; i++) {
		struct entered *p = &n->v[n->n++];
		struct err why = { 0 };
		int64_t pid = 0;

		omis_value_i64(&pids->list.v[i], &pid);
		p->owner = n;
		p->pid = pid;
		if (bad)
			refuse(p, e.text);
		else if (ask(c, p, at, &why))
			refuse(p, why.text);
		else
			n->left++;
	}
	free(at);
}

static int answer(struct service_call *c, const struct entering *n)
{
	struct buf b = BUF_INIT(FRAME_MAX_BYTES / 2);
	struct omis_writer w = OMIS_WRITER(&b);

	for (size_t i = 0; i < n->n; i++) {
		const struct entered *p = &n->v[i];
		char why[sizeof(p->why)];

		omis_write_list(&w);
		omis_write_int(&w, p->pid);
		omis_write_string(&w, p->state);
		omis_write_int(&w, p->slots);
		omis_write_int(&w, p->skipped);
		omis_write_int(&w, p->stopped_ns);
		omis_write_string(&w, str_escape(why, sizeof(why), p->why, strlen(p->why)));
		omis_write_list_end(&w);
	}
	reply_add_time(c->reply, call_now(c), call_now(c));
	return call_add_values(c, procs_node_token(c->procs), &b);
}

static int serve(struct service_call *c, uint32_t what)
{
	size_t n = c->call->param[1].list.n;
	struct entering *all;

	if (c->retry)
		return answer(c, task_kept(c->task));
	if (!call_is_for_us(c))
		return 0;
	if (!n || n > PROCS_MAX) /* an lm watches no more */
		return reply_add_error(c->reply, c->action, procs_node_token(c->procs),
				       STATUS_PARAMETER_ERROR, "pids is a list of 1 to %d numbers",
				       PROCS_MAX);
	all = calloc(1, sizeof(*all) + n * sizeof(all->v[0]));
	if (!all)
		return -ERR_NOMEM;
	all->task = c->task;
	all->procs = c->procs;
	all->what = what;
	ask_all(c, all);
	task_keep(c->task, all, entering_free);
	return all->left ? SERVICE_WAITS : answer(c, all);
}

static int serve_attach(struct service_call *c)
{
	return serve(c, TRACER_ENTER_ARM);
}

static int serve_attached(struct service_call *c)
{
	return serve(c, TRACER_ENTER_LOOK);
}

static int serve_detach(struct service_call *c)
{
	return serve(c, TRACER_ENTER_LEAVE);
}

/* --- the list */

struct listing {
	struct service_call *call;
	struct omis_writer w;
};

/* Both texts, one behind the other. */
static void write_escaped(struct omis_writer *w, const char *a, const char *b)
{
	char both[512], text[sizeof(both)];

	snprintf(both, sizeof(both), "%s%s", a, b);
	omis_write_string(w, str_escape(text, sizeof(text), both, strlen(both)));
}

static void on_rank(void *arg, const struct host_rank *r)
{
	struct listing *l = arg;
	const struct proc *p = procs_find_pid(l->call->procs, r->pid);
	char text[sizeof(r->program)];

	omis_write_list(&l->w);
	omis_write_int(&l->w, r->pid);
	omis_write_int(&l->w, r->rank);
	omis_write_int(&l->w, r->size);
	omis_write_string(&l->w, str_escape(text, sizeof(r->job), r->job, strlen(r->job)));
	omis_write_int(&l->w, r->launcher);
	omis_write_string(&l->w, str_escape(text, sizeof(text), r->program, strlen(r->program)));
	omis_write_int(&l->w, !p || !p->seg ? 0 : p->own.was_entered ? 2 : 1);
	omis_write_float(&l->w, p ? procs_attached_age(p) : -1);
	write_escaped(&l->w, r->process[0] ? procs_boot_id(l->call->procs) : "", r->process);
	omis_write_int(&l->w, r->is_near);
	write_escaped(&l->w, r->origin, "");
	omis_write_list_end(&l->w);
}

static int serve_ranks(struct service_call *c)
{
	const struct enterer *of = c->of;
	struct buf b = BUF_INIT(FRAME_MAX_BYTES / 2);
	struct listing l = { c, OMIS_WRITER(&b) };
	char host[GATE_WORD_BYTES] = "";
	int rc;

	if (!call_is_for_us(c))
		return 0;
	if (gethostname(host, sizeof(host) - 1) < 0)
		host[0] = 0;
	omis_write_string(&l.w, host);
	rc = host_each_rank(of->host, on_rank, &l);
	if (rc) {
		buf_done(&b);
		return rc;
	}
	reply_add_time(c->reply, call_now(c), call_now(c));
	return call_add_values(c, procs_node_token(c->procs), &b);
}

static void on_launcher(void *arg, const struct host_launcher *at)
{
	struct listing *l = arg;

	omis_write_list(&l->w);
	omis_write_int(&l->w, at->pid);
	write_escaped(&l->w, at->name, "");
	write_escaped(&l->w, at->at, "");
	omis_write_list_end(&l->w);
}

static int serve_launchers(struct service_call *c)
{
	const struct enterer *of = c->of;
	struct buf b = BUF_INIT(FRAME_MAX_BYTES / 2);
	struct listing l = { c, OMIS_WRITER(&b) };
	int rc;

	if (!call_is_for_us(c))
		return 0;
	rc = host_each_launcher(of->host, on_launcher, &l);
	if (rc) {
		buf_done(&b);
		return rc;
	}
	reply_add_time(c->reply, call_now(c), call_now(c));
	return call_add_values(c, procs_node_token(c->procs), &b);
}

const struct service enter_services[] = {
	{ "omig_attach", serve_attach }, { "omig_attached", serve_attached },
	{ "omig_detach", serve_detach }, { "omig_launchers", serve_launchers },
	{ "omig_ranks", serve_ranks },	 { NULL, NULL },
};
