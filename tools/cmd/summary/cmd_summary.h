/* SPDX-License-Identifier: Apache-2.0 */
/* Commands of summaries, as those of tools/cmd/cmd.h. */
#ifndef TOOLS_CMD_SUMMARY_CMD_SUMMARY_H
#define TOOLS_CMD_SUMMARY_CMD_SUMMARY_H

struct summary;

int cmd_show(int argc, char **argv);
int cmd_compare(int argc, char **argv);

/*
 * Reads a summary's file into s, which is zeros; "-" is standard input. Returns an exit status and
 * reports failures; s is empty then. Blocks until the file's end.
 */
int cmd_read_summary(const char *path, struct summary *s);

#endif
