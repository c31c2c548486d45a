/* SPDX-License-Identifier: Apache-2.0 */
/* mainsm with two sms of two hosts each: counters, integrators and trace buffers. */
#include "common/base/array.h"
#include "tests/suite.h"
#include "tests/unit/mainsm/four_hosts.h"

static struct world w;
static struct fake_branch a, b;
static struct above t1;

static void open_sites(void)
{
	four_hosts_open(&w, &a, &b);
}

static void close_sites(void)
{
	four_hosts_close(&w, &a, &b);
}

TEST(a_counter_is_made_where_its_processes_are_and_read_there)
{
	const struct reply *r;
	char text[128], token[40];

	open_sites();
	above_open(&w, &t1, ROLE_TOOL_OBSERVE, "t1");
	above_attach_all(&t1);
	r = above_ask(&t1, ":pa_counter_local_create([p_1_a00000,n_3])");
	ck_assert_uint_eq(reply_status(r), STATUS_OK);
	str_copy(token, sizeof(token), entry_of(r, 1, 0)->value);
	ck_assert_ptr_nonnull(strstr(token, "pa_cl_"));
	snprintf(text, sizeof(text), ":omig_pa_create([p_1_a00000],%s)", token);
	ck_assert_str_eq(a.text, text);
	snprintf(text, sizeof(text), ":omig_pa_create([p_3_a00000,p_3_b00000],%s)", token);
	ck_assert_str_eq(b.text, text);
	snprintf(text, sizeof(text), ":pa_counter_read([%s])", token);
	ck_assert_uint_eq(above_status(&t1, text), STATUS_OK);
	ck_assert_str_eq(a.text, text);
	ck_assert_str_eq(b.text, text);
	snprintf(text, sizeof(text), ":pa_counter_delete([%s])", token);
	ck_assert_uint_eq(above_status(&t1, text), STATUS_OK);
	ck_assert_str_eq(a.text, text);
	snprintf(text, sizeof(text), ":pa_counter_read([%s])", token);
	ck_assert_uint_eq(above_status(&t1, text), STATUS_UNKNOWN_OBJECT);
	above_close(&t1);
	close_sites();
}

static void made_by(const char *request, char token[40])
{
	const struct reply *r = above_ask(&t1, request);

	ck_assert_uint_eq(reply_status(r), STATUS_OK);
	str_copy(token, 40, entry_of(r, 1, 0)->value);
}

TEST(all_counters_are_no_integrators_and_no_trace_buffers)
{
	char counter[40], integrator[40], buffer[40], text[128];

	open_sites();
	above_open(&w, &t1, ROLE_TOOL_OBSERVE, "t1");
	above_attach_all(&t1);
	made_by(":pa_counter_local_create([p_1_a00000])", counter);
	made_by(":pa_integrator_global_create([p_1_a00000])", integrator);
	made_by(":trace_buffer_create([p_1_a00000])", buffer);
	ck_assert_int_eq(strncmp(buffer, "trace_b_", 8), 0);
	snprintf(text, sizeof(text), ":pa_counter_delete([%s])", counter);
	ck_assert_uint_eq(above_status(&t1, ":pa_counter_delete([])"), STATUS_OK);
	ck_assert_str_eq(a.text, text);
	snprintf(text, sizeof(text), ":trace_buffer_read([%s],1000)", buffer);
	ck_assert_uint_eq(above_status(&t1, ":trace_buffer_read([])"), STATUS_OK);
	ck_assert_str_eq(a.text, text);
	ck_assert_uint_eq(above_status(&t1, ":trace_buffer_delete([])"), STATUS_OK);
	snprintf(text, sizeof(text), ":pa_integrator_read([%s])", integrator);
	ck_assert_uint_eq(above_status(&t1, ":pa_integrator_read([])"), STATUS_OK);
	ck_assert_str_eq(a.text, text);
	above_close(&t1);
	close_sites();
}

TEST(a_counter_reports_a_lost_host_as_missing)
{
	const struct reply *r;
	char text[64], token[40];

	open_sites();
	above_open(&w, &t1, ROLE_TOOL_OBSERVE, "t1");
	above_attach_all(&t1);
	r = above_ask(&t1, ":pa_counter_global_create([n_1,n_3])");
	str_copy(token, sizeof(token), entry_of(r, 1, 0)->value);
	snprintf(text, sizeof(text), ":pa_counter_read([%s])", token);
	mem_net_set_link(w.net, "sm-b", "top", &(struct mem_link){ .cut = true });
	world_run(&w, 7 * SEC);
	r = above_ask(&t1, text);
	ck_assert_uint_eq(r->coverage.asked, 2);
	ck_assert_uint_eq(r->coverage.answered, 1);
	ck_assert_str_eq(r->coverage.missing[0].object, token);
	mem_net_set_link(w.net, "sm-a", "top", &(struct mem_link){ .cut = true });
	world_run(&w, 7 * SEC);
	r = above_ask(&t1, text);
	ck_assert(reply_is_partial(r));
	ck_assert_ptr_null(entry_of(r, 1, 0));
	above_close(&t1);
	close_sites();
}

SUITE("mainsm measures")
