/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A gate: memory that lm-trace adds to a program that was started unwatched. The slots through
 * which the program calls MPI then lead into the gate, and from there to a target: the code that
 * loads libomig, later libomig's wrapper, at last the MPI library again.
 *
 *	code:  GATE_CODE_BYTES, without the right to write: the way in, then an entry for each name
 *	data:  struct gate
 *
 * The first call of MPI that a thread makes through the gate loads libomig. A thread that calls MPI
 * may allocate memory and load libraries, so it is at a safe point; no other place is. All members
 * but the state and the targets are constant from then on. Only a gate that has failed or is closed
 * may be filled again; names keep their numbers even then. The program's user may change them all:
 * a reader outside believes nothing.
 */
#ifndef COMMON_GATE_GATE_H
#define COMMON_GATE_GATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GATE_MAGIC UINT64_C(0x455441472d474d4f) /* "OMG-GATE" */
#define GATE_VERSION 2
/* The way in, and 16 bytes for each name. */
#define GATE_CODE_BYTES (128 * 1024)
#define GATE_ENTRIES_AT 1024
#define GATE_ENTRY_BYTES 16
/* libomig exports some 1,900 names, of which no MPI library has all */
#define GATE_NAMES_MAX 4096
#define GATE_TEXT_BYTES (128 * 1024)
/* one for each name that an object uses: programs have some dozens, large libraries some hundred */
#define GATE_SLOTS_MAX 16384
#define GATE_PATH_BYTES 1024
#define GATE_WORD_BYTES 256

enum gate_state {
	GATE_ARMED, /* the next call of MPI loads libomig */
	GATE_ENTERING,
	GATE_OPEN, /* calls of MPI are watched */
	GATE_FAILED, /* libomig could not be loaded or refused: see why; calls are as before */
	GATE_CLOSED, /* detached: nothing leads here */
	GATE_STATES
};

struct gate_slot {
	uint64_t address;
	uint64_t before; /* its content before it led here */
	uint32_t name; /* number */
	uint32_t spare;
};

struct gate {
	/* Used by the code of the gate, at these places. */
	uint32_t state; /* enum gate_state; atomic */
	uint32_t version;
	uint64_t magic;
	uint64_t dlopen, dlsym, errno_location; /* addresses of the C library's functions */
	uint64_t handle; /* libomig's, of dlopen() */
	uint64_t dlerror; /* 0: there is none */
	char enter[32]; /* name of libomig's function */
	char library[GATE_PATH_BYTES]; /* libomig's file */
	uint64_t target[GATE_NAMES_MAX];
	uint64_t original[GATE_NAMES_MAX]; /* the function without us */
	/* Used by libomig and lm-trace. */
	int32_t pid; /* as the process sees it */
	uint32_t nname, nslot;
	uint32_t ntext; /* bytes */
	char conn[GATE_PATH_BYTES]; /* mainsm's connection string, without a token */
	char runtime[GATE_PATH_BYTES]; /* folder with the lm's socket */
	char host[GATE_WORD_BYTES]; /* as the lm knows it */
	char why[GATE_WORD_BYTES]; /* GATE_FAILED */
	uint32_t name[GATE_NAMES_MAX]; /* distances in text; the names ascend */
	char text[GATE_TEXT_BYTES];
	struct gate_slot slot[GATE_SLOTS_MAX];
};

#define GATE_ENTER_NAME "omig_app_enter"

#define GATE_BYTES (GATE_CODE_BYTES + sizeof(struct gate))

/* True if the constant members are valid: texts end, numbers are in their limits. */
bool gate_is_valid(const struct gate *g);

/* A valid gate's name; NULL beyond the last one. */
const char *gate_name(const struct gate *g, unsigned i);

/* The number of a valid gate's name; -1: it has none. */
int gate_find(const struct gate *g, const char *name);

/* "pending", "watched", ...: for replies. "?" out of range. */
const char *gate_state_name(unsigned state);

#endif
