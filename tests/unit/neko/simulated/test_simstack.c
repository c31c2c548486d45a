/* SPDX-License-Identifier: Apache-2.0 */
/* The last message of a simulation whose layer overflows its stack. */
#include "neko/simulated/sim.h"
#include "tests/suite.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static struct sim *made(uint32_t m)
{
	struct sim *s;

	ck_assert_int_eq(sim_new(m, 1, &s, NULL), 0);
	return s;
}

static void push(struct sim *s, uint32_t id, const struct neko_layer_ops *ops)
{
	ck_assert_int_eq(neko_push(sim_process(s, id), ops, NULL, NULL), 0);
}

/* A KiB for each level. */
static unsigned __attribute__((noinline)) go_down(unsigned levels)
{
	volatile char room[1024];

	room[0] = room[1023] = (char)levels;
	return levels ? go_down(levels - 1) + (unsigned)room[0] + (unsigned)room[1023] : 0;
}

static void go_deep(struct neko_layer *l)
{
	neko_sleep(l, 1);
	go_down(1000);
}

static void fault(struct neko_layer *l)
{
	volatile int *nowhere = (int *)(uintptr_t)8;

	neko_sleep(l, 1);
	*nowhere = 1;
}

static void die_of(const struct neko_layer_ops *ops, int to)
{
	struct sim *s = made(2);
	enum sim_end end;

	dup2(to, STDERR_FILENO);
	push(s, 2, ops);
	sigaction(SIGSEGV, &(struct sigaction){ .sa_handler = SIG_DFL },
		  NULL); /* Check and sanitizers may print more */
	sim_run(s, NEKO_NEVER, &end, NULL);
	_exit(0);
}

/* The last message of a simulation that dies by SIGSEGV. */
static const char *last_words(const struct neko_layer_ops *ops)
{
	static char words[4096];
	int ends[2], status;
	size_t n = 0;
	ssize_t k;
	pid_t pid;

	ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0)
		die_of(ops, ends[1]);
	close(ends[1]);
	while ((k = read(ends[0], words + n, sizeof(words) - 1 - n)) > 0)
		n += (size_t)k;
	words[n] = 0;
	close(ends[0]);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
	return words;
}

TEST(a_layer_that_overflows_its_stack_is_named)
{
	static const struct neko_layer_ops deep = { .name = "deep", .run = go_deep };
	static const struct neko_layer_ops other = { .name = "other", .run = fault };
	struct sim *s = made(1);
	enum sim_end end;

	ck_assert_str_eq(last_words(&deep),
			 "process 2: the stack of layer deep is too small: more than 65536 bytes; "
			 "write simulation.stack = 131072\n");
	ck_assert_str_eq(last_words(&other), "");
	sim_set_stack(s, 4 << 20);
	push(s, 1, &deep);
	ck_assert_int_eq(sim_run(s, NEKO_NEVER, &end, NULL), 0);
	ck_assert_int_eq(end, SIM_NOTHING_LEFT);
	sim_free(s);
}

SUITE("simstack")
