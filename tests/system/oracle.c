/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The questions of faults/random-kills: whether a tool's reports of its manipulations are what its
 * program has seen.
 *
 *	oracle count FILE
 *		counts the arriving real-time signals in FILE, which exists when it is ready
 *
 *	oracle ask DIR HOST:PORT SEED N FILE...
 *		sends N signals to the programs with these FILEs, one request each. It repeats
 *		a request with the same id after each lost link. It prints "done D unknown U",
 *		or the lie that it found.
 */
#include "common/base/clock.h"
#include "common/base/str.h"
#include "common/link/connstr.h"
#include "common/link/link.h"
#include "common/loop/loop.h"
#include "common/net/net.h"
#include "common/net/pki.h"
#include "common/omis/text/status.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define FIRST_SIGNAL 40
#define SIGNALS 8
#define PROGRAMS_MAX 8
#define SENDS_MAX 6 /* of one request */
#define ANSWER_S 4
#define SIGNAL_S 60 /* a stopped process gets it when it runs */
#define ATTACH_TRIES 1200
#define OUTCOME 1

struct counts {
	int32_t pid;
	volatile uint32_t n[SIGNALS];
};

static struct counts *counts;

static void die(const char *what)
{
	fprintf(stderr, "oracle: %s\n", what);
	exit(2);
}

static struct counts *map_counts(const char *path, int flags)
{
	int fd = open(path, flags, 0600);
	struct counts *c;

	if (fd < 0 || (flags & O_CREAT && ftruncate(fd, sizeof(*c)) < 0))
		die(path);
	c = mmap(NULL, sizeof(*c), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (c == MAP_FAILED)
		die("mmap");
	return c;
}

/* --- the program */

static void on_signal(int sig)
{
	counts->n[sig - FIRST_SIGNAL]++;
}

static void count(const char *path)
{
	struct sigaction a = { .sa_handler = on_signal };
	char part[4096];

	snprintf(part, sizeof(part), "%s.new", path);
	/* Results of earlier runs are dropped. */
	counts = map_counts(part, O_RDWR | O_CREAT | O_TRUNC);
	sigfillset(&a.sa_mask);
	for (int i = 0; i < SIGNALS; i++)
		sigaction(FIRST_SIGNAL + i, &a, NULL);
	counts->pid = getpid();
	if (rename(part, path) < 0)
		die(path);
	for (;;)
		pause();
}

/* --- the tool */

enum verdict { UNKNOWN, DONE, NOT_DONE };

static struct {
	struct loop *loop;
	struct rng rng;
	struct net_ctx *net;
	struct link *link;
	char host[NAME_MAX_BYTES + 1];
	uint16_t port;
	bool is_up;
	uint64_t id, awaited; /* awaited: 0 = answered, or the link was lost */
	bool is_answered;
	enum verdict said;
	char token[64];
	unsigned repeats, losses;
} tool;

static int dial(void *arg, unsigned attempt, const struct chan_handler *h, struct chan **out,
		struct err *e)
{
	struct net_expect expect = { .roles = ROLE_BIT(ROLE_MAINSM) };

	return net_dial(
		tool.net,
		&(struct net_target){ .host = tool.host, .port = tool.port, .expect = &expect }, h,
		out, e);
}

static void on_up(void *arg, struct link *l, const struct msg_hello_ack *ack)
{
	tool.is_up = true;
}

static void on_down(void *arg, struct link *l, const struct err *why)
{
	tool.is_up = false;
	tool.awaited = 0;
	tool.losses++;
}

static bool says(const struct msg_entry *e, const char *words)
{
	return e->value.n >= strlen(words) && memmem(e->value.p, e->value.n, words, strlen(words));
}

/* Missing entries were not requested, or are unknown. */
static enum verdict verdict_of(const struct msg_reply *r)
{
	if (r->coverage && r->coverage->nmissing)
		return strncmp(r->coverage->missing[0].reason, "not done", 8) ? UNKNOWN : NOT_DONE;
	if (!r->nentry)
		return UNKNOWN;
	for (size_t i = 0; i < r->nentry; i++) {
		const struct msg_entry *e = &r->entry[i];

		if (says(e, "done before, with the status OK"))
			return DONE;
		if (e->status)
			return says(e, "not done") ? NOT_DONE : UNKNOWN;
	}
	return DONE;
}

static void on_msg(void *arg, struct link *l, const struct msg *m)
{
	const struct msg_reply *r = &m->reply;

	if (m->type != MSG_REPLY || r->id != tool.awaited || r->more)
		return;
	for (size_t i = 0; i < r->nentry; i++)
		if (!strncmp(r->entry[i].objects, "p_", 2) && !r->entry[i].status)
			str_copy(tool.token, sizeof(tool.token), r->entry[i].objects);
	tool.said = verdict_of(r);
	tool.is_answered = true;
	tool.awaited = 0;
}

static void wait_for_answer(nsec_t max)
{
	nsec_t until = loop_now(tool.loop) + max;

	while (tool.awaited && loop_now(tool.loop) < until)
		loop_wait(tool.loop, 50 * NSEC_PER_MSEC);
	tool.awaited = 0;
}

static bool ask(uint64_t id, uint32_t flags, const char *text)
{
	struct msg m = { .type = MSG_REQUEST };

	m.request = (struct msg_request){ .id = id,
					  .identity = "",
					  .flags = flags,
					  .deadline_ns = NSEC_PER_SEC,
					  .text = { (const uint8_t *)text, strlen(text) } };
	tool.is_answered = false;
	tool.said = UNKNOWN;
	tool.awaited = id;
	if (!tool.is_up || link_send(tool.link, &m))
		tool.awaited = 0;
	wait_for_answer(ANSWER_S * NSEC_PER_SEC);
	return tool.is_answered;
}

static void come_up(void)
{
	for (int i = 0; !tool.is_up && i < ATTACH_TRIES; i++)
		loop_wait(tool.loop, 100 * NSEC_PER_MSEC);
	if (!tool.is_up)
		die("mainsm does not come back");
}

/* Its token, as this session and this lm call it. */
static void attach(const struct counts *c)
{
	char text[160];

	snprintf(text, sizeof(text), ":site_attach([]) node_attach([]) proc_attach3([n_1],%d,\"\")",
		 (int)c->pid);
	tool.token[0] = 0;
	for (int i = 0; !tool.token[0] && i < ATTACH_TRIES; i++) {
		come_up();
		ask(++tool.id, 0, text);
		if (!tool.token[0])
			loop_wait(tool.loop, 100 * NSEC_PER_MSEC);
	}
	if (!tool.token[0])
		die("the program cannot be attached");
}

/* Again with the same id until the outcome is known; at last only the outcome is requested. */
static enum verdict send_signal(const struct counts *c, int sig)
{
	char text[128];
	uint64_t id;

	attach(c);
	snprintf(text, sizeof(text),
		 rng_below(&tool.rng, 4) ? ":proc_send_signal([%s],%d)"
					 : ":{proc_send_signal([%s],%d)}",
		 tool.token, sig);
	id = ++tool.id;
	for (int i = 0; i < SENDS_MAX; i++) {
		if (i)
			attach(c);
		tool.repeats += i > 0;
		ask(id, i + 1 == SENDS_MAX ? OUTCOME : 0, text);
		if (tool.said == DONE || (tool.said == NOT_DONE && i + 1 == SENDS_MAX))
			return tool.said;
	}
	return UNKNOWN;
}

static void open_tool(const char *dir, const char *address, uint64_t seed)
{
	static const struct msg_hello hello = { .role = "tool", .host = "oracle" };
	struct msg_hello ours = hello;
	struct pki_creds creds = { 0 };
	struct net_conf conf = { .creds = &creds };
	struct err e = { 0 };

	tool.loop = loop_new();
	rng_init(&tool.rng, seed);
	ours.epoch = (uint64_t)clock_wall();
	if (hostport_parse(address, tool.host, &tool.port, &e) || pki_creds_load(dir, &creds, &e) ||
	    net_ctx_open(tool.loop, &conf, &tool.net, &e))
		die(e.text);
	pki_creds_done(&creds);
	tool.link = link_dial(
		&(struct link_conf){
			.loop = tool.loop,
			.rng = &tool.rng,
			.handler = { .on_up = on_up, .on_msg = on_msg, .on_down = on_down } },
		&(struct link_dialer){ .dial = dial }, &ours);
	if (!tool.link)
		die("no memory");
}

static bool is_lie(const struct counts *c, unsigned s, uint32_t done, uint32_t unknown)
{
	for (int i = 0; c->n[s] < done && i < SIGNAL_S * 10; i++)
		loop_wait(tool.loop, 100 * NSEC_PER_MSEC);
	if (c->n[s] >= done && c->n[s] <= done + unknown)
		return false;
	printf("a lie: signal %u came %u times to %d, done %u, unknown %u\n", FIRST_SIGNAL + s,
	       c->n[s], (int)c->pid, done, unknown);
	return true;
}

static int ask_all(int argc, char **argv)
{
	uint32_t done[PROGRAMS_MAX][SIGNALS] = { 0 }, unknown[PROGRAMS_MAX][SIGNALS] = { 0 };
	struct counts *c[PROGRAMS_MAX];
	const struct sigaction ignore = { .sa_handler = SIG_IGN };
	unsigned n = (unsigned)strtoul(argv[3], NULL, 10), programs = (unsigned)(argc - 4),
		 lies = 0, all[3] = { 0 };

	sigaction(SIGPIPE, &ignore, NULL);
	open_tool(argv[0], argv[1], strtoull(argv[2], NULL, 10));
	for (unsigned k = 0; k < programs; k++)
		c[k] = map_counts(argv[4 + k], O_RDWR);
	for (unsigned i = 0; i < n; i++) {
		unsigned k = (unsigned)rng_below(&tool.rng, programs),
			 s = (unsigned)rng_below(&tool.rng, SIGNALS);
		enum verdict v = send_signal(c[k], FIRST_SIGNAL + (int)s);

		done[k][s] += v == DONE;
		unknown[k][s] += v == UNKNOWN;
		all[v]++;
		loop_wait(tool.loop, (nsec_t)rng_below(&tool.rng, 60) * NSEC_PER_MSEC);
	}
	for (unsigned k = 0; k < programs; k++)
		for (unsigned s = 0; s < SIGNALS; s++)
			lies += is_lie(c[k], s, done[k][s], unknown[k][s]);
	printf("asked %u done %u not done %u unknown %u repeats %u losses %u lies %u\n", n,
	       all[DONE], all[NOT_DONE], all[UNKNOWN], tool.repeats, tool.losses, lies);
	return lies > 0;
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "count"))
		count(argv[2]);
	if (argc > 6 && argc - 6 <= PROGRAMS_MAX && !strcmp(argv[1], "ask"))
		return ask_all(argc - 2, argv + 2);
	die("count FILE, or ask DIR HOST:PORT SEED N FILE...");
}
