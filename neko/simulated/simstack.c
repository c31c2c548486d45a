/* SPDX-License-Identifier: Apache-2.0 */
#include "neko/simulated/simstack.h"

#include "common/base/array.h"
#include "neko/simulated/sim_internal.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>

#define ROOM_BYTES 16384 /* for the handler, in addition to the frame of the kernel */
#define DIGITS_BYTES 20

/*
 * At the beginning of the signal handler's stack. The context of a signal contains the address of
 * that stack, so that no global variable is needed.
 */
struct simstack {
	/* points to itself: the signal handler of another thread may have another stack */
	const struct simstack *self;
	const struct sim *sim; /* borrowed */
	size_t bytes; /* bytes of the mapping */
	stack_t stack_before;
	struct sigaction before;
};

struct simstack *simstack_new(const struct sim *s)
{
	long least = sysconf(_SC_MINSIGSTKSZ);
	size_t bytes = sizeof(struct simstack) + ROOM_BYTES +
		       (size_t)(least > MINSIGSTKSZ ? least : MINSIGSTKSZ);
	struct simstack *w = malloc(bytes);

	if (w)
		*w = (struct simstack){ .self = w, .sim = s, .bytes = bytes };
	return w;
}

void simstack_free(struct simstack *w)
{
	free(w);
}

/* --- signal-safe */

static struct iovec words(const char *text)
{
	return (struct iovec){ (void *)(uintptr_t)text, strlen(text) };
}

static struct iovec number(char digits[DIGITS_BYTES], uint64_t v)
{
	char *p = digits + DIGITS_BYTES;

	do
		*--p = (char)('0' + v % 10);
	while (v /= 10);
	return (struct iovec){ p, (size_t)(digits + DIGITS_BYTES - p) };
}

static void report_loop(const struct sim *s, const struct neko_layer *l)
{
	char id[DIGITS_BYTES], bytes[DIGITS_BYTES], more[DIGITS_BYTES];
	const struct iovec line[] = {
		words("process "),
		number(id, l->process->id),
		words(": the stack of layer "),
		words(l->ops->name),
		words(" is too small: more than "),
		number(bytes, s->stack_bytes),
		words(" bytes; write simulation.stack = "),
		number(more, 2 * (uint64_t)s->stack_bytes),
		words("\n"),
	};

	(void)!writev(STDERR_FILENO, line, ARRAY_LEN(line));
}

/*
 * Restores the previous action and returns. Then the same fault occurs again, or the raised signal
 * is delivered again.
 */
static void on_fault(int signo, siginfo_t *info, void *context)
{
	const ucontext_t *u = context;
	const struct simstack *w = u->uc_stack.ss_sp;
	const struct flow *f;

	if (!w || w->self != w) {
		sigaction(signo, &(struct sigaction){ .sa_handler = SIG_DFL }, NULL);
		return;
	}
	f = w->sim->running;
	if (f && info->si_code > 0 && coro_is_below(f->coro, info->si_addr))
		report_loop(w->sim, f->layer);
	sigaction(signo, &w->before, NULL);
	if (info->si_code <= 0)
		raise(signo);
}

/* --- */

void simstack_enter(struct simstack *w)
{
	struct sigaction action = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK };

	if (!w)
		return;
	sigaltstack(&(stack_t){ .ss_sp = w, .ss_size = w->bytes }, &w->stack_before);
	sigaction(SIGSEGV, &action, &w->before);
}

void simstack_leave(struct simstack *w)
{
	if (!w)
		return;
	sigaction(SIGSEGV, &w->before, NULL);
	sigaltstack(&w->stack_before, NULL);
}
