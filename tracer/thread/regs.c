/* SPDX-License-Identifier: Apache-2.0 */
#include "tracer/thread/regs.h"

#include <errno.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <elf.h>

int regs_error(const char *what, struct err *e)
{
	if (errno == ESRCH)
		return err_set(e, ERR_NOTFOUND, "the thread has ended");
	return err_sys(e, "%s", what);
}

int regs_check_range(unsigned first, size_t n, size_t count, struct err *e)
{
	if (first < count && n <= count - first)
		return 0;
	return err_set(e, ERR_INVALID, "registers are numbered from 0 to %zu", count - 1);
}

#if defined(__x86_64__)

static int load(int32_t tid, struct user_regs_struct *r, struct err *e)
{
	struct iovec v = { r, sizeof(*r) };

	if (ptrace(PTRACE_GETREGSET, tid, NT_PRSTATUS, &v) < 0)
		return regs_error("reading registers", e);
	/* a 32-bit program has other registers */
	if (v.iov_len != sizeof(*r))
		return err_set(e, ERR_UNSUPPORTED, "this is not a 64-bit program");
	return 0;
}

static int store(int32_t tid, struct user_regs_struct *r, struct err *e)
{
	struct iovec v = { r, sizeof(*r) };

	if (ptrace(PTRACE_SETREGSET, tid, NT_PRSTATUS, &v) < 0)
		return regs_error("writing registers", e);
	return 0;
}

_Static_assert(sizeof(struct user_regs_struct) == REGS_INT_COUNT * sizeof(uint64_t),
	       "registers are numbered by their place in this struct");

int regs_get(int32_t tid, unsigned first, size_t n, uint64_t *out, struct err *e)
{
	struct user_regs_struct r;
	int rc = regs_check_range(first, n, REGS_INT_COUNT, e);

	if (!rc)
		rc = load(tid, &r, e);
	if (!rc)
		memcpy(out, (const uint8_t *)&r + first * sizeof(*out), n * sizeof(*out));
	return rc;
}

int regs_set(int32_t tid, unsigned first, size_t n, const uint64_t *v, struct err *e)
{
	struct user_regs_struct r;
	int rc = regs_check_range(first, n, REGS_INT_COUNT, e);

	if (!rc)
		rc = load(tid, &r, e);
	if (rc)
		return rc;
	memcpy((uint8_t *)&r + first * sizeof(*v), v, n * sizeof(*v));
	return store(tid, &r, e);
}

int regs_goto(int32_t tid, uint64_t addr, struct err *e)
{
	struct user_regs_struct r;
	int rc = load(tid, &r, e);

	if (rc)
		return rc;
	r.rip = addr;
	/* Else the kernel would step back to repeat the call. */
	r.orig_rax = (unsigned long long)-1;
	return store(tid, &r, e);
}

int regs_dwarf(int32_t tid, uint64_t out[REGS_DWARF_COUNT], struct err *e)
{
	struct user_regs_struct r;
	int rc = load(tid, &r, e);

	if (rc)
		return rc;
	const uint64_t v[REGS_DWARF_COUNT] = { r.rax, r.rdx, r.rcx, r.rbx, r.rsi, r.rdi,
					       r.rbp, r.rsp, r.r8,  r.r9,  r.r10, r.r11,
					       r.r12, r.r13, r.r14, r.r15, r.rip };
	memcpy(out, v, sizeof(v));
	return 0;
}

#else

static int unsupported(struct err *e)
{
	return err_set(e, ERR_UNSUPPORTED, "registers are known on x86-64 only");
}

int regs_get(int32_t tid, unsigned first, size_t n, uint64_t *out, struct err *e)
{
	return unsupported(e);
}

int regs_set(int32_t tid, unsigned first, size_t n, const uint64_t *v, struct err *e)
{
	return unsupported(e);
}

int regs_goto(int32_t tid, uint64_t addr, struct err *e)
{
	return unsupported(e);
}

int regs_dwarf(int32_t tid, uint64_t out[REGS_DWARF_COUNT], struct err *e)
{
	return unsupported(e);
}

#endif
