/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of enter. */
#ifndef TRACER_ENTER_INTERNAL_H
#define TRACER_ENTER_INTERNAL_H

#include "common/base/buf.h"
#include "common/gate/gate.h"
#include "tracer/enter.h"
#include "tracer/freeze.h"

/* Appends the contents of /proc/PID/FILE to b, which is initialised and to be freed in any case. */
int enter_read_proc(int32_t pid, const char *file, size_t max, struct buf *b);

/* --- enter_pages.c */
/* Identifies the memory of a process between two calls of exec. */
struct enter_life {
	uint64_t at;
	uint8_t random[16];
};

int enter_read_life(int32_t pid, struct enter_life *out, struct err *e);

/* -ERR_AGAIN: the process has called exec since. Of a frozen process: until it continues. */
int enter_check_life(int32_t pid, const struct enter_life *of, struct err *e);

/* A place for the pages of a gate, far from what may grow; 0: there is none. */
uint64_t enter_find_place(int32_t pid, uint64_t near);

/*
 * Makes the pages of a gate at a place, or where the kernel chooses (0). Those of its code have no
 * right to be written. *base remains 0 if a thread makes them when it continues, see
 * enter_has_pages(). After -ERR_TIMEOUT it may do so later.
 */
int enter_make_pages(struct freeze *f, const struct call_ways *ways, uint64_t at, uint64_t *base,
		     struct err *e);

/* True if the pages of a gate are at this place; 0: none are. */
bool enter_has_pages(int32_t pid, uint64_t at);

/* --- enter_check.c */
/* Reads the valid gate of a process. False: there is none. A child has its parent's, see below. */
bool enter_find_gate(int32_t pid, struct gate *out, uint64_t *base);

/* True for the gate of the process that w was forked from: libomig does not watch w through it. */
bool enter_is_inherited(const struct who *w, const struct gate *g);

/* True if libomig registers, or will, with another lm than that of the request. */
bool enter_is_of_other(const struct gate *g, const struct enter_conf *c);

/* True if a thread executes the gate's own code. */
bool enter_is_inside(const struct freeze *f, uint64_t base);

/*
 * Writes to the gate through mem, an open /proc/PID/mem; the process may run. The file belongs to
 * the memory and not to the process: after exec it is an error. -ERR_NOTFOUND.
 */
int enter_poke(int mem, uint64_t addr, const void *p, size_t n, struct err *e);

/* The pid in the process's own pid namespace. */
int32_t enter_inner_pid(const struct who *w);

/* True if the process has ended or is ending: it has no memory and no program. */
bool enter_has_ended(const struct who *w);

/* True if a signal has stopped the process. */
bool enter_is_stopped(const struct who *w);

/* -ERR_NOTFOUND: it has ended. -ERR_UNSUPPORTED, in words: a program of another architecture, in a
 * sandbox, or that does not see the library's file. */
int enter_check_program(const struct who *w, const char *library, struct err *e);

#endif
