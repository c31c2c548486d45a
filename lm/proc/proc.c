/* SPDX-License-Identifier: Apache-2.0 */
#include "lm/proc/proc.h"

#include "common/base/hash.h"
#include "common/base/log.h"
#include "common/base/str.h"
#include "lm/proc/current.h"
#include "lm/proc/hooks.h"
#include "lm/proc/proc_internal.h"
#include "lm/proc/totals.h"

#include <stdlib.h>
#include <string.h>

void procs_notify(struct proc *p, enum proc_event what)
{
	list_each_safe (i, &p->owner->listeners) {
		struct procs_listener *l = list_entry(i, struct procs_listener, link);

		l->on_proc(l->arg, p, what);
	}
}

void procs_notify_thread(struct proc *p, const struct proc_thread *t, bool is_born)
{
	list_each_safe (i, &p->owner->listeners) {
		struct procs_listener *l = list_entry(i, struct procs_listener, link);

		if (l->on_thread)
			l->on_thread(l->arg, p, t, is_born);
	}
}

void procs_listen(struct procs *s, struct procs_listener *l)
{
	list_push_back(&s->listeners, &l->link);
}

void procs_unlisten(struct procs_listener *l)
{
	list_del(&l->link);
}

uint32_t procs_hash(const struct procs *s, const uint64_t words[4])
{
	/*
	 * The key is public: a program can provoke a collision, and its process has the next free
	 * id then.
	 */
	static const struct hash_key key = { 0x6f6d6967, 0x746f6b656e };
	uint64_t all[5];

	memcpy(all, words, 4 * sizeof(*words));
	all[4] = hash_sip13(&key, s->boot_id, strlen(s->boot_id));
	return (uint32_t)hash_sip13(&key, all, sizeof(all)) & TOKEN_ID_MAX;
}

static bool id_is_used(const struct procs *s, uint32_t id)
{
	list_each (i, &s->all)
		if (list_entry(i, struct proc, link)->id == id)
			return true;
	return false;
}

static uint32_t mint_id(const struct procs *s, int32_t pid, uint64_t start)
{
	uint64_t words[4] = { (uint64_t)pid, start, 0, 0 };
	uint32_t id = procs_hash(s, words);

	while (id_is_used(s, id)) {
		words[3]++;
		id = procs_hash(s, words);
	}
	return id;
}

static void name_proc(struct proc *p)
{
	p->token.s[0] = 0;
	if (p->owner->node)
		token_print_process(&p->token, p->owner->node, p->id);
	procs_name_threads(p);
}

static void proc_free(struct proc *p)
{
	list_del(&p->link);
	host_proc_close(p->held);
	segview_free(p->seg);
	hooks_clear(p);
	totals_free(p->last);
	free(p->queue_before);
	free(p->thread);
	current_free(p->current);
	free(p);
}

/* The list is in the order of registration, not of the ends: the search visits all. */
static struct proc *first_ended(const struct procs *s)
{
	struct proc *first = NULL;

	list_each (i, &s->all) {
		struct proc *p = list_entry(i, struct proc, link);

		if (!p->held && (!first || p->ended_at < first->ended_at))
			first = p;
	}
	return first;
}

static void forget_old(struct procs *s)
{
	nsec_t now = loop_now(s->loop);
	struct proc *p;

	while ((p = first_ended(s))) {
		if (s->ended <= PROCS_ENDED_MAX && p->ended_at + PROCS_ENDED_KEEP_NS > now) {
			loop_timer_arm_at(s->forget, p->ended_at + PROCS_ENDED_KEEP_NS);
			return;
		}
		procs_notify(p, PROC_FORGOTTEN);
		s->ended--;
		proc_free(p);
	}
}

static void on_forget(void *arg)
{
	forget_old(arg);
}

static void on_exit_of(void *arg, int status)
{
	struct proc *p = arg;
	struct procs *s = p->owner;

	p->exit_status = status;
	p->ended_at = loop_now(s->loop);
	p->state = MSG_STATE_ENDED;
	if (p->seg)
		segview_own(p->seg, &p->own);
	procs_note_figures(p);
	procs_notify(p, PROC_ENDING);
	segview_free(p->seg);
	p->seg = NULL;
	host_proc_close(p->held);
	p->held = NULL;
	s->alive--;
	s->ended++;
	procs_end_threads(p);
	procs_notify(p, PROC_ENDED);
	forget_old(s);
}

int procs_open(const struct procs_conf *c, struct procs **out, struct err *e)
{
	struct procs *s = calloc(1, sizeof(*s));
	int rc;

	if (!s)
		return err_nomem(e);
	s->loop = c->loop;
	s->host = c->host;
	s->ticks = c->ticks;
	s->epoch = c->epoch;
	list_init(&s->all);
	list_init(&s->listeners);
	map_init(&s->threads);
	s->look = loop_timer_new(c->loop, procs_on_poll, s);
	s->forget = loop_timer_new(c->loop, on_forget, s);
	rc = s->look && s->forget ? host_boot_id(c->host, s->boot_id, e) : err_nomem(e);
	if (rc) {
		procs_free(s);
		return rc;
	}
	*out = s;
	return 0;
}

void procs_free(struct procs *s)
{
	if (!s)
		return;
	list_each_safe (i, &s->all)
		proc_free(list_entry(i, struct proc, link));
	map_done(&s->threads);
	loop_timer_free(s->look);
	loop_timer_free(s->forget);
	free(s);
}

void procs_set_node(struct procs *s, uint32_t node)
{
	s->node = node;
	token_print_number(&s->node_token, TOKEN_NODE, node);
	list_each (i, &s->all)
		name_proc(list_entry(i, struct proc, link));
}

uint32_t procs_node(const struct procs *s)
{
	return s->node;
}

const char *procs_node_token(const struct procs *s)
{
	return s->node ? s->node_token.s : "";
}

const char *procs_boot_id(const struct procs *s)
{
	return s->boot_id;
}

/*
 * Copies the program's name, which may have any bytes: str_escape() replaces those that are no
 * text.
 */
static void fill_name(struct proc *p, const struct host_figures *f)
{
	p->parent_pid = f->parent;
	str_escape(p->name, sizeof(p->name), f->name, strlen(f->name));
}

/* The pid is sure to mean this process while the start time agrees; a zombie has it still. */
int procs_note_figures(struct proc *p)
{
	struct host_figures f;

	if (host_figures(p->owner->host, p->pid, HOST_FIGURES_STAT | HOST_FIGURES_STATUS, &f,
			 NULL) ||
	    f.start != p->start)
		return -ERR_NOTFOUND;
	if (f.resident_max < 0)
		f.resident_max = p->figures.resident_max; /* a zombie has no memory */
	p->figures = f;
	p->figures_at = loop_now(p->owner->loop);
	return 0;
}

/* Opens the process, which may have ended before a busy lm reads its registration. */
static int hold(struct procs *s, const struct proc_registration *in, struct host_proc **out,
		struct err *e)
{
	int rc = host_proc_open(s->host, in->pid, out, e);
	struct seg_own own;

	if (rc != -ERR_NOTFOUND || !in->seg || !in->may_have_ended)
		return rc;
	segview_own(in->seg, &own);
	return host_proc_open_ended(s->host, in->pid, (uint64_t)own.start_ns, out, e);
}

/* True: job or program has changed. Texts are cut to the size of the segment's fields. */
static bool say_program(struct proc *p, const char *job, const char *program)
{
	char its_job[sizeof(p->own.job)], its_program[sizeof(p->own.program)];

	str_escape(its_job, sizeof(its_job), job ? job : "", job ? strlen(job) : 0);
	str_escape(its_program, sizeof(its_program), program ? program : "",
		   program ? strlen(program) : 0);
	if (str_eq(its_job, p->own.job) && str_eq(its_program, p->own.program))
		return false;
	str_copy(p->own.job, sizeof(p->own.job), its_job);
	str_copy(p->own.program, sizeof(p->own.program), its_program);
	return true;
}

void procs_set_program(struct proc *p, const char *job, const char *program)
{
	if (p->seg || !say_program(p, job, program))
		return;
	if (!procs_note_figures(p))
		fill_name(p, &p->figures);
	procs_notify(p, PROC_CHANGED);
}

static int add(struct procs *s, struct proc_registration *in, struct proc **out, struct err *e)
{
	struct proc *p;
	int rc;

	if (s->alive >= PROCS_MAX)
		return err_set(e, ERR_LIMIT, "%d processes are watched already", PROCS_MAX);
	p = calloc(1, sizeof(*p));
	if (!p)
		return err_nomem(e);
	p->owner = s;
	list_init(&p->link);
	list_init(&p->hooks.interests);
	list_init(&p->followers);
	rc = hold(s, in, &p->held, e);
	if (!rc)
		rc = host_proc_watch(p->held, on_exit_of, p, e);
	if (rc) {
		proc_free(p);
		return rc;
	}
	p->pid = in->pid;
	p->start = p->held->start;
	p->own.rank = p->own.world_size = -1;
	host_figures_clear(&p->figures);
	p->exit_status = -1;
	if (!procs_note_figures(p))
		fill_name(p, &p->figures);
	say_program(p, in->job, in->program);
	p->id = mint_id(s, p->pid, p->start);
	name_proc(p);
	list_push_back(&s->all, &p->link);
	s->alive++;
	*out = p;
	return 0;
}

static uint64_t key_of(const struct proc *p)
{
	static const struct hash_key key; /* public: the next lm computes the same key */
	const char *boot = p->owner->boot_id;
	const uint64_t words[] = { p->seg_inode, (uint64_t)p->pid, p->start,
				   hash_sip13(&key, boot, strlen(boot)) };

	return hash_sip13(&key, words, sizeof(words)) | 1; /* never 0 */
}

static void give_segment(struct proc *p, struct proc_registration *in)
{
	if (p->seg)
		procs_notify(p, PROC_DETACHING);
	segview_free(p->seg);
	p->seg = in->seg;
	p->seg_inode = in->inode;
	p->seg_key = key_of(p);
	hooks_take_over(p, &in->left);
	in->seg = NULL;
	memset(p->cell, 0, sizeof(p->cell));
	segview_own(p->seg, &p->own);
	p->hooks.start = p->own.start_word & HOOK_START_KNOWN;
	procs_greet(p);
}

/* True if the pid belongs to another process. This one has ended, which the loop reports later. */
static bool has_passed_on(const struct proc *p)
{
	struct host_figures f;

	return !host_figures(p->owner->host, p->pid, HOST_FIGURES_STAT, &f, NULL) &&
	       f.start != p->start;
}

int procs_take(struct procs *s, struct proc_registration *in, struct proc **out, struct err *e)
{
	struct proc *p = procs_find_pid(s, in->pid);
	bool is_new = !p;
	int rc = 0;

	if (p && has_passed_on(p))
		return err_set(e, ERR_AGAIN, "another process had that pid a moment ago");
	if (is_new)
		rc = add(s, in, &p, e);
	if (rc)
		return rc;
	if (in->seg)
		give_segment(p, in);
	else if (!is_new)
		goto out;
	procs_notify(p, is_new ? PROC_BORN : PROC_RENEWED);
	procs_poll_one(p);
	procs_arm_poll(s);
out:
	*out = p;
	return 0;
}

double procs_attached_age(const struct proc *p)
{
	nsec_t age = loop_now(p->owner->loop) - p->own.start_ns -
		     (nsec_t)p->own.entered_s * NSEC_PER_SEC;

	if (!p->seg || !p->own.was_entered)
		return -1;
	return age > 0 ? (double)age / NSEC_PER_SEC : 0;
}

void procs_detach(struct proc *p, const char *why)
{
	if (!p->seg)
		return;
	log_debug("lm", "segment detached pid=%d reason=%s", (int)p->pid, why);
	p->owner->detached++;
	procs_notify(p, PROC_DETACHING);
	segview_free(p->seg);
	p->seg = NULL;
	procs_notify(p, PROC_CHANGED);
}

static bool is_token(const struct token *t, const char *p, size_t n)
{
	return n && strlen(t->s) == n && !memcmp(t->s, p, n);
}

struct proc *procs_find(const struct procs *s, const char *token, size_t n)
{
	struct token_parts parts;

	if (token_parse(token, n, &parts) || parts.kind != TOKEN_PROCESS)
		return NULL;
	list_each (i, &s->all) {
		struct proc *p = list_entry(i, struct proc, link);

		if (p->id == parts.id && is_token(&p->token, token, n))
			return p;
	}
	return NULL;
}

struct proc *procs_find_pid(const struct procs *s, int32_t pid)
{
	list_each (i, &s->all) {
		struct proc *p = list_entry(i, struct proc, link);

		if (p->held && p->pid == pid)
			return p;
	}
	return NULL;
}

struct proc *procs_find_segment(const struct procs *s, uint64_t inode, int32_t pid)
{
	list_each (i, &s->all) {
		struct proc *p = list_entry(i, struct proc, link);

		if (p->seg_inode == inode && (p->held || p->pid == pid))
			return p;
	}
	return NULL;
}

struct proc *procs_find_key(const struct procs *s, uint64_t seg_key)
{
	list_each (i, &s->all) {
		struct proc *p = list_entry(i, struct proc, link);

		if (p->held && p->seg_key == seg_key)
			return p;
	}
	return NULL;
}

struct proc *procs_find_thread(const struct procs *s, const char *token, size_t n,
			       const struct proc_thread **thread)
{
	struct token_parts parts;
	struct proc *p;

	if (token_parse(token, n, &parts) || parts.kind != TOKEN_THREAD)
		return NULL;
	p = map_find(&s->threads, parts.id);
	for (size_t k = 0; p && k < p->nthread; k++)
		if (p->thread[k].id == parts.id && is_token(&p->thread[k].token, token, n)) {
			*thread = &p->thread[k];
			return p;
		}
	return NULL;
}

const struct proc_thread *proc_find_tid(const struct proc *p, int32_t tid)
{
	for (size_t k = 0; k < p->nthread; k++)
		if (p->thread[k].tid == tid)
			return &p->thread[k];
	return NULL;
}

const struct list *procs_all(const struct procs *s)
{
	return &s->all;
}

bool proc_is_alone(const struct proc *p)
{
	return !p->seg_inode || p->own.state == SEG_WITHOUT_MPI;
}

int proc_check_calls(const struct proc *p, struct err *e)
{
	if (!p->held)
		return err_set(e, ERR_NOTFOUND, "the process has ended");
	if (proc_is_alone(p))
		return err_set(e, ERR_NOTFOUND, PROC_ALONE);
	return p->seg ? 0 : err_set(e, ERR_UNSUPPORTED, PROC_WITHOUT_SEGMENT);
}

size_t procs_alive(const struct procs *s)
{
	return s->alive;
}

uint64_t procs_detached(const struct procs *s)
{
	return s->detached;
}

uint64_t procs_next_mark(struct procs *s)
{
	return ++s->mark;
}

void procs_set_stopped(struct proc *p, bool stopped)
{
	uint32_t state = stopped ? MSG_STATE_STOPPED : MSG_STATE_RUN;

	if (!p->held || p->state == state)
		return;
	p->state = state;
	procs_notify(p, PROC_CHANGED);
}
