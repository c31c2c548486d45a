/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/sensors/sense_out.h"

#include "common/base/limits.h"
#include "common/base/rng.h"
#include "eventlog/send/evsend.h"
#include "eventlog/text/evalone.h"
#include "tools/events/logwrite.h"
#include "tools/term/say.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

struct sense_out {
	const char *to; /* borrowed */
	struct logwrite *lines; /* or */
	int fd; /* or */
	struct evsend *send;
	struct evwrite w;
	struct evtypes types;
	struct evalone_said said;
};

static int open_target(struct sense_out *o)
{
	struct evurl url;
	struct err e = { 0 };

	if (evurl_parse(o->to, &url, &e))
		return cmd_fail(CMD_USAGE, "%s", e.text);
	if (url.kind != EVURL_FILE)
		return evsend_open(&url, &o->send, &e)
			       ? cmd_fail(CMD_FAILURE, "%s: %s", o->to, e.text)
			       : CMD_OK;
	o->fd = open(url.path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	return o->fd < 0 ? cmd_fail(CMD_FAILURE, "%s: %m", o->to) : CMD_OK;
}

static int open_any(struct sense_out *o, bool is_json)
{
	uint64_t stream;

	if (!o->to)
		return logwrite_open(is_json ? "json" : "bp", NULL, &o->lines);
	if (rng_fill_random(&stream, sizeof(stream), NULL))
		return cmd_fail(CMD_FAILURE, "no random numbers");
	evwrite_init(&o->w, stream, false, 0);
	evtypes_init(&o->types);
	return open_target(o);
}

int sense_out_open(const char *to, bool is_json, struct sense_out **out)
{
	struct sense_out *o = calloc(1, sizeof(*o));
	int rc;

	if (!o)
		return cmd_fail(CMD_FAILURE, "out of memory");
	o->to = to;
	o->fd = -1;
	rc = open_any(o, is_json);
	*out = o;
	return rc;
}

int sense_out_event(struct sense_out *o, const struct event *ev)
{
	const struct evalone alone = {
		.w = &o->w, .types = &o->types, .said = &o->said, .block_bytes = EVALONE_BLOCK_BYTES
	};
	struct err e = { 0 };

	if (o->lines)
		return logwrite_event(o->lines, ev);
	return evalone_event(&alone, ev, &e) ? cmd_fail(CMD_FAILURE, "%s", e.text) : CMD_OK;
}

/* Writes a block by one call, so that other writers append only between blocks. */
static int write_block(struct sense_out *o, const uint8_t *p, size_t n)
{
	const struct iovec block = { (void *)(uintptr_t)p, n };

	if (o->send) {
		/* without room the block is lost, and its number shows that to the receiver */
		evsend_put(o->send, &block, 1);
		return CMD_OK;
	}
	return write(o->fd, p, n) == (ssize_t)n ? CMD_OK : cmd_fail(CMD_FAILURE, "%s: %m", o->to);
}

static int write_blocks(struct sense_out *o, bool is_last)
{
	struct evblock head;
	int rc = CMD_OK;

	if (evwrite_cut(&o->w, is_last, NULL))
		return cmd_fail(CMD_FAILURE, "out of memory");
	for (size_t at = 0; rc == CMD_OK && at < o->w.out.n; at += head.bytes) {
		evblock_head(o->w.out.p + at, &head);
		rc = write_block(o, o->w.out.p + at, head.bytes);
	}
	buf_clear(&o->w.out);
	return rc;
}

int sense_out_flush(struct sense_out *o)
{
	return o->lines ? logwrite_flush(o->lines) : write_blocks(o, false);
}

static int finish(struct sense_out *o)
{
	if (o->lines)
		return logwrite_finish(o->lines);
	return o->send || o->fd >= 0 ? write_blocks(o, true) : CMD_OK;
}

int sense_out_close(struct sense_out *o)
{
	char why[EVSEND_WHY_BYTES];
	int rc;

	if (!o)
		return CMD_OK;
	rc = finish(o);
	if (o->lines)
		logwrite_close(o->lines);
	if (evsend_close(o->send, EVSEND_CLOSE_NS, why) && rc == CMD_OK)
		rc = cmd_fail(CMD_FAILURE, "%s: the receiver has not confirmed all events%s", o->to,
			      why);
	if (o->fd >= 0)
		close(o->fd);
	if (o->to) {
		evwrite_done(&o->w);
		evtypes_done(&o->types);
	}
	free(o);
	return rc;
}
