/* SPDX-License-Identifier: Apache-2.0 */
/* omig model: demands of services, models of systems, and the experiments of the paper. */
#ifndef TOOLS_MODEL_CMD_MODEL_H
#define TOOLS_MODEL_CMD_MODEL_H

int cmd_model(int argc, char **argv);

#endif
