/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/profile/profile.h"

#include "common/base/str.h"
#include "tools/session/session.h"

#include <stdio.h>
#include <string.h>

/* Rows by node are made from the rows by call. */
static const char *const asked[PROFILE_KINDS] = {
	"call", "rank", "call", "partner", "site", "size"
};

int profile_ask(struct profile *p, enum profile_by by, enum profile_window window, Omis_reply *out)
{
	int rc = session_ask(out, ":omig_calls_profile([],\"%s\",%d) node_get_info([],1)",
			     asked[by], (int)window);

	*p = (struct profile){ .by = by };
	if (rc != CMD_OK)
		return rc;
	if (profile_read(p, by, (*out)[1], (*out)[1] ? (*out)[2] : NULL))
		return CMD_OK;
	omis_reply_free(*out);
	*out = NULL;
	return cmd_fail(CMD_FAILURE, "no memory");
}

/* A process that ended meanwhile is not a failure; a missing right is. */
int profile_enable(enum profile_by by, int depth)
{
	char text[80];
	const char *what = by == PROFILE_PARTNER ? "partner"
			   : by == PROFILE_SITE	 ? "site"
						 : "volume";
	int n = snprintf(text, sizeof(text), ":omig_calls_enable([],\"%s\",0,%d)", what, depth);
	Omis_reply r = omis_request_n(text, (size_t)n, NULL, NULL, 0);
	int rc = CMD_OK;

	if (!r)
		rc = cmd_fail(CMD_FAILURE, "no memory");
	else if (omis_reply_status(r) == OMIS_NO_PERMISSION)
		rc = cmd_fail(CMD_DENIED, "counting cannot be switched on: not permitted");
	omis_reply_free(r);
	return rc;
}

/* --- places in the source */

#define ASK_ADDRESSES 100 /* per request: the service accepts 128 */
#define ASK_BYTES (PROFILE_PLACE_BYTES + 64 * ASK_ADDRESSES)

struct places {
	struct profile *p;
	size_t rows;
	const char *path;
};

/* Functions are joined, the innermost first. */
static void take_place(struct profile_frame *f, const Omis_value *place)
{
	const Omis_value *one;
	struct buf b = BUF_INIT(PROFILE_PLACE_BYTES);

	for (size_t i = 1; (one = value_at(place, i)); i++) {
		const char *function = value_text(one, 0), *source = value_text(one, 1);

		if (function[0])
			buf_printf(&b, "%s%s", b.n ? " < " : "", function);
		if (i == 1 && source[0])
			snprintf(f->source, sizeof(f->source), "%s:%lld", str_base_name(source),
				 (long long)value_int(one, 2));
	}
	if (b.n && !b.failed)
		str_copy(f->function, sizeof(f->function), buf_str(&b));
	f->is_found = f->function[0] || f->source[0];
	buf_done(&b);
}

static void take_places(const struct places *k, const Omis_value *list)
{
	const Omis_value *place;

	for (size_t i = 0; (place = value_at(list, i)); i++)
		for (size_t r = 0; r < k->rows; r++)
			for (size_t j = 0; j < k->p->row[r].nframe; j++) {
				struct profile_frame *f = &k->p->row[r].frame[j];

				if (f->address == value_int(place, 0) && !f->is_found &&
				    !strcmp(f->path, k->path))
					take_place(f, place);
			}
}

static void mark_asked(const struct places *k, int64_t address)
{
	for (size_t r = 0; r < k->rows; r++)
		for (size_t j = 0; j < k->p->row[r].nframe; j++) {
			struct profile_frame *f = &k->p->row[r].frame[j];

			if (f->address == address && !strcmp(f->path, k->path))
				f->is_asked = true;
		}
}

/*
 * Writes the addresses in that file that were not requested yet, for one request to a process with
 * the file.
 */
static size_t put_addresses(const struct places *k, struct buf *text)
{
	size_t n = 0;

	for (size_t r = 0; r < k->rows; r++)
		for (size_t j = 0; j < k->p->row[r].nframe && n < ASK_ADDRESSES; j++) {
			struct profile_frame *f = &k->p->row[r].frame[j];

			if (f->is_asked || strcmp(f->path, k->path) != 0)
				continue;
			if (!n)
				buf_printf(text, ":omig_source([%s],\"%s\",[", k->p->row[r].process,
					   k->path);
			buf_printf(text, "%s%lld", n++ ? "," : "", (long long)f->address);
			mark_asked(k, f->address);
		}
	return n;
}

/* The places in a file that cannot be read stay addresses. */
static void ask_file(const struct places *k)
{
	for (;;) {
		struct buf text = BUF_INIT(ASK_BYTES);
		Omis_value *v = NULL;
		Omis_reply r = NULL;

		if (put_addresses(k, &text)) {
			buf_puts(&text, "])");
			r = omis_request_n(buf_str(&text), text.n, NULL, NULL, 0);
		}
		buf_done(&text);
		if (!r)
			return;
		if (omis_reply_status(r) == OMIS_OK && r[0] && r[1] && r[1]->obj_list &&
		    r[1]->result)
			v = omis_value_parse(r[1]->result, r[1]->result_len);
		take_places(k, v);
		omis_value_free(v);
		omis_reply_free(r);
	}
}

int profile_ask_places(struct profile *p, size_t rows)
{
	struct places k = { .p = p, .rows = rows && rows < p->n ? rows : p->n };

	for (size_t r = 0; r < k.rows; r++)
		for (size_t j = 0; j < p->row[r].nframe; j++) {
			struct profile_frame *f = &p->row[r].frame[j];

			k.path = f->path;
			if (f->path[0] && !f->is_asked && session_is_plain(f->path))
				ask_file(&k);
		}
	return CMD_OK;
}
