/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One receiver: its ports, connections, spool and destination. The loop's thread uses all of them.
 */
#ifndef TOOLS_RECEIVE_RECEIVE_INTERNAL_H
#define TOOLS_RECEIVE_RECEIVE_INTERNAL_H

#include "common/base/file.h"
#include "common/base/limits.h"
#include "common/cli/progress.h"
#include "common/container/list.h"
#include "common/container/map.h"
#include "common/net/net.h"
#include "eventlog/evbalance.h"
#include "eventlog/inlet/inlet.h"
#include "eventlog/send/evsend_hello.h"
#include "eventlog/send/evurl.h"
#include "eventlog/spool/spooler.h"
#include "tools/receive/delivery.h"
#include "tools/receive/receive.h"
#include "tools/tunnel/tunnel.h"

struct receiver;

/* An address where it listens. */
struct port {
	struct receiver *receiver;
	struct evurl url;
	int fd;
	uint16_t number; /* the real one */
	struct loop_fd *watch;
	struct inlet *inlet; /* for a port of datagrams; NULL for connections */
	struct net_listener *listener; /* for TLS, with its own descriptor */
	uint32_t overflow; /* datagrams that the kernel had no room for */
};

/* Blocks up to `place` of a connection are safe when so many blocks are settled. */
struct unsettled {
	uint64_t appended, place;
};

struct conn {
	struct list item;
	struct receiver *receiver;
	int fd;
	struct loop_fd *watch;
	struct inlet *inlet;
	/* has_ended: its last byte was read. is_paused: a block was not taken. */
	bool has_ended, is_paused, has_greeted;
	uint64_t safe, acked; /* bytes on the disk; and those that are acknowledged */
	uint8_t out[EVSEND_ACK_BYTES];
	size_t nout; /* rest of an acknowledgement that is under way */
	size_t first, n; /* of the ring */
	struct unsettled ring[RECEIVE_UNSETTLED_MAX];
};

struct receive_counts {
	uint64_t events; /* in new blocks */
	uint64_t repeated; /* events of blocks that were stored already */
	uint64_t bad_lines, skipped_bytes; /* totals of connections that have ended */
	uint64_t refused; /* connections without room */
	uint64_t broken; /* connections that sent bytes that are not blocks */
	uint64_t overflow; /* datagrams that the kernel had no room for */
	uint64_t handshakes; /* failed handshakes of TLS */
	uint64_t cut; /* peers whose certificate ended or was revoked while they were connected */
};

struct receiver {
	const struct receive_options *options;
	struct loop *loop;
	struct port port[RECEIVE_PORTS_MAX];
	size_t nports;
	struct list conns; /* the oldest first */
	size_t nconns;
	struct evline *line; /* of all connections */
	struct map seen; /* stream -> number of its next block, as a pointer */
	char spool[FILE_PATH_BYTES];
	struct spooler *spooler;
	int consumer; /* < 0: the spool is not open yet */
	uint64_t appended, settled;
	uint64_t place; /* place of the blocks that are under way to the destination */
	uint64_t empty_at; /* blocks that the destination has received, as far as known */
	bool is_full; /* the spool has no room */
	bool is_ending, is_reported;
	struct delivery *delivery;
	struct loop_timer *flush, *report, *end;
	struct loop_signal *signals[2];
	struct receive_counts counts;
	char why[ERR_TEXT_BYTES]; /* reason of the first bad line; "" = none */
	char why_broken[ERR_TEXT_BYTES]; /* reason of the first broken connection */
	/* of TLS */
	char dir[FILE_PATH_BYTES]; /* folder of the certificate */
	struct net_ctx *net; /* NULL: no address for TLS */
	struct server_link *mainsm;
	struct tunnel *tunnel[RECEIVE_CONNS_MAX];
	size_t ntunnels;
	nsec_t warned_at; /* time of the last warning about a refused peer; 0: none */
	struct progress progress;
	int status;
};

/* --- ports.c */
/* Listens at all addresses. Returns an exit status. */
int ports_open(struct receiver *r);
void ports_close(struct receiver *r);
/* Watches them again after connections have ended. */
void ports_resume(struct receiver *r);
/* "x-netlog://127.0.0.1:14830" of a port, into out. Returns out. */
#define PORT_NAME_BYTES (EVURL_HOST_BYTES + 32)
const char *port_name(const struct port *p, char out[PORT_NAME_BYTES]);

/* --- tls.c */
/* Listens at the address `text`. Returns an exit status. */
int tls_listen_at(struct port *p, const char *text);
/* After the end of all connections. */
void tls_close(struct receiver *r);

/* --- conns.c */
/* Takes the descriptor. */
void conns_add(struct receiver *r, int fd);
/* Blocks are settled: acknowledges, and continues with those that had to wait. */
void conns_turn(struct receiver *r);
/* Passes on the lines that wait for a full block. Returns true if some still wait. */
bool conns_flush(struct receiver *r);
/* Reads the bytes that have arrived, and ends all connections. */
void conns_end(struct receiver *r);
/* Returns true if a connection has bytes that wait for room. */
bool conns_wait(const struct receiver *r);
void conns_close(struct receiver *r);

/* --- receive.c */
/* Appends a block to the spool, unless it was there before. As on_block of inlet.h. */
int receiver_block(struct receiver *r, const uint8_t *p, const struct evblock *head);
/* Lines wait for a full block: they are passed on soon. */
void receiver_wake(struct receiver *r);
/* Adds what an inlet has counted. */
void receiver_count(struct receiver *r, const struct inlet_report *report);

/* --- receive_report.c: return an exit status */
int report_start(struct receiver *r);
int report_state(struct receiver *r, bool is_last);
void report_progress(struct receiver *r);

#endif
