/* SPDX-License-Identifier: Apache-2.0 */
/* Reading and writing the memory of processes: shapes, bounds, refusals. */
#include "common/base/limits.h"
#include "common/base/array.h"
#include "common/omis/text/status.h"
#include "tests/suite.h"
#include "tests/unit/lm/world.h"

#include <stdlib.h>
#include <string.h>

static struct world w;
static struct fake_segment seg;
static char rank[TOKEN_BYTES];
static uint8_t memory[FAKE_MEMORY_BYTES];

static void open_rank(void)
{
	world_open(&w);
	world_add_rank(&w, &seg, 100, 0, rank);
	for (size_t i = 0; i < sizeof(memory); i++)
		memory[i] = (uint8_t)i;
	fake_proc_find(&w.host, 100)->memory = memory;
	fake_proc_find(&w.host, 100)->writable = sizeof(memory) / 2;
}

static void close_rank(void)
{
	world_close(&w);
	fake_segment_close(&seg);
}

static const struct msg_entry *ask(const char *service, const char *rest)
{
	static char text[OMIS_REQUEST_MAX_BYTES];

	snprintf(text, sizeof(text), ":%s([%s]%s%s)", service, rank, *rest ? "," : "", rest);
	return reply_entry_of(world_ask(&w, MANIPULATOR, text), NULL);
}

TEST(blocks_are_read_at_their_stride)
{
	ck_assert_str_eq(entry_text(ask("proc_read_memory", "0x10002,3,3,1")), "[2,3,4]");
	ck_assert_str_eq(entry_text(ask("proc_read_memory", "0x10000,2,16,3")),
			 "[0,1,16,17,32,33]");
	ck_assert_str_eq(entry_text(ask("proc_read_memory_bin", "0x10041,2,4,2")), "4#ABEF");
}

TEST(a_zero_byte_stays_in_a_binary_value)
{
	const struct msg_entry *e;

	e = ask("proc_read_memory_bin", "0x10000,3,3,1");
	ck_assert_uint_eq(e->value.n, 5);
	ck_assert_mem_eq(e->value.p, "3#\0\1\2", 5);
}

TEST(a_shape_that_makes_no_sense_is_refused)
{
	static const char *const bad[] = {
		"-1,1,1,1",
		"0x10000,0,1,1",
		"0x10000,-4,4,1",
		"0x10000,4,3,2",
		"0x10000,4,4,0",
		"0x10000,4,4,-1",
		"0x10000,65537,65537,1",
		"0x10000,32769,32769,2",
		"0x10000,1,1,4097",
		"0x7fffffffffffffff,1,1,2",
		"0x10000,1,0x7fffffffffffffff,2",
		"0x10000,16,0x4000000000000000,4",
		"0x10000,4,4,0x7fffffffffffffff",
	};

	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		for (int k = 0; k < 2; k++) {
			const struct msg_entry *e =
				ask(k ? "proc_read_memory" : "proc_read_memory_bin", bad[i]);

			ck_assert_msg(e->status == STATUS_PARAMETER_ERROR, "%s: %u %s", bad[i],
				      e->status, entry_text(e));
		}
}

TEST(the_most_that_one_call_may_move_fits_a_reply)
{
	memset(memory, 255, sizeof(memory));
	ck_assert_uint_eq(ask("proc_read_memory", "0x10000,65536,65536,1")->value.n,
			  4 * MEMORY_CALL_MAX_BYTES + 1);
	ck_assert_uint_eq(ask("proc_read_memory_bin", "0x10000,65536,65536,1")->value.n,
			  6 + MEMORY_CALL_MAX_BYTES);
	ck_assert_uint_eq(ask("proc_read_memory", "0x10000,16,16,4096")->status, STATUS_OK);
}

TEST(an_address_that_is_not_there_is_named)
{
	const struct msg_entry *e;

	e = ask("proc_read_memory", "0x2fff8,4,4,3");
	ck_assert_uint_eq(e->status, STATUS_OS_ERROR);
	ck_assert_ptr_nonnull(strstr(entry_text(e), "0x30000"));
	ck_assert_uint_eq(ask("proc_read_memory", "0,4,4,1")->status, STATUS_OS_ERROR);
}

TEST(blocks_are_written_at_their_stride)
{
	ck_assert_uint_eq(ask("proc_write_memory", "0x10000,2,4,[200,201,202,203]")->status,
			  STATUS_OK);
	ck_assert_mem_eq(memory, "\xc8\xc9\2\3\xca\xcb\6\7", 8);
	ck_assert_uint_eq(ask("proc_write_memory_bin", "0x10010,1,2,3#a\nb")->status, STATUS_OK);
	ck_assert_mem_eq(memory + 16,
			 "a\x11\n\x13"
			 "b\x15",
			 6);
}

TEST(bytes_that_are_none_write_nothing)
{
	static const char *const bad[] = { "0x10000,1,1,[256]", "0x10000,1,1,[-1]",
					   "0x10000,1,1,[]",	"0x10000,2,2,[1,2,3]",
					   "0x10000,2,1,[1,2]", "-5,1,1,[1]",
					   "0x10000,0,0,[1]" };

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		const struct msg_entry *e = ask("proc_write_memory", bad[i]);

		ck_assert_msg(e->status == STATUS_PARAMETER_ERROR, "%s: %u", bad[i], e->status);
	}
	ck_assert_uint_eq(ask("proc_write_memory_bin", "0x10000,1,1,0#")->status,
			  STATUS_PARAMETER_ERROR);
	ck_assert_uint_eq(memory[0], 0);
}

TEST(write_to_unmapped_memory_changes_nothing)
{
	ck_assert_uint_eq(ask("proc_write_memory", "0x2fffc,4,8,[1,1,1,1,2,2,2,2]")->status,
			  STATUS_OS_ERROR);
	ck_assert_uint_eq(memory[FAKE_MEMORY_BYTES - 4], 252);
}

TEST(a_write_that_ends_half_way_reports_that)
{
	unsigned status;

	status = ask("proc_write_memory", "0x1fffc,4,4,[1,1,1,1,2,2,2,2]")->status;
	ck_assert_uint_eq(status, STATUS_OS_ERROR | STATUS_FATAL);
	ck_assert_uint_eq(memory[FAKE_MEMORY_BYTES / 2 - 1], 1);
}

TEST(a_kernel_that_shows_nothing_is_reported)
{
	fake_proc_find(&w.host, 100)->memory = NULL;
	ck_assert_uint_eq(ask("proc_read_memory", "0x10000,4,4,1")->status, STATUS_NO_PERMISSION);
	ck_assert_uint_eq(ask("proc_write_memory", "0x10000,1,1,[1]")->status,
			  STATUS_NO_PERMISSION);
	ck_assert_uint_eq(ask("proc_get_loader_info", "")->status, STATUS_NO_PERMISSION);
}

TEST(a_process_that_has_ended_has_no_memory)
{
	fake_proc_end(fake_proc_find(&w.host, 100), 0);
	world_run(&w, 10 * MS);
	ck_assert_uint_eq(ask("proc_read_memory", "0x10000,4,4,1")->status, STATUS_UNKNOWN_OBJECT);
	ck_assert_uint_eq(ask("proc_write_memory", "0x10000,1,1,[1]")->status,
			  STATUS_UNKNOWN_OBJECT);
	ck_assert_uint_eq(ask("proc_get_loader_info", "")->status, STATUS_UNKNOWN_OBJECT);
}

TEST(only_manipulating_tools_read_memory)
{
	char text[128];

	snprintf(text, sizeof(text), ":proc_read_memory([%s],0x10000,4,4,1)", rank);
	ck_assert_uint_eq(reply_entry_of(world_ask(&w, OBSERVER, text), NULL)->status,
			  STATUS_NO_PERMISSION);
	snprintf(text, sizeof(text), ":proc_write_memory([%s],0x10000,1,1,[9])", rank);
	ck_assert_uint_eq(reply_entry_of(world_ask(&w, OBSERVER, text), NULL)->status,
			  STATUS_NO_PERMISSION);
	ck_assert_uint_eq(memory[0], 0);
	snprintf(text, sizeof(text), ":proc_get_loader_info([%s])", rank);
	ck_assert_uint_eq(reply_entry_of(world_ask(&w, OBSERVER, text), NULL)->status, STATUS_OK);
}

TEST(modules_are_lists_with_their_number_in_front)
{
	ck_assert_str_eq(
		entry_text(ask("proc_get_loader_info", "")),
		"2,[\"/bin/heat\\nx\",\"\",1,2,3,4,5,6],[\"/lib/m.so\",\"\",10,20,0,0,0,0]");
}

SUITE_WITH("lm memory", open_rank, close_rank)
