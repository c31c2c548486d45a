/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/lm/fake_host.h"

#include "common/base/str.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct fake_proc *fake_proc_find(struct fake_host *h, int32_t pid)
{
	for (size_t i = h->n; i-- > 0;)
		if (h->proc[i].pid == pid && h->proc[i].is_alive)
			return &h->proc[i];
	return NULL;
}

struct fake_proc *fake_proc_add(struct fake_host *h, int32_t pid, const char *name)
{
	struct fake_proc *p = &h->proc[h->n++];

	*p = (struct fake_proc){ .pid = pid,
				 .parent = 1,
				 .start = 1000 + h->n,
				 .state = 'S',
				 .nthread = 1,
				 .tid = { pid },
				 .memfd = -1,
				 .is_alive = true };
	str_copy(p->name, sizeof(p->name), name);
	return p;
}

void fake_thread_add(struct fake_proc *p, int32_t tid)
{
	p->tid[p->nthread++] = tid;
}

void fake_thread_end(struct fake_proc *p, int32_t tid)
{
	for (size_t i = 0; i < p->nthread; i++)
		if (p->tid[i] == tid)
			p->tid[i] = p->tid[--p->nthread];
}

void fake_proc_end(struct fake_proc *p, int status)
{
	p->is_alive = false;
	if (p->on_exit)
		p->on_exit(p->arg, status);
}

static void fake_free(struct host *host)
{
}

static int fake_facts(struct host *host, struct host_facts *f, struct err *e)
{
	*f = (struct host_facts){
		.os_name = "Fake", .arch = "none", .cpus = 4, .page_size = 4096, .pages = 1000
	};
	f->nlinks = 1;
	str_copy(f->link[0].type, sizeof(f->link[0].type), "loopback");
	return 0;
}

static int fake_now(struct host *host, struct host_now *n, struct err *e)
{
	const struct fake_host *h = (struct fake_host *)host;

	if (h->state) {
		*n = *h->state;
		return 0;
	}
	*n = (struct host_now){ .running = 2,
				.load1 = 0.5,
				.page_wait = -1,
				.available_pages = 40,
				.free_swap_pages = 30,
				.cpu_some = 0.125,
				.memory_some = 0.25,
				.io_some = 0.375 };
	return 0;
}

static int fake_counts(struct host *host, struct host_counts *c, struct err *e)
{
	struct fake_host *h = (struct fake_host *)host;

	for (int i = 0; i < HOST_NCOUNTS; i++)
		c->v[i] = h->count ? h->count[i] : i == HOST_EXECS ? -1 : h->counts;
	return 0;
}

static int fake_boot_id(struct host *host, char out[HOST_BOOT_ID_BYTES], struct err *e)
{
	str_copy(out, HOST_BOOT_ID_BYTES, ((struct fake_host *)host)->boot_id);
	return 0;
}

/* Numbers alone: names and identities stay. */
static void fill_own(const struct host_figures *own, unsigned what, struct host_figures *f)
{
	if (what & HOST_FIGURES_STAT) {
		f->age_s = own->age_s;
		f->priority = own->priority;
		f->user_s = own->user_s;
		f->system_s = own->system_s;
		f->size = own->size;
		f->resident = own->resident;
		f->minor_faults = own->minor_faults;
		f->major_faults = own->major_faults;
		f->swaps = own->swaps;
	}
	if (what & HOST_FIGURES_STATUS) {
		f->uid = own->uid;
		f->gid = own->gid;
		f->resident_max = own->resident_max;
		f->stack = own->stack;
	}
	if (what & HOST_FIGURES_IO) {
		f->read_blocks = own->read_blocks;
		f->write_blocks = own->write_blocks;
		f->read_calls = own->read_calls;
		f->write_calls = own->write_calls;
		f->read_bytes = own->read_bytes;
		f->write_bytes = own->write_bytes;
		f->disk_read_bytes = own->disk_read_bytes;
		f->disk_written_bytes = own->disk_written_bytes;
	}
	if (what & HOST_FIGURES_RUN_DELAY)
		f->run_delay_s = own->run_delay_s;
	if (what & HOST_FIGURES_BLOCK_DELAY)
		f->block_delay_s = own->block_delay_s;
	if (what & HOST_FIGURES_GROUP)
		f->throttled_s = own->throttled_s;
	if (what & HOST_FIGURES_FREQUENCY)
		f->frequency_hz = own->frequency_hz;
	if (what & HOST_FIGURES_SWITCHES) {
		f->voluntary = own->voluntary;
		f->involuntary = own->involuntary;
	}
}

/* Values without a request are unknown, as with the real one. */
static void fill(const struct fake_proc *p, unsigned what, struct host_figures *f)
{
	host_figures_clear(f);
	if (what & HOST_FIGURES_STAT) {
		f->parent = p->parent;
		f->start = p->start;
		f->state = p->state;
		f->threads = (int64_t)p->nthread;
		f->age_s = 40;
		f->user_s = 1.5 + p->used_s;
		f->system_s = 0.25;
		f->resident = p->resident ? p->resident : f->resident;
		f->major_faults = p->faults;
		str_copy(f->name, sizeof(f->name), p->name);
	}
	if (what & HOST_FIGURES_SWITCHES)
		f->involuntary = p->switches;
	if (what & HOST_FIGURES_STATUS) {
		f->uid = p->is_foreign ? 77 : (int64_t)getuid();
		f->inner_pid = p->pid;
	}
	if (what & HOST_FIGURES_SIGNALS) {
		f->has_signals = p->has_signals;
		f->sig_pending = p->pending;
		f->sig_blocked = p->blocked;
		f->sig_ignored = p->ignored;
		f->sig_caught = p->caught;
	}
	if (p->figures)
		fill_own(p->figures, what, f);
}

static int fake_figures(struct host *host, int32_t pid, unsigned what, struct host_figures *out,
			struct err *e)
{
	struct fake_proc *p = fake_proc_find((struct fake_host *)host, pid);

	host_figures_clear(out);
	if (!p)
		return err_set(e, ERR_NOTFOUND, "no process");
	fill(p, what, out);
	return 0;
}

static int fake_thread_figures(struct host *host, const int32_t id[2], unsigned what,
			       struct host_figures *out, struct err *e)
{
	struct fake_proc *p = fake_proc_find((struct fake_host *)host, id[0]);

	host_figures_clear(out);
	for (size_t i = 0; p && i < p->nthread; i++)
		if (p->tid[i] == id[1]) {
			fill(p, what, out);
			if (what & HOST_FIGURES_STAT)
				out->state = p->thread_state[i] ? p->thread_state[i] : p->state;
			return 0;
		}
	return err_set(e, ERR_NOTFOUND, "no thread");
}

static int fake_threads(struct host *host, int32_t pid, int32_t *tid, size_t *n)
{
	struct fake_proc *p = fake_proc_find((struct fake_host *)host, pid);

	if (!p)
		return -ERR_NOTFOUND;
	*n = *n < p->nthread ? *n : p->nthread;
	memcpy(tid, p->tid, *n * sizeof(*tid));
	return 0;
}

static int fake_strings(struct host *host, int32_t pid, bool environment, struct buf *out,
			struct err *e)
{
	if (!fake_proc_find((struct fake_host *)host, pid))
		return err_set(e, ERR_NOTFOUND, "no process");
	static const char env[] = "A=1\0OMIG_MAINSM=omig1:10.0.0.1:7:pin:lm-abcdefgh."
				  "abcdefghijklmnopqrstuvwxyz\0H=omig1:10.0.0.1:7:pin";

	return environment ? buf_put(out, env, sizeof(env)) : buf_put(out, "/bin/prog\0-x", 13);
}

/* There is one file: /proc/some, with h->file in it. */
static int fake_file(struct host *host, const struct host_file *f, struct buf *out, struct err *e)
{
	struct fake_host *h = (struct fake_host *)host;
	size_t at = (uint64_t)f->offset < h->nfile ? (size_t)f->offset : h->nfile;
	size_t n = h->nfile - at;

	if (strcmp(f->path, "/proc/some") != 0)
		return err_set(e, ERR_SYS, "%s: not there", f->path);
	return buf_put(out, h->file + at, n < f->max ? n : f->max);
}

static int fake_each_memfd(struct host *host, const char *name, host_on_memfd_fn fn, void *arg)
{
	struct fake_host *h = (struct fake_host *)host;

	for (size_t i = 0; i < h->n; i++)
		if (h->proc[i].is_alive && h->proc[i].memfd >= 0 && !strcmp(name, h->memfd))
			fn(arg, h->proc[i].pid, fcntl(h->proc[i].memfd, F_DUPFD_CLOEXEC, 3));
	return 0;
}

static int fake_open(struct host *host, int32_t pid, struct host_proc **out, struct err *e)
{
	struct fake_host *h = (struct fake_host *)host;
	struct fake_proc *p = fake_proc_find(h, pid);

	if (!p || p->is_foreign || pid <= 1)
		return err_set(e, ERR_NOTFOUND, "there is no process %d of this user", (int)pid);
	*out = calloc(1, sizeof(**out));
	if (!*out)
		return err_nomem(e);
	**out = (struct host_proc){ host, pid, p->start };
	p->held = *out;
	h->open++;
	return 0;
}

/* Compares the start as well: the pid may have been reused. */
static struct fake_proc *behind(struct host_proc *held)
{
	struct fake_host *h = (struct fake_host *)held->host;

	for (size_t i = 0; i < h->n; i++)
		if (h->proc[i].pid == held->pid && h->proc[i].start == held->start)
			return &h->proc[i];
	return NULL;
}

static int fake_watch(struct host_proc *held, host_on_exit_fn fn, void *arg, struct err *e)
{
	struct fake_proc *p = behind(held);

	p->on_exit = fn;
	p->arg = arg;
	return 0;
}

static int fake_signal(struct host_proc *held, int sig, struct err *e)
{
	struct fake_proc *p = behind(held);

	if (!p->is_alive)
		return err_set(e, ERR_NOTFOUND, "the process has ended");
	if (!sig)
		return 0;
	if (p->refuse)
		return err_set(e, (enum err_code)p->refuse, "refused");
	p->signal_tid = 0;
	if (p->nsignal < FAKE_SIGNALS)
		p->signal[p->nsignal++] = sig;
	if (p->is_slow)
		return 0;
	if (sig == SIGSTOP)
		p->state = 'T';
	else if (sig == SIGCONT)
		p->state = 'S';
	return 0;
}

static int index_of(const struct fake_proc *p, int32_t tid)
{
	for (size_t i = 0; p->is_alive && i < p->nthread; i++)
		if (p->tid[i] == tid)
			return (int)i;
	return -1;
}

static int fake_thread_signal(struct host_proc *held, int32_t tid, int sig, struct err *e)
{
	struct fake_proc *p = behind(held);
	int rc;

	if (index_of(p, tid) < 0)
		return err_set(e, ERR_NOTFOUND, "the thread has ended");
	rc = fake_signal(held, sig, e);
	if (!rc)
		p->signal_tid = tid;
	return rc;
}

static int fake_thread_priority(struct host_proc *held, int32_t tid, int nice, struct err *e)
{
	struct fake_proc *p = behind(held);
	int i = index_of(p, tid);

	if (i < 0)
		return err_set(e, ERR_NOTFOUND, "the thread has ended");
	if (tid == p->fixed_tid)
		return err_set(e, ERR_DENIED, "refused");
	p->nice[i] = nice;
	return 0;
}

static bool fake_block(struct fake_proc *p, struct host_memory *m, size_t i)
{
	uint64_t at = m->addr + i * m->stride - FAKE_MEMORY_ADDR;
	size_t room = m->is_write ? p->writable : FAKE_MEMORY_BYTES;

	if (m->addr < FAKE_MEMORY_ADDR || at > room || m->block > room - at)
		return false;
	if (m->is_write)
		memcpy(p->memory + at, m->bytes + m->done, m->block);
	else
		memcpy(m->bytes + m->done, p->memory + at, m->block);
	m->done += m->block;
	return true;
}

static int fake_memory(struct host_proc *held, struct host_memory *m, struct err *e)
{
	struct fake_proc *p = behind(held);

	m->done = 0;
	if (!p->memory)
		return err_set(e, ERR_DENIED, "refused");
	for (size_t i = 0; i < m->count; i++)
		if (!fake_block(p, m, i))
			return err_set(e, ERR_SYS, "address 0x%llx: not there",
				       (unsigned long long)(m->addr + i * m->stride));
	return 0;
}

static int fake_modules(struct host_proc *held, host_on_module_fn fn, void *arg, struct err *e)
{
	const struct fake_proc *p = behind(held);

	for (const char *const *m = p->modules; m && *m; m++)
		fn(arg, &(struct host_module){ *m, strlen(*m), 1, 2, 3, 4, 5, 6 });
	if (p->modules)
		return 0;
	if (!p->memory)
		return err_set(e, ERR_DENIED, "refused");
	fn(arg, &(struct host_module){ "/bin/heat\nx", 11, 1, 2, 3, 4, 5, 6 });
	fn(arg, &(struct host_module){ "/lib/m.so", 9, 10, 20, 0, 0, 0, 0 });
	return 0;
}

static void fake_close(struct host_proc *held)
{
	struct fake_proc *p = behind(held);

	if (p && p->held == held) {
		p->on_exit = NULL;
		p->held = NULL;
	}
	((struct fake_host *)held->host)->open--;
	free(held);
}

void fake_host_init(struct fake_host *h)
{
	static const struct host_ops ops = {
		.free = fake_free,
		.facts = fake_facts,
		.now = fake_now,
		.counts = fake_counts,
		.boot_id = fake_boot_id,
		.figures = fake_figures,
		.thread_figures = fake_thread_figures,
		.threads = fake_threads,
		.strings = fake_strings,
		.file = fake_file,
		.each_memfd = fake_each_memfd,
		.open = fake_open,
		.watch = fake_watch,
		.send_signal = fake_signal,
		.thread_signal = fake_thread_signal,
		.thread_priority = fake_thread_priority,
		.memory = fake_memory,
		.modules = fake_modules,
		.close = fake_close,
	};

	memset(h, 0, sizeof(*h));
	h->host.ops = &ops;
	h->boot_id = "boot-1";
	h->memfd = "omig-testtest";
	h->counts = 1000;
}
