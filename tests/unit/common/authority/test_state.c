/* SPDX-License-Identifier: Apache-2.0 */
/* The state directory: the authority, and mainsm's own certificate while it runs. */
#include "common/base/clock.h"
#include "common/authority/state.h"
#include "common/base/array.h"
#include "tests/suite.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LIFETIME (300 * NSEC_PER_SEC)

static struct state s;
static char base[] = "/tmp/omig-test-XXXXXX";

static void open_state(nsec_t wall)
{
	struct err e = { 0 };

	ck_assert_int_eq(state_init(&s, base, "mainsm", &e), 0);
	ck_assert_msg(state_open(&s, wall, LIFETIME, &e) == 0, "%s", e.text);
}

static struct identity own(void)
{
	struct identity id;
	nsec_t now = clock_wall();

	ck_assert_int_eq(pki_creds_check(&s.creds, pki_ca_pin(s.ca), now, &id, NULL), 0);
	return id;
}

static void close_state(void)
{
	static const char *const files[] = { "own/key.pem", "own/cert.pem",
					     "own/ca.pem",  "own/creds.lock",
					     "own",	    "ca.key",
					     "ca.crt",	    "." };
	char path[64];

	state_done(&s);
	for (size_t i = 0; i < ARRAY_LEN(files); i++) {
		snprintf(path, sizeof(path), "%s/mainsm/%s", base, files[i]);
		if (unlink(path))
			rmdir(path);
	}
	snprintf(path, sizeof(path), "%s/mainsm", base);
	rmdir(path);
	ck_assert_int_eq(rmdir(base), 0);
}

TEST(the_own_certificate_is_renewed_in_the_last_third_of_its_life)
{
	nsec_t now = clock_wall();
	struct identity first, second;

	ck_assert_ptr_nonnull(mkdtemp(base));
	open_state(now);
	first = own();
	ck_assert_int_eq(state_renew(&s, now + LIFETIME / 6, LIFETIME, NULL), 0);
	ck_assert_mem_eq(own().serial, first.serial, SERIAL_BYTES);
	ck_assert_int_eq(state_renew(&s, now + LIFETIME / 2, LIFETIME, NULL), 1);
	second = own();
	ck_assert_int_ne(memcmp(second.serial, first.serial, SERIAL_BYTES), 0);
	ck_assert_int_gt(second.wall_not_after, first.wall_not_after);
	ck_assert_int_eq(second.role, ROLE_MAINSM);
	/* The renewed certificate is on the disk, too. */
	state_done(&s);
	open_state(now + LIFETIME / 2);
	ck_assert_mem_eq(own().serial, second.serial, SERIAL_BYTES);
	close_state();
}

TEST(a_certificate_that_cannot_be_renewed_is_kept)
{
	nsec_t now = clock_wall();
	struct identity first;
	char path[64];

	ck_assert_ptr_nonnull(mkdtemp(base));
	open_state(now);
	first = own();
	snprintf(path, sizeof(path), "%s/mainsm/own", base);
	ck_assert_int_eq(chmod(path, 0755), 0);
	ck_assert_int_lt(state_renew(&s, now + LIFETIME / 2, LIFETIME, NULL), 0);
	ck_assert_mem_eq(own().serial, first.serial, SERIAL_BYTES);
	ck_assert_int_eq(chmod(path, 0700), 0);
	ck_assert_int_eq(state_renew(&s, now + LIFETIME / 2, LIFETIME, NULL), 1);
	close_state();
}

SUITE("state")
