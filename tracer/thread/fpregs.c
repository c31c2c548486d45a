/* SPDX-License-Identifier: Apache-2.0 */
/* Floating-point registers, as doubles. */
#include "tracer/thread/regs.h"

#include <elf.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>

#if defined(__x86_64__)

#define X87_COUNT 8
#define X87_BYTES 16 /* of which 10 are the register */
#define X87_USED_BYTES 10

static int load(int32_t tid, struct user_fpregs_struct *r, struct err *e)
{
	struct iovec v = { r, sizeof(*r) };

	if (ptrace(PTRACE_GETREGSET, tid, NT_PRFPREG, &v) < 0)
		return regs_error("reading registers", e);
	return v.iov_len == sizeof(*r)
		       ? 0
		       : err_set(e, ERR_UNSUPPORTED, "this is not a 64-bit program");
}

static uint8_t *x87(struct user_fpregs_struct *r, unsigned i)
{
	return (uint8_t *)r->st_space + i * X87_BYTES;
}

static uint8_t *xmm(struct user_fpregs_struct *r, unsigned half)
{
	return (uint8_t *)r->xmm_space + half * sizeof(uint64_t);
}

static uint64_t read_one(struct user_fpregs_struct *r, unsigned i)
{
	long double wide = 0;
	double d;
	uint64_t bits;

	if (i >= X87_COUNT) {
		memcpy(&bits, xmm(r, i - X87_COUNT), sizeof(bits));
		return bits;
	}
	memcpy(&wide, x87(r, i), X87_USED_BYTES);
	d = (double)wide;
	memcpy(&bits, &d, sizeof(bits));
	return bits;
}

/* st(i) is counted from the top of the stack, its tag from the bottom. */
static void write_one(struct user_fpregs_struct *r, unsigned i, uint64_t bits)
{
	unsigned top = r->swd >> 11 & 7;
	long double wide;
	double d;

	if (i >= X87_COUNT) {
		memcpy(xmm(r, i - X87_COUNT), &bits, sizeof(bits));
		return;
	}
	memcpy(&d, &bits, sizeof(d));
	wide = d;
	memcpy(x87(r, i), &wide, X87_USED_BYTES);
	r->ftw = (unsigned short)(r->ftw | 1u << ((top + i) & 7));
}

int fpregs_get(int32_t tid, unsigned first, size_t n, uint64_t *out, struct err *e)
{
	struct user_fpregs_struct r;
	int rc = regs_check_range(first, n, REGS_FP_COUNT, e);

	if (!rc)
		rc = load(tid, &r, e);
	for (size_t i = 0; !rc && i < n; i++)
		out[i] = read_one(&r, first + (unsigned)i);
	return rc;
}

int fpregs_set(int32_t tid, unsigned first, size_t n, const uint64_t *v, struct err *e)
{
	struct user_fpregs_struct r;
	struct iovec all = { &r, sizeof(r) };
	int rc = regs_check_range(first, n, REGS_FP_COUNT, e);

	if (!rc)
		rc = load(tid, &r, e);
	if (rc)
		return rc;
	for (size_t i = 0; i < n; i++)
		write_one(&r, first + (unsigned)i, v[i]);
	if (ptrace(PTRACE_SETREGSET, tid, NT_PRFPREG, &all) < 0)
		return regs_error("writing registers", e);
	return 0;
}

#else

int fpregs_get(int32_t tid, unsigned first, size_t n, uint64_t *out, struct err *e)
{
	return err_set(e, ERR_UNSUPPORTED, "registers are known on x86-64 only");
}

int fpregs_set(int32_t tid, unsigned first, size_t n, const uint64_t *v, struct err *e)
{
	return err_set(e, ERR_UNSUPPORTED, "registers are known on x86-64 only");
}

#endif
