/* SPDX-License-Identifier: Apache-2.0 */
/* Code and symbols elsewhere in the file of a function that may lead into it. */
#ifndef TRACER_FUNCTION_ELSEWHERE_H
#define TRACER_FUNCTION_ELSEWHERE_H

#include "common/base/err.h"
#include "tracer/function/symbols.h"

#include <elfutils/libdwfl.h>

/*
 * Fills c->led of a function whose parts are known: where other symbols begin in them, and where
 * jumps and calls of other code may lead to. Counts its other forms. ERR_UNSUPPORTED, in words: the
 * file does not show all pieces of the function.
 */
int elsewhere_find(Dwfl_Module *m, struct function_code *c, struct err *e);

#endif
