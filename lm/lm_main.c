/* SPDX-License-Identifier: Apache-2.0 */
#include "common/daemon/daemon.h"
#include "lm/lm_daemon.h"

int main(int argc, char **argv)
{
	return daemon_main(&lm_daemon_spec, argc, argv);
}
