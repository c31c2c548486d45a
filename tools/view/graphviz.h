/* SPDX-License-Identifier: Apache-2.0 */
/* Drawings by dot of graphviz, where it is installed. */
#ifndef TOOLS_VIEW_GRAPHVIZ_H
#define TOOLS_VIEW_GRAPHVIZ_H

#include "common/base/buf.h"

/* Checks that the file name has a known extension; NULL: stdout. CMD_OK, or what cmd_fail()
 * returned. */
int graphviz_check(const char *path);

/*
 * Writes a graph in the language of graphviz to path; NULL: as text to stdout. A name in .dot or
 * .gv, or without extension, gets the text; another name gets a drawing. CMD_OK, or what cmd_fail()
 * returned. Blocks until dot ends.
 */
int graphviz_write(const char *path, const struct buf *graph);

#endif
