/* SPDX-License-Identifier: Apache-2.0 */
#include "common/daemon/link.h"

static void put_u64(struct json *j, const char *key, uint64_t v)
{
	json_key(j, key);
	json_u64(j, v);
}

static void put_i64(struct json *j, const char *key, int64_t v)
{
	json_key(j, key);
	json_i64(j, v);
}

static void put_str(struct json *j, const char *key, const char *v)
{
	json_key(j, key);
	json_str(j, v);
}

static void put_time(struct json *j, const struct link_stats *s)
{
	if (s->rtt < 0)
		return;
	put_i64(j, "rtt_ns", s->rtt);
	put_i64(j, "offset_ns", s->offset);
	put_i64(j, "offset_error_ns", s->offset_error);
}

void link_stats_json(const struct link_stats *s, enum link_state state, struct json *j)
{
	json_object(j);
	put_str(j, "peer", s->peer);
	put_str(j, "state", link_state_name(state));
	put_u64(j, "frames_in", s->frames_in);
	put_u64(j, "frames_out", s->frames_out);
	put_u64(j, "bytes_in", s->bytes_in);
	put_u64(j, "bytes_out", s->bytes_out);
	put_u64(j, "queued_bytes", s->queued);
	put_u64(j, "refused", s->refused);
	put_u64(j, "dropped", s->dropped);
	put_u64(j, "connects", s->connects);
	put_i64(j, "silence_ns", s->silence);
	put_time(j, s);
	put_str(j, "last_error", s->last_error);
	json_object_end(j);
}
