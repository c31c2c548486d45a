/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The library calls that can be watched: one table, generated from calls.def,
 * which also makes libapp's wrappers. An id is the call's line in that file and
 * never changes; new calls are appended.
 *
 * Parameters of an event ($par<k>, 1-based), the same for each call:
 *	start:  $par1 world rank of the caller, then the C arguments in order
 *		without status arguments (handles as words, pointers as numbers), then
 *		length in bytes and partner's world rank where the call has them
 *	end:	$par1 world rank, $par2 result of the call, then partner and length
 *		where the call has them
 * The length is what goes out for sends and collectives, what came in for
 * receives (known at the end only).
 */
#ifndef COMMON_RING_CALLS_H
#define COMMON_RING_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum call_class {
	CALL_SEND, /* blocking and started sends */
	CALL_RECV, /* blocking and started receives */
	CALL_PROBE,
	CALL_COMPLETE, /* wait, test, start, cancel, free of requests */
	CALL_COLLECTIVE, /* collective calls with data */
	CALL_BARRIER,
	CALL_RMA, /* one-sided transfers */
	CALL_RMA_SYNC, /* one-sided epochs, locks, windows */
	CALL_IO,
	CALL_COMM, /* making and freeing communicators, spawn, connect */
	CALL_OTHER, /* init, finalize, abort, pcontrol */
	CALL_CLASSES
};

enum call_phase { CALL_START, CALL_END };

/* Values in place of a partner's world rank. */
enum {
	CALL_PARTNER_UNKNOWN = -1, /* not known yet (any source), or never known */
	CALL_PARTNER_NONE = -2, /* no partner: MPI_PROC_NULL */
	CALL_PARTNER_ALL = -3, /* all partners of a collective call */
};

/* Kind of a C argument. */
enum call_param_kind {
	CALL_P_POINTER, /* buffer, array, output */
	CALL_P_INT,
	CALL_P_COUNT,
	CALL_P_PEER, /* rank of dest, source, target in the call's communicator or window */
	CALL_P_ROOT,
	CALL_P_TAG,
	CALL_P_AINT,
	CALL_P_OFFSET, /* MPI_Offset */
	CALL_P_TYPE,
	CALL_P_COMM,
	CALL_P_WIN,
	CALL_P_FILE,
	CALL_P_HANDLE, /* op, group, info, errhandler by value */
	CALL_P_REQUEST, /* MPI_Request * (one or an array) */
	CALL_P_STATUS, /* MPI_Status * (one or an array) */
	CALL_P_STRING,
	CALL_P_STRINGS, /* array of strings */
};

#define CALL_PARAMS_MAX 14

struct call_param {
	const char *name;
	uint8_t kind; /* enum call_param_kind */
};

struct call_desc {
	const char *name; /* "MPI_Send" */
	uint8_t class; /* enum call_class */
	uint8_t nparam;
	/* numbers of $par from 1; 0 = the call has none; npar = their number */
	uint8_t start_npar, start_length, start_partner;
	uint8_t end_npar, end_length, end_partner;
	uint8_t volume; /* rule for the number of bytes: enum call_volume of volume.h; 0 = none */
	/* positions of C arguments, from 1; 0 = none */
	uint8_t tag, comm, count, type, peer, status;
	/* makes a request that other calls start: its bytes count at each start */
	uint8_t persistent;
	struct call_param param[CALL_PARAMS_MAX];
};

/* the generated calls_id.h has the ids CALL_ID_Send, ... and CALL_COUNT */
extern const struct call_desc call_table[];
extern const unsigned call_count;

/* Returns NULL if there is no such id. */
const struct call_desc *call_get(unsigned id);

/* Finds a call by its full name ("MPI_Send"). Returns -1 if the table does not contain it. */
int call_find(const char *name);

/*
 * True if the call starts a persistent request or marks parts of it as ready. The bytes of the
 * request count then.
 */
bool call_starts(const struct call_desc *d);

/* True if the call makes a request that another call completes. */
bool call_posts(const struct call_desc *d);

/* True if the call waits for requests or tests them, so that its time belongs to their partners. */
bool call_waits(const struct call_desc *d);

/*
 * Returns "send", "receive" and so on, which are the names of built-in metrics in lower case; "?"
 * out of range.
 */
const char *call_class_name(unsigned class);

#endif
