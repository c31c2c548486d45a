/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds processes in which a library call or a probe cannot be watched, with the reason: they run
 * without libomig, or lack the probe. A process that still loads its libraries may get both later,
 * and is not reported.
 */
#include "common/base/str.h"
#include "lm/csr/csr_internal.h"

#include <string.h>

#define NAMES_SHOWN 8 /* existing probes to be listed if the requested one is missing */

struct libraries {
	bool has_libc, has_libomig;
};

static bool is_called(const char *name, size_t n, const char *prefix)
{
	size_t k = strlen(prefix);

	return n >= k && !memcmp(name, prefix, k);
}

static void on_module(void *arg, const struct host_module *m)
{
	struct libraries *l = arg;
	size_t at = m->npath;

	while (at && m->path[at - 1] != '/')
		at--;
	l->has_libomig |= is_called(m->path + at, m->npath - at, "libomig.so");
	l->has_libc |= is_called(m->path + at, m->npath - at, "libc.so") ||
		       is_called(m->path + at, m->npath - at, "libc-") ||
		       is_called(m->path + at, m->npath - at, "ld-musl");
}

/* True: the process has loaded a C library, but not libomig. */
static bool is_without_libomig(const struct proc *p)
{
	struct libraries l = { 0 };

	return p->held && !host_proc_modules(p->held, on_module, &l, NULL) && l.has_libc &&
	       !l.has_libomig;
}

/* Adds the names of the probes of p to b. */
static void add_names(const struct proc *p, struct buf *b)
{
	unsigned n = 0;

	for (unsigned i = 0; i < SEG_COLLECTIVE_FIRST && n < NAMES_SHOWN; i++) {
		const struct seg_probe *probe = segview_probe(p->seg, i);

		if (!probe)
			continue;
		buf_printf(b, "%s%s", n ? ", " : "; there are: ", probe->name);
		n++;
	}
}

static void add_token(struct buf *b, const struct proc *p)
{
	buf_printf(b, "%s%s", b->n ? "," : "", p->token.s);
}

static void put(struct reply *r, struct buf *objects, const char *words)
{
	if (objects->n && !objects->failed)
		reply_add_error(r, 0, buf_str(objects), STATUS_PARAMETER_ERROR, "%s", words);
	buf_done(objects);
}

/* The probes of the first process without the probe are listed for all. */
static void put_probeless(struct reply *r, struct buf *objects, const struct csr *c,
			  const struct proc *first)
{
	struct buf words =
		BUF_INIT(NAMES_SHOWN * (SEG_PROBE_NAME_BYTES + 16) + SEG_PROBE_NAME_BYTES);

	buf_printf(&words, "no process here has a probe '%s'", c->probe ? c->probe : "");
	if (first)
		add_names(first, &words);
	put(r, objects, words.failed ? "there is no such probe" : buf_str(&words));
	buf_done(&words);
}

void csr_report_unwatched(const struct csr *c, struct reply *r)
{
	struct buf bare = BUF_INIT(FRAME_MAX_BYTES), probeless = BUF_INIT(FRAME_MAX_BYTES);
	const struct proc *first = NULL;

	if (!c->probe && c->func < 0)
		return;
	list_each (i, procs_all(c->owner->conf.procs)) {
		const struct proc *p = list_entry(i, struct proc, link);

		if (!p->held || !csr_is_for_any_thread(c, p) || csr_find_site(c, p))
			continue;
		if (!p->seg && is_without_libomig(p))
			add_token(&bare, p);
		if (p->seg && c->probe)
			add_token(&probeless, p);
		if (p->seg && !first)
			first = p;
	}
	put(r, &bare,
	    "the process runs without libomig: neither its library calls nor its probes can be watched (omig run starts "
	    "a program with it)");
	put_probeless(r, &probeless, c, first);
}
