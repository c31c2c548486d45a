/* SPDX-License-Identifier: Apache-2.0 */
/* The class of an MPI call for the search: by its rule of waiting, not by its metric. */
#ifndef TOOLS_WHY_CLASS_H
#define TOOLS_WHY_CLASS_H

#include "why/block.h"

/* func: of common/ring/calls.h. WHY_OTHER for a call that is none of the others. Any thread. */
enum why_class class_of_call(unsigned func);

#endif
