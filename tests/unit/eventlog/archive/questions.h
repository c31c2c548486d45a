/* SPDX-License-Identifier: Apache-2.0 */
/* A small archive, and its answers to each kind of question, in each database. */
#ifndef TESTS_UNIT_EVENTLOG_ARCHIVE_QUESTIONS_H
#define TESTS_UNIT_EVENTLOG_ARCHIVE_QUESTIONS_H

#include "tests/suite.h"

#define QUESTIONS_MAX 20

/* Adds its tests to a list. Returns their number, at most QUESTIONS_MAX. */
size_t add_tests_of_questions(const TTest **list);

#endif
