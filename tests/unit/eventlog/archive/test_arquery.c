/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/eventlog/archive/questions.h"

int main(void)
{
	const TTest *all[QUESTIONS_MAX];

	return suite_run_with("arquery", NULL, NULL, all, add_tests_of_questions(all));
}
