/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of the program whose entries and exits a tool may choose: libapp/setup/function.h. */
#ifndef LIBAPP_SETUP_FUNCTION_AREA_H
#define LIBAPP_SETUP_FUNCTION_AREA_H

#include "libapp/setup/function.h"

#pragma GCC visibility push(hidden)

/*
 * Reserves the memory for entries and exits, and writes where it is into the segment. A process
 * that cannot have them has zeros there. slow: function_pass(). Called before the segment's magic
 * word is set.
 */
void functions_offer(function_slow_fn *slow);

#pragma GCC visibility pop

#endif
