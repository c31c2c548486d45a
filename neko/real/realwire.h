/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages of a real run: datagrams between its processes, and frames between a process, its
 * factory and the master. All input is checked. docs/neko.md describes a run.
 */
#ifndef NEKO_REAL_REALWIRE_H
#define NEKO_REAL_REALWIRE_H

#include "common/base/buf.h"
#include "common/base/limits.h"
#include "common/time/timebase.h"
#include "neko/real/real.h"
#include "neko/real/reallog.h"
#include "neko/core/world.h"
#include "proto/frame.h"

#include <netinet/in.h>

/* --- datagrams */

#define REALWIRE_HEADER_BYTES 40
#define REALWIRE_DATAGRAM_MAX_BYTES \
	(REALWIRE_HEADER_BYTES + 4 * REAL_PROCESSES_MAX + NEKO_CONTENT_MAX_BYTES)
_Static_assert(REALWIRE_DATAGRAM_MAX_BYTES <= 65507, "UDP over IPv4 has no longer one");

/*
 * Writes a datagram for one process. number: index among the datagrams to that process over this
 * network. out has REALWIRE_DATAGRAM_MAX_BYTES. Returns the size.
 */
size_t realwire_datagram(uint8_t *out, uint64_t key, uint32_t to, uint32_t number,
			 const struct neko_msg *m);

/*
 * Writes one datagram for a group. number[i] is the number for process i + 1, as above, plus 1; 0:
 * not for that process.
 */
size_t realwire_group_datagram(uint8_t *out, uint64_t key, const uint32_t *number,
			       uint32_t nprocess, const struct neko_msg *m);

struct realwire_end {
	uint64_t key; /* key of the run */
	uint32_t id; /* the process */
	uint8_t net;
};

/*
 * Returns the message for this end, with one reference. Returns NULL if it belongs to another run
 * or process, has an undeclared type, or if there is no memory. Accepts both kinds of datagrams.
 */
struct neko_msg *realwire_message(struct neko_world *w, const struct realwire_end *to,
				  struct bytes in, uint32_t *number);

/* --- frames: proto/frame.h */

enum realwire_type {
	REALWIRE_START = 200, /* to a factory: start process N of this run */
	REALWIRE_READY, /* from a process: its ports */
	REALWIRE_FAILED, /* the reason why it cannot be that process */
	REALWIRE_PEERS, /* to the process: key and addresses of the run */
	REALWIRE_GO, /* time 0 of the run */
	REALWIRE_STOP,
	REALWIRE_BLOCK, /* from a process: events, delays, state of its clock */
	REALWIRE_KILL, /* to a factory: kill the process at once */
	REALWIRE_GONE, /* from a factory: the process has ended */
	REALWIRE_PING, /* from a factory: requests the time */
	REALWIRE_PONG,
	REALWIRE_SAMPLE, /* from a factory to its process: a sample of the master's time */
	REALWIRE_CRASH, /* to a process: crash as configured */
};

/*
 * Reads available input of a stream, with flags of recv(). Fails with ERR_AGAIN without input,
 * ERR_CLOSED at its end, ERR_PROTO, ERR_NOMEM. Blocks unless MSG_DONTWAIT is set.
 */
int realwire_recv(int fd, struct frame_in *in, int flags);

/*
 * Does not block. Fails with ERR_CLOSED if the other end has closed, whose earlier data can still
 * be received, and with ERR_LIMIT.
 */
int realwire_send(int fd, const struct buf *frame);

#define REALWIRE_WORDS_BYTES 512 /* text of a reason, with its 0 */

struct realwire_start {
	uint32_t m, id;
	uint64_t seed;
	uint32_t address; /* IPv4, host order: address of its networks */
	nsec_t silence; /* longest permitted silence of the master */
	bool wants_delays;
	/* the configuration; after decoding it points into the frame, without a 0 at its end */
	const char *text;
	size_t ntext;
};
#define REALWIRE_TEXT_MAX_BYTES (FRAME_MAX_BYTES - 64)

struct realwire_ready {
	uint32_t n;
	uint16_t port[NEKO_NETS_MAX];
};

struct realwire_gone {
	nsec_t at, error; /* times of the master's clock; at < 0: unknown */
	char why[REALWIRE_WORDS_BYTES];
};

/* Append whole frames. Fail with ERR_NOMEM, ERR_LIMIT. */
int realwire_put_start(struct buf *out, const struct realwire_start *s);
int realwire_put_ready(struct buf *out, const struct realwire_ready *r);
int realwire_put_words(struct buf *out, uint8_t type, const char *words);
int realwire_put_peers(struct buf *out, uint64_t key, const struct sockaddr_in *a, uint32_t n);
int realwire_put_gone(struct buf *out, const struct realwire_gone *g);
int realwire_put_times(struct buf *out, uint8_t type, const nsec_t *t, unsigned n);

/* Decode payloads. Fail with ERR_PROTO. */
int realwire_get_start(const uint8_t *p, size_t n, struct realwire_start *out);
int realwire_get_ready(const uint8_t *p, size_t n, struct realwire_ready *out);
void realwire_get_words(const uint8_t *p, size_t n, char out[REALWIRE_WORDS_BYTES]);
/* out has room for n addresses. */
int realwire_get_peers(const uint8_t *p, size_t bytes, uint64_t *key, struct sockaddr_in *out,
		       uint32_t n);
int realwire_get_gone(const uint8_t *p, size_t n, struct realwire_gone *out);
int realwire_get_times(const uint8_t *p, size_t bytes, nsec_t *out, unsigned n);

/* --- blocks */

#define REALWIRE_WHAT_BYTES 64 /* description of an event, with its 0 */
#define REALWIRE_BLOCK_ENTRIES 4096 /* entries that always fit into a frame */
#define REALWIRE_BLOCK_BYTES \
	(256 * 1024) /* bytes of events in a block; one more event may follow */

struct realwire_block {
	nsec_t until; /* no event before this time follows */
	uint64_t sent, delivered;
	uint32_t count, ndelay, stuck;
	bool is_last;
	bool is_crashed; /* in the last block: the process has crashed at `until` */
	nsec_t stop_at; /* when a layer ended the run; NEKO_NEVER: no layer did */
	bool has_lost; /* events were lost for lack of room, so that the report is incomplete */
	/* the master's time minus the process's, and its error bound */
	nsec_t offset, error;
	/* ppm by which the master's clock is faster; NaN: not known yet */
	double drift, drift_error;
};

/* Appends the frame of a block, with its events and then its delays. Fails like frame_end(). */
size_t realwire_block(struct buf *out, const struct realwire_block *b);
void realwire_event(struct buf *out, const struct neko_event *v);
void realwire_delay(struct buf *out, const struct neko_delay *d);

struct realwire_hearer {
	/* arguments are valid during the call */
	void (*on_event)(void *arg, const struct neko_event *v);
	void (*on_delay)(void *arg, const struct neko_delay *d);
	void *arg;
};

/* Fails with ERR_PROTO. */
int realwire_read(const uint8_t *p, size_t n, struct realwire_block *out,
		  const struct realwire_hearer *h);

#endif
