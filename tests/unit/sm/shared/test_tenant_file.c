/* SPDX-License-Identifier: Apache-2.0 */
/* State of a user on disk: all of it is read back, and errors are located. */
#include "common/base/array.h"
#include "common/base/str.h"
#include "sm/shared/tenant_internal.h"
#include "tests/suite.h"
#include "tests/unit/common/store/each_fault.h"

#include <string.h>

static struct memdisk m;
static struct tenant_conf conf;

static struct tenant fresh(const struct disk *d)
{
	struct tenant t = { .conf = &conf,
			    .dir = "users/pin",
			    .pin = "00000000000000000000000000" };

	conf.disk = d;
	for (int i = 0; i < QUOTA_COUNT; i++)
		t.own[i] = -1;
	return t;
}

static struct tenant known(const struct disk *d, uint16_t port)
{
	struct tenant t = fresh(d);

	str_copy(t.name, sizeof(t.name), "anna");
	t.conn = (struct connstr){ .host = { "h1" }, .nhost = 1, .port = 4711 };
	str_copy(t.conn.pin, sizeof(t.conn.pin), t.pin);
	t.port = port;
	t.wall_since = 5;
	t.wall_seen = 7;
	t.own[QUOTA_HOSTS] = 3;
	t.is_draining = true;
	return t;
}

TEST(tenant_is_read_as_written)
{
	struct tenant t, back;
	struct err e = { 0 };

	memdisk_init(&m, 1);
	t = known(&m.disk, 99);
	ck_assert_msg(!tenant_write(&t, &e), "%s", e.text);
	back = fresh(&m.disk);
	ck_assert_msg(!tenant_read(&back, &e), "%s", e.text);
	ck_assert_str_eq(back.name, "anna");
	ck_assert_str_eq(back.address, "h1:4711");
	ck_assert(back.port == 99 && back.wall_since == 5 && back.wall_seen == 7);
	ck_assert(back.own[QUOTA_HOSTS] == 3 && back.is_draining);
	memdisk_done(&m);
}

TEST(a_wrong_line_or_form_is_an_error_with_its_place)
{
	static const struct {
		const char *kind, *text, *words;
	} bad[] = {
		{ "tenant 1", "port\t1\nport\t70000\n", "/user:2: not a line" },
		{ "tenant 1", "limit\tnothing\t1\n", "/user:1: not a line" },
		{ "tenant 1", "since\t-1\n", "/user:1: not a line" },
		{ "tenant 1", "what\n", "/user:1: not a line" },
		{ "tenant 1", "", "no user is remembered" },
		{ "tenant 2", "port\t1\n", "/user: byte 0: not in the form" },
	};

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct err e = { 0 };
		struct tenant t;

		memdisk_init(&m, 1);
		t = fresh(&m.disk);
		put_kept(&m.disk, "users/pin/user", bad[i].kind, bad[i].text);
		ck_assert_int_lt(tenant_read(&t, &e), 0);
		ck_assert_msg(strstr(e.text, bad[i].words) != NULL, "%s", e.text);
		memdisk_done(&m);
	}
}

static void put_old(const struct disk *d)
{
	struct tenant t = known(d, 1);

	ck_assert_int_eq(tenant_write(&t, NULL), 0);
}

static int change(const struct disk *d)
{
	struct tenant t = known(d, 2);

	return tenant_write(&t, NULL);
}

static enum kept_state port_there(const struct disk *d)
{
	struct tenant t = fresh(d);

	if (tenant_read(&t, NULL) || !str_eq(t.name, "anna"))
		return KEPT_OTHER;
	return t.port == 1 ? KEPT_OLD : t.port == 2 ? KEPT_NEW : KEPT_OTHER;
}

TEST(tenant_is_old_or_new_after_each_fault)
{
	each_fault(&(struct kept_case){ "user", put_old, change, port_there, false });
}

SUITE("tenant file")
