/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of an archive in each database, in a file and in a server. */
#ifndef TESTS_UNIT_EVENTLOG_ARCHIVE_EACH_DATABASE_H
#define TESTS_UNIT_EVENTLOG_ARCHIVE_EACH_DATABASE_H

#include "tests/suite.h"

#define EACH_DATABASE_MAX 20

/* Adds its tests to a list. Returns their number, at most EACH_DATABASE_MAX. */
size_t add_tests_of_each_database(const TTest **list);

#endif
