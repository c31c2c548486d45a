/* SPDX-License-Identifier: Apache-2.0 */
/* A file system of the test's own with two files, as on a server that does not answer. The contents
 * of one never come; close() of the other waits. */
#ifndef TESTS_UNIT_LM_HUNG_FILE_H
#define TESTS_UNIT_LM_HUNG_FILE_H

#include <stdbool.h>
#include <sys/types.h>

/* Mounts it on dir, in a name space of this process's own. False: it is not possible here. */
bool hung_file_mount(const char *dir);

/* Every wait for a file returns an error. */
void hung_file_end(void);

#define HUNG_FILE "file" /* of one page */
#define HUNG_CLOSING_FILE "closing"

#endif
