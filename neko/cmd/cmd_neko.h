/* SPDX-License-Identifier: Apache-2.0 */
/* omig neko: runs distributed algorithms, and shows their measurements. */
#ifndef NEKO_CMD_CMD_NEKO_H
#define NEKO_CMD_CMD_NEKO_H

int cmd_neko(int argc, char **argv);

#endif
