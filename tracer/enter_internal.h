/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of enter. */
#ifndef TRACER_ENTER_INTERNAL_H
#define TRACER_ENTER_INTERNAL_H

#include "common/gate/gate.h"
#include "tracer/freeze.h"

/* Reads the valid gate of a process. False: there is none. */
bool enter_find_gate(int32_t pid, struct gate *out, uint64_t *base);

/* True if a thread executes the gate's own code. */
bool enter_is_inside(const struct freeze *f, uint64_t base);

/* Writes to memory with the right to write; the process may run. -ERR_NOTFOUND. */
int enter_poke(int32_t pid, uint64_t addr, const void *p, size_t n, struct err *e);

/* The pid in the process's own pid namespace. */
int32_t enter_inner_pid(const struct who *w);

/* -ERR_UNSUPPORTED, in words: a program of another architecture, in a sandbox, or that does not see
 * the library's file. */
int enter_check_program(const struct who *w, const char *library, struct err *e);

#endif
