/* SPDX-License-Identifier: Apache-2.0 */
/* Where the sm of a site that serves many users is: a connection string, or a file that has one. */
#ifndef TOOLS_SESSION_SITE_H
#define TOOLS_SESSION_SITE_H

#include <stddef.h>

#define SITE_STRING_BYTES 4096

/* given: the user's option. 0 or an exit status, reported. out has SITE_STRING_BYTES. */
int site_string(const char *given, char *out);

/* The admin's string of the only shared sm in this user's state directory. As above. */
int site_own_string(char *out);

#endif
