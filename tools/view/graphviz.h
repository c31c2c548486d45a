/* SPDX-License-Identifier: Apache-2.0 */
/* Drawings by dot of graphviz, if it is installed. */
#ifndef TOOLS_VIEW_GRAPHVIZ_H
#define TOOLS_VIEW_GRAPHVIZ_H

#include "common/base/buf.h"

/*
 * Checks that the file name has a known extension; NULL: stdout. Returns CMD_OK, or the status of
 * cmd_fail().
 */
int graphviz_check(const char *path);

/*
 * Writes a graph in the language of graphviz to path; NULL: as text to stdout. A name in .dot or
 * .gv, or without extension, gets the text; another name gets a drawing. Returns CMD_OK, or the
 * status of cmd_fail(). Blocks until dot ends.
 */
int graphviz_write(const char *path, const struct buf *graph);

#endif
