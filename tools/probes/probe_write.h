/* SPDX-License-Identifier: Apache-2.0 */
/* What `omig probes` makes of declarations. */
#ifndef TOOLS_PROBES_PROBE_WRITE_H
#define TOOLS_PROBES_PROBE_WRITE_H

#include "common/base/buf.h"
#include "tools/probes/probe_decl.h"

/*
 * The functions in C, with their names in Fortran. stem: of the names that must not meet those of
 * another file of probes in one program; what no name of C may have in it is replaced.
 */
void probe_write_c(struct buf *b, const struct probe_decls *p, const char *stem);

/* Their prototypes, for C and C++. */
void probe_write_header(struct buf *b, const struct probe_decls *p, const char *stem);

/* A module of Fortran, called stem, with their interfaces. */
void probe_write_fortran(struct buf *b, const struct probe_decls *p, const char *stem);

#endif
