/* SPDX-License-Identifier: Apache-2.0 */
/* Masters and factories as processes, over TLS on the loopback: runs, refusals and crashes. */
#include "common/base/array.h"
#include "common/base/file.h"
#include "common/loop/loop.h"
#include "common/net/pki.h"
#include "neko/hosts/hosts.h"
#include "tests/suite.h"

#include <fcntl.h>
#include <ftw.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define CONF(until)                                                                           \
	"process.num = 2\nprocess.1.initializer = heartbeat\nprocess.2.initializer = nfd-s\n" \
	"network = n\nnetwork.n.delay = constant(1s)\nfd.eta = 5ms\nfd.delta "                \
	"= 0s\n" until

struct bed {
	char dir[64];
	struct pki_ca *ca;
	char own[96], factory[96], other[96], observer[96]; /* directories of certificates */
	pid_t pid[2]; /* of factories */
	char list[64];
};

/* uid: of the monitor's own user; -1 = of a user with another token. */
static void issue(struct bed *b, char path[96], const char *name, enum role role, int uid)
{
	struct identity as = { .role = role, .wall_not_after = clock_wall() + 3600 * NSEC_PER_SEC };
	struct buf csr = BUF_INIT(PKI_DER_MAX_BYTES), cert = BUF_INIT(PKI_DER_MAX_BYTES);
	struct buf ca = BUF_INIT(PKI_DER_MAX_BYTES);
	struct pki_creds creds;
	struct pki_key *key;
	const uint8_t *der;
	size_t n;

	/* All call themselves the same. */
	snprintf(as.host, sizeof(as.host), "me@here");
	snprintf(as.owner, sizeof(as.owner), "%s", uid < 0 ? "abcdefgh" : "me");
	as.has_uid = uid >= 0;
	as.uid = uid < 0 ? 0 : (uint32_t)uid;
	snprintf(path, 96, "%s/%s", b->dir, name);
	ck_assert_int_eq(pki_key_new(&key, NULL), 0);
	ck_assert_int_eq(pki_csr_make(key, &csr, NULL), 0);
	ck_assert_int_eq(pki_ca_issue(b->ca, buf_bytes(&csr), &as, &cert, NULL), 0);
	der = pki_ca_der(b->ca, &n);
	buf_put(&ca, der, n);
	ck_assert_int_eq(pki_creds_make(&creds, key, &cert, &ca, NULL), 0);
	ck_assert_int_eq(pki_creds_store(path, &creds, NULL), 0);
	pki_creds_done(&creds);
	pki_key_free(key);
	buf_done(&csr);
	buf_done(&cert);
	buf_done(&ca);
}

static void say_port(void *arg, uint16_t port)
{
	ck_assert_int_eq(write(*(int *)arg, &port, sizeof(port)), sizeof(port));
}

static uint16_t start_factory(struct bed *b, unsigned i)
{
	struct factory_conf c = { .self = { b->factory, pki_ca_pin(b->ca) },
				  .address = "127.0.0.1" };
	uint16_t port;
	int ends[2];

	ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
	b->pid[i] = fork();
	ck_assert_int_ge(b->pid[i], 0);
	if (b->pid[i] == 0)
		_exit(factory_run(&c, say_port, &ends[1], NULL) ? 1 : 0);
	close(ends[1]);
	ck_assert_int_eq(read(ends[0], &port, sizeof(port)), sizeof(port));
	close(ends[0]);
	return port;
}

static void begin(struct bed *b)
{
	unsigned first, second;

	*b = (struct bed){ .dir = "/tmp/neko-hosts-XXXXXX" };
	ck_assert_ptr_nonnull(mkdtemp(b->dir));
	ck_assert_int_eq(pki_ca_open(b->dir, "test", &b->ca, NULL), 0);
	issue(b, b->own, "own", ROLE_TOOL_MANIPULATE, 0);
	issue(b, b->factory, "factory", ROLE_FACTORY, 0);
	issue(b, b->other, "other", ROLE_TOOL_ADMIN, -1);
	issue(b, b->observer, "observer", ROLE_TOOL_OBSERVE, 0);
	first = start_factory(b, 0);
	second = start_factory(b, 1);
	snprintf(b->list, sizeof(b->list), "127.0.0.1:%u, 127.0.0.1:%u", first, second);
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
	return remove(path);
}

static void remove_dir(struct bed *b)
{
	pki_ca_free(b->ca);
	ck_assert_int_eq(nftw(b->dir, remove_one, 8, FTW_DEPTH | FTW_PHYS), 0);
}

static void end(struct bed *b)
{
	int status;

	for (unsigned i = 0; i < 2; i++) {
		kill(b->pid[i], SIGCONT); /* stopped before */
		kill(b->pid[i], SIGTERM);
		ck_assert_int_eq(waitpid(b->pid[i], &status, 0), b->pid[i]);
		ck_assert_int_eq(status, 0);
	}
	remove_dir(b);
}

struct made {
	struct setup *setup;
	struct run *run;
	struct run_counts f;
	struct err e;
	int rc;
};

static struct made run_as(struct bed *b, const char *dir, const char *text, struct run_options *w)
{
	const struct hosts_identity self = { dir, pki_ca_pin(b->ca) };
	struct made m = { 0 };

	w->deadline = clock_mono() + 60 * NSEC_PER_SEC;
	ck_assert_msg(setup_parse(text, strlen(text), &m.setup, &m.e) == 0, "%s", m.e.text);
	ck_assert_msg(run_new(m.setup, &m.run, &m.e) == 0, "%s", m.e.text);
	m.rc = hosts_run(m.run, w, &(struct hosts_wanted){ b->list, self }, &m.f, &m.e);
	return m;
}

static void forget(struct made *m)
{
	run_free(m->run);
	setup_free(m->setup);
}

static void count_delay(void *arg, const struct neko_delay *d)
{
	size_t *n = arg;

	ck_assert(d->from == 1 && d->to == 2 && d->net == 0);
	*n += d->delay >= 0;
}

/* All clocks are the same here: the offset must be 0, within its bound. */
static void check_clocks(const struct run *r)
{
	uint32_t m;
	const struct run_clock *c = run_clocks(r, &m);

	ck_assert_uint_eq(m, 2);
	for (uint32_t i = 0; i < m; i++) {
		ck_assert_int_le(llabs(c[i].offset), c[i].error);
		ck_assert_int_le(c[i].error, c[i].worst_error);
		ck_assert_int_lt(c[i].worst_error, 30 * NSEC_PER_SEC);
		ck_assert(isnan(c[i].drift) || fabs(c[i].drift) <= c[i].drift_error);
	}
}

TEST(processes_behind_factories_do_what_those_of_one_host_do)
{
	struct bed b;
	struct made m;
	size_t delays = 0;
	struct run_options w = { .on_delay = count_delay, .arg = &delays };

	begin(&b);
	m = run_as(&b, b.own, CONF("simulation.until = 500ms\n"), &w);
	ck_assert_msg(m.rc == 0, "%s", m.e.text);
	ck_assert(m.f.is_real && !m.f.is_stopped && !m.f.is_cut);
	ck_assert_uint_eq(m.f.missing, 0);
	ck_assert_uint_ge(m.f.sent, 1);
	ck_assert_uint_eq(delays, m.f.delivered);
	check_clocks(m.run);
	forget(&m);
	end(&b);
}

TEST(a_requested_crash_behind_a_factory_is_no_missing_process)
{
	struct bed b;
	struct made m;
	struct run_options w = { 0 };

	begin(&b);
	m = run_as(&b, b.own, CONF("process.1.crash = 100ms\nsimulation.until = 300ms\n"), &w);
	ck_assert_msg(m.rc == 0, "%s", m.e.text);
	ck_assert_uint_eq(m.f.missing, 0);
	forget(&m);
	end(&b);
}

TEST(a_factory_obeys_its_user_and_manipulators_only)
{
	const char *const bad = "process.num = 1\nprocess.initializer = none\nnetwork = n\n"
				"network.n.delay = constant(1s)\nsimulation.until = 1s\n";
	struct run_options w = { 0 };
	const char *who[2];
	struct bed b;

	begin(&b);
	who[0] = b.other;
	who[1] = b.observer;
	for (size_t i = 0; i < ARRAY_LEN(who); i++) {
		struct made m = run_as(&b, who[i], bad, &w);

		ck_assert_int_lt(m.rc, 0);
		ck_assert_msg(strstr(m.e.text, "process 1 on 127.0.0.1") ||
				      strstr(m.e.text, "the factory at 127.0.0.1"),
			      "%s", m.e.text);
		forget(&m);
	}
	end(&b);
}

/* The processes of a factory. */
static pid_t child_of(pid_t pid)
{
	char path[64];
	FILE *f;
	int child = 0;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)pid, (int)pid);
	f = fopen(path, "r");
	if (!f || fscanf(f, "%d", &child) != 1)
		child = 0;
	if (f)
		fclose(f);
	return child;
}

static void await_children(const struct bed *b, bool wanted)
{
	for (unsigned i = 0; i < 2; i++)
		for (unsigned k = 0; k < 3000 && !child_of(b->pid[i]) == wanted; k++)
			usleep(10000);
	ck_assert(!child_of(b->pid[0]) == !wanted && !child_of(b->pid[1]) == !wanted);
}

/* A loaded machine may delay a process until it counts as lost: then the run is repeated. */
#define ATTEMPTS 10

/* The fate of the second process at its first event; the first one is killed. */
struct blow {
	const struct bed *bed;
	int signo;
	bool is_factory, is_done;
};

static void strike(void *arg, const struct neko_event *v)
{
	struct blow *w = arg;
	pid_t first = child_of(w->bed->pid[0]), second = child_of(w->bed->pid[1]);

	if (w->is_done)
		return;
	w->is_done = true;
	if (second)
		kill(w->is_factory ? w->bed->pid[1] : second, w->signo);
	if (first)
		kill(first, SIGKILL);
}

static bool was_struck(struct blow *blow, const char *text, const char *words)
{
	struct run_options w = { .on_event = strike, .arg = blow };
	const struct run_missing *missing;
	struct made m;
	struct bed b;
	bool is_reported;
	size_t n;

	begin(&b);
	blow->bed = &b;
	blow->is_done = false;
	m = run_as(&b, b.own, text, &w);
	ck_assert_msg(m.rc == 0, "%s", m.e.text);
	missing = run_missing(m.run, &n);
	ck_assert_uint_eq(m.f.missing, n);
	is_reported = n == 2 && missing[0].id == 1 && missing[1].id == 2 &&
		      strstr(missing[0].why, "ended") && strstr(missing[1].why, words);
	forget(&m);
	end(&b);
	return is_reported;
}

static void is_struck(struct blow *blow, const char *text, const char *words)
{
	for (unsigned i = 0; i < ATTEMPTS; i++)
		if (was_struck(blow, text, words))
			return;
	ck_abort_msg("never told: %s", words);
}

TEST(processes_that_are_killed_are_named)
{
	is_struck(&(struct blow){ .signo = SIGKILL }, CONF("simulation.until = 60s\n"), "ended");
}

TEST(a_factory_that_is_not_heard_any_more_is_a_missing_process)
{
	is_struck(&(struct blow){ .signo = SIGSTOP, .is_factory = true },
		  CONF("simulation.until = 5s\nreal.silence = 500ms\n"), "it was silent for 0.5 s");
}

TEST(a_factory_that_is_killed_takes_its_processes_along)
{
	is_struck(&(struct blow){ .signo = SIGTERM, .is_factory = true },
		  CONF("simulation.until = 60s\n"), "the connection to its factory is lost");
}

/* A signal to the master leaves no processes behind factories. */
static void is_left(const char *text, int signo)
{
	struct run_options w = { 0 };
	struct bed b;
	pid_t master;

	begin(&b);
	master = fork();
	ck_assert_int_ge(master, 0);
	if (master == 0) {
		run_as(&b, b.own, text, &w);
		_exit(0);
	}
	await_children(&b, true);
	kill(master, signo);
	await_children(&b, false);
	kill(master, SIGKILL);
	ck_assert_int_eq(waitpid(master, NULL, 0), master);
	end(&b);
}

TEST(without_a_master_nothing_is_left)
{
	is_left(CONF("simulation.until = 60s\n"), SIGKILL);
}

/* Its line is connected and silent: a partition. */
TEST(a_master_that_is_silent_is_left)
{
	is_left(CONF("simulation.until = 60s\nreal.silence = 2s\n"), SIGSTOP);
}

TEST(lists_of_hosts_that_are_none_are_refused)
{
	static const char *const lists[] = { "", "a:b", "127.0.0.1:0x", ",", "127.0.0.1:99999" };
	struct run_options w = { 0 };
	struct bed b = { .dir = "/tmp/neko-hosts-XXXXXX" };

	ck_assert_ptr_nonnull(mkdtemp(b.dir));
	ck_assert_int_eq(pki_ca_open(b.dir, "test", &b.ca, NULL), 0);
	issue(&b, b.own, "own", ROLE_TOOL_MANIPULATE, 0);
	for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
		struct made m;

		snprintf(b.list, sizeof(b.list), "%s", lists[i]);
		m = run_as(&b, b.own, CONF("simulation.until = 1s\n"), &w);
		ck_assert_msg(m.rc < 0 && m.e.text[0], "'%s'", lists[i]);
		forget(&m);
	}
	remove_dir(&b);
}

SUITE("hosts")
