/* SPDX-License-Identifier: Apache-2.0 */
#include "lm/host/perf.h"

#include "common/base/cur.h"

#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define RECORD_HEADER_BYTES 8

struct perf {
	int fd;
	uint8_t *map; /* a page of control, then the ring */
	size_t page, ring;
};

/* Excludes the kernel: an ordinary user may not watch it. */
static void describe(struct perf_event_attr *a, enum perf_what what, uint64_t addr)
{
	memset(a, 0, sizeof(*a));
	a->size = sizeof(*a);
	a->sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
	a->sample_id_all = 1;
	a->exclude_kernel = 1;
	a->exclude_hv = 1;
	a->use_clockid = 1;
	a->clockid = CLOCK_MONOTONIC;
	if (what == PERF_SWITCH) {
		a->type = PERF_TYPE_SOFTWARE;
		a->config = PERF_COUNT_SW_DUMMY;
		a->context_switch = 1;
		return;
	}
	a->type = PERF_TYPE_BREAKPOINT;
	a->bp_type = HW_BREAKPOINT_X;
	a->bp_addr = addr;
	a->bp_len = sizeof(long);
	a->sample_period = 1;
}

static int open_failed(struct err *e)
{
	switch (errno) {
	case ESRCH:
		return err_set(e, ERR_NOTFOUND, "the thread has ended");
	case ENOSPC:
		return err_set(e, ERR_LIMIT,
			       "the processor watches four addresses of a thread at most");
	case EACCES:
	case EPERM:
		return err_set(e, ERR_SYS,
			       "the kernel does not let us watch: kernel.perf_event_paranoid must "
			       "be 2 or less");
	case ENOSYS:
	case ENOENT:
	case EOPNOTSUPP:
	case ENODEV:
		return err_set(e, ERR_UNSUPPORTED, "this kernel or machine cannot watch for that");
	case EINVAL:
		return err_set(e, ERR_INVALID, "this address cannot be watched");
	default:
		return err_sys(e, "perf_event_open");
	}
}

int perf_open(int32_t tid, enum perf_what what, uint64_t addr, struct perf **out, struct err *e)
{
	struct perf *p = calloc(1, sizeof(*p));
	struct perf_event_attr attr;

	if (!p)
		return err_nomem(e);
	describe(&attr, what, addr);
	p->page = (size_t)sysconf(_SC_PAGESIZE);
	p->ring = PERF_RING_PAGES * p->page;
	p->fd = (int)syscall(SYS_perf_event_open, &attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (p->fd < 0) {
		free(p);
		return open_failed(e);
	}
	p->map = mmap(NULL, p->page + p->ring, PROT_READ | PROT_WRITE, MAP_SHARED, p->fd, 0);
	if (p->map == MAP_FAILED) {
		err_sys(e,
			"the kernel gives no more memory for events (kernel.perf_event_mlock_kb)");
		close(p->fd);
		free(p);
		return -ERR_SYS;
	}
	*out = p;
	return 0;
}

void perf_close(struct perf *p)
{
	if (!p)
		return;
	munmap(p->map, p->page + p->ring);
	close(p->fd);
	free(p);
}

static void read_ids(struct cur *c, struct perf_record *out)
{
	cur_u32le(c);
	out->tid = (int32_t)cur_u32le(c);
	out->time = (nsec_t)cur_u64le(c);
}

size_t perf_decode(const uint8_t *p, size_t n, struct perf_record *out, bool *is_known)
{
	struct cur c;
	uint32_t type;
	uint16_t misc, size;

	cur_init(&c, p, n);
	type = cur_u32le(&c);
	misc = cur_u16le(&c);
	size = cur_u16le(&c);
	*is_known = false;
	if (c.failed || size < RECORD_HEADER_BYTES || size > n)
		return 0;
	memset(out, 0, sizeof(*out));
	cur_init(&c, p + RECORD_HEADER_BYTES, (size_t)size - RECORD_HEADER_BYTES);
	if (type == PERF_RECORD_LOST) {
		cur_u64le(&c);
		out->lost = cur_u64le(&c);
	}
	if (type == PERF_RECORD_SAMPLE || type == PERF_RECORD_SWITCH || type == PERF_RECORD_LOST)
		read_ids(&c, out);
	else
		return size;
	out->is_out = type == PERF_RECORD_SWITCH && misc & PERF_RECORD_MISC_SWITCH_OUT;
	out->is_preempted = out->is_out && misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT;
	*is_known = !c.failed;
	return size;
}

/* A record may go round the end of the ring. */
static void copy_out(const struct perf *p, uint64_t at, uint8_t *to, size_t n)
{
	const uint8_t *ring = p->map + p->page;
	size_t from = (size_t)(at % p->ring), first = p->ring - from < n ? p->ring - from : n;

	memcpy(to, ring + from, first);
	memcpy(to + first, ring, n - first);
}

void perf_read(struct perf *p, perf_fn fn, void *arg)
{
	struct perf_event_mmap_page *control = (struct perf_event_mmap_page *)p->map;
	uint64_t head = __atomic_load_n(&control->data_head, __ATOMIC_ACQUIRE);
	uint64_t at = control->data_tail;
	struct perf_record r;
	uint8_t bytes[256];

	while (head - at >= RECORD_HEADER_BYTES && head - at <= p->ring) {
		size_t left = (size_t)(head - at), n = left < sizeof(bytes) ? left : sizeof(bytes);
		bool is_known;

		copy_out(p, at, bytes, n);
		n = perf_decode(bytes, n, &r, &is_known);
		if (!n)
			break;
		if (is_known)
			fn(arg, &r);
		at += n;
	}
	/* Skips an invalid record with everything after it. */
	__atomic_store_n(&control->data_tail, head, __ATOMIC_RELEASE);
}
