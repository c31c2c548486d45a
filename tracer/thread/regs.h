/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Registers of a stopped thread. Integer ones are numbered in the order of the
 * kernel's struct user_regs_struct:
 *
 *	0 r15        1 r14        2 r13        3 r12        4 rbp        5 rbx
 *	6 r11        7 r10        8 r9         9 r8         10 rax       11 rcx
 *	12 rdx       13 rsi       14 rdi       15 orig_rax  16 rip       17 cs
 *	18 eflags    19 rsp       20 ss        21 fs_base   22 gs_base   23 ds
 *	24 es        25 fs        26 gs
 *
 * Floating-point ones:
 *
 *	0 .. 7              st(0) .. st(7)
 *	8 + 2 k, 9 + 2 k    the lower and the upper double of xmmk
 *
 * All of this is -ERR_UNSUPPORTED but on x86-64.
 */
#ifndef TRACER_THREAD_REGS_H
#define TRACER_THREAD_REGS_H

#include "common/base/err.h"

#include <stddef.h>
#include <stdint.h>

#define REGS_INT_COUNT 27
#define REGS_FP_COUNT 40
#define REGS_DWARF_COUNT 17

/* -ERR_INVALID: there are fewer. -ERR_NOTFOUND: the thread is dead. */
int regs_get(int32_t tid, unsigned first, size_t n, uint64_t *out, struct err *e);
int regs_set(int32_t tid, unsigned first, size_t n, const uint64_t *v, struct err *e);

/* The bits of doubles. */
int fpregs_get(int32_t tid, unsigned first, size_t n, uint64_t *out, struct err *e);
int fpregs_set(int32_t tid, unsigned first, size_t n, const uint64_t *v, struct err *e);

/* Makes the thread continue at addr; an interrupted system call is not restarted. */
int regs_goto(int32_t tid, uint64_t addr, struct err *e);

/*
 * In the numbering of debug information; 7 is the stack pointer, the last one the program counter.
 */
int regs_dwarf(int32_t tid, uint64_t out[REGS_DWARF_COUNT], struct err *e);
#define REGS_DWARF_SP 7

/* For all of them: converts the error of a failed ptrace(). */
int regs_error(const char *what, struct err *e);

/* -ERR_INVALID unless first .. first + n are registers of `count`. */
int regs_check_range(unsigned first, size_t n, size_t count, struct err *e);

#endif
