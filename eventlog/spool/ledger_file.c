/* SPDX-License-Identifier: Apache-2.0 */
/* Encodes and decodes the ledger; docs/eventlog.md has the format. */
#include "common/base/cur.h"
#include "eventlog/spool/ledger.h"

#include <string.h>

#define GAP_BYTES 60
#define CONSUMER_MAX_BYTES (1 + LEDGER_NAME_BYTES + 8 + 4)

_Static_assert((LEDGER_GAPS_OF_ALL_MAX + LEDGER_GAPS_MAX) * GAP_BYTES +
			       LEDGER_CONSUMERS_MAX * CONSUMER_MAX_BYTES + 64 <=
		       LEDGER_FILE_MAX_BYTES,
	       "the largest ledger fits in its file");

static void put_gaps(struct buf *b, const struct gaps *g)
{
	buf_put_u32le(b, (uint32_t)g->n);
	list_each (i, &g->all) {
		const struct gap *gap = list_entry(i, struct gap, at);

		buf_put_u64le(b, gap->place);
		buf_put_u64le(b, gap->what.stream);
		buf_put_u64le(b, gap->what.seq);
		buf_put_u64le(b, gap->what.end_seq);
		buf_put_u64le(b, gap->what.first);
		buf_put_u64le(b, gap->what.end_first);
		buf_put_u64le(b, gap->what.dropped);
		buf_put_u32le(b, gap->what.is_last);
	}
}

static void put_consumer(struct buf *b, const struct consumer *c)
{
	buf_putc(b, (uint8_t)strlen(c->name));
	buf_puts(b, c->name);
	buf_put_u64le(b, c->cursor);
	put_gaps(b, &c->gaps);
}

int ledger_encode(const struct ledger *l, struct buf *out)
{
	uint16_t n = 0;

	buf_clear(out);
	for (size_t i = 0; i < LEDGER_CONSUMERS_MAX; i++)
		n += *l->consumer[i].name != 0;
	buf_put_u16le(out, n);
	put_gaps(out, &l->lost);
	for (size_t i = 0; i < LEDGER_CONSUMERS_MAX; i++)
		if (*l->consumer[i].name)
			put_consumer(out, &l->consumer[i]);
	return !out->failed ? 0 : out->n > out->max - 64 ? -ERR_LIMIT : -ERR_NOMEM;
}

static int get_gaps(struct cur *c, struct gaps *g)
{
	uint32_t n = cur_u32le(c);
	int rc = 0;

	for (; n && !rc && !c->failed; n--) {
		uint64_t place = cur_u64le(c);
		struct evgap what = { .stream = cur_u64le(c) };

		what.seq = cur_u64le(c);
		what.end_seq = cur_u64le(c);
		what.first = cur_u64le(c);
		what.end_first = cur_u64le(c);
		what.dropped = cur_u64le(c);
		what.is_last = cur_u32le(c);
		if (c->failed || what.end_seq <= what.seq || what.end_first < what.first)
			return -ERR_PARSE;
		rc = gaps_add(g, &what, place);
	}
	return rc;
}

static int get_consumer(struct cur *c, struct ledger *l)
{
	char name[LEDGER_NAME_BYTES] = "";
	size_t n = cur_u8(c);
	const uint8_t *p = cur_bytes(c, n);
	uint64_t place = cur_u64le(c);
	struct consumer *added;

	if (c->failed || n >= sizeof(name) ||
	    place > INT64_MAX) /* so that sums of positions do not overflow */
		return -ERR_PARSE;
	memcpy(name, p, n);
	if (ledger_add(l, name, place, &added))
		return -ERR_PARSE;
	return get_gaps(c, &added->gaps);
}

static int get_all(struct cur *c, struct ledger *l)
{
	unsigned n = cur_u16le(c);
	int rc = get_gaps(c, &l->lost);

	for (; n && !rc; n--)
		rc = get_consumer(c, l);
	return !rc && !cur_is_done(c) ? -ERR_PARSE : rc;
}

int ledger_decode(struct ledger *l, const uint8_t *p, size_t n)
{
	struct cur c;
	int rc;

	cur_init(&c, p, n);
	rc = get_all(&c, l);
	if (rc) {
		ledger_done(l);
		ledger_init(l);
	}
	l->is_dirty = false;
	return !rc || rc == -ERR_NOMEM ? rc : -ERR_PARSE;
}
