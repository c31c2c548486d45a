/* SPDX-License-Identifier: Apache-2.0 */
#include "common/link/link.h"

static void put_time(struct json *j, const struct link_stats *s)
{
	if (s->rtt < 0)
		return;
	json_key_i64(j, "rtt_ns", s->rtt);
	json_key_i64(j, "offset_ns", s->offset);
	json_key_i64(j, "offset_error_ns", s->offset_error);
}

void link_stats_json(const struct link_stats *s, enum link_state state, struct json *j)
{
	json_object(j);
	json_key_str(j, "peer", s->peer);
	json_key_str(j, "state", link_state_name(state));
	json_key_u64(j, "frames_in", s->frames_in);
	json_key_u64(j, "frames_out", s->frames_out);
	json_key_u64(j, "bytes_in", s->bytes_in);
	json_key_u64(j, "bytes_out", s->bytes_out);
	json_key_u64(j, "queued_bytes", s->queued);
	json_key_u64(j, "refused", s->refused);
	json_key_u64(j, "dropped", s->dropped);
	json_key_u64(j, "connects", s->connects);
	json_key_i64(j, "silence_ns", s->silence);
	put_time(j, s);
	json_key_str(j, "last_error", s->last_error);
	json_object_end(j);
}
