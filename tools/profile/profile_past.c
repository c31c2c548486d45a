/* SPDX-License-Identifier: Apache-2.0 */
/* A profile out of the history of mainsm: sums over the ranks of a job, by call. */
#include "tools/profile/profile.h"

#include "common/base/array.h"
#include "common/base/limits.h"
#include "common/base/str.h"
#include "tools/session/session.h"

#include <math.h>
#include <string.h>

/* Values of omig_history_calls(), and of each function in it. */
enum {
	PAST_FROM,
	PAST_TO,
	PAST_SAMPLES,
	PAST_COVERED,
	PAST_PROCESS_S,
	PAST_COUNTED_S,
	PAST_VOLUME_S,
	PAST_RANKS,
	PAST_NODES,
	PAST_MISSING,
	PAST_FELL,
	PAST_CALLS
};
enum { PAST_NAME, PAST_CLASS, PAST_COUNT, PAST_DELAY, PAST_OUT, PAST_IN };

static bool add_row(struct profile *p, const Omis_value *v, bool has_bytes)
{
	struct profile_row *r;

	if (array_grow(&p->row, &p->cap, p->n + 1, sizeof(*p->row), OMIS_OBJECTS_MAX))
		return false;
	r = &p->row[p->n++];
	*r = (struct profile_row){ .rank = -1,
				   .partner = -1,
				   .most_rank = -1,
				   .calls = value_float(v, PAST_COUNT),
				   .seconds = value_float(v, PAST_DELAY) * 1e-9,
				   .bytes_out = (double)NAN,
				   .bytes_in = (double)NAN,
				   .wall_s = (double)NAN,
				   .in_call = (double)NAN,
				   .ranks = (double)NAN,
				   .most_s = (double)NAN,
				   .shortest_s = (double)NAN,
				   .longest_s = (double)NAN,
				   .bytes = (double)NAN };
	if (has_bytes) {
		r->bytes_out = value_float(v, PAST_OUT);
		r->bytes_in = value_float(v, PAST_IN);
	}
	str_copy(r->name, sizeof(r->name), value_text(v, PAST_NAME));
	str_copy(r->class, sizeof(r->class), value_text(v, PAST_CLASS));
	p->calls += r->calls;
	p->seconds += r->seconds;
	p->bytes_out += r->bytes_out;
	p->bytes_in += r->bytes_in;
	return true;
}

static bool fill(struct profile *p, const Omis_value *all)
{
	double counted = value_float(all, PAST_COUNTED_S), volume = value_float(all, PAST_VOLUME_S),
	       covered = value_float(all, PAST_COVERED) * 1e-9;
	const Omis_value *v;

	p->ranks = (size_t)value_int(all, PAST_RANKS);
	p->nodes = (size_t)value_int(all, PAST_NODES);
	p->wall_s = counted;
	p->longest_s = covered;
	p->untimed = counted > 0 ? 0 : p->ranks;
	/* counting may have been switched on within a sample: that much is ignored */
	p->has_bytes = volume > 0 && volume >= 0.9 * counted;
	p->time_ns = value_int(all, PAST_TO);
	for (size_t i = PAST_CALLS; (v = value_at(all, i)); i++)
		if (value_int(v, PAST_COUNT) + value_int(v, PAST_DELAY) > 0 &&
		    !add_row(p, v, p->has_bytes))
			return false;
	return true;
}

static int say_gaps(const Omis_value *all)
{
	double process = value_float(all, PAST_PROCESS_S),
	       counted = value_float(all, PAST_COUNTED_S);

	if (!(counted > 0))
		cmd_warn("calls were not counted then: omig run --measure=volume, omig calls or "
			 "omig top count them");
	else if (counted < 0.95 * process)
		cmd_warn("calls were counted for %.0f %% of that time only",
			 100 * counted / process);
	if (value_int(all, PAST_MISSING))
		cmd_warn("%lld answers of hosts are missing in it",
			 (long long)value_int(all, PAST_MISSING));
	if (value_int(all, PAST_FELL))
		cmd_warn("some processes were dropped: their last calls may be missing");
	return CMD_OK;
}

int profile_ask_past(struct profile *p, const char *job, const struct profile_past *when,
		     Omis_reply *out)
{
	Omis_value *all;
	int rc = session_ask(out, ":omig_history_calls(\"%s\",%lld,%lld)", job,
			     (long long)when->from, (long long)when->to);

	memset(p, 0, sizeof(*p));
	p->by = PROFILE_CALL;
	if (rc != CMD_OK)
		return rc;
	all = session_values(*out);
	if (!value_int(all, PAST_SAMPLES))
		rc = cmd_fail(CMD_NOTFOUND,
			      "the history has nothing of job %s then; omig jobs --all shows what "
			      "it has",
			      job);
	else if (!fill(p, all))
		rc = cmd_fail(CMD_FAILURE, "no memory");
	else
		rc = say_gaps(all);
	omis_value_free(all);
	if (rc != CMD_OK) {
		omis_reply_free(*out);
		*out = NULL;
		profile_done(p);
	}
	return rc;
}
