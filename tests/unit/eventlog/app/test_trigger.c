/* SPDX-License-Identifier: Apache-2.0 */
/* The trigger file without a helper: contents, times of reading, and effects on events. */
#include "eventlog/app/log.h"
#include "tests/suite.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define SEC NSEC_PER_SEC

static char path[64];
static struct evtrigger *t;
static struct log_type type;

static void set_up(void)
{
	static const struct evfield field[] = { { "n", EV_INT32 }, { "name", EV_STRING } };

	snprintf(path, sizeof(path), "/tmp/omig-trigger-%ld", (long)getpid());
	type.form = (struct evtype){ .name = "a", .nfield = 2, .field = (struct evfield *)field };
	t = evtrigger_new(path, 0);
	ck_assert_ptr_nonnull(t);
}

static void clean_up(void)
{
	unlink(path);
}

/* In place of the old file, which stays until then: the new one has another number. */
static void put(const char *text)
{
	char part[80];
	FILE *f;

	snprintf(part, sizeof(part), "%s.new", path);
	f = fopen(part, "w");
	ck_assert_ptr_nonnull(f);
	fputs(text, f);
	ck_assert_int_eq(fclose(f), 0);
	ck_assert_int_eq(rename(part, path), 0);
}

static bool asks(const char *name, unsigned level, nsec_t wall)
{
	const struct omig_event ev = { .name = name, .level = (uint8_t)level };

	return log_type_is_asked(t, &ev, wall, &type);
}

TEST(without_a_file_nothing_is_on)
{
	ck_assert(!evtrigger_look(t, SEC));
	ck_assert(!asks("a", EV_FATAL, SEC));
	put("");
	ck_assert(evtrigger_look(t, SEC));
	ck_assert(!asks("a", EV_FATAL, SEC));
	put("all\n");
	ck_assert(evtrigger_look(t, SEC));
	ck_assert(!evtrigger_look(t, SEC));
	ck_assert(asks("a", EV_FATAL, SEC));
	ck_assert_int_eq(unlink(path), 0);
	ck_assert(evtrigger_look(t, SEC));
	ck_assert(!evtrigger_look(t, SEC));
	ck_assert(!asks("a", EV_FATAL, SEC));
}

TEST(the_first_line_that_fits_decides)
{
	put("a level=error\n\t io.* level=info \r\n# all\n\nno* level=nonsense\nb\n"
	    "all level=fatal\nio.read\n");
	ck_assert(evtrigger_look(t, SEC));
	ck_assert(asks("a", EV_ERROR, SEC) && !asks("a", EV_INFO, SEC));
	ck_assert(asks("io.read", EV_INFO, SEC) && !asks("io.read", EV_DEBUG, SEC));
	ck_assert(asks("b", EV_TRACE, SEC));
	ck_assert(asks("note", EV_FATAL, SEC) && !asks("note", EV_ERROR, SEC));
}

TEST(a_line_ends_at_its_time)
{
	put("a until=10.5\na level=fatal\nb until=20\nc until=x\nd until=-1\n");
	ck_assert(evtrigger_look(t, SEC));
	ck_assert(asks("a", EV_INFO, SEC));
	ck_assert(asks("b", EV_INFO, 20 * SEC - 1) && !asks("b", EV_INFO, 20 * SEC));
	ck_assert(!asks("c", EV_FATAL, SEC) && !asks("d", EV_FATAL, SEC));
	ck_assert(!evtrigger_look(t, 10 * SEC + SEC / 2 - 1));
	ck_assert(evtrigger_look(t, 10 * SEC + SEC / 2));
	ck_assert(!asks("a", EV_INFO, 10 * SEC + SEC / 2)); /* the next line decides */
	ck_assert(asks("a", EV_FATAL, 10 * SEC + SEC / 2));
	ck_assert(!evtrigger_look(t, 11 * SEC));
	ck_assert(!evtrigger_look(t, 20 * SEC - 1));
	ck_assert(evtrigger_look(t, 20 * SEC));
	ck_assert(!evtrigger_look(t, 30 * SEC));
	ck_assert(!evtrigger_look(t, INT64_MAX - 1));
}

TEST(the_earliest_end_is_looked_for_in_every_line)
{
	put("a until=30\nb until=20\nc until=40\n");
	ck_assert(evtrigger_look(t, SEC));
	ck_assert(!evtrigger_look(t, 19 * SEC));
	ck_assert(evtrigger_look(t, 21 * SEC));
	ck_assert(!evtrigger_look(t, 29 * SEC));
	ck_assert(evtrigger_look(t, 31 * SEC));
	ck_assert(!evtrigger_look(t, 39 * SEC));
	ck_assert(evtrigger_look(t, 41 * SEC));
}

TEST(trigger_conditions_are_bound_to_fields)
{
	put("a where n > 5 and name == x\nb where nothing > 5\nc where\nd what n > 5\n"
	    "e where n >\n");
	ck_assert(evtrigger_look(t, SEC));
	ck_assert(asks("a", EV_INFO, SEC));
	ck_assert_uint_eq(type.tests.n, 2);
	ck_assert(!asks("b", EV_INFO, SEC));
	ck_assert(!asks("c", EV_INFO, SEC));
	ck_assert(!asks("d", EV_INFO, SEC));
	ck_assert(!asks("e", EV_INFO, SEC));
}

/* Each kind of difference between two files. */
TEST(another_file_of_the_same_name_is_read)
{
	const struct timespec times[2][2] = { { { 5, 7 }, { 5, 7 } }, { { 5, 7 }, { 5, 8 } } };
	FILE *f;

	put("a\n");
	ck_assert(evtrigger_look(t, SEC));
	put("b\n");
	ck_assert(evtrigger_look(t, SEC));
	ck_assert(asks("b", EV_INFO, SEC) && !asks("a", EV_INFO, SEC));
	ck_assert_int_eq(utimensat(AT_FDCWD, path, times[0], 0), 0);
	ck_assert(evtrigger_look(t, SEC));
	ck_assert(!evtrigger_look(t, SEC));
	ck_assert_int_eq(utimensat(AT_FDCWD, path, times[1], 0), 0);
	ck_assert(evtrigger_look(t, SEC));
	f = fopen(path, "a");
	ck_assert_ptr_nonnull(f);
	fputs("c\n", f);
	fclose(f);
	ck_assert_int_eq(utimensat(AT_FDCWD, path, times[1], 0), 0);
	ck_assert(evtrigger_look(t, SEC)); /* its size alone */
	ck_assert(asks("c", EV_INFO, SEC));
	ck_assert(!evtrigger_look(t, SEC));
}

TEST(a_file_that_is_too_large_is_none)
{
	FILE *f = fopen(path, "w");

	for (int i = 0; i < 256 * 1024 / 8 - 1; i++)
		fputs("#234567\n", f);
	fputs("all\n#234", f);
	ck_assert_int_eq(fclose(f), 0);
	ck_assert(evtrigger_look(t, SEC));
	ck_assert(asks("a", EV_INFO, SEC));
	f = fopen(path, "a");
	fputs("#", f);
	ck_assert_int_eq(fclose(f), 0);
	ck_assert(evtrigger_look(t, SEC));
	ck_assert(!asks("a", EV_INFO, SEC));
}

TEST(an_interval_is_kept_also_when_the_clock_is_set_back)
{
	evtrigger_free(t);
	t = evtrigger_new(path, 8 * SEC);
	put("a\n");
	ck_assert(evtrigger_look(t, 100 * SEC));
	put("b\n");
	ck_assert(!evtrigger_look(t, 106 * SEC));
	ck_assert(evtrigger_look(t, 107 * SEC));
	put("c\n");
	ck_assert(!evtrigger_look(t, 108 * SEC));
	ck_assert(evtrigger_look(t, 50 * SEC));
}

TEST(a_destination_is_a_part_of_an_entry)
{
	put("a to=/tmp/x until=20\nb to=\nc\n");
	ck_assert(evtrigger_look(t, SEC));
	ck_assert_str_eq(evtrigger_find(t, "a", SEC)->to, "/tmp/x");
	ck_assert_ptr_null(evtrigger_find(t, "a", 20 * SEC));
	ck_assert_ptr_null(evtrigger_find(t, "b", SEC));
	ck_assert_ptr_null(evtrigger_find(t, "c", SEC)->to);
}

SUITE_WITH("trigger", set_up, clean_up)
