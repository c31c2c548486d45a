/* SPDX-License-Identifier: Apache-2.0 */
/* Calls requested while a thread is inside the kernel: the program does not notice them. */
#include "tests/suite.h"
#include "tracer/tracees.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__x86_64__)

/*
 * Limit of turns of a millisecond without an event: the child may have to wait for the processor.
 */
#define TURNS_MAX 100000
#define LINE_PACKETS_MAX 1000000

static volatile struct {
	int calls, rounds, wrong, handled;
} * seen;
static pid_t parent, child;
static struct loop *loop;
static struct line *line;
static struct tracees *tracees;
static int lm;

static void called(void)
{
	seen->calls++;
}

static void on_signal(int sig)
{
	seen->handled++;
}

static void ignore_msg(void *arg, const struct tracer_msg *m)
{
}

static void ignore_end(void *arg, const char *why)
{
}

static void set_up(void)
{
	int fd[2];

	seen = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fd), 0);
	lm = fd[1];
	loop = loop_new();
	ck_assert_int_eq(line_open(&(struct line_conf){ loop, fd[0], ignore_msg, ignore_end, NULL },
				   &line, NULL),
			 0);
	ck_assert_int_eq(tracees_open(loop, line, &tracees, NULL), 0);
}

static void clean_up(void)
{
	kill(child, SIGKILL);
	tracees_close(tracees);
	line_close(line);
	loop_free(loop);
}

/* The loop has blocked signals for itself; the child has not. */
static void start(void (*program)(void))
{
	sigset_t none;

	parent = getpid();
	child = fork();
	if (child)
		return;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	for (;;) {
		program();
		seen->rounds++;
	}
}

static void ask_parent(void)
{
	seen->wrong += syscall(SYS_getppid) != parent;
	usleep(100);
}

/* Over when a handler has interrupted it. */
static void pause_once(void)
{
	syscall(SYS_pause);
}

static struct tracer_msg about(uint8_t type)
{
	return (struct tracer_msg){
		.type = type, .id = type, .pid = child, .tid = child, .start = who_start(child)
	};
}

static void watch(uint32_t what)
{
	struct tracer_msg m = about(TRACER_WATCH);
	struct err e = { 0 };

	m.what = what;
	ck_assert_msg(tracees_watch(tracees, &m, &e) == 0, "%s", e.text);
}

static void put(const struct tracer_msg *m)
{
	struct work *w = work_new(m);
	struct err e = { 0 };

	ck_assert_msg(tracees_do(tracees, &w, &e) == 0, "%s", e.text);
}

static void put_call(void)
{
	struct tracer_msg m = about(TRACER_CALL);

	m.nvalue = 1;
	m.value[0] = (uint64_t)(uintptr_t)called;
	put(&m);
}

static void put_read(uint32_t id)
{
	struct tracer_msg m = about(TRACER_READ_REGS);

	m.id = id;
	m.nvalue = 2;
	m.value[1] = 1;
	put(&m);
}

/* It has stopped, and lm-trace has not seen it yet. */
static int next_stop(void)
{
	siginfo_t i = { 0 };

	ck_assert_int_eq(waitid(P_PID, (id_t)child, &i, WSTOPPED | WNOWAIT | __WALL), 0);
	return i.si_status;
}

static uint8_t op(uint64_t *number)
{
	struct __ptrace_syscall_info i = { 0 };

	ptrace(PTRACE_GET_SYSCALL_INFO, child, sizeof(i), &i);
	*number = i.entry.nr;
	return i.op;
}

static void until_answered(uint32_t id)
{
	static struct tracer_msg m;
	static uint8_t in[TRACER_MSG_MAX_BYTES];

	for (int i = 0; i < TURNS_MAX; i++) {
		ssize_t n = recv(lm, in, sizeof(in), MSG_DONTWAIT);

		if (n > 0 && !tracer_msg_decode(&m, in, (size_t)n, NULL) && m.id == id) {
			ck_assert_msg(m.type != TRACER_FAILED, "%s", m.ntext ? m.text[0] : "");
			return;
		}
		if (n <= 0)
			loop_wait(loop, NSEC_PER_MSEC);
	}
	ck_abort_msg("no answer");
}

static bool is_paused(void)
{
	char path[40], text[16] = "";
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/syscall", (int)child);
	f = fopen(path, "r");
	if (f && !fgets(text, sizeof(text), f))
		text[0] = 0;
	if (f)
		fclose(f);
	return strtol(text, NULL, 10) == SYS_pause;
}

static void makes_rounds(int n)
{
	int until = seen->rounds + n;

	for (int i = 0; i < 20000 && seen->rounds < until; i++)
		usleep(1000);
	ck_assert_int_ge(seen->rounds, until);
	ck_assert_int_eq(seen->calls, 1);
	ck_assert_int_eq(seen->wrong, 0);
}

TEST(not_on_the_way_into_a_system_call)
{
	uint64_t number = 0;

	sigaction(SIGUSR1, &(struct sigaction){ .sa_handler = on_signal, .sa_flags = SA_RESTART },
		  NULL);
	start(ask_parent);
	watch(TRACER_SYSCALL_START);
	while (next_stop(), op(&number) != PTRACE_SYSCALL_INFO_ENTRY || number != SYS_getppid)
		loop_turn(loop);
	put_call();
	watch(0);
	until_answered(TRACER_CALL);
	makes_rounds(3);
}

TEST(not_when_a_signal_is_about_to_be_handled)
{
	sigaction(SIGUSR1, &(struct sigaction){ .sa_handler = on_signal }, NULL);
	start(pause_once);
	watch(TRACER_SIGNAL);
	next_stop(); /* the one that begins the watch */
	loop_turn(loop);
	while (!is_paused())
		usleep(1000);
	kill(child, SIGUSR1);
	while (next_stop() != SIGUSR1)
		loop_turn(loop);
	put_call();
	until_answered(TRACER_CALL);
	watch(0);
	while (tracees_count(tracees))
		loop_turn(loop);
	while (!seen->rounds)
		usleep(1000);
	ck_assert_int_eq(seen->calls, 1);
}

static void *become_another(void *arg)
{
	while (!seen->handled)
		usleep(1000);
	execl("/bin/sleep", "sleep", "1000", NULL);
	_exit(1);
}

static void exec_in_a_thread(void)
{
	pthread_t t;

	pthread_create(&t, NULL, become_another, NULL);
	for (;;)
		pause();
}

static unsigned long task_count(void)
{
	char path[40];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)child);
	return stat(path, &st) == 0 ? (unsigned long)st.st_nlink - 2 : 0;
}

static bool is_another(void)
{
	char path[40], text[16] = "";
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/comm", (int)child);
	f = fopen(path, "r");
	if (f && !fgets(text, sizeof(text), f))
		text[0] = 0;
	if (f)
		fclose(f);
	return !strcmp(text, "sleep\n");
}

TEST(a_leader_that_exec_has_replaced_is_found_again)
{
	start(exec_in_a_thread);
	while (task_count() < 2)
		usleep(1000);
	put_read(1);
	next_stop();
	seen->handled = 1;
	while (!is_another())
		usleep(1000);
	put_read(2);
	until_answered(2);
}

static void *wait_for_ever(void *arg)
{
	while (pause())
		;
	return NULL;
}

static void leave_a_thread(void)
{
	pthread_t t;

	pthread_create(&t, NULL, wait_for_ever, NULL);
	syscall(SYS_exit, 0); /* of this thread */
}

static bool leader_has_ended(void)
{
	char path[40], text[64] = "";
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)child);
	f = fopen(path, "r");
	if (f && !fgets(text, sizeof(text), f))
		text[0] = 0;
	if (f)
		fclose(f);
	return strstr(text, ") Z ");
}

TEST(a_process_continues_without_its_leader)
{
	struct tracer_msg m;
	struct work *w;
	struct err e = { 0 };

	start(leave_a_thread);
	while (!leader_has_ended())
		usleep(1000);
	watch(TRACER_SIGNAL);
	ck_assert_uint_eq(tracees_count(tracees), 1);
	m = about(TRACER_BACKTRACE);
	m.nvalue = 1;
	w = work_new(&m);
	ck_assert_int_eq(tracees_do(tracees, &w, &e), -ERR_NOTFOUND);
	work_free(w);
}

#define NAP_ROUNDS 5
enum { IS_READY = -1, IS_WATCHED = 1 }; /* seen->handled */

/* A call with a time limit: interrupted, the kernel continues with another call in its place. */
static void nap(void)
{
	const struct timespec span = { 0, 50000000 };

	if (!seen->handled)
		seen->handled = IS_READY;
	while (seen->handled != IS_WATCHED)
		;
	if (seen->rounds < NAP_ROUNDS)
		seen->wrong += syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &span, NULL) != 0;
	else
		syscall(SYS_pause);
}

static struct {
	unsigned starts, ends, others;
} naps;

static void count_nap(const struct tracer_msg *m)
{
	if (m->type != TRACER_EVENT || m->value[1] == SYS_pause)
		return;
	naps.others += m->value[1] != SYS_clock_nanosleep;
	naps.starts += m->what == TRACER_SYSCALL_START;
	naps.ends += m->what == TRACER_SYSCALL_END;
}

static void count_naps(void)
{
	static struct tracer_msg m;
	static uint8_t in[TRACER_MSG_MAX_BYTES];
	ssize_t n;

	loop_wait(loop, NSEC_PER_MSEC);
	while ((n = recv(lm, in, sizeof(in), MSG_DONTWAIT)) > 0)
		if (!tracer_msg_decode(&m, in, (size_t)n, NULL))
			count_nap(&m);
}

TEST(a_call_that_the_kernel_makes_again_is_one_call)
{
	start(nap);
	while (seen->handled != IS_READY)
		usleep(1000);
	watch(TRACER_SYSCALL_START | TRACER_SYSCALL_END);
	put_read(1);
	until_answered(1); /* it has stopped once: from now on calls stop it */
	seen->handled = IS_WATCHED;
	for (int i = 0; i < TURNS_MAX && !(seen->rounds >= NAP_ROUNDS && is_paused()); i++) {
		if (i % 10 == 0)
			put_read((uint32_t)i + 1000);
		count_naps();
	}
	for (int i = 0; i < TURNS_MAX && naps.ends < NAP_ROUNDS; i++)
		count_naps(); /* in transit when the last one is over */
	ck_assert_int_eq(seen->wrong, 0);
	ck_assert_uint_eq(naps.starts, NAP_ROUNDS);
	ck_assert_uint_eq(naps.ends, NAP_ROUNDS);
	ck_assert_uint_eq(naps.others, 0);
}

/* Until no event is kept: they are not read. */
static void fill_line(void)
{
	struct tracer_msg m = about(TRACER_EVENT);
	int n = 0;

	m.what = TRACER_SIGNAL;
	m.nvalue = 8;
	while (line_event(line, &m))
		ck_assert_int_lt(++n, LINE_PACKETS_MAX);
}

static bool has_come(uint8_t type, struct tracer_msg *out)
{
	static uint8_t in[TRACER_MSG_MAX_BYTES];

	for (int i = 0; i < LINE_PACKETS_MAX; i++) {
		ssize_t n = recv(lm, in, sizeof(in), MSG_DONTWAIT);

		if (n > 0 && !tracer_msg_decode(out, in, (size_t)n, NULL) && out->type == type)
			return true;
		if (n <= 0)
			loop_wait(loop, NSEC_PER_MSEC);
	}
	return false;
}

TEST(an_event_that_finds_no_room_ends_the_watch_and_is_counted)
{
	static struct tracer_msg m;

	start(ask_parent);
	fill_line();
	watch(TRACER_SYSCALL_START);
	for (int i = 0; i < TURNS_MAX && tracees_count(tracees); i++)
		loop_wait(loop, NSEC_PER_MSEC);
	ck_assert_uint_eq(tracees_count(tracees), 0);
	ck_assert(has_come(TRACER_WATCH_ENDED, &m));
	ck_assert_uint_eq(m.nvalue, 1);
	ck_assert_uint_eq(m.value[0], 1);
	for (int round = seen->rounds; seen->rounds < round + 10;)
		usleep(1000);
	ck_assert_int_eq(seen->wrong, 0);
}

SUITE_WITH("stops", set_up, clean_up)

#else

TEST(elsewhere_there_are_none)
{
	ck_assert(true);
}

SUITE("stops")

#endif
