/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/eventlog/archive/each_database.h"

int main(void)
{
	const TTest *all[EACH_DATABASE_MAX];

	return suite_run_with("SQLite", NULL, NULL, all, add_tests_of_each_database(all));
}
