/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lm-plugin FILE: started by an lm, with the socket to it as standard input. It loads the plug-in
 * and handles one request after the other; the lm kills it if one hangs. It ends with the lm.
 */
#include "common/base/limits.h"
#include "lm/helper/helper_line.h"
#include "lm/plugin/plugin_file.h"
#include "lm/plugin/serve.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define FILES_MAX 256 /* open ones: a leak ends in an error of the plug-in */
#define NICER 5 /* the watched programs come first */

struct loaded {
	const char *path;
	const struct omig_plugin *plugin; /* NULL: not yet, or it failed */
};

/* A plug-in that leaks memory or files gets errors, and so ends itself, not the host. */
static int limit(int what, rlim_t max, struct err *e)
{
	struct rlimit r;

	if (getrlimit(what, &r))
		return err_sys(e, "getrlimit");
	if (r.rlim_max == RLIM_INFINITY || r.rlim_max > max)
		r.rlim_max = max;
	r.rlim_cur = r.rlim_max;
	return setrlimit(what, &r) ? err_sys(e, "setrlimit") : 0;
}

static int set_limits(struct err *e)
{
	int rc = limit(RLIMIT_AS, PLUGIN_MEMORY_MAX_BYTES, e);

	if (!rc)
		rc = limit(RLIMIT_NOFILE, FILES_MAX, e);
	if (!rc)
		rc = limit(RLIMIT_CORE, 0, e);
	setpriority(PRIO_PROCESS, 0, NICER);
	return rc;
}

static void answer_failed(const struct tracer_msg *asked, int rc, const struct err *e)
{
	static struct tracer_msg m;

	m = (struct tracer_msg){ .type = TRACER_FAILED, .id = asked->id, .what = (uint32_t)-rc };
	m.text[m.ntext++] = e->text;
	helper_line_answer(NULL, &m);
}

static void answer_bytes(const struct tracer_msg *asked, const struct buf *b)
{
	static struct tracer_msg m;
	size_t at = 0;

	do {
		size_t rest = b->n - at;

		m = (struct tracer_msg){ .type = TRACER_BYTES, .id = asked->id };
		m.nbytes = rest < TRACER_BYTES_MAX ? rest : TRACER_BYTES_MAX;
		m.bytes = b->p + at;
		m.what = m.nbytes < rest;
		helper_line_answer(NULL, &m);
		at += m.nbytes;
	} while (at < b->n);
}

/* Loads the plug-in before the first request: a failure is its answer. */
static int load(struct loaded *l, struct err *e)
{
	int rc = l->plugin ? 0 : plugin_file_check(l->path, e);

	return rc || l->plugin ? rc : serve_load(l->path, &l->plugin, e);
}

static void handle(struct loaded *l, const struct tracer_msg *m)
{
	bool is_call = m->type == TRACER_PLUGIN_CALL;
	struct buf b = BUF_INIT(is_call ? PLUGIN_REPLY_MAX_BYTES : PLUGIN_TEXT_MAX_BYTES);
	struct err e = { 0 };
	int rc = load(l, &e);

	if (!rc)
		rc = is_call ? serve_call(l->plugin, m, &b, &e) : serve_about(l->plugin, &b, &e);
	if (rc)
		answer_failed(m, rc, &e);
	else
		answer_bytes(m, &b);
	buf_done(&b);
}

static bool is_for_us(const struct tracer_msg *m)
{
	return m->type == TRACER_PLUGIN_ABOUT || m->type == TRACER_PLUGIN_CALL;
}

int main(int argc, char **argv)
{
	static uint8_t in[TRACER_MSG_MAX_BYTES];
	static struct tracer_msg m;
	struct loaded l = { .path = argc == 2 ? argv[1] : "" };
	struct err e = { 0 };
	size_t n;
	int rc = helper_line_open(&e);

	if (!rc)
		rc = set_limits(&e);
	if (rc)
		fprintf(stderr, "lm-plugin: %s\n", e.text);
	while (!rc && (n = helper_line_next(in, sizeof(in))) > 0) {
		rc = tracer_msg_decode(&m, in, n, &e);
		if (!rc && !is_for_us(&m))
			rc = -ERR_PROTO;
		if (!rc)
			handle(&l, &m);
	}
	if (l.plugin && l.plugin->close)
		l.plugin->close();
	return rc ? 1 : 0;
}
