/* SPDX-License-Identifier: Apache-2.0 */
/* The code of a gate: the same for all processes, wherever it is mapped. */
#ifndef TRACER_GATE_CODE_H
#define TRACER_GATE_CODE_H

#include "common/base/err.h"
#include "common/gate/gate.h"

/*
 * Writes the way in and the first nname entries to out, GATE_CODE_BYTES large. *used: bytes that
 * are not 0. -ERR_UNSUPPORTED: not on this machine.
 */
int code_write(uint8_t *out, unsigned nname, size_t *used, struct err *e);

/* The entry of a name, where slots lead; and its second half, the first target, which loads. */
uint64_t code_entry(uint64_t base, unsigned name);
uint64_t code_loader(uint64_t base, unsigned name);

#endif
