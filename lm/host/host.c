/* SPDX-License-Identifier: Apache-2.0 */
#include "lm/host/host.h"

#include <string.h>

void host_free(struct host *h)
{
	if (h)
		h->ops->free(h);
}

int host_facts(struct host *h, struct host_facts *out, struct err *e)
{
	return h->ops->facts(h, out, e);
}

int host_now(struct host *h, struct host_now *out, struct err *e)
{
	return h->ops->now(h, out, e);
}

int host_counts(struct host *h, struct host_counts *out, struct err *e)
{
	return h->ops->counts(h, out, e);
}

int host_boot_id(struct host *h, char out[HOST_BOOT_ID_BYTES], struct err *e)
{
	return h->ops->boot_id(h, out, e);
}

int host_figures(struct host *h, int32_t pid, unsigned what, struct host_figures *out,
		 struct err *e)
{
	return h->ops->figures(h, pid, what, out, e);
}

int host_thread_figures(struct host *h, int32_t pid, int32_t tid, unsigned what,
			struct host_figures *out)
{
	const int32_t ids[2] = { pid, tid };

	return h->ops->thread_figures(h, ids, what, out, NULL);
}

int host_threads(struct host *h, int32_t pid, int32_t *tid, size_t *n)
{
	return h->ops->threads(h, pid, tid, n);
}

int host_strings(struct host *h, int32_t pid, bool environment, struct buf *out, struct err *e)
{
	return h->ops->strings(h, pid, environment, out, e);
}

int host_file(struct host *h, const struct host_file *f, struct buf *out, struct err *e)
{
	return h->ops->file(h, f, out, e);
}

int host_each_mount(struct host *h, int32_t pid, host_on_mount_fn fn, void *arg)
{
	return h->ops->each_mount ? h->ops->each_mount(h, pid, fn, arg) : -ERR_UNSUPPORTED;
}

int host_proc_each_mount(struct host_proc *p, host_on_mount_fn fn, void *arg)
{
	const struct host_ops *ops = p->host->ops;

	return ops->proc_each_mount ? ops->proc_each_mount(p, fn, arg)
				    : host_each_mount(p->host, p->pid, fn, arg);
}

int host_each_memfd(struct host *h, const char *name, host_on_memfd_fn fn, void *arg)
{
	return h->ops->each_memfd(h, name, fn, arg);
}

int host_each_chosen(struct host *h, const char *caid, host_on_chosen_fn fn, void *arg)
{
	return h->ops->each_chosen ? h->ops->each_chosen(h, caid, fn, arg) : 0;
}

int host_each_rank(struct host *h, host_on_rank_fn fn, void *arg)
{
	return h->ops->each_rank ? h->ops->each_rank(h, fn, arg) : 0;
}

int host_each_launcher(struct host *h, host_on_launcher_fn fn, void *arg)
{
	return h->ops->each_launcher ? h->ops->each_launcher(h, fn, arg) : 0;
}

int host_proc_open(struct host *h, int32_t pid, struct host_proc **out, struct err *e)
{
	return h->ops->open(h, pid, out, e);
}

int host_proc_open_ended(struct host *h, int32_t pid, uint64_t start, struct host_proc **out,
			 struct err *e)
{
	if (!h->ops->open_ended)
		return err_set(e, ERR_NOTFOUND, "process %d has ended", (int)pid);
	return h->ops->open_ended(h, pid, start, out, e);
}

int host_proc_watch(struct host_proc *p, host_on_exit_fn fn, void *arg, struct err *e)
{
	return p->host->ops->watch(p, fn, arg, e);
}

int host_proc_signal(struct host_proc *p, int sig, struct err *e)
{
	return p->host->ops->send_signal(p, sig, e);
}

int host_tcp(struct host *h, struct host_tcp *out, size_t *n, size_t *left_out)
{
	return h->ops->tcp ? h->ops->tcp(h, out, n, left_out) : -ERR_UNSUPPORTED;
}

int host_thread_signal(struct host_proc *p, int32_t tid, int sig, struct err *e)
{
	return p->host->ops->thread_signal(p, tid, sig, e);
}

int host_thread_priority(struct host_proc *p, int32_t tid, int nice, struct err *e)
{
	return p->host->ops->thread_priority(p, tid, nice, e);
}

int host_proc_memory(struct host_proc *p, struct host_memory *m, struct err *e)
{
	return p->host->ops->memory(p, m, e);
}

int host_proc_modules(struct host_proc *p, host_on_module_fn fn, void *arg, struct err *e)
{
	return p->host->ops->modules(p, fn, arg, e);
}

void host_proc_close(struct host_proc *p)
{
	if (p)
		p->host->ops->close(p);
}

void host_figures_clear(struct host_figures *f)
{
	memset(f, 0, sizeof(*f));
	f->parent = -1;
	f->threads = f->priority = -1;
	f->age_s = f->user_s = f->system_s = -1;
	f->size = f->resident = f->resident_max = f->stack = -1;
	f->minor_faults = f->major_faults = f->swaps = -1;
	f->exit_code = -1;
	f->uid = f->gid = -1;
	f->inner_pid = -1;
	f->voluntary = f->involuntary = -1;
	f->read_blocks = f->write_blocks = -1;
	f->read_calls = f->write_calls = f->read_bytes = f->write_bytes = -1;
	f->disk_read_bytes = f->disk_written_bytes = -1;
	f->run_delay_s = f->block_delay_s = f->throttled_s = f->frequency_hz = -1;
}
