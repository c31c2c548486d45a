/* SPDX-License-Identifier: Apache-2.0 */
/* Verbs of omig log that have options of their own. argv[0] is the verb. Return an exit status. */
#ifndef TOOLS_CMD_LOG_CMD_LOG_VERBS_H
#define TOOLS_CMD_LOG_CMD_LOG_VERBS_H

int cmd_receive(int argc, char **argv);
int cmd_sense(int argc, char **argv);

#endif
