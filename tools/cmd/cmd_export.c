/* SPDX-License-Identifier: Apache-2.0 */
/* omig export: serves counters to programs that collect them. */
#include "common/base/array.h"
#include "common/base/file.h"
#include "common/base/limits.h"
#include "common/base/str.h"
#include "tools/cmd/cmd.h"
#include "tools/export/export.h"
#include "tools/session/session.h"
#include "tools/session/show.h"
#include "tools/term/signals.h"
#include "tools/web/web.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LISTEN_DEFAULT "127.0.0.1:9717"
#define TOKEN_MIN_CHARS 16 /* cannot be guessed with a thousand attempts per second */
#define TOKEN_MAX_BYTES 4096
#define WAKE_MS 1000 /* interval of the checks for connections that are too slow */

struct server {
	struct export x;
	struct web *web;
	int64_t every_ns, series;
	nsec_t next; /* until then the last sample is served */
	const char *listen, *token_file;
	bool once, is_plain;
};

/* --- answers */

static void sample(struct server *s)
{
	export_take(&s->x);
	s->next = clock_mono() + s->every_ns;
}

static void answer_metrics(struct server *s, const char *accept, struct web_answer *a)
{
	enum metrics_form form = web_prefers(accept, "application/openmetrics-text", "text/plain")
					 ? METRICS_OPEN
					 : METRICS_PLAIN;

	if (clock_mono() >= s->next)
		sample(s);
	s->x.scrapes++;
	a->type = metrics_type(form);
	export_write(&s->x, form, a->body);
}

static void answer(void *arg, const struct web_request *q, struct web_answer *a)
{
	if (str_eq(q->path, "/metrics"))
		answer_metrics(arg, q->accept, a);
	else if (str_eq(q->path, "/"))
		buf_puts(a->body, "omig export: the figures are at /metrics\n");
	else
		a->status = 404;
}

/* --- serving */

/* 127.0.0.1:9717, [::1]:9717, :9717, 9717 */
static int split_listen(const char *text, char *address, size_t size, uint16_t *port)
{
	const char *colon = strrchr(text, ':');
	uint64_t n;

	if (str_to_u64(colon ? colon + 1 : text, 0, 65535, &n))
		return -ERR_INVALID;
	*port = (uint16_t)n;
	if (!colon || colon == text) {
		str_copy(address, size, "127.0.0.1");
		return 0;
	}
	if (*text == '[' && colon[-1] == ']') {
		text++;
		colon--;
	}
	if ((size_t)(colon - text) >= size)
		return -ERR_INVALID;
	memcpy(address, text, (size_t)(colon - text));
	address[colon - text] = '\0';
	return 0;
}

static int read_token(const char *path, struct buf *out)
{
	struct err e = { 0 };

	if (file_read(path, TOKEN_MAX_BYTES, FILE_SECRET, out, &e))
		return cmd_fail(CMD_USAGE, "--token-file: %s", e.text);
	while (out->n && strchr(" \t\r\n", out->p[out->n - 1]))
		out->p[--out->n] = '\0';
	if (out->n < TOKEN_MIN_CHARS || strlen(buf_str(out)) != out->n ||
	    strpbrk(buf_str(out), " \t\r\n"))
		return cmd_fail(
			CMD_USAGE,
			"--token-file: %s holds no token: one word of at least %d characters", path,
			TOKEN_MIN_CHARS);
	return CMD_OK;
}

static int open_failed(const struct err *e)
{
	int rc = cmd_fail(e->code == ERR_SYS ? CMD_FAILURE : CMD_USAGE, "--listen: %s", e->text);

	if (e->code == ERR_DENIED)
		fputs("Make one:  (umask 077; openssl rand -hex 32 >FILE)  and give --token-file "
		      "FILE.\n",
		      stderr);
	return rc;
}

static int open_web(struct server *s)
{
	struct buf token = BUF_INIT(TOKEN_MAX_BYTES);
	char address[64];
	struct web_conf conf = { .address = address, .answer = answer, .arg = s };
	struct err e = { 0 };
	int rc = CMD_OK;

	if (split_listen(s->listen, address, sizeof(address), &conf.port))
		return cmd_fail(CMD_USAGE, "--listen takes ADDRESS:PORT, not '%s'", s->listen);
	if (s->token_file) {
		rc = read_token(s->token_file, &token);
		conf.token = buf_str(&token);
	}
	if (rc == CMD_OK && web_open(&conf, &s->web, &e))
		rc = open_failed(&e);
	if (token.p)
		str_wipe(token.p, token.n);
	buf_done(&token);
	return rc;
}

static int report_address(const struct server *s)
{
	char address[64], url[128];
	struct show_doc d;
	struct json *j = show_doc_open(&d);
	uint16_t port;

	split_listen(s->listen, address, sizeof(address), &port);
	snprintf(url, sizeof(url),
		 strchr(address, ':') ? "http://[%s]:%u/metrics" : "http://%s:%u/metrics", address,
		 (unsigned)web_port(s->web));
	if (!s->x.common.json) {
		puts(url);
		return fflush(stdout) == 0
			       ? CMD_OK
			       : cmd_fail(CMD_FAILURE, "the output could not be written");
	}
	json_object(j);
	json_key_str(j, "url", url);
	json_key_i64(j, "pid", getpid());
	json_object_end(j);
	return show_doc_close(&d);
}

static void serve(struct server *s)
{
	signals_catch(false);
	while (!signals_last) {
		struct pollfd p[2] = { { .fd = web_fd(s->web), .events = POLLIN },
				       { .fd = s->x.is_open ? omis_fd() : -1, .events = POLLIN } };

		if (poll(p, 2, WAKE_MS) < 0 && errno != EINTR)
			break;
		if (s->x.is_open)
			omis_handler();
		web_turn(s->web);
	}
}

/*
 * Serves without a mainsm, too, since it may start later. Ends if mainsm refuses access, which is
 * final.
 */
static int run_server(struct server *s)
{
	int rc = open_web(s);

	if (rc != CMD_OK)
		return rc;
	rc = export_take(&s->x);
	if (rc != CMD_OK && rc != CMD_UNREACHABLE && rc != CMD_FAILURE) {
		web_close(s->web);
		return rc;
	}
	s->next = clock_mono() + s->every_ns;
	rc = report_address(s);
	if (rc == CMD_OK)
		serve(s);
	web_close(s->web);
	return rc;
}

static int write_once(struct server *s)
{
	struct buf out = BUF_INIT(SHOW_MAX_BYTES);
	int rc = export_take(&s->x);

	if (rc == CMD_OK) {
		export_write(&s->x, s->is_plain ? METRICS_PLAIN : METRICS_OPEN, &out);
		if (out.failed)
			rc = cmd_fail(CMD_FAILURE, "out of memory");
		else
			fwrite(out.p, 1, out.n, stdout);
	}
	buf_done(&out);
	return rc;
}

/* --- the command */

static int run(struct server *s, const struct opt_spec *spec, int argc, char **argv)
{
	if (argc != 1 || (!str_eq(argv[0], "openmetrics") && !str_eq(argv[0], "prometheus")))
		return cmd_usage(spec, "in which form: openmetrics or prometheus?");
	if (s->once && s->x.common.json)
		return cmd_usage(spec, "--once writes metrics; omig top --once --json writes JSON");
	s->is_plain = str_eq(argv[0], "prometheus");
	s->x.series_max = (size_t)s->series;
	if (!s->once)
		return run_server(s);
	s->x.measure = "off"; /* the setting would end with this command */
	return write_once(s);
}

int cmd_export(int argc, char **argv)
{
	struct server s = { .every_ns = 15 * NSEC_PER_SEC,
			    .series = EXPORT_SERIES_DEFAULT,
			    .listen = LISTEN_DEFAULT };
	const struct opt table[] = {
		CMD_OPTIONS(&s.x.common),
		OPTION("listen", 'l', "ADDRESS:PORT",
		       "address to listen on (default " LISTEN_DEFAULT "; port 0: any)", OPT_STR,
		       &s.listen),
		OPTION("token-file", 0, "FILE",
		       "a token that scrapers must show; needed for an address that is not loopback",
		       OPT_STR, &s.token_file),
		OPTION_RANGE("every", 'e', "TIME",
			     "a sample is repeated for this time to each scraper (default 15s)",
			     OPT_NSEC, &s.every_ns, NSEC_PER_SEC, 3600 * NSEC_PER_SEC),
		OPTION("once", '1', NULL, "write one sample to standard output, and end", OPT_FLAG,
		       &s.once),
		OPTION("per-rank", 'r', NULL, "also one series for each rank", OPT_FLAG,
		       &s.x.per_rank),
		OPTION_RANGE("series", 0, "N", "at most N series in an answer (default 20000)",
			     OPT_I64, &s.series, 1, EXPORT_SERIES_MAX),
		OPTION("measure", 0, "off|count|time|volume",
		       "what to count in ranks (default volume)", OPT_WORD, &s.x.measure),
		{ 0 },
	};
	const struct opt_spec spec = {
		.program = "omig export",
		.verbs = "openmetrics prometheus",
		.usage = "[OPTION...] openmetrics|prometheus",
		.summary =
			"exports counters of nodes, jobs and the monitor itself to Prometheus and similar programs",
		.details =
			"Prints the address of its port and serves until it is stopped. The form\n"
			"matters with --once; over HTTP the scraper chooses.",
		.table = table,
	};
	int first, status;

	export_init(&s.x);
	status = cmd_parse(&spec, argc, argv, &first);
	if (status < 0)
		status = run(&s, &spec, argc - first, argv + first);
	export_done(&s.x);
	return status;
}
