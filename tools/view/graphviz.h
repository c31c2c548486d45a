/* SPDX-License-Identifier: Apache-2.0 */
/* Drawings: graphviz' dot makes them, where it is installed. */
#ifndef TOOLS_VIEW_GRAPHVIZ_H
#define TOOLS_VIEW_GRAPHVIZ_H

#include "common/base/buf.h"

/* A file of that name can be written, by its end; NULL: stdout. CMD_OK, or what cmd_fail()
 * returned. */
int graphviz_check(const char *path);

/*
 * Writes a graph in graphviz' language to path: as it is when the name ends in .dot or .gv or has
 * no end, else drawn; NULL: as it is to stdout. CMD_OK, or what cmd_fail() returned. Blocks until
 * dot ends.
 */
int graphviz_write(const char *path, const struct buf *graph);

#endif
