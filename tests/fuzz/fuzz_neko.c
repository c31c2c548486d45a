/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The first byte says what the others are: c a configuration, which makes a run or an error with words; b blocks
 * of events, which are read the same whole and byte by byte; any other one a datagram, of which a message has no more bytes
 * than came.
 */
#include "neko/realwire.h"
#include "neko/run.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

#define PROCESSES_MAX 1000 /* more take long, and nothing else happens */

static void demand(int truth)
{
	if (!truth)
		abort();
}

static void configuration(const uint8_t *p, size_t n)
{
	uint64_t m = 0;
	struct setup *s = NULL;
	struct run *r = NULL;
	struct err e = { 0 };

	if (setup_parse((const char *)p, n, &s, &e)) {
		demand(!s && e.text[0]);
		return;
	}
	if (setup_u64(s, "process.num", 1, PROCESSES_MAX, &m, NULL) == 0 && run_new(s, &r, &e))
		demand(!r && e.text[0]);
	run_free(r);
	setup_free(s);
}

static void count(void *arg, const struct neko_event *v)
{
	size_t *events = arg;

	demand(v->at >= 0 && strlen(v->what) < REALWIRE_WHAT_BYTES);
	++*events;
}

static void blocks(const uint8_t *p, size_t n)
{
	size_t used, more, i, events = 0;
	struct realwire_block b;
	int rc = realwire_read(p, n, &used, &b, count, &events);

	demand(used <= n && (rc == 0 || used == 0));
	if (rc || !used)
		return;
	demand(events == b.count);
	for (i = 0; i < used; i++)
		demand(realwire_read(p, i, &more, &b, count, &events) == 0 && more == 0);
}

static void datagram(const uint8_t *p, size_t n)
{
	static const struct neko_world_ops ops;
	struct neko_world w = { 0 };
	struct neko_msg *m;

	if (world_init(&w, &ops, 3, 1, NULL) == 0) {
		w.type_name[1] = "one";
		m = realwire_message(&w, 0, 2, 0, p, n);
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
		configuration(p + 1, n - 1);
	else if (*p == 'b')
		blocks(p + 1, n - 1);
	else
		datagram(p + 1, n - 1);
	return 0;
}
