/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The address of the sm of a site for many users: a connection string, or a file that contains one.
 */
#ifndef TOOLS_SESSION_SITE_H
#define TOOLS_SESSION_SITE_H

#include <stddef.h>

#define SITE_STRING_BYTES 4096

/* given: the user's option. Returns 0 or an exit status, reported. out has SITE_STRING_BYTES. */
int site_string(const char *given, char *out);

/* Reads the admin's string of the only shared sm in this user's state directory. As above. */
int site_own_string(char *out);

#endif
