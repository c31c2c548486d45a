/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Processes behind factories, each with a TLS connection. Over it the master also answers requests
 * for the time.
 */
#include "neko/hosts/hosts.h"

#include "common/base/str.h"
#include "common/link/connstr.h"
#include "common/loop/loop.h"
#include "common/member/enrol.h"
#include "common/net/net.h"
#include "neko/run/crew.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A round trip around the world, so that all processes begin at the same time. */
#define LEAD_NS (200 * NSEC_PER_MSEC)
#define OPEN_NS (HANDSHAKE_MAX_NS + NSEC_PER_SEC)

struct host {
	char name[NAME_MAX_BYTES + 1];
	uint16_t port;
	uint32_t address; /* IPv4, host order */
};

struct remote {
	struct crew_hosts *crew;
	uint32_t id;
	struct chan *chan; /* owned */
	bool is_open, is_ordered, is_gone;
	struct err why; /* reason why it did not open */
};

struct crew_hosts {
	struct crew crew; /* must be the first member */
	struct run *run; /* borrowed */
	const char *pin; /* borrowed */
	struct loop *loop; /* owned */
	struct net_ctx *net; /* owned */
	struct host *host; /* owned */
	uint32_t nhost;
	struct remote *remote; /* owned, m entries */
	uint32_t m;
	struct buf text; /* owned: text of the configuration */
	char place[NAME_MAX_BYTES + 16];
};

static struct crew_hosts *hosts_of(const struct crew *c)
{
	return (struct crew_hosts *)(void *)(uintptr_t)c;
}

static const struct host *host_of(const struct crew_hosts *c, uint32_t id)
{
	return &c->host[(id - 1) % c->nhost];
}

/* --- the list of hosts */

static int look_up(struct host *h, struct err *e)
{
	struct addrinfo want = { .ai_family = AF_INET, .ai_socktype = SOCK_STREAM }, *found;
	int rc = getaddrinfo(h->name, NULL, &want, &found);

	if (rc)
		return err_set(e, ERR_NOTFOUND, "host %s: %s", h->name, gai_strerror(rc));
	h->address =
		ntohl(((const struct sockaddr_in *)(const void *)found->ai_addr)->sin_addr.s_addr);
	freeaddrinfo(found);
	return 0;
}

static int parse_host(char *text, struct host *h, struct err *e)
{
	h->port = HOSTS_PORT;
	if (strchr(text, ':')) {
		if (hostport_parse(text, h->name, &h->port, e))
			return -ERR_PARSE;
	} else if (!*text || !str_copy(h->name, sizeof(h->name), text)) {
		return err_set(e, ERR_PARSE, "'%s' is not a host; write a:8765, b:8765", text);
	}
	return look_up(h, e);
}

static int parse_hosts(struct crew_hosts *c, const char *list, struct err *e)
{
	char *copy = str_dup(list), *rest = NULL;
	int rc = 0;

	c->host = calloc(HOSTS_MAX, sizeof(*c->host));
	if (!copy || !c->host)
		rc = err_nomem(e);
	for (char *one = rc ? NULL : strtok_r(copy, ",", &rest); one && !rc;
	     one = strtok_r(NULL, ",", &rest)) {
		if (c->nhost == HOSTS_MAX)
			rc = err_set(e, ERR_LIMIT, "a run has at most %d hosts", HOSTS_MAX);
		else
			rc = parse_host(str_trim(one), &c->host[c->nhost++], e);
	}
	free(copy);
	return rc || c->nhost ? rc : err_set(e, ERR_INVALID, "there is no host in '%s'", list);
}

/* --- connections */

static void lose(struct remote *v, const struct realwire_gone *how)
{
	const struct crew_hearer *h = &v->crew->crew.hearer;

	if (v->is_gone)
		return;
	v->is_gone = true;
	chan_close(v->chan, "the process has ended");
	v->chan = NULL;
	if (v->is_ordered)
		h->on_gone(h->arg, v->id, how);
}

static void lose_by(struct remote *v, const char *why)
{
	struct realwire_gone g = { .at = -1 };

	str_copy(g.why, sizeof(g.why), why);
	lose(v, &g);
}

static void send_time(struct remote *v, const uint8_t *p, size_t n)
{
	struct buf b = BUF_INIT(FRAME_MAX_BYTES);
	nsec_t t[2];

	if (realwire_get_times(p, n, t, 1))
		lose_by(v, "its factory sent an invalid request");
	t[1] = clock_mono();
	if (v->chan && !realwire_put_times(&b, REALWIRE_PONG, t, 2))
		chan_send(v->chan, b.p, b.n);
	buf_done(&b);
}

static void on_frame(void *arg, struct chan *c, uint8_t type, const uint8_t *p, size_t n)
{
	struct remote *v = arg;
	const struct crew_hearer *h = &v->crew->crew.hearer;
	struct realwire_gone g;

	if (type == REALWIRE_PING)
		send_time(v, p, n);
	else if (type != REALWIRE_GONE)
		h->on_frame(h->arg, v->id, &(struct frame){ type, p, n });
	else if (realwire_get_gone(p, n, &g))
		lose_by(v, "its factory sent an invalid message");
	else
		lose(v, &g);
}

static void on_event(void *arg, struct chan *c, enum chan_event ev, const struct err *why)
{
	struct remote *v = arg;
	char words[REALWIRE_WORDS_BYTES];

	if (ev == CHAN_OPEN) {
		v->is_open = true;
		chan_role_known(c);
	}
	if (ev != CHAN_CLOSED && ev != CHAN_BROKEN)
		return;
	v->why = *why;
	snprintf(words, sizeof(words), "the connection to its factory is lost: %s", why->text);
	lose_by(v, words);
}

static int dial(struct crew_hosts *c, struct remote *v, struct err *e)
{
	const struct net_expect expect = { .roles = ROLE_BIT(ROLE_FACTORY), .pin = c->pin };
	const struct chan_handler h = { .on_frame = on_frame, .on_event = on_event, .arg = v };
	const struct host *host = host_of(c, v->id);
	nsec_t end = loop_now(c->loop) + OPEN_NS;
	int rc = net_dial(
		c->net,
		&(struct net_target){ .host = host->name, .port = host->port, .expect = &expect },
		&h, &v->chan, e);

	while (!rc && !v->is_open && !v->is_gone && loop_now(c->loop) < end)
		loop_wait(c->loop, end - loop_now(c->loop));
	if (!rc && (!v->is_open || v->is_gone))
		rc = err_set(e, v->why.code ? v->why.code : ERR_TIMEOUT, "%s",
			     v->why.code ? v->why.text : "no answer");
	return rc ? err_add(e, "the factory at %s port %u", host->name, host->port) : 0;
}

/*
 * Starts processes one after the other: a factory permits few connections without a first message.
 */
static int start(struct crew *crew, uint32_t id, struct err *e)
{
	struct crew_hosts *c = hosts_of(crew);
	struct remote *v = &c->remote[id - 1];
	struct buf b = BUF_INIT(FRAME_MAX_BYTES + FRAME_HEADER_BYTES);
	struct real_conf conf;
	struct realwire_start s;
	int rc = dial(c, v, e);

	if (rc)
		return rc;
	crew_fill_conf(c->run, id, &conf);
	s = (struct realwire_start){ .m = c->m,
				     .id = id,
				     .seed = conf.seed,
				     .address = host_of(c, id)->address,
				     .silence = crew_silence(c->run),
				     .wants_delays = conf.wants_delays,
				     .text = buf_str(&c->text),
				     .ntext = c->text.n };
	v->is_ordered = true;
	rc = realwire_put_start(&b, &s);
	if (!rc)
		rc = chan_send(v->chan, b.p, b.n);
	buf_done(&b);
	return rc ? err_set(e, (enum err_code)(-rc), "process %u could not be requested", id) : 0;
}

static uint32_t address(const struct crew *c, uint32_t id)
{
	return host_of(hosts_of(c), id)->address;
}

static void send_frame(struct crew *c, uint32_t id, const struct buf *frame)
{
	struct remote *v = &hosts_of(c)->remote[id - 1];

	if (v->chan && (frame->failed || chan_send(v->chan, frame->p, frame->n)))
		lose_by(v, "its factory does not read");
}

static void turn(struct crew *c, int ms)
{
	loop_wait(hosts_of(c)->loop, ms * NSEC_PER_MSEC);
}

/* Requests a kill; the factory reports its time. */
static void kill_process(struct crew *c, uint32_t id)
{
	struct buf b = BUF_INIT(FRAME_MAX_BYTES);

	realwire_put_times(&b, REALWIRE_KILL, NULL, 0);
	send_frame(c, id, &b);
	buf_done(&b);
}

static const char *place(const struct crew *crew, uint32_t id)
{
	struct crew_hosts *c = hosts_of(crew);
	const struct host *h = host_of(c, id);

	snprintf(c->place, sizeof(c->place), "%s:%u", h->name, h->port);
	return c->place;
}

/* Closes all connections: a factory without a connection ends the process at once. */
static void end(struct crew *crew)
{
	struct crew_hosts *c = hosts_of(crew);

	for (uint32_t i = 0; c->remote && i < c->m; i++)
		chan_close(c->remote[i].chan, "the run is over");
	if (c->loop)
		loop_turn(c->loop);
	net_ctx_free(c->net);
	loop_free(c->loop);
	buf_done(&c->text);
	free(c->host);
	free(c->remote);
	free(c);
}

static const struct crew_ops hosts_ops = { .start = start,
					   .address = address,
					   .send = send_frame,
					   .turn = turn,
					   .kill = kill_process,
					   .place = place,
					   .end = end };

static int fill(struct crew_hosts *c, const struct hosts_wanted *h, struct err *e)
{
	int rc;

	c->remote = calloc(c->m, sizeof(*c->remote));
	c->loop = loop_new();
	if (!c->remote || !c->loop)
		return err_nomem(e);
	for (uint32_t i = 0; i < c->m; i++) {
		c->remote[i].crew = c;
		c->remote[i].id = i + 1;
	}
	c->text = BUF_INIT(REALWIRE_TEXT_MAX_BYTES);
	if (crew_print_setup(c->run, &c->text))
		return err_set(e, ERR_LIMIT, "a configuration for other hosts must be below 1 MiB");
	rc = parse_hosts(c, h->list, e);
	return rc ? rc : enrol_open(c->loop, h->self.dir, NULL, &c->net, e);
}

int hosts_run(struct run *r, const struct run_options *w, const struct hosts_wanted *h,
	      struct run_counts *out, struct err *e)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN }, before;
	struct crew_hosts *c;
	int rc = run_prepare_real(r, w, e);

	if (rc)
		return rc;
	c = calloc(1, sizeof(*c));
	if (!c)
		return err_nomem(e);
	c->crew = (struct crew){ .ops = &hosts_ops, .lead = LEAD_NS };
	c->run = r;
	c->m = crew_size(r);
	c->pin = h->self.pin;
	sigaction(SIGPIPE, &ignore, &before);
	rc = fill(c, h, e);
	if (rc)
		end(&c->crew);
	else
		rc = run_conduct(r, &c->crew, out, e);
	sigaction(SIGPIPE, &before, NULL);
	return rc;
}
