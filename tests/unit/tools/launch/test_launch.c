/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/str.h"
#include "tests/suite.h"
#include "tools/launch/launch.h"

#include <stdlib.h>
#include <string.h>

struct variables {
	char preload[8192], list[8192], job[256], start[64];
	bool has_site;
};

static int note(void *arg, const char *name, const char *value)
{
	struct variables *v = arg;

	if (str_eq(name, "LD_PRELOAD"))
		str_copy(v->preload, sizeof(v->preload), value);
	else if (str_has_prefix(name, "OMPI_MCA_mca_base_env_list"))
		str_copy(v->list, sizeof(v->list), value);
	else if (str_eq(name, "OMIG_JOB"))
		str_copy(v->job, sizeof(v->job), value);
	else if (str_eq(name, "OMIG_START"))
		str_copy(v->start, sizeof(v->start), value);
	else if (str_eq(name, "OMIG_SITE"))
		v->has_site = true;
	return 0;
}

static struct variables variables_of(struct launch *l)
{
	struct variables v = { .has_site = false };

	str_copy(l->lib, sizeof(l->lib), "/opt/lib/libomig.so");
	ck_assert_int_eq(launch_each_variable(l, note, &v), 0);
	return v;
}

TEST(items_are_taken_out_of_a_list_by_their_end)
{
	char out[64];

	launch_list_without(out, sizeof(out), "/a/x.so:/b/libomig.so /c/y.so", ": ", "/libomig.so");
	ck_assert_str_eq(out, "/a/x.so:/c/y.so");
	launch_list_without(out, sizeof(out), NULL, ":", "/libomig.so");
	ck_assert_str_eq(out, "");
	launch_list_without(out, sizeof(out), "/libomig.so", ":", "/libomig.so");
	ck_assert_str_eq(out, "");
}

TEST(a_list_that_does_not_fit_is_cut_at_an_item)
{
	char out[8];

	launch_list_without(out, sizeof(out), "aaa:bbb:ccc", ":", "x");
	ck_assert_str_eq(out, "aaa:bbb");
}

TEST(other_preloaded_libraries_stay_behind_ours)
{
	struct launch l = { .measure = NULL };
	struct variables v;

	setenv("LD_PRELOAD", "/x/other.so:/old/libomig.so", 1);
	v = variables_of(&l);
	unsetenv("LD_PRELOAD");
	ck_assert_str_eq(v.preload, "/opt/lib/libomig.so:/x/other.so");
	ck_assert_str_eq(v.start, "off");
	l.measure = "partner";
	l.callsites = true;
	ck_assert_str_eq(variables_of(&l).start, "partner+site");
	l.interactions = true;
	ck_assert_str_eq(variables_of(&l).start, "partner+site+messages");
	ck_assert(!v.has_site);
}

TEST(the_library_of_files_is_once_beside_ours)
{
	struct launch l = { .files = true };

	setenv("LD_PRELOAD", "/old/libomig.so:/old/libomig-io.so:/x/other.so", 1);
	ck_assert_str_eq(variables_of(&l).preload,
			 "/opt/lib/libomig.so:/opt/lib/libomig-io.so:/x/other.so");
	l.files = false;
	ck_assert_str_eq(variables_of(&l).preload, "/opt/lib/libomig.so:/x/other.so");
	unsetenv("LD_PRELOAD");
}

TEST(doing_it_twice_changes_nothing)
{
	struct launch l = { .measure = "time", .site = "a" };
	struct variables first, second;

	setenv("OMPI_MCA_mca_base_env_list", "MINE;YOURS", 1);
	first = variables_of(&l);
	ck_assert(str_has_prefix(first.list, "MINE;YOURS;LD_PRELOAD;OMIG_"));
	ck_assert(first.has_site);
	setenv("OMPI_MCA_mca_base_env_list", first.list, 1);
	second = variables_of(&l);
	ck_assert_str_eq(first.list, second.list);
	ck_assert_str_eq(second.start, "time");
	launch_env_list_rest(first.list, sizeof(first.list));
	ck_assert_str_eq(first.list, "MINE;YOURS");
}

TEST(a_users_own_list_is_not_mixed_with_options)
{
	struct launch l = { .measure = NULL };
	struct variables v;

	unsetenv("OMPI_MCA_mca_base_env_list");
	setenv("OMIG_STATE_DIR", "/s", 1);
	unsetenv("OMIG_RUNTIME_DIR");
	unsetenv("OMIG_SITE");
	ck_assert_str_eq(launch_env_list_name(), "OMPI_MCA_mca_base_env_list_internal");
	v = variables_of(&l);
	ck_assert(str_has_prefix(v.list, "LD_PRELOAD;OMIG_MAINSM;"));
	ck_assert_ptr_nonnull(strstr(v.list, ";OMIG_STATE_DIR"));
	/* Open MPI warns of variables that are not there */
	ck_assert_ptr_null(strstr(v.list, "OMIG_RUNTIME_DIR"));
	ck_assert_ptr_null(strstr(v.list, "OMIG_SITE"));
	setenv("OMPI_MCA_mca_base_env_list", "X", 1);
	ck_assert_str_eq(launch_env_list_name(), "OMPI_MCA_mca_base_env_list");
}

TEST(a_job_has_the_batch_systems_number_or_the_programs_name)
{
	struct launch l = { .measure = NULL };

	unsetenv("OMIG_JOB");
	unsetenv("PBS_JOBID");
	unsetenv("LSB_JOBID");
	unsetenv("SLURM_JOB_ID");
	launch_name_job(&l, "/usr/bin/mpirun");
	ck_assert(str_has_prefix(l.job_name, "mpirun."));
	setenv("SLURM_JOB_ID", "4711", 1);
	launch_name_job(&l, "mpirun");
	ck_assert_str_eq(l.job_name, "4711");
	l.job = "mine";
	launch_name_job(&l, "mpirun");
	ck_assert_str_eq(l.job_name, "mine");
	l.job = "a\033[31m\n\xff";
	launch_name_job(&l, "mpirun");
	ck_assert_str_eq(l.job_name, "a_[31m__");
}

SUITE("launch")
