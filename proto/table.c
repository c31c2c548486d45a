/* SPDX-License-Identifier: Apache-2.0 */
#include "proto/internal.h"
#include "proto/omig.pb-c.h"

/* Longest values. A field without an entry here is a number. */
#define NAME NAME_MAX_BYTES
#define ROLE 32
#define TOKEN 64 /* tokens of objects and of conditional requests */
#define IDENTITY 1024 /* omig:ROLE/SITE/HOST/OWNER/UID/TOKEN with its parts escaped */
#define ADDRESS 1024 /* "host:port" or a list of a few */
#define REASON 1024 /* a sentence for people */
static_assert(MSG_MISSING_MAX_BYTES <= REASON, "all names that an end may have can be told");
#define SECRET 64
#define DER 8192 /* a certificate of ours has 700 bytes */
#define SERIAL 20 /* X.509 allows no more */
#define WHOLE FRAME_MAX_BYTES

#define ONE(s, f, max)                                        \
	{                                                     \
#f, offsetof(struct msg_##s, f), 0, max, NULL \
	}
#define SUB(s, f, sub)                                              \
	{                                                           \
#f, offsetof(struct msg_##s, f), 0, 0, &shape_##sub \
	}
#define LIST(s, f, max)                                                                    \
	{                                                                                  \
#f, offsetof(struct msg_##s, f), offsetof(struct msg_##s, n##f), max, NULL \
	}
#define SUBS(s, f, sub)                                                                          \
	{                                                                                        \
#f, offsetof(struct msg_##s, f), offsetof(struct msg_##s, n##f), 0, &shape_##sub \
	}

#define SHAPE(s, ...)                                                               \
	static const struct place place_##s[] = { __VA_ARGS__ };                    \
	static const struct shape shape_##s = { #s, &omig__wire__##s##__descriptor, \
						sizeof(struct msg_##s), place_##s }

SHAPE(hello, ONE(hello, version_min, 0), ONE(hello, version_max, 0), ONE(hello, role, ROLE),
      ONE(hello, site, NAME), ONE(hello, host, NAME), ONE(hello, listen, ADDRESS),
      ONE(hello, epoch, 0), ONE(hello, node, 0), ONE(hello, software, NAME),
      ONE(hello, want_redirect, 0), ONE(hello, attach, 0));
SHAPE(hello_ack, ONE(hello_ack, version, 0), ONE(hello_ack, epoch, 0), ONE(hello_ack, name, NAME),
      ONE(hello_ack, node, 0), ONE(hello_ack, site_number, 0), ONE(hello_ack, tool, 0),
      ONE(hello_ack, redirect, ADDRESS), ONE(hello_ack, site, NAME), ONE(hello_ack, retry_ms, 0),
      ONE(hello_ack, system_time_ns, 0), ONE(hello_ack, parents, ADDRESS),
      ONE(hello_ack, level, 0));
SHAPE(enrol, ONE(enrol, token_id, TOKEN), ONE(enrol, secret, SECRET), ONE(enrol, role, ROLE),
      ONE(enrol, site, NAME), ONE(enrol, host, NAME), ONE(enrol, csr_der, DER),
      ONE(enrol, name, NAME));
SHAPE(enrol_ack, ONE(enrol_ack, cert_der, DER), ONE(enrol_ack, ca_der, DER),
      ONE(enrol_ack, error, REASON));
SHAPE(ping, ONE(ping, seq, 0), ONE(ping, sent_ns, 0));
SHAPE(pong, ONE(pong, seq, 0), ONE(pong, sent_ns, 0), ONE(pong, system_time_ns, 0),
      ONE(pong, error_ns, 0));
SHAPE(bye, ONE(bye, reason, REASON));
SHAPE(error, ONE(error, code, 0), ONE(error, text, REASON));
SHAPE(request, ONE(request, id, 0), ONE(request, tool, 0), ONE(request, identity, IDENTITY),
      ONE(request, right, 0), ONE(request, deadline_ns, 0), ONE(request, policy, 0),
      ONE(request, quorum, 0), ONE(request, text, WHOLE), LIST(request, action, 0),
      ONE(request, flags, 0), ONE(request, depth, 0), ONE(request, csr, TOKEN),
      ONE(request, op_epoch, 0), ONE(request, op, 0));
SHAPE(entry, ONE(entry, action, 0), ONE(entry, objects, WHOLE), ONE(entry, status, 0),
      ONE(entry, value, WHOLE));
SHAPE(missing, ONE(missing, object, WHOLE), ONE(missing, reason, REASON));
SHAPE(coverage, ONE(coverage, asked, 0), ONE(coverage, answered, 0),
      SUBS(coverage, missing, missing), ONE(coverage, oldest_ns, 0), ONE(coverage, newest_ns, 0));
SHAPE(reply, ONE(reply, id, 0), ONE(reply, kind, 0), SUBS(reply, entry, entry),
      SUB(reply, coverage, coverage), ONE(reply, csr, TOKEN), ONE(reply, more, 0));
SHAPE(cancel, ONE(cancel, id, 0));
SHAPE(object, ONE(object, token, TOKEN), ONE(object, parent, TOKEN), ONE(object, op, 0),
      ONE(object, name, NAME), ONE(object, pid, 0), ONE(object, rank, 0),
      ONE(object, world_size, 0), ONE(object, job, NAME), ONE(object, flavour, NAME),
      ONE(object, state, 0), ONE(object, exit_status, 0), ONE(object, time_ns, 0),
      ONE(object, sub, 0), ONE(object, site, NAME), ONE(object, host, NAME));
SHAPE(directory, ONE(directory, full, 0), ONE(directory, node, 0), SUBS(directory, object, object),
      ONE(directory, more, 0), ONE(directory, attach, 0));
SHAPE(arm, ONE(arm, csr, TOKEN), ONE(arm, tool, 0), ONE(arm, identity, IDENTITY),
      ONE(arm, version, 0), ONE(arm, text, WHOLE), ONE(arm, local_prefix, 0), ONE(arm, reply, 0));
SHAPE(arm_ack, ONE(arm_ack, csr, TOKEN), ONE(arm_ack, version, 0), SUBS(arm_ack, entry, entry));
SHAPE(disarm, ONE(disarm, csr, TOKEN));
SHAPE(par, ONE(par, index, 0), ONE(par, value, WHOLE));
SHAPE(triggered, ONE(triggered, csr, TOKEN), ONE(triggered, tool, 0), ONE(triggered, seq, 0),
      ONE(triggered, time_ns, 0), ONE(triggered, node, TOKEN), ONE(triggered, proc, TOKEN),
      ONE(triggered, thread, TOKEN), SUBS(triggered, par, par), SUBS(triggered, entry, entry),
      ONE(triggered, dropped, 0), ONE(triggered, held, 0), ONE(triggered, depth, 0));
SHAPE(release, ONE(release, csr, TOKEN), ONE(release, seq, 0), ONE(release, node, TOKEN));
SHAPE(losses, ONE(losses, csr, TOKEN), ONE(losses, dropped, 0), ONE(losses, is_last, 0));
SHAPE(disown, ONE(disown, node, 0), ONE(disown, host, NAME));
SHAPE(tool_gone, ONE(tool_gone, tool, 0));
SHAPE(let_go, ONE(let_go, reason, REASON));
SHAPE(flow_piece, ONE(flow_piece, object, TOKEN), ONE(flow_piece, graph, WHOLE));
SHAPE(flow_load, ONE(flow_load, measurement, 0), ONE(flow_load, tool, 0),
      ONE(flow_load, identity, IDENTITY), ONE(flow_load, version, 0), ONE(flow_load, start_ns, 0),
      ONE(flow_load, every_ns, 0), ONE(flow_load, read, 0), SUBS(flow_load, piece, flow_piece),
      ONE(flow_load, more, 0));
SHAPE(flow_ack, ONE(flow_ack, measurement, 0), ONE(flow_ack, version, 0),
      SUBS(flow_ack, entry, entry));
SHAPE(flow_end, ONE(flow_end, measurement, 0));
SHAPE(flow_read, ONE(flow_read, measurement, 0), ONE(flow_read, read, 0),
      ONE(flow_read, time_ns, 0));
SHAPE(flow_batch, ONE(flow_batch, measurement, 0), ONE(flow_batch, read, 0),
      ONE(flow_batch, time_ns, 0), ONE(flow_batch, object, TOKEN), LIST(flow_batch, batch, WHOLE),
      ONE(flow_batch, dropped, 0));
SHAPE(events_open, ONE(events_open, sub, TOKEN), ONE(events_open, identity, IDENTITY),
      ONE(events_open, stream, 0), ONE(events_open, room, 0), ONE(events_open, policy, 0),
      ONE(events_open, max_bytes, 0), ONE(events_open, lease_s, 0), ONE(events_open, ending, 0));
SHAPE(events, ONE(events, sub, TOKEN), ONE(events, stream, 0), ONE(events, place, 0),
      ONE(events, blocks, WHOLE), ONE(events, end, 0), ONE(events, missing, REASON));
SHAPE(events_ack, ONE(events_ack, sub, TOKEN), ONE(events_ack, stream, 0),
      ONE(events_ack, place, 0));
SHAPE(events_end, ONE(events_end, sub, TOKEN), ONE(events_end, identity, IDENTITY));
SHAPE(revoked, LIST(revoked, serial, SERIAL));
SHAPE(stop, ONE(stop, reason, REASON));

#define ROW(NAME_, name_, number) [number] = &shape_##name_,

const struct shape *shape_of(uint8_t type)
{
	static const struct shape *const shapes[MSG_TYPE_END] = { MSG_TYPES(ROW) };

	return type < MSG_TYPE_END ? shapes[type] : NULL;
}
