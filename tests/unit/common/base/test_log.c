/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/clock.h"
#include "common/base/array.h"
#include "common/base/err.h"
#include "common/base/log.h"
#include "common/base/str.h"
#include "tests/alloc_sweep.h"
#include "tests/suite.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char text[200000];
static FILE *sink;

static void open_sink(enum log_level level, enum log_format format)
{
	sink = tmpfile();
	ck_assert_ptr_nonnull(sink);
	log_open(&(struct log_conf){
		.level = level, .format = format, .fd = fileno(sink), .program = "t" });
}

/* All that was logged; closes the sink. */
static const char *logged(void)
{
	size_t n;

	log_close();
	rewind(sink);
	n = fread(text, 1, sizeof(text) - 1, sink);
	text[n] = '\0';
	fclose(sink);
	return text;
}

TEST(a_plain_line_has_time_level_and_area)
{
	open_sink(LOG_LEVEL_INFO, LOG_PLAIN);
	errno = ENOENT;
	log_warn("net", "peer lost peer=%s", "n3");
	ck_assert_int_eq(errno, ENOENT);
	logged();
	ck_assert_str_eq(text + 24, " t warn   net: peer lost peer=n3\n");
	ck_assert_int_eq(text[23], 'Z');
}

TEST(levels_above_the_chosen_one_are_silent)
{
	static const char *const all[] = { "error", "warn", "notice", "info", "debug" };

	for (int level = LOG_LEVEL_ERROR; level <= LOG_LEVEL_DEBUG; level++) {
		open_sink((enum log_level)level, LOG_PLAIN);
		log_error("a", "error");
		log_warn("a", "warn");
		log_notice("a", "notice");
		log_info("a", "info");
		log_debug("a", "debug");
		logged();
		for (int i = 0; i < 5; i++) {
			char want[20];

			snprintf(want, sizeof(want), "a: %s\n", all[i]);
			ck_assert_int_eq(strstr(text, want) != NULL, i <= level);
		}
	}
}

TEST(the_journal_gets_priorities)
{
	open_sink(LOG_LEVEL_DEBUG, LOG_JOURNAL);
	log_error("a", "1");
	log_warn("a", "2");
	log_notice("a", "3");
	log_info("a", "4");
	log_debug("a", "5");
	ck_assert_str_eq(logged(), "<3>a: 1\n<4>a: 2\n<5>a: 3\n<6>a: 4\n<7>a: 5\n");
}

TEST(the_journal_is_recognised_by_its_inode)
{
	struct stat st;
	char stream[64];

	sink = tmpfile();
	ck_assert_int_eq(fstat(fileno(sink), &st), 0);
	snprintf(stream, sizeof(stream), "%llu:%llu", (unsigned long long)st.st_dev,
		 (unsigned long long)st.st_ino);
	setenv("JOURNAL_STREAM", stream, 1);
	log_open(&(struct log_conf){
		.level = LOG_LEVEL_INFO, .format = LOG_AUTO, .fd = fileno(sink) });
	log_info("a", "x");
	setenv("JOURNAL_STREAM", "1:1", 1);
	log_open(&(struct log_conf){
		.level = LOG_LEVEL_INFO, .format = LOG_AUTO, .fd = fileno(sink) });
	log_info("a", "y");
	logged();
	ck_assert(str_has_prefix(text, "<6>a: x\n2"));
}

TEST(json_lines_are_quoted)
{
	open_sink(LOG_LEVEL_INFO, LOG_JSON);
	log_info("a", "say \"%s\"", "\\");
	logged();
	ck_assert_ptr_nonnull(strstr(text, "\"level\":\"info\",\"program\":\"t\",\"area\":\"a\","
					   "\"text\":\"say \\\"\\\\\\\"\"}\n"));
}

TEST(json_is_valid_whatever_the_text_is)
{
	open_sink(LOG_LEVEL_INFO, LOG_JSON);
	log_info("a", "%s", "\xff\xfe");
	log_info("a", "%s", "\x01\x7f \xc3\xa9");
	logged();
	ck_assert_ptr_nonnull(strstr(text, "\"text\":\"(not UTF-8)\"}\n"));
	ck_assert_ptr_nonnull(strstr(text, "\"text\":\"   \xc3\xa9\"}\n"));
}

TEST(a_program_without_a_name_has_none)
{
	for (int f = LOG_PLAIN; f <= LOG_JSON; f++) {
		sink = tmpfile();
		log_open(&(struct log_conf){ .level = LOG_LEVEL_INFO,
					     .format = (enum log_format)f,
					     .fd = fileno(sink) });
		log_notice("a", "x");
		logged();
		if (f == LOG_PLAIN)
			ck_assert_str_eq(text + 24, " notice a: x\n");
		if (f == LOG_JSON)
			ck_assert_ptr_nonnull(strstr(text, "\"program\":\"\""));
	}
}

TEST(areas_that_are_none_change_nothing)
{
	sink = tmpfile();
	log_open(&(struct log_conf){ .level = LOG_LEVEL_NOTICE,
				     .format = LOG_JOURNAL,
				     .fd = fileno(sink),
				     .areas = "net=debug,link=loud" });
	ck_assert(!log_is_on(LOG_LEVEL_INFO));
	log_debug("net", "no");
	log_set_level(LOG_LEVEL_DEBUG);
	ck_assert(log_is_on(LOG_LEVEL_DEBUG));
	log_debug("net", "yes");
	ck_assert_str_eq(logged(), "<7>net: yes\n");
}

TEST(a_level_changes_areas_without_one_alone)
{
	sink = tmpfile();
	log_open(&(struct log_conf){ .level = LOG_LEVEL_NOTICE,
				     .format = LOG_JOURNAL,
				     .fd = fileno(sink),
				     .areas = "net=info" });
	log_set_level(LOG_LEVEL_ERROR);
	ck_assert(log_is_on(LOG_LEVEL_INFO) && !log_is_on(LOG_LEVEL_DEBUG));
	log_info("net", "1");
	log_warn("lm", "no");
	log_set_level(LOG_LEVEL_DEBUG);
	log_debug("net", "no");
	log_debug("lm", "2");
	ck_assert_str_eq(logged(), "<6>net: 1\n<7>lm: 2\n");
}

TEST(a_text_cannot_forge_a_second_line)
{
	open_sink(LOG_LEVEL_INFO, LOG_JOURNAL);
	log_info("a", "%s", "x\n<3>b: forged\x1b[2J");
	ck_assert_str_eq(logged(), "<6>a: x <3>b: forged [2J\n");
}

TEST(an_overlong_text_is_cut_to_one_line)
{
	static char longest[5000];

	memset(longest, '"', sizeof(longest) - 1);
	for (int f = LOG_PLAIN; f <= LOG_JSON; f++) {
		open_sink(LOG_LEVEL_INFO, (enum log_format)f);
		log_info("a", "%s", longest);
		logged();
		ck_assert_uint_gt(strlen(text), 900);
		ck_assert_ptr_eq(strchr(text, '\n'), text + strlen(text) - 1);
		if (f == LOG_JSON)
			ck_assert_str_eq(text + strlen(text) - 3, "\"}\n");
	}
}

TEST(an_overlong_text_is_cut_at_a_character)
{
	char longest[3000] = "";

	for (size_t i = 0; i + 3 < sizeof(longest); i += 2)
		memcpy(longest + i, "\xc3\xa9", 3);
	for (int shift = 0; shift < 2; shift++) {
		open_sink(LOG_LEVEL_INFO, LOG_JSON);
		log_info("a", "%s%s", shift ? "x" : "", longest);
		logged();
		ck_assert(str_is_utf8(text, strlen(text)));
		ck_assert_ptr_nonnull(strstr(text, "\xc3\xa9"));
		/* With an escaped character before each: the other bound. */
		for (size_t i = 0; i < sizeof(longest) - 4; i += 3)
			memcpy(longest + i, "\"\xc3\xa9", 4);
		open_sink(LOG_LEVEL_INFO, LOG_JSON);
		log_info("a", "%s%s", shift ? "x" : "", longest);
		logged();
		ck_assert(str_is_utf8(text, strlen(text)));
		ck_assert_str_eq(text + strlen(text) - 3, "\"}\n");
	}
}

/* One call site, so that the limit applies. */
static void repeat(int n)
{
	for (int i = 0; i < n; i++)
		log_info("a", "again %d", i);
}

TEST(a_call_site_that_repeats_is_limited_and_counted)
{
	nsec_t start = clock_mono();
	unsigned lines = 0, suppressed = 0;

	open_sink(LOG_LEVEL_INFO, LOG_JOURNAL);
	repeat(1000);
	/* The next second's first line reports it. */
	while (clock_mono() / NSEC_PER_SEC == start / NSEC_PER_SEC)
		usleep(10000);
	repeat(1000);
	start = clock_mono(); /* the second may be a later one by now */
	while (clock_mono() / NSEC_PER_SEC == start / NSEC_PER_SEC)
		usleep(10000);
	repeat(1);
	logged();
	for (char *save = NULL, *l = strtok_r(text, "\n", &save); l;
	     l = strtok_r(NULL, "\n", &save)) {
		unsigned n;

		if (sscanf(l, "<6>a: suppressed %u", &n) == 1)
			suppressed += n;
		else
			lines++;
	}
	ck_assert_uint_eq(lines + suppressed, 2001);
	ck_assert_uint_ge(suppressed, 1800);
}

TEST(logging_never_allocates)
{
	open_sink(LOG_LEVEL_INFO, LOG_JSON);
	alloc_sweep_arm_all(1);
	log_info("a", "number %d text %s", 1, "x");
	alloc_sweep_pause();
	ck_assert_uint_eq(alloc_sweep_count(), 0);
	logged();
}

TEST(an_area_may_have_a_level_of_its_own)
{
	sink = tmpfile();
	ck_assert_ptr_nonnull(sink);
	log_open(&(struct log_conf){ .level = LOG_LEVEL_NOTICE,
				     .format = LOG_PLAIN,
				     .fd = fileno(sink),
				     .areas = "net=debug,link=error" });
	ck_assert(log_is_on(LOG_LEVEL_DEBUG));
	log_debug("net", "yes 1");
	log_warn("link", "no 1");
	log_error("link", "yes 2");
	log_notice("lm", "yes 3");
	log_info("lm", "no 2");
	log_debug("netx", "no 3");
	logged();
	ck_assert(strstr(text, "net: yes 1\n") && strstr(text, "link: yes 2\n") &&
		  strstr(text, "lm: yes 3\n"));
	ck_assert_ptr_null(strstr(text, "no "));
	/* The next log_open() resets the levels of areas. */
	open_sink(LOG_LEVEL_NOTICE, LOG_PLAIN);
	ck_assert(!log_is_on(LOG_LEVEL_DEBUG));
	logged();
}

TEST(areas_are_checked_at_their_bounds)
{
	static const char *const bad[] = { "net",
					   "=debug",
					   "net=",
					   "net=loud",
					   ",net=debug",
					   "net=debug,,",
					   "a234567890123456=info",
					   "net=debuginfonoticewarn" };
	char many[400] = "";

	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		ck_assert_msg(log_areas_check(bad[i]) == -ERR_PARSE, "%s", bad[i]);
	ck_assert_int_eq(log_areas_check(""), 0);
	ck_assert_int_eq(log_areas_check("a23456789012345=info,b=error"), 0);
	for (int i = 0; i < LOG_AREAS_MAX; i++)
		strncat(many, i ? ",area=info" : "area=info", sizeof(many) - strlen(many) - 1);
	ck_assert_int_eq(log_areas_check(many), 0);
	strncat(many, ",area=info", sizeof(many) - strlen(many) - 1);
	ck_assert_int_eq(log_areas_check(many), -ERR_LIMIT);
}

TEST(levels_have_names)
{
	enum log_level level = LOG_LEVEL_ERROR;

	for (int i = LOG_LEVEL_ERROR; i <= LOG_LEVEL_DEBUG; i++) {
		ck_assert_int_eq(log_level_from_name(log_level_name((enum log_level)i), &level), 0);
		ck_assert_int_eq(level, i);
	}
	ck_assert_int_lt(log_level_from_name("loud", &level), 0);
	ck_assert_int_lt(log_level_from_name(NULL, &level), 0);
	ck_assert_str_eq(log_level_name((enum log_level)9), "?");
}

SUITE("log")
