/* SPDX-License-Identifier: Apache-2.0 */
/* The code that `omig probes` makes from declarations. */
#ifndef TOOLS_PROBES_PROBE_WRITE_H
#define TOOLS_PROBES_PROBE_WRITE_H

#include "common/base/buf.h"
#include "tools/probes/probe_decl.h"

/*
 * Writes the functions in C, with their names in Fortran. stem: makes global names differ from
 * those of other probe files in a program. Characters that are invalid in C names are replaced.
 */
void probe_write_c(struct buf *b, const struct probe_decls *p, const char *stem);

/* Writes their prototypes, for C and C++. */
void probe_write_header(struct buf *b, const struct probe_decls *p, const char *stem);

/* Writes a module of Fortran, called stem, with their interfaces. */
void probe_write_fortran(struct buf *b, const struct probe_decls *p, const char *stem);

#endif
