/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A gate: memory that lm-trace adds to a program that was started unwatched. The slots through
 * which the program calls MPI then lead into the gate, and from there to a target: first the code
 * that loads libomig, later libomig's wrapper, and at the end the MPI library again.
 *
 *	code:  GATE_CODE_BYTES, without the right to write: the way in, then an entry for each name
 *	data:  struct gate
 *
 * The first call of MPI that a thread makes through the gate loads libomig. A thread that calls MPI
 * may allocate memory and load libraries, so it is at a safe point; no other place is. From then on
 * all members are constant, except the state and the targets. Only a gate that has failed or is
 * closed may be filled again, and names keep their numbers even then. The program may change
 * everything: a reader in another process must check each member.
 */
#ifndef COMMON_GATE_GATE_H
#define COMMON_GATE_GATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GATE_MAGIC UINT64_C(0x455441472d474d4f) /* "OMG-GATE" */
#define GATE_VERSION 2
/* The entry code, and 16 bytes for each name. */
#define GATE_CODE_BYTES (128 * 1024)
#define GATE_ENTRIES_AT 1024
#define GATE_ENTRY_BYTES 16
/* libomig exports about 1,900 names, of which no MPI library has all */
#define GATE_NAMES_MAX 4096
#define GATE_TEXT_BYTES (128 * 1024)
/*
 * one for each name that an object uses: programs have some dozens, large libraries some hundreds
 */
#define GATE_SLOTS_MAX 16384
#define GATE_PATH_BYTES 1024
#define GATE_WORD_BYTES 256

enum gate_state {
	GATE_ARMED, /* the next call of MPI loads libomig */
	GATE_ENTERING,
	GATE_OPEN, /* calls of MPI are watched */
	/* libomig could not be loaded or has refused: see `why`; calls are as before */
	GATE_FAILED,
	GATE_CLOSED, /* detached: no slot leads here */
	GATE_STATES
};

struct gate_slot {
	uint64_t address;
	uint64_t before; /* its content before it led to the gate */
	uint32_t name; /* number of its name */
	uint32_t spare;
};

struct gate {
	/* The code of the gate uses the members from here on, at these offsets. */
	uint32_t state; /* enum gate_state; atomic */
	uint32_t version;
	uint64_t magic;
	uint64_t dlopen, dlsym, errno_location; /* addresses of the C library's functions */
	uint64_t handle; /* libomig's handle of dlopen() */
	uint64_t dlerror; /* 0: the C library has none */
	char enter[32]; /* name of libomig's entry function */
	char library[GATE_PATH_BYTES]; /* path of libomig's file */
	uint64_t target[GATE_NAMES_MAX];
	uint64_t original[GATE_NAMES_MAX]; /* addresses of the MPI library's functions */
	/* Only libomig and lm-trace use the members from here on. */
	int32_t pid; /* pid in the process's own namespace */
	uint32_t nname, nslot;
	uint32_t ntext; /* bytes of `text` */
	char conn[GATE_PATH_BYTES]; /* mainsm's connection string, without a token */
	char runtime[GATE_PATH_BYTES]; /* folder with the lm's socket */
	char host[GATE_WORD_BYTES]; /* name of the host in the lm */
	char why[GATE_WORD_BYTES]; /* reason of GATE_FAILED */
	uint32_t name[GATE_NAMES_MAX]; /* offsets in `text`; the names ascend */
	char text[GATE_TEXT_BYTES];
	struct gate_slot slot[GATE_SLOTS_MAX];
};

#define GATE_ENTER_NAME "omig_app_enter"

#define GATE_BYTES (GATE_CODE_BYTES + sizeof(struct gate))

/* True if the constant members are valid: strings end, and numbers are within their limits. */
bool gate_is_valid(const struct gate *g);

/* Returns name i of a valid gate; NULL beyond the last one. */
const char *gate_name(const struct gate *g, unsigned i);

/* Returns the number of a name in a valid gate; -1 if it has none. */
int gate_find(const struct gate *g, const char *name);

/* Returns "pending", "watched" and so on, for replies; "?" out of range. */
const char *gate_state_name(unsigned state);

#endif
