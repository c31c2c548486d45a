/* SPDX-License-Identifier: Apache-2.0 */
#include "tracer/thread/call.h"

#if defined(__x86_64__)

#include "common/base/array.h"
#include "common/base/buf.h"
#include "common/base/clock.h"
#include "tracer/thread/change.h"
#include "tracer/thread/maps.h"
#include "tracer/thread/regs.h"

#include <cpuid.h>
#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <ucontext.h>

/* of code to search for the return instruction; libc has 1.5 MiB */
#define SEARCH_MAX_BYTES (32 * 1024 * 1024)
#define SEARCH_STEP_BYTES (64 * 1024)
#define XSTATE_MAX_BYTES (16 * 1024) /* enough for all features of current processors */
#define RED_ZONE_BYTES 128 /* below the stack pointer, which functions may use all the same */
#define SYSCALL_BYTES 2
#define REGS_RAX 10 /* see regs.h */
/* of a call that does not block: a thread of a loaded machine may wait for a processor */
#define SYSCALL_MAX_NS NSEC_PER_SEC
#define TURNS_MAX 100 /* stops by signals that come while a call is made */

/* Internal return values of the kernel for interrupted calls. */
enum { RESTART_SYS = -512, RESTART_ALWAYS = -513, RESTART_NO_HANDLER = -514, RESTART_BLOCK = -516 };

/* Stack frame that rt_sigreturn reads, in the kernel's layout for a handler. */
struct frame {
	uint64_t way_back;
	ucontext_t uc;
};

/* A magic number at the end of the processor's state marks it as complete. */
#define XSTATE_SW_AT 464
#define XSTATE_USED_AT 512 /* features that are not in their first state */
#define XSTATE_MAGIC1 0x46505853u
#define XSTATE_MAGIC2 0x46505845u
struct xstate_sw {
	uint32_t magic1, extended_size;
	uint64_t features;
	uint32_t size, padding[7];
};

struct xstate {
	size_t n; /* with the last magic */
	uint8_t p[XSTATE_MAX_BYTES + 4];
};

struct code {
	size_t n;
	uint8_t p[12];
};

/* mov $15, %rax; syscall: how signal handlers of every C library go back. */
static const struct code way_back = { 9, { 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05 } };
/* syscall; ret */
static const struct code plain_syscall = { 3, { 0x0f, 0x05, 0xc3 } };

/* The instructions that calls need, and where they were found; 0: not yet. */
struct search {
	const struct code *code[2];
	uint64_t at[2];
};

static bool has_both(const struct search *s)
{
	return s->at[0] && s->at[1];
}

static void search_bytes(struct search *s, const uint8_t *b, size_t n, uint64_t from)
{
	for (size_t i = 0; i < ARRAY_LEN(s->code); i++) {
		const uint8_t *at = s->at[i] ? NULL : memmem(b, n, s->code[i]->p, s->code[i]->n);

		if (at)
			s->at[i] = from + (uint64_t)(at - b);
	}
}

static void search(struct search *s, int32_t pid, uint64_t from, uint64_t to)
{
	uint8_t *b = malloc(SEARCH_STEP_BYTES);

	for (; b && !has_both(s) && from < to; from += SEARCH_STEP_BYTES - sizeof(way_back.p)) {
		size_t n = to - from < SEARCH_STEP_BYTES ? (size_t)(to - from) : SEARCH_STEP_BYTES;
		struct iovec local = { b, n };
		/* NOLINTNEXTLINE: an address of another process */
		struct iovec remote = { (void *)(uintptr_t)from, n };
		ssize_t got = process_vm_readv(pid, &local, 1, &remote, 1, 0);

		search_bytes(s, b, got > 0 ? (size_t)got : 0, from);
	}
	free(b);
}

static bool is_libc(const struct maps_region *r)
{
	return memmem(r->path, r->path_n, "/libc", 5) || memmem(r->path, r->path_n, "musl", 4);
}

static void search_maps(struct search *s, int32_t pid, const char *maps, bool libc_only)
{
	uint64_t left = SEARCH_MAX_BYTES;
	struct maps_region r;

	while (!has_both(s) && maps_next(&maps, &r)) {
		if (r.rights[2] != 'x' || !r.path_n || *r.path != '/' || r.to - r.from > left ||
		    (libc_only && !is_libc(&r)))
			continue;
		left -= r.to - r.from;
		search(s, pid, r.from, r.to);
	}
}

/* First a C library is searched, then anything. */
int call_find_ways(int32_t pid, struct call_ways *out, struct err *e)
{
	struct search s = { .code = { &way_back, &plain_syscall } };
	struct buf b = BUF_INIT(MAPS_MAX_BYTES);
	int rc = maps_read(pid, &b, e);

	if (!rc) {
		search_maps(&s, pid, buf_str(&b), true);
		search_maps(&s, pid, buf_str(&b), false);
		if (has_both(&s))
			*out = (struct call_ways){ s.at[0], s.at[1] };
		else
			rc = err_set(e, ERR_UNSUPPORTED, "the process cannot return from a call");
	}
	buf_done(&b);
	return rc;
}

/* Features that a thread must request: they make the frame larger than its handlers expect. */
#define FEATURES_ON_REQUEST (UINT64_C(3) << 17)
#define REGSET_SHADOW_STACK 0x204 /* NT_X86_SHSTK: would also need the return address */

/* Bytes that these features take; those on request are left out. */
static uint32_t state_size(uint64_t *features)
{
	uint32_t end = 512 + 64, size, offset, c, d;

	*features &= ~FEATURES_ON_REQUEST;
	for (unsigned i = 2; i < 63; i++) {
		if (!(*features >> i & 1))
			continue;
		__cpuid_count(0xd, i, size, offset, c, d);
		if (offset + size > end)
			end = offset + size;
	}
	return end;
}

/* Fails if a feature that the frame omits is in use: its state would be lost. */
static int check_xstate(int32_t tid, const struct xstate *x, struct err *e)
{
	uint64_t in_use, shadow = 0;
	struct iovec v = { &shadow, sizeof(shadow) };

	memcpy(&in_use, x->p + XSTATE_USED_AT, sizeof(in_use));
	if (in_use & FEATURES_ON_REQUEST)
		return err_set(e, ERR_UNSUPPORTED,
			       "the thread computes with tiles, which a call would lose");
	if (ptrace(PTRACE_GETREGSET, tid, REGSET_SHADOW_STACK, &v) == 0)
		return err_set(e, ERR_UNSUPPORTED,
			       "the thread has a shadow stack, which would refuse the call");
	return 0;
}

static int load_xstate(int32_t tid, struct xstate *x, struct err *e)
{
	struct iovec v = { x->p, XSTATE_MAX_BYTES };
	struct xstate_sw sw = { .magic1 = XSTATE_MAGIC1 };
	uint32_t end = XSTATE_MAGIC2;
	int rc;

	if (ptrace(PTRACE_GETREGSET, tid, NT_X86_XSTATE, &v) < 0)
		return regs_error("reading the processor's state", e);
	rc = check_xstate(tid, x, e);
	if (rc)
		return rc;
	memcpy(&sw.features, x->p + XSTATE_SW_AT, sizeof(sw.features));
	sw.size = state_size(&sw.features);
	if (sw.size > v.iov_len)
		return err_set(e, ERR_UNSUPPORTED, "the processor's state is not understood");
	sw.extended_size = sw.size + (uint32_t)sizeof(end);
	memcpy(x->p + XSTATE_SW_AT, &sw, sizeof(sw));
	memcpy(x->p + sw.size, &end, sizeof(end));
	x->n = sw.extended_size;
	return 0;
}

/*
 * Does what a signal handler would cause: restarts the call if possible, else ends it with `other`
 * (0: restarts it all the same, a wait with its whole time).
 */
static void settle_syscall(struct user_regs_struct *r, int other)
{
	if ((int64_t)r->orig_rax < 0)
		return;
	switch ((int64_t)r->rax) {
	case RESTART_NO_HANDLER:
	case RESTART_BLOCK:
		if (other) {
			r->rax = (unsigned long long)other;
			break;
		}
		/* fallthrough */
	case RESTART_SYS:
	case RESTART_ALWAYS:
		r->rip -= SYSCALL_BYTES;
		r->rax = r->orig_rax;
		break;
	default:
		break;
	}
}

/*
 * A wait with a time that was interrupted before has become restart_syscall, which the frame cannot
 * repeat: finds the wait's own number in the instruction before the system call.
 */
static int find_number(int32_t pid, struct user_regs_struct *r, struct err *e)
{
	static const int32_t waits[] = { SYS_nanosleep, SYS_clock_nanosleep, SYS_poll, SYS_futex };
	uint8_t code[5 + SYSCALL_BYTES] = { 0 }; /* mov $number, %eax; syscall */
	struct iovec local = { code, sizeof(code) };
	/* NOLINTNEXTLINE: an address of another process */
	struct iovec remote = { (void *)(uintptr_t)(r->rip - sizeof(code)), sizeof(code) };
	int32_t number;

	if ((int64_t)r->orig_rax != SYS_restart_syscall || (int64_t)r->rax != RESTART_BLOCK)
		return 0;
	if (process_vm_readv(pid, &local, 1, &remote, 1, 0) == (ssize_t)sizeof(code) &&
	    code[0] == 0xb8 && code[5] == 0x0f && code[6] == 0x05) {
		memcpy(&number, code + 1, sizeof(number));
		for (size_t i = 0; i < ARRAY_LEN(waits); i++) {
			if (number != waits[i])
				continue;
			r->orig_rax = (unsigned long long)number;
			return 0;
		}
	}
	return err_set(e, ERR_AGAIN, "the thread is in a wait that cannot be repeated");
}

static void fill_frame(struct frame *f, const struct user_regs_struct *r, uint64_t mask,
		       uint64_t fp)
{
	const greg_t g[] = { (greg_t)r->r8,
			     (greg_t)r->r9,
			     (greg_t)r->r10,
			     (greg_t)r->r11,
			     (greg_t)r->r12,
			     (greg_t)r->r13,
			     (greg_t)r->r14,
			     (greg_t)r->r15,
			     (greg_t)r->rdi,
			     (greg_t)r->rsi,
			     (greg_t)r->rbp,
			     (greg_t)r->rbx,
			     (greg_t)r->rdx,
			     (greg_t)r->rax,
			     (greg_t)r->rcx,
			     (greg_t)r->rsp,
			     (greg_t)r->rip,
			     (greg_t)r->eflags,
			     (greg_t)(r->cs | r->gs << 16 | r->fs << 32 | r->ss << 48) };

	f->uc.uc_flags = 7; /* extended state present; stack segment present and strict */
	f->uc.uc_stack.ss_flags = 0x7f; /* invalid: the kernel keeps the current signal stack */
	memcpy(f->uc.uc_mcontext.gregs, g, sizeof(g));
	/* NOLINTNEXTLINE: an address of another process */
	f->uc.uc_mcontext.fpregs = (fpregset_t)(uintptr_t)fp;
	memcpy(&f->uc.uc_sigmask, &mask, sizeof(mask));
}

static int put(int32_t pid, uint64_t addr, const void *p, size_t n, struct err *e)
{
	struct iovec local = { (void *)p, n };
	/* NOLINTNEXTLINE: an address of another process */
	struct iovec remote = { (void *)(uintptr_t)addr, n };

	if (process_vm_writev(pid, &local, 1, &remote, 1, 0) == (ssize_t)n)
		return 0;
	return err_sys(e, "there is no room on the thread's stack");
}

struct plan {
	struct frame frame;
	struct xstate x;
	struct user_regs_struct before, regs;
	uint64_t mask;
	uint64_t fp; /* where x is on the thread's stack; 0: not yet */
};

static int plan_read(struct plan *p, int32_t tid, struct err *e)
{
	struct iovec all = { &p->before, sizeof(p->before) };

	if (ptrace(PTRACE_GETREGSET, tid, NT_PRSTATUS, &all) < 0 ||
	    ptrace(PTRACE_GETSIGMASK, tid, sizeof(p->mask), &p->mask) < 0)
		return regs_error("reading registers", e);
	if (all.iov_len != sizeof(p->before))
		return err_set(e, ERR_UNSUPPORTED, "this is not a 64-bit program");
	p->regs = p->before;
	return load_xstate(tid, &p->x, e);
}

/* Writes the frame of `regs`; afterwards these are for code that returns through the frame. */
static int plan_write(struct plan *p, int32_t pid, uint64_t back, struct err *e)
{
	uint64_t below = p->regs.rsp, sp;
	int rc = 0;

	if (!p->fp) {
		p->fp = below = (below - RED_ZONE_BYTES - p->x.n) & ~UINT64_C(63);
		rc = put(pid, p->fp, p->x.p, p->x.n, e);
	}
	sp = ((below - sizeof(p->frame)) & ~UINT64_C(15)) - sizeof(uint64_t);
	p->frame.way_back = back;
	fill_frame(&p->frame, &p->regs, p->mask, p->fp);
	if (!rc)
		rc = put(pid, sp, &p->frame, sizeof(p->frame), e);
	if (rc)
		return rc;
	p->regs.rsp = sp;
	p->regs.eflags &= ~0x400ull; /* strings forwards, as functions expect it */
	p->regs.orig_rax = (unsigned long long)-1;
	return 0;
}

static int set_regs(int32_t tid, struct user_regs_struct *r, struct err *e)
{
	struct iovec all = { r, sizeof(*r) };

	if (ptrace(PTRACE_SETREGSET, tid, NT_PRSTATUS, &all) < 0)
		return regs_error("writing registers", e);
	return 0;
}

static int insert(struct plan *p, int32_t pid, int32_t tid, uint64_t addr, struct err *e)
{
	struct call_ways ways;
	int rc = plan_read(p, tid, e);

	if (!rc)
		rc = call_find_ways(pid, &ways, e);
	if (rc)
		return rc;
	settle_syscall(&p->regs, -EINTR);
	rc = plan_write(p, pid, ways.back, e);
	if (rc)
		return rc;
	p->regs.rip = addr;
	p->regs.rax = p->regs.rdi = p->regs.rsi = p->regs.rdx = 0;
	return set_regs(tid, &p->regs, e);
}

int call_insert(int32_t pid, int32_t tid, uint64_t addr, struct err *e)
{
	struct plan *p = calloc(1, sizeof(*p));
	int rc = p ? insert(p, pid, tid, addr, e) : err_nomem(e);

	free(p);
	return rc;
}

/* Resumes the thread until its next stop. */
static int next_stop(int32_t tid, int how, int *status, struct err *e)
{
	nsec_t end = clock_mono() + SYSCALL_MAX_NS;
	pid_t got;

	if (ptrace(how, tid, NULL, NULL) < 0)
		return regs_error("resuming the thread", e);
	while ((got = waitpid(tid, status, __WALL | WNOHANG)) == 0 && clock_mono() < end)
		change_wait(end - clock_mono());
	if (!got)
		return err_set(e, ERR_TIMEOUT, "a system call of the thread does not end");
	if (got != tid || !WIFSTOPPED(*status))
		return err_set(e, ERR_NOTFOUND, "the thread has ended");
	return 0;
}

/* The thread must not remain stopped: it restores itself. */
static int give_up(int32_t tid, struct err *e)
{
	ptrace(PTRACE_CONT, tid, NULL, NULL);
	return err_set(e, ERR_TIMEOUT, "the thread is stopped again and again");
}

/* The two stops of one system call; a stop signal may come between. */
static int run_syscall(int32_t tid, struct err *e)
{
	int status, rc = 0;

	for (int stops = 0, turns = 0; !rc && stops < 2; turns++) {
		rc = next_stop(tid, PTRACE_SYSCALL, &status, e);
		if (!rc && WSTOPSIG(status) == (SIGTRAP | 0x80))
			stops++;
		else if (!rc && turns == TURNS_MAX)
			rc = give_up(tid, e);
	}
	return rc;
}

/* From the end of a system call to a stop at which the kernel honours all registers. */
static int come_between(int32_t tid, struct err *e)
{
	int status = 0, rc = 0;

	if (ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) < 0)
		return regs_error("stopping the thread", e);
	for (int turns = 0; !rc && status >> 16 != PTRACE_EVENT_STOP; turns++) {
		rc = next_stop(tid, PTRACE_CONT, &status, e);
		if (!rc && turns == TURNS_MAX)
			return give_up(tid, e);
	}
	return rc;
}

static void put_syscall(struct user_regs_struct *r, uint64_t at, const struct call_syscall *c)
{
	r->rip = at;
	r->rax = (uint64_t)c->number;
	r->rdi = c->arg[0];
	r->rsi = c->arg[1];
	r->rdx = c->arg[2];
	r->r10 = c->arg[3];
	r->r8 = c->arg[4];
	r->r9 = c->arg[5];
}

/*
 * Registers come before the mask, and the mask before the old registers: the thread could continue
 * at each moment, even if this process died. The frame then repeats an interrupted call.
 */
static int begin_syscall(struct plan *p, int32_t tid, struct err *e)
{
	uint64_t all = ~UINT64_C(0);
	int rc = set_regs(tid, &p->regs, e);

	if (!rc && ptrace(PTRACE_SETSIGMASK, tid, sizeof(all), &all) < 0)
		rc = regs_error("blocking signals", e);
	return rc;
}

static int end_syscalls(struct plan *p, int32_t tid, struct err *e)
{
	int rc = come_between(tid, e);

	if (rc)
		return rc;
	if (ptrace(PTRACE_SETSIGMASK, tid, sizeof(p->mask), &p->mask) < 0)
		return regs_error("restoring signals", e);
	return set_regs(tid, &p->before, e);
}

static int do_syscalls(struct plan *p, const struct call_place *at, struct call_syscall *c,
		       size_t n, struct err *e)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < n; i++) {
		put_syscall(&p->regs, at->ways.syscall, &c[i]);
		rc = begin_syscall(p, at->tid, e);
		if (!rc)
			rc = run_syscall(at->tid, e);
		if (!rc)
			rc = regs_get(at->tid, REGS_RAX, 1, (uint64_t *)&c[i].result, e);
	}
	return rc ? rc : end_syscalls(p, at->tid, e);
}

/* All signals that can be blocked are. */
static bool sigset_is_full(uint64_t mask)
{
	return (mask | UINT64_C(1) << (SIGKILL - 1) | UINT64_C(1) << (SIGSTOP - 1)) == ~UINT64_C(0);
}

static bool is_code(int32_t pid, uint64_t addr, const struct code *code)
{
	uint8_t now[sizeof(code->p)];
	struct iovec local = { now, code->n };
	/* NOLINTNEXTLINE: an address of another process */
	struct iovec remote = { (void *)(uintptr_t)addr, code->n };

	return process_vm_readv(pid, &local, 1, &remote, 1, 0) == (ssize_t)code->n &&
	       !memcmp(now, code->p, code->n);
}

/* A program that has called exec since then has other code there, or none. */
static int check_ways(const struct call_place *at, struct err *e)
{
	if (is_code(at->pid, at->ways.back, &way_back) &&
	    is_code(at->pid, at->ways.syscall, &plain_syscall))
		return 0;
	return err_set(e, ERR_AGAIN, "the process has just started another program");
}

int call_syscalls(const struct call_place *at, struct call_syscall *c, size_t n, struct err *e)
{
	struct plan *p = calloc(1, sizeof(*p));
	int rc = p ? plan_read(p, at->tid, e) : err_nomem(e);

	rc = rc ? rc : check_ways(at, e);
	rc = rc ? rc : find_number(at->pid, &p->regs, e);
	if (!rc) {
		settle_syscall(&p->regs, 0);
		rc = plan_write(p, at->pid, at->ways.back, e);
	}
	if (!rc)
		rc = do_syscalls(p, at, c, n, e);
	free(p);
	return rc;
}

/* A wait with a time is continued by the kernel, if the thread has not returned through a frame. */
static int check_enqueue(const struct plan *p, const struct call_place *at, struct err *e)
{
	if ((int64_t)p->before.orig_rax >= 0 && (int64_t)p->before.rax == RESTART_BLOCK)
		return err_set(e, ERR_UNSUPPORTED, "the thread is in a wait with a time");
	if (p->before.rip == at->ways.syscall && sigset_is_full(p->mask))
		return err_set(e, ERR_AGAIN, "the thread has not executed the calls yet");
	return 0;
}

/*
 * The first call is in the registers. Each returns to a frame with the registers of the next one,
 * the last one to the thread's own.
 */
static int enqueue(struct plan *p, const struct call_place *at, const struct call_syscall *c,
		   size_t n, struct err *e)
{
	int rc;

	settle_syscall(&p->regs, 0);
	rc = plan_write(p, at->pid, at->ways.back, e);
	p->mask = ~UINT64_C(0);
	while (!rc && --n) {
		put_syscall(&p->regs, at->ways.syscall, &c[n]);
		rc = plan_write(p, at->pid, at->ways.back, e);
	}
	put_syscall(&p->regs, at->ways.syscall, &c[0]);
	return rc ? rc : begin_syscall(p, at->tid, e);
}

int call_enqueue(const struct call_place *at, const struct call_syscall *c, size_t n, struct err *e)
{
	struct plan *p = calloc(1, sizeof(*p));
	int rc = p ? plan_read(p, at->tid, e) : err_nomem(e);

	rc = rc ? rc : check_ways(at, e);
	rc = rc ? rc : check_enqueue(p, at, e);
	if (!rc)
		rc = enqueue(p, at, c, n, e);
	free(p);
	return rc;
}

#else

int call_insert(int32_t pid, int32_t tid, uint64_t addr, struct err *e)
{
	return err_set(e, ERR_UNSUPPORTED, "calls are known on x86-64 only");
}

int call_find_ways(int32_t pid, struct call_ways *out, struct err *e)
{
	return err_set(e, ERR_UNSUPPORTED, "calls are known on x86-64 only");
}

int call_syscalls(const struct call_place *at, struct call_syscall *c, size_t n, struct err *e)
{
	return err_set(e, ERR_UNSUPPORTED, "calls are known on x86-64 only");
}

int call_enqueue(const struct call_place *at, const struct call_syscall *c, size_t n, struct err *e)
{
	return err_set(e, ERR_UNSUPPORTED, "calls are known on x86-64 only");
}

#endif
