/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests of an lm to its helper processes, and their answers. lm-trace does work that needs
 * ptrace, lm-look work that may hang, and lm-plugin runs a plug-in. They use a SOCK_SEQPACKET pair,
 * one message per packet. All messages have one form: the process or thread, numbers, texts. A
 * table has the permitted parts of each kind. Both directions are checked, because either side may
 * be malicious.
 */
#ifndef COMMON_TRACER_TRACER_MSG_H
#define COMMON_TRACER_TRACER_MSG_H

#include "common/base/buf.h"
#include "common/base/err.h"

#include <stddef.h>
#include <stdint.h>

/*
 * A part of a stack with the longest names, or twice the largest request; it fits in a socket's
 * buffer.
 */
#define TRACER_MSG_MAX_BYTES (144 * 1024)
#define TRACER_VALUES_MAX 128 /* for registers, a part of a stack, or a set of system calls */
/* for arguments and environment of a program, or the names of 64 frames */
#define TRACER_TEXTS_MAX 1024
#define TRACER_FRAMES_MAX 512 /* frames of a stack: deeper stacks are cut */
/* Frames of a message, which fit with the longest names. */
#define TRACER_FRAMES_PART 10
#define TRACER_NAME_MAX_BYTES 4096 /* name of a module or symbol: PATH_MAX */
#define TRACER_FRAME_VALUES 4 /* values of a frame: pc, fp, offset, line */
#define TRACER_FRAME_TEXTS 3 /* texts of a frame: module, symbol, source file */
#define TRACER_STREAMS_MAX 16 /* streams of a program that is started */
#define TRACER_SYSCALLS_MAX 512 /* numbers of system calls that are distinguished */
#define TRACER_BYTES_MAX (64 * 1024) /* bytes of memory, or of a file, in one message */
#define TRACER_SYSCALL_WORDS (TRACER_SYSCALLS_MAX / 64)

enum tracer_type {
	/* requests of the lm; the answer has the same id */
	TRACER_BACKTRACE = 1, /* what: 1 = with names; values: depth */
	TRACER_READ_REGS, /* what: enum tracer_regs; values: first, number */
	TRACER_WRITE_REGS, /* what; values: first, then the values to write */
	TRACER_GOTO, /* values: address */
	TRACER_CALL, /* values: address */
	/*
	 * values: numbers of arguments, variables, streams; texts: program, arguments, variables,
	 * streams
	 */
	TRACER_CREATE,
	TRACER_LET_GO, /* pid, start: ends the hold of a created process */
	TRACER_WATCH, /* what: enum tracer_watch; values: signals, then words of system calls */
	TRACER_SOURCE, /* values: addresses; text: path; bytes: build id, or none */
	/*
	 * what: enum tracer_enter; texts: libomig's file, connection string, folder and host of the
	 * lm, which only arming uses
	 */
	TRACER_ENTER,
	/*
	 * text: name of a function; values: slot, slots of other functions that are on (bit n: slot
	 * n), code of its entry and exit in libomig, areas. On is answered by TRACER_FUNCTION
	 */
	TRACER_FUNCTION_ON,
	TRACER_FUNCTION_OFF,
	/* text: name of a function; answered by BYTES: text as of symbols_list() */
	TRACER_FUNCTION_FIND,

	/* requests to lm-look */
	TRACER_READ_MEMORY = 32, /* values: address, blocklength, stride, blocks */
	TRACER_WRITE_MEMORY, /* as TRACER_READ_MEMORY, with the bytes */
	TRACER_MODULES,
	TRACER_FILE, /* values: offset, largest number of bytes; text: path */

	/* requests to lm-plugin */
	TRACER_PLUGIN_ABOUT, /* answered by BYTES: its services */
	/* pid, or 0: a service for a process, or for the node; text: its name; bytes: values */
	TRACER_PLUGIN_CALL,

	/* answers */
	TRACER_FRAMES = 64, /* what: 1 = more follow */
	TRACER_REGS, /* values; for floating point, the bits of a double */
	TRACER_DONE,
	TRACER_CREATED, /* pid, start: the process is held before its first instruction */
	/* what: enum err_code; text: message; value: bytes that were written before the failure */
	TRACER_FAILED,
	/* id of the watch; what: one of enum tracer_watch; values: time, then parameters */
	TRACER_EVENT,
	/* id of the watch; text: reason; value: number of dropped events, if there are any */
	TRACER_WATCH_ENDED,
	TRACER_BYTES, /* what: 1 = more follow; bytes */
	/* values: start and length of code, data, bss; text: path. DONE follows the last one */
	TRACER_MODULE,
	/*
	 * values: enum gate_state, slots, skipped ones, ns for which threads were stopped; text:
	 * reason
	 */
	TRACER_ENTERED,
	/* values: its address, 1 if the compiler had left room, numbers of inlined copies, clones
	 */
	TRACER_FUNCTION,
};

enum tracer_regs { TRACER_REGS_INT, TRACER_REGS_FP };

enum tracer_enter { TRACER_ENTER_LOOK, TRACER_ENTER_ARM, TRACER_ENTER_LEAVE };

/* Watched events, and the kind of an event. 0: no events, so that the watch ends. */
enum tracer_watch {
	TRACER_SYSCALL_START = 1, /* parameters: number, six arguments */
	TRACER_SYSCALL_END = 2, /* number, result */
	TRACER_SIGNAL = 4, /* number */
	TRACER_WATCH_ALL = 7,
};

/* Decoded texts point into the decoded bytes, and end with a 0. */
struct tracer_msg {
	uint8_t type;
	uint32_t id;
	int32_t pid, tid;
	uint64_t start; /* start time, which identifies the process together with the pid */
	uint32_t what;
	size_t nvalue, ntext;
	uint64_t value[TRACER_VALUES_MAX];
	const char *text[TRACER_TEXTS_MAX]; /* borrowed */
	const uint8_t *bytes; /* borrowed; for kinds with bytes */
	size_t nbytes;
};

/* Appends a message. Fails with ERR_PROTO if it does not fit its kind, ERR_LIMIT, ERR_NOMEM. */
int tracer_msg_encode(struct buf *b, const struct tracer_msg *m);

/*
 * Decodes p[n], one packet. Fails with ERR_PROTO if it is not a valid message; *out is then
 * undefined. A pid is above 1 if the kind needs one.
 */
int tracer_msg_decode(struct tracer_msg *out, const void *p, size_t n, struct err *e);

#endif
