/* SPDX-License-Identifier: Apache-2.0 */
/* For this room: omig interaction watch; argv[0] is "watch". Returns an exit status. */
#ifndef TOOLS_CMD_INTERACTION_CMD_WATCH_H
#define TOOLS_CMD_INTERACTION_CMD_WATCH_H

int cmd_interaction_watch(int argc, char **argv);

#endif
