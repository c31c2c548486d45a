/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sets of serials. Serials are random, so their first bytes are a key; the rare ones with the same
 * key form a list.
 */
#include "common/base/array.h"
#include "common/container/map.h"
#include "common/net/identity.h"

#include <stdlib.h>
#include <string.h>

#define SERIALS_MAX (1024 * 1024) /* more than any site revokes; 16 MiB */

struct serial {
	uint8_t bytes[SERIAL_BYTES];
};

struct serial_set {
	struct serial *all;
	size_t n, cap;
	struct map index; /* key -> 1 + index of the last serial with that key */
	size_t *before; /* by index: 1 + index of the previous serial with the same key, or 0 */
	size_t before_cap;
};

struct serial_set *serial_set_new(void)
{
	struct serial_set *s = calloc(1, sizeof(*s));

	if (s)
		map_init(&s->index);
	return s;
}

void serial_set_free(struct serial_set *s)
{
	if (!s)
		return;
	map_done(&s->index);
	free(s->before);
	free(s->all);
	free(s);
}

static uint64_t key_of(const uint8_t serial[SERIAL_BYTES])
{
	uint64_t key;

	memcpy(&key, serial + SERIAL_BYTES - sizeof(key), sizeof(key));
	return key;
}

bool serial_set_has(const struct serial_set *s, const uint8_t serial[SERIAL_BYTES])
{
	size_t i = (size_t)(uintptr_t)map_find(&s->index, key_of(serial));

	for (; i; i = s->before[i - 1]) {
		if (!memcmp(s->all[i - 1].bytes, serial, SERIAL_BYTES))
			return true;
	}
	return false;
}

int serial_set_add(struct serial_set *s, const uint8_t serial[SERIAL_BYTES])
{
	void *old;
	int rc;

	if (serial_set_has(s, serial))
		return 0;
	rc = array_grow(&s->all, &s->cap, s->n + 1, sizeof(*s->all), SERIALS_MAX);
	if (!rc)
		rc = array_grow(&s->before, &s->before_cap, s->n + 1, sizeof(*s->before),
				SERIALS_MAX);
	if (!rc)
		rc = map_put(&s->index, key_of(serial), (void *)(uintptr_t)(s->n + 1), &old);
	if (rc)
		return rc;
	s->before[s->n] = (size_t)(uintptr_t)old;
	memcpy(s->all[s->n++].bytes, serial, SERIAL_BYTES);
	return 0;
}

size_t serial_set_size(const struct serial_set *s)
{
	return s->n;
}

const uint8_t *serial_set_at(const struct serial_set *s, size_t i)
{
	return s->all[i].bytes;
}
