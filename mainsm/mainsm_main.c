/* SPDX-License-Identifier: Apache-2.0 */
#include "mainsm/program.h"

int main(int argc, char **argv)
{
	return daemon_main(&mainsm_program_spec, argc, argv);
}
