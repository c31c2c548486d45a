/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node_get_info, in the order of the interface's fields. Beyond its bits:
 *
 * 14 shares of processor time (user, system, idle, waiting for disks, taken by other guests; 0..1),
 *
 * 15 pressure in percent of 10 s (cpu, memory some and full, io some and full),
 *
 * 16 the control group (memory limit, memory used, in bytes; processors).
 */
#include "lm/service/families.h"

#include "common/base/array.h"
#include "common/base/buf.h"
#include "common/base/limits.h"
#include "lm/host/rates.h"

enum {
	NODE_NAME = 1 << 0,
	NODE_OS = 1 << 1,
	NODE_CPU = 1 << 2,
	NODE_MEMORY = 1 << 3,
	NODE_DISK = 1 << 4,
	NODE_NET = 1 << 5,
	NODE_USERS_MAX = 1 << 6,
	NODE_OS_RATES = 1 << 7,
	NODE_QUEUES = 1 << 8,
	NODE_MEMORY_NOW = 1 << 9,
	NODE_VM_RATES = 1 << 10,
	NODE_DISK_RATES = 1 << 11,
	NODE_NET_RATES = 1 << 12,
	NODE_USERS = 1 << 13,
	NODE_CPU_SHARES = 1 << 14,
	NODE_PRESSURE = 1 << 15,
	NODE_GROUP = 1 << 16,
	NODE_FACTS = NODE_OS | NODE_CPU | NODE_MEMORY | NODE_DISK | NODE_NET | NODE_USERS_MAX,
	NODE_NOW = NODE_QUEUES | NODE_MEMORY_NOW | NODE_USERS | NODE_PRESSURE | NODE_GROUP,
	NODE_RATES =
		NODE_OS_RATES | NODE_VM_RATES | NODE_DISK_RATES | NODE_NET_RATES | NODE_CPU_SHARES,
};

#define UNKNOWN_BENCH -1 /* no benchmarks are run here */

static void write_links(struct omis_writer *w, const struct host_facts *f)
{
	omis_write_int(w, (int64_t)f->nlinks);
	omis_write_list(w);
	for (size_t i = 0; i < f->nlinks; i++) {
		omis_write_string(w, f->link[i].type);
		omis_write_string(w, f->link[i].address);
		omis_write_int(w, f->link[i].kb_per_s);
		omis_write_int(w, UNKNOWN_BENCH);
	}
	omis_write_list_end(w);
}

static void write_facts(struct omis_writer *w, int64_t flags, const struct host_facts *f)
{
	if (flags & NODE_OS) {
		omis_write_string(w, f->os_name);
		omis_write_string(w, f->os_version);
		omis_write_string(w, f->os_release);
		omis_write_string(w, f->os_nodename);
		omis_write_int(w, f->boot_time_s);
	}
	if (flags & NODE_CPU) {
		omis_write_string(w, f->arch);
		OMIS_WRITE_INTS(w, f->cpus, f->processes_max, f->cpu_mhz, UNKNOWN_BENCH,
				UNKNOWN_BENCH);
	}
	if (flags & NODE_MEMORY)
		OMIS_WRITE_INTS(w, f->pages, f->page_size, UNKNOWN_BENCH);
	if (flags & NODE_DISK)
		OMIS_WRITE_INTS(w, f->disks, f->disk_kib, f->tmp_kib, f->swap_pages, UNKNOWN_BENCH);
	if (flags & NODE_NET)
		write_links(w, f);
	if (flags & NODE_USERS_MAX)
		omis_write_int(w, f->logins_max);
}

static double sum(double a, double b)
{
	return a < 0 || b < 0 ? -1 : a + b;
}

static void write_rates_of(struct omis_writer *w, const struct node_rates *r,
			   const enum host_count *which, size_t n)
{
	for (size_t i = 0; i < n; i++)
		omis_write_float(w, r->per_s[which[i]]);
}

#define WRITE_RATES(w, r, ...)                                             \
	write_rates_of((w), (r), (const enum host_count[]){ __VA_ARGS__ }, \
		       sizeof((const enum host_count[]){ __VA_ARGS__ }) / sizeof(enum host_count))

static void write_vm_rates(struct omis_writer *w, const struct node_rates *r)
{
	omis_write_float(w, sum(r->per_s[HOST_SWAP_IN], r->per_s[HOST_SWAP_OUT]));
	WRITE_RATES(w, r, HOST_SWAP_IN, HOST_SWAP_OUT);
	omis_write_float(w, sum(r->per_s[HOST_PAGE_IN], r->per_s[HOST_PAGE_OUT]));
	WRITE_RATES(w, r, HOST_PAGE_IN, HOST_PAGE_OUT);
}

static void write_net_rates(struct omis_writer *w, const struct node_rates *r)
{
	omis_write_float(w, r->per_s[HOST_PACKETS_LOCAL]);
	omis_write_float(
		w, sum(r->per_s[HOST_PACKETS_FAST_RECEIVED], r->per_s[HOST_PACKETS_FAST_SENT]));
	WRITE_RATES(w, r, HOST_PACKETS_FAST_RECEIVED, HOST_PACKETS_FAST_SENT);
	omis_write_float(
		w, sum(r->per_s[HOST_PACKETS_SLOW_RECEIVED], r->per_s[HOST_PACKETS_SLOW_SENT]));
	WRITE_RATES(w, r, HOST_PACKETS_SLOW_RECEIVED, HOST_PACKETS_SLOW_SENT);
}

static void write_now(struct omis_writer *w, int64_t flags, const struct host_now *n)
{
	if (flags & NODE_QUEUES) {
		OMIS_WRITE_INTS(w, n->running, n->disk_wait, n->page_wait, n->sleeping,
				n->swapped_out);
		omis_write_float(w, n->load1);
		omis_write_float(w, n->load5);
		omis_write_float(w, n->load15);
	}
	if (flags & NODE_MEMORY_NOW)
		OMIS_WRITE_INTS(w, n->free_pages, n->used_pages, n->free_swap_pages);
}

static void write_shares(struct omis_writer *w, const struct node_rates *r)
{
	static const enum host_count part[] = { HOST_CPU_USER, HOST_CPU_SYSTEM, HOST_CPU_IDLE,
						HOST_CPU_IOWAIT, HOST_CPU_STEAL };
	const size_t n = ARRAY_LEN(part);
	double all = 0;

	for (size_t i = 0; i < n; i++)
		all += r->per_s[part[i]];
	for (size_t i = 0; i < n; i++)
		omis_write_float(w, all > 0 ? r->per_s[part[i]] / all : -1);
}

static void write_rates(struct omis_writer *w, int64_t flags, const struct node_rates *r)
{
	if (flags & NODE_VM_RATES)
		write_vm_rates(w, r);
	if (flags & NODE_DISK_RATES)
		WRITE_RATES(w, r, HOST_DISK_READS, HOST_DISK_WRITES, HOST_NFS_READS,
			    HOST_NFS_WRITES, HOST_SYS_READS, HOST_SYS_WRITES);
	if (flags & NODE_NET_RATES)
		write_net_rates(w, r);
}

static void write_rest(struct omis_writer *w, int64_t flags, const struct host_now *n,
		       const struct node_rates *r)
{
	if (flags & NODE_USERS)
		OMIS_WRITE_INTS(w, n->local_users, n->local_active, n->remote_users,
				n->remote_active);
	if (flags & NODE_CPU_SHARES)
		write_shares(w, r);
	if (flags & NODE_PRESSURE) {
		omis_write_float(w, n->cpu_some);
		omis_write_float(w, n->memory_some);
		omis_write_float(w, n->memory_full);
		omis_write_float(w, n->io_some);
		omis_write_float(w, n->io_full);
	}
	if (flags & NODE_GROUP) {
		OMIS_WRITE_INTS(w, n->group_memory_max, n->group_memory);
		omis_write_float(w, n->group_cpus);
	}
}

static int write_node(struct service_call *c, int64_t flags, const struct node_rates *rates,
		      struct buf *b)
{
	const struct node *of = c->of;
	struct omis_writer w = OMIS_WRITER(b);
	struct host_facts facts;
	struct host_now now;
	int rc = 0;

	if (flags & NODE_FACTS)
		rc = host_facts(of->host, &facts, NULL);
	if (!rc && flags & NODE_NOW)
		rc = host_now(of->host, &now, NULL);
	if (rc)
		return rc;
	if (flags & NODE_NAME)
		omis_write_string(&w, of->host_name);
	if (flags & NODE_FACTS)
		write_facts(&w, flags, &facts);
	if (flags & NODE_OS_RATES)
		WRITE_RATES(&w, rates, HOST_CONTEXT_SWITCHES, HOST_EXECS, HOST_SYSCALLS);
	if (flags & NODE_NOW)
		write_now(&w, flags, &now);
	if (flags & NODE_RATES)
		write_rates(&w, flags, rates);
	write_rest(&w, flags, &now, rates);
	return b->failed ? -ERR_NOMEM : 0;
}

static int answer(struct service_call *c, int64_t flags, const struct node_rates *rates)
{
	struct objects o = { 0 };
	struct buf b = BUF_INIT(FRAME_MAX_BYTES);
	int rc;

	rc = call_resolve(c, 'n', &o);
	if (!rc && o.n)
		rc = write_node(c, flags, rates, &b);
	if (!rc && o.n)
		rc = reply_add(c->reply, c->action, o.v[0].token, STATUS_OK, buf_str(&b));
	if (!rc)
		reply_add_time(c->reply, call_now(c), call_now(c));
	buf_done(&b);
	objects_done(&o);
	return rc;
}

static void free_wait(void *wait)
{
	rates_unwait(wait);
	free(wait);
}

static int wait_for_rates(struct service_call *c)
{
	const struct node *of = c->of;
	struct rates_wait *w = calloc(1, sizeof(*w));

	if (!w)
		return -ERR_NOMEM;
	rates_wait(of->rates, w, task_go_on, c->task);
	task_keep(c->task, w, free_wait);
	return SERVICE_WAITS;
}

static int serve_node_get_info(struct service_call *c)
{
	const struct node *of = c->of;
	int64_t flags = call_int(c, 1);
	struct node_rates rates = { .over = 0 };
	int rc;

	if (flags & NODE_RATES) {
		rc = rates_get(of->rates, &rates, NULL);
		if (rc == -ERR_AGAIN && !c->retry)
			return wait_for_rates(c);
		if (rc)
			return rc;
	}
	return answer(c, flags, &rates);
}

const struct service node_services[] = {
	{ "node_get_info", serve_node_get_info },
	{ NULL, NULL },
};
