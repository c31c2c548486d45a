/* SPDX-License-Identifier: Apache-2.0 */
/* A PostgreSQL server for the tests of one program. */
#ifndef TESTS_UNIT_EVENTLOG_ARCHIVE_SERVER_H
#define TESTS_UNIT_EVENTLOG_ARCHIVE_SERVER_H

/* URL of its database. NULL: no server can be started here, and stdout has the reason. It ends when
 * this process ends, however that is. */
const char *server_start(void);

/* URL of another database in it, as "name?..." of server_start()'s. */
const char *server_url(const char *database);

/* Ends it, and returns when it has ended. */
void server_stop(void);

#endif
