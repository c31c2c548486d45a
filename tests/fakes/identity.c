/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fakes/identity.h"

#include "common/base/str.h"

struct identity fake_identity(enum role role, const char *site, const char *host)
{
	static uint8_t serial;
	struct identity id = { .role = role, .wall_not_after = INT64_MAX };

	id.serial[0] = ++serial;
	str_copy(id.site, sizeof(id.site), site);
	str_copy(id.host, sizeof(id.host), host);
	return id;
}
