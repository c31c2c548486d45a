/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One connection, or all datagrams, of a receiver of event logs: bytes of any form, made to blocks
 * that can be read alone. The form is found by the first bytes: blocks with acknowledgements
 * (eventlog/send), an event log, or lines of ULM, BP, Lite or XML. The bytes are hostile until they
 * are checked. Does no I/O.
 *
 * Blocks with acknowledgements are given out unchanged. All other events are written to a stream of
 * this object.
 */
#ifndef EVENTLOG_INLET_INLET_H
#define EVENTLOG_INLET_INLET_H

#include "eventlog/evblock.h"
#include "eventlog/text/evline.h"

struct inlet;

struct inlet_conf {
	/*
	 * Takes a block of head->bytes at p. place: the bytes of the connection up to its end, to
	 * be acknowledged; 0: the peer waits for no acknowledgement. Returns 0; -ERR_AGAIN: not
	 * now; any other error ends the connection.
	 */
	int (*on_block)(void *arg, const uint8_t *p, const struct evblock *head, uint64_t place);
	void *arg;
	uint64_t stream; /* of the events that come without a block; no other stream has it */
	struct evline *line; /* borrowed: for any number of them, one after the other */
};

struct inlet_report {
	uint64_t events; /* without blocks of their own */
	uint64_t bad_lines; /* and too long ones */
	uint64_t skipped_bytes; /* outside of good blocks */
	uint64_t lost; /* events that an event log lacks, or that have no description */
	char why[ERR_TEXT_BYTES]; /* about the first bad line */
};

/* NULL: no memory. */
struct inlet *inlet_new(const struct inlet_conf *conf);
void inlet_free(struct inlet *i);

/* Room for the next bytes; *n > 0 unless a block waits. */
uint8_t *inlet_room(struct inlet *i, size_t *n);

/*
 * n bytes are there. is_last: no more will come. Returns 0; -ERR_AGAIN: a block was not taken, call
 * again later with 0 bytes; ERR_PROTO: bytes that are no block, and of on_block(); ERR_NOMEM.
 */
int inlet_push(struct inlet *i, size_t n, bool is_last, struct err *e);

/* A datagram: whole blocks, or whole lines. What is incomplete is dropped and counted. */
int inlet_datagram(struct inlet *i, const uint8_t *p, size_t n, struct err *e);

/* Gives out events that wait for more of them. Errors as inlet_push(). */
int inlet_flush(struct inlet *i, struct err *e);

/* True if events wait for more of them, or for room. */
bool inlet_has_rest(const struct inlet *i);

/* True if the peer waits for acknowledgements. */
bool inlet_acknowledges(const struct inlet *i);

/* True if a whole event, or the begin of blocks with acknowledgements, has come. */
bool inlet_is_known(const struct inlet *i);

const struct inlet_report *inlet_report(const struct inlet *i);

#endif
