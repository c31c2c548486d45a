/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_FAKES_IDENTITY_H
#define TESTS_FAKES_IDENTITY_H

#include "common/net/net.h"

/* Returns a valid identity; each has another serial number. */
struct identity fake_identity(enum role role, const char *site, const char *host);

#endif
