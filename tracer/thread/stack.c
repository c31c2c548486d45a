/* SPDX-License-Identifier: Apache-2.0 */
#include "tracer/thread/stack.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#define PIECE_BYTES 4096u
#define PIECES_MAX (STACK_MAX_BYTES / PIECE_BYTES + 1)

/*
 * Copies page by page: the kernel copies all of a piece or nothing, and the stack may end in any
 * page.
 */
static size_t copy(const struct stack *s, uint64_t sp)
{
	struct iovec to = { s->p, STACK_MAX_BYTES }, from[PIECES_MAX];
	size_t n = 0, left = STACK_MAX_BYTES;
	ssize_t got;

	while (left && n < PIECES_MAX) {
		size_t bytes = PIECE_BYTES - sp % PIECE_BYTES;

		if (bytes > left)
			bytes = left;
		if (sp > UINT64_MAX - bytes)
			break;
		/* NOLINTNEXTLINE: an address of another process */
		from[n++] = (struct iovec){ (void *)(uintptr_t)sp, bytes };
		sp += bytes;
		left -= bytes;
	}
	got = process_vm_readv(s->pid, &to, 1, from, n, 0);
	return got > 0 ? (size_t)got : 0;
}

int stack_take(struct stack *s, int32_t pid, int32_t tid, struct err *e)
{
	int rc = regs_dwarf(tid, s->reg, e);

	s->pid = pid;
	s->n = 0;
	s->p = NULL;
	if (rc)
		return rc;
	s->p = malloc(STACK_MAX_BYTES);
	if (!s->p)
		return err_nomem(e);
	s->n = copy(s, s->reg[REGS_DWARF_SP]);
	return 0;
}

void stack_done(struct stack *s)
{
	free(s->p);
	s->p = NULL;
}

bool stack_word(const struct stack *s, uint64_t addr, uint64_t *out)
{
	uint64_t at = addr - s->reg[REGS_DWARF_SP];
	struct iovec to = { out, sizeof(*out) };
	/* NOLINTNEXTLINE: an address of another process */
	struct iovec from = { (void *)(uintptr_t)addr, sizeof(*out) };

	if (at < s->n) {
		if (s->n - at < sizeof(*out))
			return false;
		memcpy(out, s->p + at, sizeof(*out));
		return true;
	}
	if (at < 64 * (uint64_t)STACK_MAX_BYTES && s->n == STACK_MAX_BYTES)
		return false;
	return process_vm_readv(s->pid, &to, 1, &from, 1, 0) == (ssize_t)sizeof(*out);
}
