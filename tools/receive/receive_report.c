/* SPDX-License-Identifier: Apache-2.0 */
/* The messages of a receiver, and its JSON objects. */
#include "common/json/json.h"
#include "tools/events/logread.h"
#include "tools/receive/receive_internal.h"
#include "tools/term/say.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

static int start_json(const struct receiver *r)
{
	struct buf b = BUF_INIT(1 << 16);
	char name[PORT_NAME_BYTES];
	struct json j;

	json_init(&j, &b);
	json_object(&j);
	json_key(&j, "urls");
	json_array(&j);
	for (size_t i = 0; i < r->nports; i++)
		json_str(&j, port_name(&r->port[i], name));
	json_array_end(&j);
	json_key_str(&j, "spool", r->spool);
	json_key_i64(&j, "pid", getpid());
	json_object_end(&j);
	return cmd_json_line(&j, &b);
}

int report_start(struct receiver *r)
{
	char name[PORT_NAME_BYTES];

	if (r->options->json)
		return start_json(r);
	for (size_t i = 0; i < r->nports; i++)
		puts(port_name(&r->port[i], name));
	return fflush(stdout) ? cmd_fail(CMD_FAILURE, "standard output: %m") : CMD_OK;
}

static uint64_t waiting_bytes(const struct receiver *r)
{
	struct spool_stats s = { 0 };

	if (r->spooler)
		spooler_stats(r->spooler, &s);
	return s.disk_bytes;
}

static int state_json(struct receiver *r, const struct evbalance_totals *t, bool is_last)
{
	const struct receive_counts *c = &r->counts;
	struct monitor_out_counts m;
	struct buf b = BUF_INIT(1 << 16);
	struct json j;

	json_init(&j, &b);
	json_object(&j);
	json_key_u64(&j, "received", c->events);
	json_key_u64(&j, "stored", t->stored);
	json_key_u64(&j, "repeated", c->repeated);
	json_key_u64(&j, "dropped", t->dropped);
	json_key_u64(&j, "lost", t->lost);
	json_key_u64(&j, "left_out", t->left_out);
	if (delivery_monitor(r->delivery, &m)) {
		json_key_u64(&j, "unrequested", m.unrequested);
		json_key_u64(&j, "without_place", m.left_out);
	}
	json_key_u64(&j, "bad_lines", c->bad_lines);
	json_key_u64(&j, "skipped_bytes", c->skipped_bytes);
	json_key_u64(&j, "overflowed_datagrams", c->overflow);
	json_key_u64(&j, "connections", r->nconns);
	json_key_u64(&j, "refused_connections", c->refused);
	json_key_u64(&j, "broken_connections", c->broken);
	json_key_u64(&j, "refused_handshakes", c->handshakes);
	json_key_u64(&j, "cut_connections", c->cut);
	json_key_u64(&j, "open_streams", t->open);
	json_key_u64(&j, "spool_bytes", waiting_bytes(r));
	json_key_bool(&j, "is_failing", delivery_is_failing(r->delivery));
	if (is_last)
		json_key_bool(&j, "is_done", r->empty_at >= r->appended);
	json_object_end(&j);
	return cmd_json_line(&j, &b);
}

static void warn_count(uint64_t n, const char *text)
{
	if (n)
		cmd_warn("%" PRIu64 " %s", n, text);
}

static int state_words(const struct receiver *r, const struct evbalance_totals *t)
{
	const struct receive_counts *c = &r->counts;
	struct monitor_out_counts m;

	printf("%" PRIu64 " events received, %" PRIu64 " stored in %s, %" PRIu64 " lost\n",
	       c->events, t->stored, r->options->to, t->lost + t->dropped + t->left_out);
	warn_count(t->dropped, "events were dropped by their programs, which had no room");
	warn_count(t->lost, "events were lost on the way");
	warn_count(t->left_out, "events had no room in the archive");
	if (delivery_monitor(r->delivery, &m)) {
		warn_count(m.unrequested, "events were requested by no subscription");
		warn_count(m.left_out,
			   "events had no place in the monitor: too long, or too many types");
	}
	warn_count(c->repeated, "events came again, and were stored once");
	if (c->bad_lines)
		cmd_warn("%" PRIu64 " lines were no events; the first: %s", c->bad_lines, r->why);
	warn_count(c->skipped_bytes, "bytes were no blocks");
	warn_count(c->overflow, "datagrams came faster than they could be read");
	if (c->broken)
		cmd_warn("%" PRIu64 " connections were ended; the first: %s", c->broken,
			 r->why_broken);
	warn_count(c->handshakes,
		   "peers were refused, without a valid certificate of this monitor");
	warn_count(c->cut, "connections were ended: the certificate was revoked or has expired");
	warn_count(c->refused, "connections had no room, or were silent when another one came");
	if (r->empty_at < r->appended)
		cmd_warn("%s has what is not stored yet: the next start continues with it",
			 r->spool);
	return fflush(stdout) ? cmd_fail(CMD_FAILURE, "standard output: %m") : CMD_OK;
}

int report_state(struct receiver *r, bool is_last)
{
	struct evbalance_totals t;
	int rc;

	delivery_totals(r->delivery, &t);
	rc = r->options->json ? state_json(r, &t, is_last) : state_words(r, &t);
	if (rc != CMD_OK || !is_last)
		return rc;
	if (r->empty_at < r->appended)
		return CMD_FAILURE;
	return t.lost || t.left_out || r->counts.bad_lines || r->counts.skipped_bytes ||
			       r->counts.overflow
		       ? CMD_DAMAGED
		       : CMD_OK;
}

void report_progress(struct receiver *r)
{
	struct evbalance_totals t;

	if (!progress_is_due(&r->progress))
		return;
	delivery_totals(r->delivery, &t);
	progress_show(&r->progress,
		      "%" PRIu64 " events stored, %" PRIu64 " lost, %zu connections%s", t.stored,
		      t.lost + t.dropped + t.left_out, r->nconns,
		      delivery_is_failing(r->delivery) ? ", the destination fails" : "");
}
