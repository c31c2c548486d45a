/* SPDX-License-Identifier: Apache-2.0 */
/* Drawings: graphviz' dot makes them, where it is installed. */
#ifndef TOOLS_GRAPHVIZ_H
#define TOOLS_GRAPHVIZ_H

#include "common/base/buf.h"

/*
 * Writes a graph in graphviz' language to path, drawn when the name ends in .svg, .png or .pdf,
 * else as it is; NULL: as it is to stdout. CMD_OK, or what cmd_fail() returned. Blocks until dot ends.
 */
int graphviz_write(const char *path, const struct buf *graph);

#endif
