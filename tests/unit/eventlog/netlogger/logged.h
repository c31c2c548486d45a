/* SPDX-License-Identifier: Apache-2.0 */
/* A log written by NetLogger's calls, and a reader for it. */
#ifndef TESTS_UNIT_EVENTLOG_NETLOGGER_LOGGED_H
#define TESTS_UNIT_EVENTLOG_NETLOGGER_LOGGED_H

#include "eventlog/evfile.h"
#include "eventlog/netlogger/netlogger.h"
#include "eventlog/text/evout.h"
#include "tests/suite.h"

extern char logged_path[64], logged_url[80];

void logged_set_up(void);
void logged_clean_up(void);

/* Events as "name: field=value ..." lines, the constants of the stream left out; strings in
 * quotes. */
const char *logged_lines(void);

/* NetLogger's calls take no const char *. */
char *logged_s(const char *text);

#endif
