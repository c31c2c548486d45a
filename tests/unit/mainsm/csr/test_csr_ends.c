/* SPDX-License-Identifier: Apache-2.0 */
/* Conditional requests that end while a request waits for them, and branches that name others. */
#include "tests/suite.h"
#include "tests/unit/mainsm/csr/csrs.h"

static struct world w;
static struct fake_branch a, b;
static struct above t;
static char token[CSR_TOKEN_BYTES], text[256];

/* Opens both sites; site b sends no confirmation. */
static void open_sites(void)
{
	sites_open(&w, &a, &b, &t, ROLE_TOOL_OBSERVE);
	b.no_ack = true;
}

static void close_sites(void)
{
	sites_close(&w, &a, &b, &t);
}

static void define(const char *request)
{
	above_define(&t, request, token);
}

/* Asks for one or two services with the token, and does not wait. */
static void send(const char *first, const char *then)
{
	int n = snprintf(text, sizeof(text), ":%s([%s])", first, token);

	if (then)
		snprintf(text + n, sizeof(text) - (size_t)n, " %s([%s])", then, token);
	above_send(&t, text, 0);
}

TEST(deleting_releases_what_waits_and_deletes_too)
{
	define(LIB_CALL " print([1])");
	send("csr_enable", "csr_delete");
	world_run(&w, 10 * MS);
	send("csr_delete", NULL);
	world_run(&w, 100 * MS);
	ck_assert_uint_eq(above_count(&t, STATUS_CSR_DELETED), 1);
	/* Both requests have a reply; the one that waited found no csr any longer. */
	ck_assert_uint_eq(t.kinds[0], 1 + 2);
	ck_assert_uint_eq(reply_status(above_ask(&t, ":csr_delete([])")), STATUS_OK);
}

TEST(disabling_releases_what_waits_and_deletes)
{
	define(LIB_CALL " print([1])");
	send("csr_enable", "csr_delete");
	world_run(&w, 10 * MS);
	send("csr_disable", NULL);
	world_run(&w, 100 * MS);
	ck_assert_uint_eq(above_count(&t, STATUS_CSR_DISABLED), 1);
	ck_assert_uint_eq(above_count(&t, STATUS_CSR_DELETED), 1);
	ck_assert_uint_eq(t.last->kind, 0);
}

TEST(suspending_releases_what_waits_and_deletes)
{
	struct msg m = { .type = MSG_TRIGGERED };

	define(LIB_CALL " print([1])");
	send("csr_enable", NULL);
	world_run(&w, 10 * MS);
	m.triggered = (struct msg_triggered){ .csr = token, .node = "n_1", .proc = "p_1_a00000" };
	for (int second = 0; second < 3; second++) {
		for (int i = 0; i < 1500; i++)
			ck_assert_int_eq(link_send(a.link, &m), 0);
		world_run(&w, 1010 * MS);
	}
	ck_assert_uint_eq(above_count(&t, STATUS_CSR_DISABLED), 0);
	send("csr_enable", "csr_delete");
	world_run(&w, 10 * MS);
	link_send(a.link, &m);
	world_run(&w, 100 * MS);
	ck_assert_uint_eq(above_count(&t, STATUS_CSR_DISABLED), 1);
	ck_assert_ptr_nonnull(
		strstr(above_last(&t, STATUS_CSR_DISABLED)->entry[0].value, "suspended"));
	ck_assert_uint_eq(above_count(&t, STATUS_CSR_DELETED), 1);
}

/* Enables a csr with that list, and makes *m site a's report of its event. */
static void await_event(const char *list, struct msg *m)
{
	open_sites();
	define(list);
	send("csr_enable", NULL);
	world_run(&w, 3 * SEC);
	*m = (struct msg){ .type = MSG_TRIGGERED,
			   .triggered = { .csr = token, .node = "n_1", .proc = "p_1_a00000" } };
}

/* Sends the report and returns the number of firings so far. */
static unsigned told(const struct msg *m)
{
	ck_assert_int_eq(link_send(a.link, m), 0);
	world_run(&w, 10 * MS);
	return above_count(&t, STATUS_CSR_TRIGGERED);
}

BARE_TEST(results_of_an_event_are_the_childs_own)
{
	struct msg_entry e = { .action = 1,
			       .objects = "p_2_a00000",
			       .value = { (const uint8_t *)"5", 1 } };
	struct msg m;

	await_event(LIB_CALL " proc_get_info([$proc],0) print([$proc])", &m);
	m.triggered.entry = &e;
	m.triggered.nentry = 1;
	ck_assert_uint_eq(told(&m), 0);
	e.objects = "p_1_a00000,p_1_b00000";
	e.action = 3;
	ck_assert_uint_eq(told(&m), 0);
	e.action = 1;
	ck_assert_uint_eq(told(&m), 1);
	close_sites();
}

/* A host cannot report the output of print: mainsm makes it from the data of the event. */
BARE_TEST(results_of_mainsms_actions_are_not_accepted_from_branches)
{
	static const char words[] = "1,p_2_a00000";
	struct msg_entry e = { .action = 2,
			       .objects = "",
			       .value = { (const uint8_t *)words, sizeof(words) - 1 } };
	struct msg m;

	await_event(LIB_CALL " proc_get_info([$proc],0) print([$proc])", &m);
	m.triggered.entry = &e;
	m.triggered.nentry = 1;
	ck_assert_uint_eq(told(&m), 0);
	m.triggered.nentry = 0;
	ck_assert_uint_eq(told(&m), 1);
	close_sites();
}

/* A host may report a false depth of causes for its event. */
BARE_TEST(a_list_that_only_asks_is_not_suspended_as_a_loop)
{
	struct msg m;

	await_event(LIB_CALL " print([$proc])", &m);
	m.triggered.depth = UINT32_MAX;
	for (unsigned i = 1; i <= 3; i++)
		ck_assert_uint_eq(told(&m), i);
	ck_assert_uint_eq(above_count(&t, STATUS_CSR_DISABLED), 0);
	close_sites();
}

TEST(a_confirmation_is_about_the_childs_own)
{
	static const char words[] = "the process has ended";
	struct msg_entry e = { .objects = "p_2_a00000",
			       .status = STATUS_UNKNOWN_OBJECT,
			       .value = { (const uint8_t *)words, sizeof(words) - 1 } };
	struct msg m = { .type = MSG_ARM_ACK };

	define("thread_has_started_lib_call([p_1_a00000],\"MPI_Barrier\"): print([1])");
	a.no_ack = true;
	send("csr_enable", NULL);
	world_run(&w, 10 * MS);
	m.arm_ack = (struct msg_arm_ack){
		.csr = a.csr, .version = a.version, .entry = &e, .nentry = 1
	};
	ck_assert_int_eq(link_send(a.link, &m), 0);
	world_run(&w, 10 * MS);
	ck_assert_uint_eq(above_count(&t, STATUS_CSR_ENABLED), 0);
	world_run(&w, 3 * SEC);
	ck_assert_uint_eq(above_count(&t, STATUS_CSR_ENABLED), 1);
	ck_assert_uint_eq(reply_status(above_last(&t, STATUS_CSR_ENABLED)), STATUS_OK);
}

SUITE_WITH("csr_ends", open_sites, close_sites)
