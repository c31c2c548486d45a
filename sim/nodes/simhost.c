/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/nodes/simhost.h"

#include "common/base/array.h"
#include "common/base/log.h"
#include "common/base/str.h"
#include "common/loop/loop.h"
#include "sim/world/clock.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* numbers for pids of each host, which begin with the host's number and so are unique */
#define PIDS_EACH 1000
#define PIDS_FIRST 100
#define PAGE_BYTES 4096

struct simhost {
	struct host host; /* must be the first member */
	struct loop *loop;
	unsigned number, boots;
	struct simproc **proc;
	size_t n, cap;
	size_t held;
	bool is_ignored;
};

static struct simhost *of(struct host *h)
{
	return (struct simhost *)h;
}

static struct simproc *find(const struct simhost *h, int32_t pid)
{
	for (size_t i = 0; i < h->n; i++)
		if (h->proc[i]->pid == pid && h->proc[i]->is_alive)
			return h->proc[i];
	return NULL;
}

static int none(struct err *e)
{
	return err_set(e, ERR_NOTFOUND, "there is no such process of this user");
}

/* --- values of the host and its processes */

static int op_facts(struct host *host, struct host_facts *f, struct err *e)
{
	*f = (struct host_facts){ .os_name = "Simulated",
				  .arch = "none",
				  .cpus = 4,
				  .page_size = PAGE_BYTES,
				  .pages = 1 << 20,
				  .nlinks = 1 };
	str_copy(f->link[0].type, sizeof(f->link[0].type), "loopback");
	return 0;
}

static int op_now(struct host *host, struct host_now *n, struct err *e)
{
	*n = (struct host_now){ .running = of(host)->number,
				.load1 = of(host)->number,
				.page_wait = -1 };
	return 0;
}

static int op_counts(struct host *host, struct host_counts *c, struct err *e)
{
	c->at = loop_now(of(host)->loop);
	for (int i = 0; i < HOST_NCOUNTS; i++)
		c->v[i] = c->at / NSEC_PER_MSEC;
	return 0;
}

static int op_boot_id(struct host *host, char out[HOST_BOOT_ID_BYTES], struct err *e)
{
	snprintf(out, HOST_BOOT_ID_BYTES, "boot-%05u-of-%06u", of(host)->boots, of(host)->number);
	return 0;
}

static void fill(const struct simproc *p, nsec_t now, struct host_figures *f)
{
	host_figures_clear(f);
	f->parent = 1;
	f->start = p->start;
	f->age_s = (double)now / 1e9 - (double)(p->start - 1) / 100; /* in ticks of 10 ms */
	f->state = p->is_stopped ? 'T' : 'S';
	f->threads = 1;
	f->uid = (int64_t)getuid();
	f->one_uid = true;
	f->inner_pid = p->pid;
	f->resident = p->pid * (int64_t)PAGE_BYTES;
	str_copy(f->name, sizeof(f->name), "heat");
}

static int op_figures(struct host *host, int32_t pid, unsigned what, struct host_figures *out,
		      struct err *e)
{
	const struct simproc *p = find(of(host), pid);

	host_figures_clear(out);
	if (!p)
		return none(e);
	fill(p, loop_now(of(host)->loop), out);
	return 0;
}

static int op_thread_figures(struct host *host, const int32_t id[2], unsigned what,
			     struct host_figures *out, struct err *e)
{
	if (id[0] != id[1]) {
		host_figures_clear(out);
		return none(e);
	}
	return op_figures(host, id[0], what, out, e);
}

static int op_threads(struct host *host, int32_t pid, int32_t *tid, size_t *n)
{
	if (!find(of(host), pid))
		return -ERR_NOTFOUND;
	if (*n)
		tid[0] = pid;
	*n = *n ? 1 : 0;
	return 0;
}

static int op_strings(struct host *host, int32_t pid, bool environment, struct buf *out,
		      struct err *e)
{
	if (!find(of(host), pid))
		return none(e);
	return environment ? 0 : buf_put(out, "heat", sizeof("heat"));
}

static int op_file(struct host *host, const struct host_file *f, struct buf *out, struct err *e)
{
	return err_set(e, ERR_SYS, "%.80s: no such file", f->path);
}

static int op_each_memfd(struct host *host, const char *name, host_on_memfd_fn fn, void *arg)
{
	struct simhost *h = of(host);

	for (size_t i = 0; i < h->n; i++)
		if (h->proc[i]->is_alive && h->proc[i]->mpi && str_eq(name, SIMHOST_MEMFD))
			fn(arg, h->proc[i]->pid,
			   fcntl(simrank_fd(h->proc[i]->mpi), F_DUPFD_CLOEXEC, 3));
	return 0;
}

/* --- processes that the lm watches */

static int op_open(struct host *host, int32_t pid, struct host_proc **out, struct err *e)
{
	struct simhost *h = of(host);
	struct simproc *p = find(h, pid);

	if (!p || p->held)
		return none(e);
	*out = calloc(1, sizeof(**out));
	if (!*out)
		return err_nomem(e);
	**out = (struct host_proc){ host, pid, p->start };
	p->held = *out;
	h->held++;
	return 0;
}

static struct simproc *behind(const struct host_proc *held)
{
	struct simhost *h = of(held->host);

	for (size_t i = 0; i < h->n; i++)
		if (h->proc[i]->held == held)
			return h->proc[i];
	return NULL;
}

static int op_watch(struct host_proc *held, host_on_exit_fn fn, void *arg, struct err *e)
{
	struct simproc *p = behind(held);

	p->on_exit = fn;
	p->arg = arg;
	return 0;
}

static int op_signal(struct host_proc *held, int sig, struct err *e)
{
	struct simproc *p = behind(held);

	if (of(held->host)->is_ignored)
		return err_set(e, ERR_DENIED, "the lm has ended");
	if (!p->is_alive)
		return none(e);
	if (sig == SIMHOST_COUNTED_SIGNAL) {
		p->counted++;
		log_info("sim", "pid=%d gets a counted signal", (int)p->pid);
	} else if (sig == SIGSTOP) {
		p->stops++;
		if (!p->is_stopped)
			p->stopped_at = loop_now(of(held->host)->loop);
		p->is_stopped = true;
	} else if (sig == SIGCONT) {
		p->is_stopped = false;
	}
	return 0;
}

static int op_thread_signal(struct host_proc *held, int32_t tid, int sig, struct err *e)
{
	return tid == held->pid ? op_signal(held, sig, e) : none(e);
}

static int op_thread_priority(struct host_proc *held, int32_t tid, int nice, struct err *e)
{
	return behind(held)->is_alive && tid == held->pid ? 0 : none(e);
}

static int op_memory(struct host_proc *held, struct host_memory *m, struct err *e)
{
	m->done = 0;
	return err_set(e, ERR_DENIED, "the memory of a simulated process cannot be seen");
}

static int op_modules(struct host_proc *held, host_on_module_fn fn, void *arg, struct err *e)
{
	return err_set(e, ERR_DENIED, "the memory of a simulated process cannot be seen");
}

static void op_close(struct host_proc *held)
{
	struct simproc *p = behind(held);

	if (p) {
		p->on_exit = NULL;
		p->held = NULL;
	}
	of(held->host)->held--;
	free(held);
}

static void op_free(struct host *host)
{
}

/* --- begin and end of processes */

int simhost_new(struct loop *l, unsigned number, struct simhost **out, struct err *e)
{
	static const struct host_ops ops = {
		.free = op_free,
		.facts = op_facts,
		.now = op_now,
		.counts = op_counts,
		.boot_id = op_boot_id,
		.figures = op_figures,
		.thread_figures = op_thread_figures,
		.threads = op_threads,
		.strings = op_strings,
		.file = op_file,
		.each_memfd = op_each_memfd,
		.open = op_open,
		.watch = op_watch,
		.send_signal = op_signal,
		.thread_signal = op_thread_signal,
		.thread_priority = op_thread_priority,
		.memory = op_memory,
		.modules = op_modules,
		.close = op_close,
	};
	struct simhost *h = calloc(1, sizeof(*h));

	if (!h)
		return err_nomem(e);
	*h = (struct simhost){ .host = { &ops }, .loop = l, .number = number };
	*out = h;
	return 0;
}

void simhost_free(struct simhost *h)
{
	for (size_t i = 0; h && i < h->n; i++) {
		simrank_free(h->proc[i]->mpi);
		free(h->proc[i]);
	}
	if (h)
		free(h->proc);
	free(h);
}

struct host *simhost_host(struct simhost *h)
{
	return &h->host;
}

void simhost_ignore(struct simhost *h, bool is_ignored)
{
	h->is_ignored = is_ignored;
}

struct simproc *simhost_begin(struct simhost *h, int32_t rank)
{
	int32_t pid = (int32_t)(PIDS_FIRST + h->number * PIDS_EACH + h->n);
	const struct simrank_conf c = { .memfd = SIMHOST_MEMFD,
					.job = "job-1",
					.program = "/opt/heat",
					.pid = pid,
					.rank = rank,
					.world_size = -1,
					.loop = h->loop };
	struct simproc *p;

	if (h->n >= PIDS_EACH - PIDS_FIRST ||
	    array_grow(&h->proc, &h->cap, h->n + 1, sizeof(*h->proc), PIDS_EACH))
		return NULL;
	p = calloc(1, sizeof(*p));
	if (!p || (rank >= 0 && simrank_new(&c, &p->mpi, NULL))) {
		free(p);
		return NULL;
	}
	p->pid = pid;
	p->rank = rank;
	p->is_alive = true;
	p->start = 1 + (uint64_t)(loop_now(h->loop) / (10 * NSEC_PER_MSEC));
	h->proc[h->n++] = p;
	return p;
}

static void report_end(struct simproc *p)
{
	host_on_exit_fn fn = p->on_exit;

	p->is_unreported = false;
	p->alone = 0;
	p->on_exit = NULL;
	if (fn)
		fn(p->arg, p->status);
}

void simhost_end(struct simproc *p, int status)
{
	const struct simhost *h = p->held ? of(p->held->host) : NULL;
	struct loop *was;

	p->is_alive = p->is_stopped = false;
	p->status = status;
	p->is_unreported = h && loop_held_until(h->loop);
	if (p->mpi && (!h || p->is_unreported))
		p->alone = simrank_untaken(p->mpi);
	if (!h || p->is_unreported)
		return;
	was = loop_enter(h->loop);
	report_end(p);
	loop_enter(was);
}

void simhost_resume(struct simhost *h)
{
	for (size_t i = 0; i < h->n; i++)
		if (h->proc[i]->is_unreported)
			report_end(h->proc[i]);
}

void simhost_switch_off(struct simhost *h)
{
	h->boots++;
	for (size_t i = 0; i < h->n; i++)
		if (h->proc[i]->is_alive)
			simhost_end(h->proc[i], 0);
}

size_t simhost_nproc(const struct simhost *h)
{
	return h->n;
}

struct simproc *simhost_proc(struct simhost *h, size_t i)
{
	return h->proc[i];
}
