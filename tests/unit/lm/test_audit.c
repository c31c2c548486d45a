/* SPDX-License-Identifier: Apache-2.0 */
/* The audit of a host: its manipulations and their authors. */
#include "common/base/file.h"
#include "common/base/limits.h"
#include "tests/suite.h"
#include "tests/unit/lm/world.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ADMIN "omig:tool-admin//root@here"

static struct world w;
static struct fake_segment segment;
static char own[TOKEN_BYTES], dir[64], path[128];
static struct omis_values *answer;

static void open_world(void)
{
	str_copy(dir, sizeof(dir), "/tmp/omig-test-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/audit", dir);
	world_open(&w);
	world_crash_lm(&w);
	w.audit = path;
	world_start_lm(&w);
	world_add_rank(&w, &segment, 100, 0, own);
}

static void close_world(void)
{
	omis_values_free(answer);
	answer = NULL;
	world_close(&w);
	fake_segment_close(&segment);
	file_remove(path, NULL);
	ck_assert_int_eq(rmdir(dir), 0);
}

/* $ in the request means our process. */
static unsigned ask(const char *identity, const char *request)
{
	const char *at = strchr(request, '$');
	char text[256];
	const struct msg_entry *e;

	snprintf(text, sizeof(text), "%.*s%s%s", at ? (int)(at - request) : 255, request,
		 at ? own : "", at ? at + 1 : "");
	e = reply_entry_of(world_ask_as(&w, 9, identity, text), NULL);
	return e ? e->status : 0;
}

/* The audit as this host reports it; the number of entries. */
static size_t entries(void)
{
	const struct msg_entry *e =
		reply_entry_of(world_ask(&w, ADMIN, ":omig_audit([n_7])"), "n_7");

	ck_assert_ptr_nonnull(e);
	ck_assert_uint_eq(e->status, STATUS_OK);
	omis_values_free(answer);
	ck_assert_int_eq(omis_parse_values((const char *)e->value.p, e->value.n, &answer, NULL), 0);
	ck_assert_str_eq(omis_values_text(answer, 0), "lm");
	ck_assert_str_eq(omis_values_text(answer, 1), "leaf");
	return answer->n - 4;
}

enum { WHO = 4, SESSION, CSR, CALL, OBJECTS, FAILED, STATUS };

/* Of the newest one. */
static const char *last(size_t field)
{
	ck_assert_uint_gt(entries(), 0);
	return omis_value_text(&answer->v[4].list.v[field], NULL);
}

static void check_last(const char *who, const char *call, const char *status)
{
	ck_assert_str_eq(last(WHO), who);
	/* Each answer lives until the next is requested. */
	ck_assert_msg(!strncmp(last(CALL), call, strlen(call)), "not %s", call);
	ck_assert_str_eq(last(STATUS), status);
}

TEST(manipulations_are_recorded_with_identity_action_and_outcome)
{
	ck_assert_uint_eq(entries(), 0);
	ask(MANIPULATOR, ":thread_stop([$])");
	check_last(MANIPULATOR, "thread_stop([p_", "OK");
	ck_assert_int_eq(answer->v[4].list.v[SESSION].i, 9);
	ck_assert_str_eq(last(OBJECTS), own);
	ask(MANIPULATOR, ":thread_continue([$]) proc_send_signal([p_7_zzzzzz],10)");
	ck_assert_uint_eq(entries(), 3);
	check_last(MANIPULATOR, "proc_send_signal([p_7_zzzzzz],10)", "UNKNOWN_OBJECT");
	ask(MANIPULATOR, ":proc_get_info([$],1)");
	ck_assert_uint_eq(entries(), 3);
}

TEST(refusals_are_written_and_a_flood_of_them_is_not)
{
	struct stat st;

	ck_assert_uint_eq(ask(OBSERVER, ":thread_stop([$])"), STATUS_NO_PERMISSION);
	check_last(OBSERVER, "thread_stop(", "NO_PERMISSION");
	for (int i = 0; i < 500; i++)
		ask(OBSERVER, ":proc_send_signal([$],9)");
	ck_assert_uint_eq(entries(), AUDIT_REFUSED_MAX);
	ck_assert_int_eq(answer->v[2].i, 501 - AUDIT_REFUSED_MAX);
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_int_lt(st.st_size, 8192);
}

TEST(audit_records_refusals_by_local_policy)
{
	world_crash_lm(&w);
	w.may_manipulate = false;
	world_start_lm(&w);
	ck_assert_uint_eq(ask(MANIPULATOR, ":thread_stop([p_7_aaaaaa])"), STATUS_NO_PERMISSION);
	w.may_manipulate = true;
	world_crash_lm(&w);
	world_start_lm(&w);
	check_last(MANIPULATOR, "thread_stop(", "NO_PERMISSION");
}

TEST(actions_of_conditional_requests_have_its_token)
{
	struct fake_proc *p;
	char text[256];

	fake_segment_close(&segment);
	p = fake_proc_add(&w.host, 200, "other");
	ck_assert_ptr_nonnull(p);
	world_add_rank(&w, &segment, 300, 1, NULL);
	snprintf(text, sizeof(text), "proc_has_terminated([%s]): thread_stop([%s])",
		 world_token(&w, 300), own);
	world_arm(&w, "c_5", text, 1, false);
	fake_proc_end(fake_proc_find(&w.host, 300), 0);
	world_run(&w, 3 * SEC);
	check_last(MANIPULATOR, "thread_stop([p_", "OK");
	ck_assert_str_eq(last(CSR), "c_5");
}

/* An sm with a false claim about the tool's rights. */
TEST(a_conditional_request_that_is_refused_here_is_written)
{
	struct msg m = { .type = MSG_ARM };
	char text[256];

	snprintf(text, sizeof(text), "proc_has_terminated([%s]): thread_stop([%s])", own, own);
	m.arm = (struct msg_arm){ .csr = "c_6",
				  .tool = 2,
				  .identity = OBSERVER,
				  .version = 1,
				  .text = { (const uint8_t *)text, strlen(text) },
				  .local_prefix = 1 };
	above_send(&w.mainsm, &m);
	world_run(&w, 20 * MS);
	check_last(OBSERVER, "thread_stop([p_", "NO_PERMISSION");
	ck_assert_str_eq(last(CSR), "c_6");
}

TEST(the_audit_continues_after_a_crash_and_is_for_admins)
{
	ask(MANIPULATOR, ":thread_stop([$])");
	world_crash_lm(&w);
	world_start_lm(&w);
	ck_assert_uint_ge(entries(), 1);
	ck_assert_uint_eq(ask(MANIPULATOR, ":omig_audit([n_7])"), STATUS_NO_PERMISSION);
	check_last(MANIPULATOR, "omig_audit(", "NO_PERMISSION");
}

/* The program under watch and the tool notice nothing. */
TEST(an_audit_that_cannot_be_written_stops_nothing)
{
	ck_assert_int_eq(mkdir(path, 0700), 0);
	for (int i = 0; i < 3; i++) {
		ck_assert_uint_eq(ask(MANIPULATOR, ":thread_stop([$])"), STATUS_OK);
		ck_assert_uint_eq(ask(MANIPULATOR, ":thread_continue([$])"), STATUS_OK);
	}
	ck_assert_int_eq(rmdir(path), 0);
	ask(MANIPULATOR, ":thread_stop([$])");
	ck_assert_uint_eq(entries(), 1);
	ck_assert_int_eq(answer->v[4].list.v[12].i, 6);
}

SUITE_WITH("audit", open_world, close_world)
