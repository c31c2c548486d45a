/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/events/destination.h"

#include "common/base/str.h"
#include "eventlog/archive/arkept.h"
#include "eventlog/evkeep.h"
#include "tools/term/say.h"
#include "tools/events/logplace.h"

#include <stdlib.h>
#include <string.h>

struct destination {
	const char *where; /* without the leading word; borrowed */
	struct evbalance balance;
	struct archive *archive; /* or */
	struct evkeep *file;
	uint64_t damaged;
};

static const char *without(const char *prefix, const char *s)
{
	return str_has_prefix(s, prefix) ? s + strlen(prefix) : NULL;
}

static int open_any(struct destination *k, const char *to, struct err *e)
{
	const char *archive = arpg_is_url(to) ? to : without("archive:", to),
		   *file = without("file:", to);
	int rc;

	k->where = archive ? archive : file ? file : to;
	if (!archive)
		return evkeep_open(k->where, &k->balance, &k->file, e);
	rc = archive_open(archive, AR_WRITE, 0, &k->archive, e);
	return rc ? rc : arkept_open(k->archive, &k->balance, e);
}

int destination_open(const char *to, struct destination **out)
{
	struct destination *k = calloc(1, sizeof(*k));
	struct err e = { 0 };

	if (!k)
		return cmd_fail(CMD_FAILURE, "out of memory");
	evbalance_init(&k->balance);
	if (open_any(k, to, &e)) {
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
	evbalance_done(&k->balance);
	free(k);
}

static int put_block(struct destination *k, const uint8_t *p, const struct evblock *head,
		     struct err *e)
{
	struct evbalance_stream *s;
	int got = evbalance_block(&k->balance, p, head, &s, e);

	if (got <= 0)
		return got;
	return k->archive ? arkept_block(k->archive, s, p, head, e)
			  : evkeep_put(k->file, p, head->bytes, e);
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

int destination_commit(struct destination *k)
{
	struct err e = { 0 };
	int rc = k->archive ? arkept_commit(k->archive, &k->balance, &e)
			    : evkeep_commit(k->file, &e);

	return rc ? logplace_fail(k->where, &e) : CMD_OK;
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
