/* SPDX-License-Identifier: Apache-2.0 */
#include "common/daemon/daemon.h"
#include "lm/lm_daemon.h"

int main(int argc, char **argv)
{
	int status = daemon_main(&lm_daemon_spec, argc, argv);

	lm_daemon_go_on(argv);
	return status;
}
