/* SPDX-License-Identifier: Apache-2.0 */
/* Links of servers: programs that others dial, and that are not daemons of the tree. */
#include "common/authority/certs.h"
#include "common/base/array.h"
#include "common/base/file.h"
#include "tests/suite.h"
#include "tests/unit/mainsm/world.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct world w;
static struct fake_branch a;
static struct above t;

/* A receiver of event logs, as the branch a. */
static void connect_receiver(void)
{
	const struct identity who = fake_identity(ROLE_RECEIVER, "", "h1");
	const struct msg_hello hello = {
		.role = "receiver", .site = "", .host = "h1", .listen = ""
	};

	below_init(&w, &a, &who);
	fake_branch_dial(&a, &hello);
	world_run(&w, 300 * MS);
	ck_assert(a.is_up);
}

TEST(a_server_gets_the_revoked_certificates)
{
	static const char *const files[] = { "names", "boot", "issued", "tokens", "audit" };
	struct identity guest = fake_identity(ROLE_TOOL_OBSERVE, "", "guest");
	char dir[] = "/tmp/omig-test-XXXXXX", path[FILE_PATH_BYTES];
	struct certs *certs;

	ck_assert_ptr_nonnull(mkdtemp(dir));
	world_open(&w);
	world_stop(&w);
	str_copy(w.dir, sizeof(w.dir), dir);
	snprintf(path, sizeof(path), "%s/issued", dir);
	str_copy(guest.owner, sizeof(guest.owner), "guest");
	guest.wall_not_after = world_wall(&w) + 3600 * SEC;
	ck_assert_int_eq(certs_open(NULL, path, &certs, NULL), 0);
	ck_assert_int_eq(certs_add(certs, &guest, 0, world_wall(&w), NULL), 0);
	certs_free(certs);
	world_start(&w);
	connect_receiver();
	ck_assert_uint_eq(a.revoked, 0);
	above_open(&w, &t, ROLE_TOOL_ADMIN, "t");
	ck_assert_uint_eq(above_status(&t, ":omig_cert_revoke(\"guest\")"), STATUS_OK);
	world_run(&w, 100 * MS);
	ck_assert_uint_eq(a.revoked, 1);
	below_close(&a);
	connect_receiver(); /* again: it gets all of them */
	ck_assert_uint_eq(a.revoked, 1);
	below_close(&a);
	above_close(&t);
	world_done(&w);
	for (size_t i = 0; i < ARRAY_LEN(files); i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, files[i]);
		file_remove(path, NULL);
	}
	ck_assert_int_eq(rmdir(dir), 0);
}

TEST(a_server_does_not_keep_mainsm_alive)
{
	world_open(&w);
	world_stop(&w);
	w.conf.linger = 5 * SEC;
	world_start(&w);
	connect_receiver();
	world_run(&w, 10 * SEC);
	ck_assert_uint_eq(w.ends, 1);
	below_close(&a);
	world_done(&w);
}

SUITE("servers")
