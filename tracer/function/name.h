/* SPDX-License-Identifier: Apache-2.0 */
/* Names of functions as users write them, compared with symbols: C, C++ and Fortran. */
#ifndef TRACER_FUNCTION_NAME_H
#define TRACER_FUNCTION_NAME_H

#include <stdbool.h>

enum name_fit {
	NAME_DIFFERS,
	NAME_FITS, /* without its parameters, or Fortran's form: others may fit, too */
	NAME_IS_SAME, /* the symbol, or the full signature */
};

/*
 * symbol: as the file has it. plain: demangled, or NULL. `flux::compute` and
 * `flux::compute(double)` name a function of C++, `mod::proc` one of a Fortran module, `proc` an
 * external one.
 */
enum name_fit name_fits(const char *name, const char *symbol, const char *plain);

/*
 * Returns what a compiler has added to the symbol of a function, from its point; NULL: symbol is of
 * no piece or clone of it.
 */
const char *name_mark(const char *symbol, const char *function);

/* True for the cold part of a function, which is entered by jumps only. */
bool name_is_cold(const char *symbol);

#endif
