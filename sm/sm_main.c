/* SPDX-License-Identifier: Apache-2.0 */
#include "sm/program.h"

int main(int argc, char **argv)
{
	return daemon_main(&sm_program_spec, argc, argv);
}
