/* SPDX-License-Identifier: Apache-2.0 */
#include "sm/node/counters.h"

#include "common/base/limits.h"
#include "common/omis/text/value.h"

#include <inttypes.h>

#define LINE_FACTS 8

void sm_counters_add(struct sm_counters *s, const char *name, int64_t value)
{
	if (s->n < SM_COUNTERS_MAX)
		s->counter[s->n++] = (struct sm_counter){ name, value, NULL };
}

void sm_counters_add_text(struct sm_counters *s, const char *name, const char *text)
{
	if (s->n < SM_COUNTERS_MAX)
		s->counter[s->n++] = (struct sm_counter){ name, 0, text };
}

static void write_value(const struct sm_counters *s, struct buf *b)
{
	struct omis_writer w = OMIS_WRITER(b);

	omis_write_string(&w, "sm");
	omis_write_string(&w, OMIG_VERSION);
	omis_write_int(&w, s->uptime_ns);
	for (size_t i = 0; i < s->n; i++) {
		omis_write_list(&w);
		omis_write_string(&w, s->counter[i].name);
		if (s->counter[i].text)
			omis_write_string(&w, s->counter[i].text);
		else
			omis_write_int(&w, s->counter[i].value);
		omis_write_list_end(&w);
	}
}

int sm_counters_reply(const struct sm_counters *s, uint32_t action, const char *object,
		      struct reply *into)
{
	struct buf b = BUF_INIT(FRAME_MAX_BYTES);
	int rc;

	write_value(s, &b);
	rc = b.failed ? -ERR_NOMEM : reply_add_n(into, action, object, STATUS_OK, buf_bytes(&b));
	buf_done(&b);
	if (rc)
		return rc;
	into->coverage.asked++;
	into->coverage.answered++;
	return 0;
}

void sm_counters_dump(const struct sm_counters *s, struct buf *out)
{
	for (size_t i = 0; i < s->n; i++) {
		const struct sm_counter *f = &s->counter[i];

		if (f->text)
			buf_printf(out, "%s=\"%s\"", f->name, f->text);
		else
			buf_printf(out, "%s=%" PRId64, f->name, f->value);
		buf_putc(out, i % LINE_FACTS == LINE_FACTS - 1 || i + 1 == s->n ? '\n' : ' ');
	}
}
