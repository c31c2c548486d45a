/* SPDX-License-Identifier: Apache-2.0 */
#include "common/ring/chosen.h"
#include "common/base/array.h"
#include "common/base/str.h"

#include <stddef.h>
#include <string.h>

/*
 * mpirun.openmpi, mpiexec.hydra, hydra_pmi_proxy, orterun, prterun, slurmstepd: their beginnings
 * are compared.
 */
static const char *const launcher[] = { "mpirun",  "mpiexec",	"hydra_",  "orted",
					"orterun", "oshrun",	"prted",   "prte",
					"prun",	   "pmi_proxy", "srun",	   "slurmstepd",
					"jsrun",   "aprun",	"palsrun", "ibrun" };

bool chosen_is_launcher(const char *program)
{
	const char *name = str_base_name(program);

	for (size_t i = 0; i < ARRAY_LEN(launcher); i++)
		if (!strncmp(name, launcher[i], strlen(launcher[i])))
			return true;
	return false;
}
