/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/events/destination.h"

#include "common/base/array.h"
#include "common/base/file.h"
#include "common/base/limits.h"
#include "common/base/str.h"
#include "eventlog/archive/arkept.h"
#include "eventlog/evkeep.h"
#include "eventlog/send/evsend.h"
#include "tools/events/monitor_out.h"
#include "tools/term/say.h"
#include "tools/events/logplace.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ARCHIVE "archive:"
#define PLAIN "file:"
#define PLAIN_URL "file://"

struct destination {
	const char *where; /* without the leading word; borrowed */
	struct evbalance balance;
	struct archive *archive; /* or */
	struct evkeep *file; /* or */
	struct evsend *send; /* or */
	struct monitor_out *monitor;
	/* block of the last two (receiver and monitor): it is in the balance, and not sent yet */
	bool is_owed;
	struct evblock owed;
	uint64_t missing; /* events that the monitor was notified of */
	uint64_t damaged;
};

const char *destination_place(const char *to)
{
	static const char *const words[] = { ARCHIVE, PLAIN_URL, PLAIN };

	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (str_has_prefix(to, words[i]))
			return to + strlen(words[i]);
	return to;
}

/* Reads the oldest file first, in the order in which the blocks arrived. */
static int read_rotated(struct destination *k, unsigned older, struct err *e)
{
	char path[FILE_PATH_BYTES];
	struct evkeep *file;
	int rc = 0;

	for (unsigned i = older; !rc && i > 0; i--) {
		snprintf(path, sizeof(path), "%s.%u", k->where, i);
		if (access(path, F_OK))
			continue;
		rc = evkeep_open(path, &k->balance, &file, e);
		if (!rc)
			evkeep_close(file);
	}
	return rc;
}

static int open_receiver(struct destination *k, const char *to, struct err *e)
{
	struct evurl url;

	k->where = to;
	return evurl_parse(to, &url, e) ? -ERR_INVALID : evsend_open(&url, &k->send, e);
}

static int open_any(struct destination *k, const char *to, unsigned older, struct err *e)
{
	int rc;

	if (str_has_prefix(to, "x-netlog") || str_has_prefix(to, "x-syslog"))
		return open_receiver(k, to, e);
	k->where = destination_place(to);
	if (str_eq(to, DESTINATION_MONITOR))
		return monitor_out_open(&k->monitor, e);
	if (!arpg_is_url(to) && !str_has_prefix(to, ARCHIVE)) {
		rc = read_rotated(k, older, e);
		return rc ? rc : evkeep_open(k->where, &k->balance, &k->file, e);
	}
	rc = archive_open(k->where, AR_WRITE, 0, &k->archive, e);
	return rc ? rc : arkept_open(k->archive, &k->balance, e);
}

int destination_open(const char *to, struct destination **out)
{
	return destination_open_rotated(to, 0, out);
}

int destination_open_rotated(const char *to, unsigned older, struct destination **out)
{
	struct destination *k = calloc(1, sizeof(*k));
	struct err e = { 0 };

	if (!k)
		return cmd_fail(CMD_FAILURE, "out of memory");
	evbalance_init(&k->balance);
	if (open_any(k, to, older, &e)) {
		int rc = logplace_fail(k->where, &e);

		destination_close(k);
		return rc;
	}
	*out = k;
	return CMD_OK;
}

void destination_close(struct destination *k)
{
	if (!k)
		return;
	archive_close(k->archive);
	evkeep_close(k->file);
	evsend_close(k->send, 0, NULL);
	monitor_out_close(k->monitor);
	evbalance_done(&k->balance);
	free(k);
}

/*
 * Waits for room, so that the sender counts no event as lost; acknowledgements of the receiver
 * make room.
 */
static int send_block(struct destination *k, const uint8_t *p, size_t n, struct err *e)
{
	const struct iovec block = { (void *)(uintptr_t)p, n };

	if (evsend_put(k->send, &block, 1))
		return 0;
	if (!evsend_flush(k->send, EVSEND_CLOSE_NS))
		return err_set(e, ERR_TIMEOUT, "does not acknowledge what was sent");
	return evsend_put(k->send, &block, 1) ? 0 : err_set(e, ERR_LIMIT, "a block without room");
}

/* Puts a new block. ERR_TIMEOUT: there is no room now; the caller passes the same block again. */
static int put_new(struct destination *k, struct evbalance_stream *s, const uint8_t *p,
		   const struct evblock *head, struct err *e)
{
	if (k->send)
		return send_block(k, p, head->bytes, e);
	if (k->monitor)
		return monitor_out_block(k->monitor, p, head, e);
	return k->archive ? arkept_block(k->archive, s, p, head, e)
			  : evkeep_put(k->file, p, head->bytes, e);
}

static int put_block(struct destination *k, const uint8_t *p, const struct evblock *head,
		     struct err *e)
{
	bool is_owed = k->is_owed && head->stream == k->owed.stream && head->seq == k->owed.seq;
	struct evbalance_stream *s = NULL;
	int got = is_owed ? 1 : evbalance_block(&k->balance, p, head, &s, e), rc;

	if (got <= 0)
		return got;
	rc = put_new(k, s, p, head, e);
	k->is_owed = rc == -ERR_TIMEOUT;
	k->owed = *head;
	return rc;
}

int destination_blocks(struct destination *k, const void *blocks, size_t n)
{
	const uint8_t *p = blocks;
	struct evblock head;
	struct err e = { 0 };

	for (size_t at = 0; at < n; at += head.bytes) {
		if (evblock_look(p + at, n - at, &head) != EVBLOCK_GOOD) {
			k->damaged += n - at;
			return CMD_OK;
		}
		if (put_block(k, p + at, &head, &e) < 0)
			return logplace_fail(k->where, &e);
	}
	return CMD_OK;
}

/*
 * Reports the number of events that have not arrived to subscriptions of the monitor, as an event.
 */
static int commit_losses(struct destination *k)
{
	struct evbalance_totals t;
	struct err e = { 0 };
	uint64_t missing;

	evbalance_totals(&k->balance, &t);
	missing = t.dropped + t.lost;
	if (missing <= k->missing)
		return CMD_OK;
	if (monitor_out_lost(k->monitor, missing - k->missing, &e))
		return logplace_fail(k->where, &e);
	k->missing = missing;
	return CMD_OK;
}

int destination_commit(struct destination *k)
{
	char why[EVSEND_WHY_BYTES];
	struct err e = { 0 };
	int rc;

	if (k->send)
		return evsend_flush(k->send, EVSEND_CLOSE_NS)
			       ? CMD_OK
			       : cmd_fail(CMD_TIMEOUT, "%s: does not acknowledge what was sent%s",
					  k->where, evsend_why(k->send, why));
	if (k->monitor)
		return commit_losses(k);
	rc = k->archive ? arkept_commit(k->archive, &k->balance, &e) : evkeep_commit(k->file, &e);

	return rc ? logplace_fail(k->where, &e) : CMD_OK;
}

/* Renames each existing file to the next number. */
static int move_on(const char *where, unsigned older)
{
	char from[FILE_PATH_BYTES], to[FILE_PATH_BYTES];

	for (unsigned i = older; i > 0; i--) {
		snprintf(to, sizeof(to), "%s.%u", where, i);
		snprintf(from, sizeof(from), i > 1 ? "%s.%u" : "%s", where, i - 1);
		if (rename(from, to) && errno != ENOENT)
			return -ERR_SYS;
	}
	return 0;
}

int destination_rotate(struct destination *k, unsigned older)
{
	struct err e = { 0 };

	if (move_on(k->where, older))
		return cmd_fail(CMD_FAILURE, "%s: rotating it: %m", k->where);
	evkeep_close(k->file);
	k->file = NULL;
	if (evkeep_open(k->where, &k->balance, &k->file, &e))
		return logplace_fail(k->where, &e);
	return CMD_OK;
}

const struct monitor_out *destination_monitor(const struct destination *k)
{
	return k->monitor;
}

bool destination_is_file(const struct destination *k, uint64_t *bytes)
{
	struct stat st;

	if (!k->file)
		return false;
	*bytes = stat(k->where, &st) ? 0 : (uint64_t)st.st_size;
	return true;
}

const struct evbalance *destination_balance(const struct destination *k)
{
	return &k->balance;
}

uint64_t destination_damaged(const struct destination *k)
{
	return k->damaged;
}

const char *destination_name(const struct destination *k)
{
	return logplace_name(k->where);
}
