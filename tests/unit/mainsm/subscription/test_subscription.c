/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kept subscriptions through a mainsm: several subscriptions share the window of a receiver, and
 * remain when others end.
 */
#include "common/base/array.h"
#include "mainsm/subscription/subscription.h"
#include "tests/suite.h"
#include "tests/unit/mainsm/four_hosts.h"

#include <stdlib.h>
#include <unistd.h>

/* As large as a frame permits: eight of them nearly fill the window. */
#define BLOCKS_BYTES (1000 * 1024)

static struct world w;
static struct fake_branch a, b;
static struct above tool;

/* The last message to a site. */
static struct told {
	uint64_t stream, acked;
	unsigned opened, ended;
	bool is_ending;
} of_a, of_b;

/* The report of its end to the tool. */
static unsigned ends;
static char missing[64];

static void on_events(const struct msg_events *m)
{
	ends += m->end;
	if (m->end)
		str_copy(missing, sizeof(missing), m->missing);
}

static void on_flow(struct fake_branch *from, const struct msg *m)
{
	struct told *t = from->of;

	if (m->type == MSG_EVENTS_OPEN) {
		t->opened += m->events_open.stream != t->stream;
		t->stream = m->events_open.stream;
		t->is_ending = m->events_open.ending;
	} else if (m->type == MSG_EVENTS_ACK && m->events_ack.stream == t->stream) {
		t->acked = m->events_ack.place;
	} else if (m->type == MSG_EVENTS_END) {
		t->ended++;
	}
}

static void set_up(void)
{
	memset(&of_a, 0, sizeof(of_a));
	memset(&of_b, 0, sizeof(of_b));
	four_hosts_open(&w, &a, &b);
	a.of = &of_a;
	b.of = &of_b;
	a.on_other = b.on_other = on_flow;
	above_open(&w, &tool, ROLE_TOOL_OBSERVE, "u");
	tool.on_events = on_events;
	ends = 0;
	ck_assert(tool.is_up);
	ck_assert_uint_eq(above_status(&tool, ":omig_events_keep(\"run7\",[\"all\"],\"\",0,[])"),
			  STATUS_OK);
	ck_assert(of_a.stream && of_b.stream);
}

static void clean_up(void)
{
	above_close(&tool);
	four_hosts_close(&w, &a, &b);
}

/* Sends blocks of zeros: mainsm does not examine blocks, both ends do. */
static void send_events(struct fake_branch *from, uint64_t place)
{
	static const uint8_t blocks[BLOCKS_BYTES];
	const struct told *t = from->of;
	const struct msg m = {
		.type = MSG_EVENTS,
		.events = { "run7", t->stream, place, { blocks, sizeof(blocks) }, false, NULL }
	};

	ck_assert_int_eq(link_send(from->link, &m), 0);
	world_run(&w, 200 * MS);
}

static void ack(uint64_t stream, uint64_t place)
{
	const struct msg m = { .type = MSG_EVENTS_ACK, .events_ack = { "run7", stream, place } };

	ck_assert_int_eq(link_send(tool.link, &m), 0);
	world_run(&w, 200 * MS);
}

/* Fills the window with events of a: those of b have no room, and b is not opened again. */
static uint64_t a_fills_the_window(void)
{
	uint64_t was = of_b.stream;

	for (uint64_t i = 1; i <= 8; i++)
		send_events(&a, i);
	send_events(&b, 1);
	ck_assert_uint_eq(of_b.stream, was);
	return was;
}

TEST(a_stream_without_room_is_opened_after_acknowledgement)
{
	uint64_t was = a_fills_the_window();

	ack(of_a.stream, 2);
	ck_assert_uint_eq(of_a.acked, 2);
	ck_assert_uint_eq(of_b.stream, was); /* opened when half of it is free */
	ack(of_a.stream, 8);
	ck_assert_uint_ne(of_b.stream, was);
	send_events(&b, 1);
	ack(of_b.stream, 1);
	ck_assert_uint_eq(of_b.acked, 1);
}

TEST(a_stream_without_room_is_opened_when_others_end)
{
	uint64_t was = a_fills_the_window();

	mem_net_kill_host(w.net, "sm-a");
	world_run(&w, 60 * SEC);
	ck_assert_uint_ne(of_b.stream, was);
}

TEST(a_subscription_continues_without_some_of_its_processes)
{
	mem_net_kill_host(w.net, "sm-a");
	world_run(&w, 60 * SEC);
	ck_assert(!of_b.is_ending);
	send_events(&b, 1);
	ack(of_b.stream, 1);
	ck_assert_uint_eq(of_b.acked, 1);
	ck_assert_uint_eq(of_b.ended, 0);
}

TEST(a_refused_request_changes_nothing)
{
	static char text[OMIS_REQUEST_MAX_BYTES + 1];
	struct above other;
	uint64_t was = of_a.stream;

	/*
	 * The tool's request has the maximal length, and the request that mainsm makes of it is
	 * longer.
	 */
	memset(text, 'x', sizeof(text) - 1);
	memcpy(text, ":omig_events_keep(\"run7\",[\"", 27);
	memcpy(text + sizeof(text) - 12, "\"],\"\",0,[])", 12);
	above_open(&w, &other, ROLE_TOOL_OBSERVE, "u");
	ck_assert_uint_ne(above_status(&other, text), STATUS_OK);
	ck_assert_ptr_nonnull(strstr(entry_of(other.last, 1, 0)->value, "too long"));
	ck_assert_uint_eq(ends, 0);
	ck_assert_uint_eq(of_a.stream, was);
	send_events(&a, 1);
	ack(of_a.stream, 1); /* acknowledged by the remaining receiver */
	ck_assert_uint_eq(of_a.acked, 1);
	above_close(&other);
}

TEST(only_the_owner_acknowledges_or_ends_it)
{
	struct above other;
	const struct msg m = { .type = MSG_EVENTS_ACK, .events_ack = { "run7", of_a.stream, 1 } };

	send_events(&a, 1);
	above_open(&w, &other, ROLE_TOOL_OBSERVE, "v");
	ck_assert_int_eq(link_send(other.link, &m), 0);
	world_run(&w, 200 * MS);
	ck_assert_uint_eq(of_a.acked, 0);
	ck_assert_uint_ne(above_status(&other, ":omig_events_unkeep(\"run7\",0)"), STATUS_OK);
	ck_assert_uint_ne(above_status(&other, ":omig_events_keep(\"run7\",[\"all\"],\"\",0,[])"),
			  STATUS_OK);
	ck_assert_uint_eq(of_a.ended + of_b.ended, 0);
	above_close(&other);
	ack(of_a.stream, 1);
	ck_assert_uint_eq(of_a.acked, 1);
	ck_assert_uint_eq(above_status(&tool, ":omig_events_unkeep(\"run7\",0)"), STATUS_OK);
	ck_assert_uint_eq(of_a.ended + of_b.ended, 2);
	world_run(&w, SEC);
	ck_assert_uint_eq(of_a.opened, 1); /* an ended subscription is not opened again */
}

TEST(without_hosts_an_end_is_complete)
{
	struct world none;
	struct above u;

	world_open(&none);
	above_open(&none, &u, ROLE_TOOL_OBSERVE, "u");
	u.on_events = on_events;
	ck_assert_uint_eq(above_status(&u, ":omig_events_keep(\"run7\",[\"all\"],\"\",0,[])"),
			  STATUS_OK);
	ck_assert_uint_eq(above_status(&u, ":omig_events_unkeep(\"run7\",1)"), STATUS_OK);
	ck_assert_uint_eq(ends, 1);
	ck_assert_str_eq(missing, "");
	ck_assert_uint_eq(above_status(&u, ":omig_events_unkeep(\"run7\",1)"),
			  STATUS_UNKNOWN_OBJECT);
	above_close(&u);
	world_done(&none);
}

static void say_end(struct fake_branch *from, const char *without)
{
	const struct told *t = from->of;
	const struct msg m = {
		.type = MSG_EVENTS,
		.events = { .sub = "run7", .stream = t->stream, .end = true, .missing = without }
	};

	ck_assert(t->is_ending);
	ck_assert_int_eq(link_send(from->link, &m), 0);
	world_run(&w, 200 * MS);
}

TEST(all_that_are_there_have_reported_their_end)
{
	ck_assert_uint_eq(above_status(&tool, ":omig_events_unkeep(\"run7\",1)"), STATUS_OK);
	say_end(&a, "");
	ck_assert_uint_eq(ends, 0);
	say_end(&b, "");
	ck_assert_uint_eq(ends, 1);
	ck_assert_str_eq(missing, "");
	ck_assert_uint_eq(of_a.ended + of_b.ended, 2);
}

TEST(an_end_that_is_reported_twice_is_as_it_was_reported_last)
{
	ck_assert_uint_eq(above_status(&tool, ":omig_events_unkeep(\"run7\",1)"), STATUS_OK);
	say_end(&b, "h9, sm h8");
	say_end(&b, "h9");
	say_end(&a, "");
	ck_assert_uint_eq(ends, 1);
	ck_assert_str_eq(missing, "h9");
}

TEST(as_many_as_a_site_may_name_are_missing_here_too)
{
	char names[MSG_MISSING_MAX_BYTES + 1];

	for (int n = MSG_MISSING_MAX_BYTES - 4; n <= MSG_MISSING_MAX_BYTES; n++) {
		snprintf(names, sizeof(names), "%0*d", n, 0);
		ck_assert_uint_eq(above_status(&tool, ":omig_events_unkeep(\"run7\",1)"),
				  STATUS_OK);
		say_end(&a, "");
		say_end(&b, names);
		ck_assert_msg(missing[0] == '0', "%d", n);
		ck_assert_uint_eq(
			above_status(&tool, ":omig_events_keep(\"run7\",[\"all\"],\"\",0,[])"),
			STATUS_OK);
	}
	ck_assert_uint_eq(of_a.ended + of_b.ended, 0);
}

TEST(an_ended_subscription_names_the_missing_branches)
{
	const struct mem_link cut = { .cut = true };
	uint64_t was;

	ck_assert_int_eq(mem_net_set_link(w.net, "sm-a", "top", &cut), 0);
	world_run(&w, 20 * SEC);
	ck_assert_uint_eq(above_status(&tool, ":omig_events_unkeep(\"run7\",1)"), STATUS_OK);
	say_end(&b, "h9, sm h8");
	ck_assert_uint_eq(ends, 0); /* a missing branch may return */
	world_run(&w, 11 * SEC);
	ck_assert_uint_eq(ends, 1);
	ck_assert_str_eq(missing, "s_1, h9, sm h8");
	ck_assert_uint_eq(of_b.ended, 0);
	was = of_b.stream;
	ck_assert_uint_eq(above_status(&tool, ":omig_events_keep(\"run7\",[\"all\"],\"\",0,[])"),
			  STATUS_OK);
	ck_assert_uint_ne(of_b.stream, was);
	ck_assert(of_b.stream && !of_b.is_ending);
}

/* mainsm is restarted with its state directory. */
TEST(sites_that_a_mainsm_before_knew_may_come_yet)
{
	static const char *const files[] = { "names", "boot", "issued", "tokens" };
	char dir[] = "/tmp/omig-kept-XXXXXX", path[64];
	struct world again;
	struct above u;
	struct fake_branch site;

	ck_assert_ptr_nonnull(mkdtemp(dir));
	world_open(&again);
	world_stop(&again);
	str_copy(again.dir, sizeof(again.dir), dir);
	world_start(&again);
	below_open(&again, &site, ROLE_SM, "a", "sm-a");
	world_run(&again, SEC);
	below_close(&site);
	world_stop(&again);
	world_start(&again);
	above_open(&again, &u, ROLE_TOOL_OBSERVE, "u");
	u.on_events = on_events;
	ck_assert_uint_eq(above_status(&u, ":omig_events_keep(\"run7\",[\"all\"],\"\",0,[])"),
			  STATUS_OK);
	ck_assert_uint_eq(above_status(&u, ":omig_events_unkeep(\"run7\",1)"), STATUS_OK);
	world_run(&again, SEC);
	ck_assert_uint_eq(ends, 0);
	world_run(&again, 10 * SEC);
	ck_assert_uint_eq(ends, 1);
	above_close(&u);
	world_done(&again);
	for (size_t i = 0; i < ARRAY_LEN(files); i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, files[i]);
		unlink(path);
	}
	ck_assert_int_eq(rmdir(dir), 0);
}

TEST(a_site_that_has_just_gone_may_have_what_is_asked_for_again)
{
	const struct mem_link cut = { .cut = true };

	ck_assert_uint_eq(above_status(&tool, ":omig_events_unkeep(\"run7\",0)"), STATUS_OK);
	world_run(&w, 20 * SEC);
	ck_assert_int_eq(mem_net_set_link(w.net, "sm-a", "top", &cut), 0);
	world_run(&w, 8 * SEC); /* its silence is detected after six seconds */
	ck_assert_uint_eq(above_status(&tool, ":omig_events_keep(\"run7\",[\"all\"],\"\",0,[])"),
			  STATUS_OK);
	ck_assert_uint_eq(above_status(&tool, ":omig_events_unkeep(\"run7\",1)"), STATUS_OK);
	ends = 0;
	say_end(&b, "");
	world_run(&w, 2 * SEC);
	ck_assert_uint_eq(ends, 0);
	world_run(&w, 10 * SEC);
	ck_assert_uint_eq(ends, 1);
}

#define KEEP ":omig_events_keep(\"carols\",[\"all\"],\"\",0,[])"

static struct identity owned(enum role role, const char *label, const char *owner)
{
	struct identity who = fake_identity(role, "", label);

	str_copy(who.owner, sizeof(who.owner), owner);
	return who;
}

/*
 * A subscription belongs to the owner in the certificate. The tool's own label gives no access to
 * it, and another host or token of the owner keeps the access.
 */
TEST(a_subscription_belongs_to_the_owner_in_the_certificate)
{
	struct identity carol = owned(ROLE_TOOL_OBSERVE, "carol@h", "carol"),
			liar = owned(ROLE_TOOL_OBSERVE, "carol@h", "xyz"),
			elsewhere = owned(ROLE_TOOL_OBSERVE, "me@h2", "carol");
	struct above first, other, second;

	above_open_as(&w, &first, &carol);
	above_open_as(&w, &other, &liar);
	above_open_as(&w, &second, &elsewhere);
	ck_assert_str_eq(entry_of(above_ask(&first, KEEP), 1, 0)->value, "\"carols\",1");
	ck_assert_str_eq(entry_of(above_ask(&first, KEEP), 1, 0)->value, "\"carols\",0");
	ck_assert_uint_eq(above_status(&other, KEEP), STATUS_NO_PERMISSION);
	ck_assert_uint_eq(above_status(&other, ":omig_events_unkeep(\"carols\",0)"),
			  STATUS_NO_PERMISSION);
	ck_assert_uint_eq(above_status(&second, KEEP), STATUS_OK);
	above_close(&second);
	above_close(&other);
	above_close(&first);
}

/* True if the tool's only subscription has the state "on". */
static bool is_kept_on(struct above *t)
{
	return strstr(entry_of(above_ask(t, ":omig_events_kept()"), 1, 0)->value, ",\"on\",") !=
	       NULL;
}

/*
 * Switches all events off. Checks the number of subscriptions that this ended, and the text about
 * others ("" = none).
 */
static void check_off(struct above *t, const char *n, const char *words)
{
	const struct reply *r = above_ask(t, ":omig_events_off([\"all\"])");

	ck_assert_uint_eq(r->nentry, *words ? 2 : 1);
	ck_assert_str_eq(entry_of(r, 1, 0)->value, n);
	if (!*words)
		return;
	ck_assert_uint_eq(entry_of(r, 1, 1)->status, STATUS_NO_PERMISSION);
	ck_assert_msg(strstr(entry_of(r, 1, 1)->value, words), "%s", entry_of(r, 1, 1)->value);
}

TEST(an_observer_switches_off_nothing_of_others)
{
	struct identity carol = owned(ROLE_TOOL_OBSERVE, "x@h", "carol"),
			bob = owned(ROLE_TOOL_OBSERVE, "x@h", "bob"),
			elsewhere = owned(ROLE_TOOL_OBSERVE, "y@h2", "carol"),
			eve = owned(ROLE_TOOL_MANIPULATE, "x@h", "eve");
	struct above first, other, second, third;

	above_open_as(&w, &first, &carol);
	above_open_as(&w, &other, &bob);
	above_open_as(&w, &second, &elsewhere);
	above_open_as(&w, &third, &eve);
	ck_assert_uint_eq(above_status(&first, KEEP), STATUS_OK);
	check_off(&other, "0",
		  "2 of others stay on: to switch them off needs the right manipulate");
	ck_assert(is_kept_on(&first) && is_kept_on(&tool));
	check_off(&second, "1", "1 of others stay on");
	ck_assert(!is_kept_on(&first) && is_kept_on(&tool));
	check_off(&third, "1", "");
	ck_assert(!is_kept_on(&tool));
	check_off(&other, "0", "");
	above_close(&third);
	above_close(&second);
	above_close(&other);
	above_close(&first);
}

SUITE_WITH("mainsm kept", set_up, clean_up)
