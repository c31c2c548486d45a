/* SPDX-License-Identifier: Apache-2.0 */
/* The audit of mainsm: the services that it executes, and refused requests. */
#include "common/base/file.h"
#include "common/base/limits.h"
#include "tests/suite.h"
#include "tests/unit/mainsm/world.h"

#include <dirent.h>
#include <stdlib.h>
#include <unistd.h>

static struct world w;
static struct above admin, t;
static struct fake_branch a;
static char dir[64];
static struct omis_values *answer;

static void open_world(enum role role)
{
	str_copy(dir, sizeof(dir), "/tmp/omig-test-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	world_open(&w);
	world_stop(&w);
	str_copy(w.dir, sizeof(w.dir), dir);
	world_start(&w);
	above_open(&w, &admin, ROLE_TOOL_ADMIN, "root");
	above_open(&w, &t, role, "t");
}

static void close_world(void)
{
	struct dirent *i;
	DIR *d;

	omis_values_free(answer);
	answer = NULL;
	above_close(&t);
	above_close(&admin);
	world_done(&w);
	d = opendir(dir);
	ck_assert_ptr_nonnull(d);
	while ((i = readdir(d)))
		if (i->d_name[0] != '.')
			unlinkat(dirfd(d), i->d_name, 0);
	closedir(d);
	ck_assert_int_eq(rmdir(dir), 0);
}

static size_t entries(void)
{
	const struct reply_entry *e = entry_of(above_ask(&admin, ":omig_audit([])"), 1, 0);

	ck_assert_ptr_nonnull(e);
	ck_assert_uint_eq(e->status, STATUS_OK);
	omis_values_free(answer);
	ck_assert_int_eq(omis_parse_values(e->value, e->nvalue, &answer, NULL), 0);
	ck_assert_str_eq(omis_values_text(answer, 0), "mainsm");
	return answer->n - 4;
}

enum { WHO = 4, SESSION, CSR, CALL, OBJECTS, FAILED, STATUS };

static const char *field(size_t i, size_t k)
{
	ck_assert_uint_gt(answer->n, 4 + i);
	return omis_value_text(&answer->v[4 + i].list.v[k], NULL);
}

TEST(administration_is_written_and_its_secrets_are_not)
{
	char path[80], string[128];
	struct buf text = BUF_INIT(AUDIT_FILE_MAX_BYTES);

	open_world(ROLE_TOOL_OBSERVE);
	str_copy(string, sizeof(string),
		 entry_of(above_ask(&admin, ":omig_cert_token(\"tool\",60,1)"), 1, 0)->value);
	above_ask(&admin, ":omig_cert_token(\"mainsm\",60,1)");
	above_ask(&admin, ":omig_cert_revoke(\"nobody\")");
	above_ask(&admin, ":omig_cert_list() omig_tree()");
	ck_assert_uint_eq(entries(), 3);
	ck_assert_str_eq(field(0, CALL), "omig_cert_revoke(\"nobody\")");
	ck_assert_str_eq(field(0, STATUS), "OK");
	ck_assert_str_eq(field(0, WHO), "omig:tool-admin//root");
	ck_assert_str_eq(field(1, STATUS), "PARAMETER_ERROR");
	ck_assert_str_eq(field(2, CALL), "omig_cert_token(\"tool\",60,1,\"\",0)");
	snprintf(path, sizeof(path), "%s/audit", dir);
	ck_assert_int_eq(file_read(path, AUDIT_FILE_MAX_BYTES, FILE_SECRET, &text, NULL), 0);
	string[strlen(string) - 1] = 0; /* its quotes */
	ck_assert_ptr_nonnull(strrchr(string, '.'));
	ck_assert_ptr_null(strstr(buf_str(&text), strrchr(string, '.')));
	ck_assert_ptr_null(strstr(buf_str(&text), "omig1:"));
	buf_done(&text);
	close_world();
}

TEST(mainsm_audits_requests_refused_to_tools)
{
	open_world(ROLE_TOOL_OBSERVE);
	ck_assert_uint_eq(above_status(&t, ":proc_get_info([],1) thread_stop([])"),
			  STATUS_NO_PERMISSION);
	ck_assert_uint_eq(entries(), 1);
	ck_assert_str_eq(field(0, CALL), "thread_stop([])");
	ck_assert_str_eq(field(0, WHO), "omig:tool-observe//t");
	ck_assert_int_eq(answer->v[4].list.v[SESSION].i, t.number);
	ck_assert_uint_eq(above_status(&t, "proc_has_terminated([]): thread_stop([])"),
			  STATUS_NO_PERMISSION);
	ck_assert_uint_eq(entries(), 2);
	for (int i = 0; i < 300; i++)
		above_status(&t, ":omig_shutdown()");
	ck_assert_uint_eq(entries(), AUDIT_REFUSED_MAX);
	ck_assert_int_eq(answer->v[2].i, 302 - AUDIT_REFUSED_MAX);
	close_world();
}

TEST(mainsm_does_not_audit_actions_of_hosts)
{
	open_world(ROLE_TOOL_MANIPULATE);
	below_open(&w, &a, ROLE_SM, "a", "sm-a");
	below_report(&a, 1, "h1");
	above_attach_all(&t);
	above_ask(&t, ":thread_stop([])");
	ck_assert_uint_ge(a.requests, 1);
	ck_assert_uint_eq(entries(), 0);
	below_close(&a);
	close_world();
}

TEST(an_action_elsewhere_carries_the_token_of_its_csr)
{
	struct msg m = { .type = MSG_TRIGGERED };

	open_world(ROLE_TOOL_MANIPULATE);
	below_open(&w, &a, ROLE_SM, "a", "sm-a");
	below_report(&a, 1, "h1");
	above_attach_all(&t);
	above_send(&t, "proc_has_terminated([]): print([1]) thread_stop([])", 0);
	world_run(&w, 10 * MS);
	above_send(&t, ":csr_enable([])", 0);
	world_run(&w, 10 * MS);
	ck_assert_uint_eq(a.arms, 1);
	m.triggered = (struct msg_triggered){
		.csr = a.csr, .tool = a.tool, .seq = 1, .node = "n_1", .proc = "p_1_a00000"
	};
	ck_assert_int_eq(link_send(a.link, &m), 0);
	world_run(&w, 100 * MS);
	ck_assert_ptr_nonnull(strstr(a.text, "thread_stop("));
	ck_assert_str_eq(a.of_csr, a.csr);
	below_close(&a);
	close_world();
}

SUITE("audit")
