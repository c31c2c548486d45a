/* SPDX-License-Identifier: Apache-2.0 */
/*
 * omig sim: runs the daemons in a simulated world. A separate program, since tools do not link
 * daemons.
 */
#include "common/base/file.h"
#include "tools/cmd/cmd.h"

#include <unistd.h>

#define SIM "../libexec/omig/omig-sim"

int cmd_sim(int argc, char **argv)
{
	char path[FILE_PATH_BYTES];
	struct err e = { 0 };

	if (file_beside_program(path, SIM, &e))
		return cmd_fail(CMD_FAILURE, "%s", e.text);
	execv(path, argv);
	err_sys(&e, "%s", path);
	return cmd_fail(CMD_FAILURE, "%s", e.text);
}
