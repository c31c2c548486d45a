/* SPDX-License-Identifier: Apache-2.0 */
/* omig web: the jobs in a browser. */
#include "common/base/str.h"
#include "tools/cmd/cmd.h"
#include "tools/page/paths.h"
#include "tools/session/session.h"
#include "tools/session/show.h"
#include "tools/term/signals.h"

#include <errno.h>
#include <poll.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define REQUEST_MS 1000 /* a silent node must not freeze the page */
#define WAKE_MS 100 /* new samples are noticed by then */
/* Pages take 12 s of silence for a lost connection; without mainsm there is nothing new to send. */
#define BEAT_NS (5 * NSEC_PER_SEC)
/* A port for each user, so that a line for a tunnel stays true. */
#define PORT_FIRST 20000
#define PORT_COUNT 10000

struct server {
	struct cmd_common common;
	const char *job, *listen;
	int64_t every_ns, port; /* port -1: that of the user */
	struct page page;
	struct web *web;
	struct session_gap gap;
	bool has_prompt; /* a line on standard input prints another link */
	uint64_t scene_seen, charts_seen, choices_seen;
	nsec_t fed_at; /* clock_mono() */
};

/* --- the link */

static void put_address(const struct server *s, char *out, size_t size)
{
	snprintf(out, size, strchr(s->listen, ':') ? "[%s]:%u" : "%s:%u", s->listen,
		 (unsigned)web_port(s->web));
}

static void put_tunnel(const struct server *s, char *out, size_t size)
{
	const struct passwd *user = getpwuid(getuid());
	char host[256] = "HOST", address[128];

	if (gethostname(host, sizeof(host) - 1))
		str_copy(host, sizeof(host), "HOST");
	put_address(s, address, sizeof(address));
	snprintf(out, size, "ssh -L %u:%s %s%s%s", (unsigned)web_port(s->web), address,
		 user ? user->pw_name : "", user ? "@" : "", host);
}

static int report_json(const char *url, const char *tunnel)
{
	struct show_doc d;
	struct json *j = show_doc_open(&d);

	json_object(j);
	json_key_str(j, "url", url);
	json_key_str(j, "tunnel", tunnel);
	json_key_i64(j, "pid", getpid());
	json_object_end(j);
	return show_doc_close(&d);
}

static int report_link(struct server *s)
{
	char token[KEYS_TEXT_BYTES], address[128], url[256], tunnel[768];
	struct err e = { 0 };

	if (keys_make_token(&s->page.keys, clock_mono(), token, &e))
		return cmd_fail(CMD_FAILURE, "%s", e.text);
	put_address(s, address, sizeof(address));
	put_tunnel(s, tunnel, sizeof(tunnel));
	snprintf(url, sizeof(url), "http://%s/#t=%s", address, token);
	str_wipe(token, sizeof(token));
	if (s->common.json)
		return report_json(url, tunnel);
	printf("%s\nfrom another machine first: %s\n", url, tunnel);
	if (s->has_prompt)
		puts("The link opens one browser, within 10 minutes. Enter prints another, ctrl-C ends it.");
	return fflush(stdout) == 0 ? CMD_OK
				   : cmd_fail(CMD_FAILURE, "the output could not be written");
}

/* --- serving */

static int again(void *arg)
{
	struct server *s = arg;
	int rc = session_attach(s->job);

	if (rc != CMD_OK)
		return rc;
	scene_restart(&s->page.scene);
	charts_restart(&s->page.charts);
	return CMD_OK;
}

static void read_prompt(struct server *s)
{
	char line[256];
	ssize_t n = read(STDIN_FILENO, line, sizeof(line));

	if (n > 0)
		report_link(s);
	else
		s->has_prompt = n < 0 && errno == EINTR;
}

/* In the background a line is for the shell: to read it would stop the server. */
static bool is_prompted(const struct server *s)
{
	return s->has_prompt && tcgetpgrp(STDIN_FILENO) == getpgrp();
}

static void wait_for_work(struct server *s)
{
	struct pollfd p[3] = { { .fd = omis_fd(), .events = POLLIN },
			       { .fd = web_fd(s->web), .events = POLLIN },
			       { .fd = is_prompted(s) ? STDIN_FILENO : -1, .events = POLLIN } };

	if (poll(p, 3, WAKE_MS) > 0 && p[2].revents)
		read_prompt(s);
}

static void feed(struct server *s)
{
	nsec_t now = clock_mono();

	if (now - s->fed_at >= BEAT_NS)
		s->page.scene.version++;
	if (s->scene_seen == s->page.scene.version && s->charts_seen == s->page.charts.version &&
	    s->choices_seen == s->page.choices)
		return;
	s->fed_at = now;
	s->choices_seen = s->page.choices;
	s->scene_seen = s->page.scene.version;
	s->charts_seen = s->page.charts.version;
	web_feed(s->web);
}

static int serve(struct server *s)
{
	int rc = CMD_OK;

	while (rc == CMD_OK && !signals_last) {
		wait_for_work(s);
		omis_handler();
		rc = session_bridge(&s->gap);
		scene_set_lost(&s->page.scene, s->gap.since != 0);
		scene_turn(&s->page.scene);
		charts_turn(&s->page.charts);
		web_turn(s->web);
		feed(s);
	}
	return rc;
}

/* --- the start */

static int open_port(struct server *s)
{
	bool is_own = s->port < 0;
	struct web_conf conf = { .address = s->listen,
				 .port = (uint16_t)(is_own ? PORT_FIRST + getuid() % PORT_COUNT
							   : (unsigned)s->port) };
	struct err e = { 0 };
	int rc;

	page_conf(&s->page, &conf);
	rc = web_open(&conf, &s->web, &e);
	if (rc == -ERR_SYS && e.sys == EADDRINUSE && is_own) {
		conf.port = 0;
		rc = web_open(&conf, &s->web, &e);
	}
	if (!rc)
		return CMD_OK;
	if (rc == -ERR_DENIED)
		return cmd_fail(CMD_USAGE,
				"--listen %s: other machines would get the page unencrypted; "
				"leave it at loopback, and use the ssh line",
				s->listen);
	if (rc == -ERR_SYS && (e.sys == EADDRINUSE || e.sys == EACCES))
		return cmd_fail(CMD_FAILURE, "port %u of %s: %s; choose another with --port",
				(unsigned)conf.port, s->listen, strerror(e.sys));
	return cmd_fail(rc == -ERR_INVALID ? CMD_USAGE : CMD_FAILURE, "%s", e.text);
}

static int run_page(struct server *s)
{
	int rc = open_port(s);

	if (rc != CMD_OK)
		return rc;
	s->gap = (struct session_gap){ .limit_ns = SESSION_GAP_MAX_NS, .again = again, .arg = s };
	s->has_prompt = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && !s->common.json;
	signals_catch(false);
	rc = report_link(s);
	if (rc == CMD_OK)
		rc = serve(s);
	web_close(s->web);
	top_sample_stop();
	return rc;
}

static int run(struct server *s)
{
	int rc = session_open_job(&s->common, &s->job);

	if (rc != CMD_OK)
		return rc;
	omis_request_policy(OMIS_WAIT_ALL, 0, REQUEST_MS);
	if (page_init(&s->page, s->job, s->every_ns))
		rc = cmd_fail(CMD_FAILURE, "out of memory");
	else
		rc = run_page(s);
	page_done(&s->page);
	session_close();
	return signals_status(rc);
}

int cmd_web(int argc, char **argv)
{
	struct server s = { .common = CMD_COMMON_INIT,
			    .listen = "127.0.0.1",
			    .port = -1,
			    .every_ns = NSEC_PER_SEC };
	const struct opt table[] = {
		CMD_OPTIONS(&s.common),
		OPTION_RANGE("port", 'p', "N",
			     "port to listen on (default: one for each user; 0: any)", OPT_I64,
			     &s.port, 0, 65535),
		OPTION("listen", 'l', "ADDRESS",
		       "address of loopback to listen on (default 127.0.0.1)", OPT_STR, &s.listen),
		OPTION_RANGE("every", 'e', "TIME", "between two samples (default 1s)", OPT_NSEC,
			     &s.every_ns, 200 * NSEC_PER_MSEC, 60 * NSEC_PER_SEC),
		OPTION("job", 0, "JOB", "this job only", OPT_STR, &s.job),
		{ 0 },
	};
	const struct opt_spec spec = {
		.program = "omig web",
		.usage = "[OPTION...]",
		.summary =
			"shows ranks, hosts and metrics live in a browser: a page on loopback, with a link",
		.details =
			"Prints a link and serves until it is stopped. The link opens one browser; on a\n"
			"terminal Enter prints another. On another machine the page is reached through the\n"
			"ssh line. The page has the answer in words, a strip of ranks over time, a table of\n"
			"ranks, the tree of hosts, efficiencies, and charts of any metric; ? shows its keys.\n"
			"It keeps 600 samples: ten minutes, with --every as it is by default. Counting is on\n"
			"while it runs, as with omig top. However many browsers look, mainsm and the ranks\n"
			"serve one tool.",
		.table = table,
	};
	int status = cmd_parse(&spec, argc, argv, NULL);

	return status >= 0 ? status : run(&s);
}
