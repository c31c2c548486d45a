/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The first byte selects the kind of the others. c: a configuration, which yields a run or an
 * error; b: a block of events and delays, with the number that it states; m: messages of a master
 * and a factory, and the configuration in a start frame; else: a datagram, whose message has at
 * most the received bytes.
 */
#include "neko/run/crew.h"
#include "neko/real/realwire.h"
#include "neko/run/run.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

#define PROCESSES_MAX 1000 /* more take longer and test nothing else */

static void demand(int truth)
{
	if (!truth)
		abort();
}

static void configuration(const char *p, size_t n,
			  int (*make)(struct setup *, struct run **, struct err *))
{
	uint64_t m = 0;
	struct setup *s = NULL;
	struct run *r = NULL;
	struct err e = { 0 };

	if (setup_parse(p, n, &s, &e)) {
		demand(!s && e.text[0]);
		return;
	}
	if (!setup_u64(s, "process.num", 1, PROCESSES_MAX, &m, NULL) && make(s, &r, &e))
		demand(!r && e.text[0]);
	run_free(r);
	setup_free(s);
}

struct reported {
	size_t events, delays;
};

static void on_event(void *arg, const struct neko_event *v)
{
	demand(v->at >= 0 && strlen(v->what) < REALWIRE_WHAT_BYTES);
	((struct reported *)arg)->events++;
}

static void on_delay(void *arg, const struct neko_delay *d)
{
	((struct reported *)arg)->delays++;
}

static void block(const uint8_t *p, size_t n)
{
	struct reported reported = { 0 };
	const struct realwire_hearer h = { on_event, on_delay, &reported };
	struct realwire_block b;

	if (!realwire_read(p, n, &b, &h))
		demand(reported.events == b.count && reported.delays == b.ndelay);
}

/* Messages between a master and its factory. */
static void controls(const uint8_t *p, size_t n)
{
	char words[REALWIRE_WORDS_BYTES];
	struct realwire_start s;
	struct realwire_ready r;
	struct realwire_gone g;
	struct sockaddr_in a[3];
	uint64_t key;
	nsec_t t[3];

	if (!realwire_get_start(p, n, &s)) {
		demand(s.ntext <= n && s.id >= 1 && s.id <= s.m && s.m <= REAL_PROCESSES_MAX);
		configuration(s.text, s.ntext, run_new_part);
	}
	if (!realwire_get_ready(p, n, &r))
		demand(r.n <= NEKO_NETS_MAX);
	realwire_get_words(p, n, words);
	demand(strlen(words) < sizeof(words));
	realwire_get_peers(p, n, &key, a, 3);
	if (!realwire_get_gone(p, n, &g))
		demand(strlen(g.why) < sizeof(g.why));
	realwire_get_times(p, n, t, 3);
}

static void datagram(const uint8_t *p, size_t n)
{
	static const struct neko_world_ops ops;
	struct neko_world w = { 0 };
	struct neko_msg *m;
	uint32_t number;

	if (!world_init(&w, &ops, 3, 1, NULL)) {
		w.type_name[1] = "one";
		m = realwire_message(&w, &(struct realwire_end){ 0, 2, 0 }, bytes_at(p, n),
				     &number);
		if (m) {
			demand(m->n <= n && m->from >= 1 && m->from <= 3 && m->type == 1);
			world_msg_unref(&w, m);
		}
	}
	world_done(&w);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	if (!n)
		return 0;
	if (*p == 'c')
		configuration((const char *)p + 1, n - 1, run_new);
	else if (*p == 'b')
		block(p + 1, n - 1);
	else if (*p == 'm')
		controls(p + 1, n - 1);
	else
		datagram(p + 1, n - 1);
	return 0;
}
