/* SPDX-License-Identifier: Apache-2.0 */
/* The contents of the audit: recorded, omitted, and never shown. */
#include "common/audit/audit.h"
#include "common/base/array.h"
#include "common/base/file.h"
#include "common/base/limits.h"
#include "common/base/str.h"
#include "common/omis/omis.h"
#include "tests/suite.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define SEC NSEC_PER_SEC
#define WALL (INT64_C(1700000000) * SEC)
#define MANIPULATOR "omig:tool-manipulate//me@here"
#define OBSERVER "omig:tool-observe//me@here"

static char dir[64], path[128], older[140];
static struct audit *a;
static unsigned troubles, ends;
static uint64_t lost;
static char trouble[ERR_TEXT_BYTES];

static void on_trouble(void *arg, const struct err *why, uint64_t n)
{
	if (why) {
		troubles++;
		str_copy(trouble, sizeof(trouble), why->text);
	} else {
		ends++;
		lost = n;
	}
}

static void open_audit(size_t max_bytes)
{
	const struct audit_conf c = { .path = path,
				      .daemon = "lm",
				      .host = "host\"\\\n\xff",
				      .max_bytes = max_bytes,
				      .on_trouble = on_trouble };

	ck_assert_int_eq(audit_open(&c, &a), 0);
}

static void set_up(void)
{
	str_copy(dir, sizeof(dir), "/tmp/omig-test-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/audit", dir);
	snprintf(older, sizeof(older), "%s.1", path);
	troubles = ends = 0;
	open_audit(0);
}

static void clean_up(void)
{
	audit_close(a);
	file_remove(path, NULL);
	file_remove(older, NULL);
	ck_assert_int_eq(rmdir(dir), 0);
}

/* One action, done or refused; status OK for the objects. */
static void note_at(const char *identity, const char *text, const char *objects, unsigned status,
		    nsec_t wall)
{
	struct reply *r = reply_new();
	struct omis_request *q = NULL;
	struct audit_entry x = { .identity = identity, .session = 3, .action = 1, .wall = wall };

	ck_assert_int_eq(omis_parse_inner(text, strlen(text), &q, NULL), 0);
	ck_assert_int_eq(omis_check(q, NULL), 0);
	ck_assert_int_eq(reply_add(r, 1, objects, status, status ? "why \"not\"\n" : NULL), 0);
	x.call = &q->action[0];
	x.reply = r;
	audit_note(a, &x);
	reply_free(r);
	omis_request_free(q);
}

static void note(const char *text)
{
	note_at(MANIPULATOR, text, "p_1_aaaaaa", STATUS_OK, WALL);
}

static const char *file_text(const char *of)
{
	static struct buf b;

	buf_done(&b);
	b = BUF_INIT(2 * AUDIT_FILE_MAX_BYTES);
	ck_assert_int_eq(file_read(of, 2 * AUDIT_FILE_MAX_BYTES, FILE_SECRET, &b, NULL), 0);
	return buf_str(&b);
}

static struct omis_values *read_back(int64_t since, int64_t max)
{
	struct buf b = BUF_INIT(FRAME_MAX_BYTES);
	struct omis_values *v = NULL;
	struct err e = { 0 };

	ck_assert_int_eq(audit_read(a, since, max, &b), 0);
	ck_assert_msg(omis_parse_values(buf_str(&b), b.n, &v, &e) == 0, "%s in %s", e.text,
		      buf_str(&b));
	buf_done(&b);
	return v;
}

static int64_t count(int64_t since, int64_t max)
{
	struct omis_values *v = read_back(since, max);
	int64_t n = (int64_t)v->n - 4;

	omis_values_free(v);
	return n;
}

/* Field k of entry i. */
static const char *field(const struct omis_values *v, size_t i, size_t k)
{
	ck_assert_uint_gt(v->n, 4 + i);
	return omis_value_text(&v->v[4 + i].list.v[k], NULL);
}

TEST(an_entry_has_identity_action_objects_and_outcome)
{
	struct omis_values *v;
	struct stat st;

	note(":proc_send_signal([p_1_aaaaaa],10)");
	note_at(MANIPULATOR, ":thread_stop([p_1_bbbbbb])", "p_1_bbbbbb", STATUS_UNKNOWN_OBJECT,
		WALL + 1);
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0600);
	v = read_back(0, 10);
	ck_assert_str_eq(omis_values_text(v, 0), "lm");
	ck_assert_uint_eq(v->n, 6);
	ck_assert_str_eq(field(v, 0, 7), "thread_stop([p_1_bbbbbb])");
	ck_assert_str_eq(field(v, 0, 8), "");
	ck_assert_str_eq(field(v, 0, 9), "p_1_bbbbbb");
	ck_assert_str_eq(field(v, 0, 10), "UNKNOWN_OBJECT");
	ck_assert_str_eq(field(v, 0, 11), "why \"not\"\n");
	ck_assert_str_eq(field(v, 1, 1), "2023-11-14T22:13:20.000000Z");
	ck_assert_str_eq(field(v, 1, 4), MANIPULATOR);
	ck_assert_str_eq(field(v, 1, 7), "proc_send_signal([p_1_aaaaaa],10)");
	ck_assert_str_eq(field(v, 1, 8), "p_1_aaaaaa");
	ck_assert_str_eq(field(v, 1, 10), "OK");
	omis_values_free(v);
}

TEST(requests_for_figures_are_not_recorded)
{
	note(":proc_get_info([p_1_aaaaaa],1)");
	note(":omig_cert_list()");
	ck_assert_int_eq(access(path, F_OK), -1);
	note(":proc_read_memory([p_1_aaaaaa],4096,4,4,1)");
	ck_assert_int_eq(count(0, 10), 1);
}

TEST(audit_omits_values_written_to_memory)
{
	note(":proc_write_memory([p_1_aaaaaa],4096,3,3,[110,88,33])");
	note(":proc_write_memory_bin([p_1_aaaaaa],4096,6,6,6#secret)");
	ck_assert_ptr_null(strstr(file_text(path), "secret"));
	ck_assert_ptr_null(strstr(file_text(path), "110,88"));
	ck_assert_ptr_nonnull(strstr(file_text(path), "4096,3,3,<3 values "));
	ck_assert_ptr_nonnull(strstr(file_text(path), "4096,6,6,<6 bytes "));
}

TEST(digests_of_equal_bytes_are_equal_within_one_daemon_only)
{
	static const char text[] = ":proc_write_memory_bin([p_1_aaaaaa],1,6,6,6#secret)";
	char calls[3][256];
	struct omis_values *v;

	note(text);
	note(text);
	audit_close(a);
	open_audit(0);
	note(text);
	v = read_back(0, 3);
	for (size_t i = 0; i < 3; i++)
		str_copy(calls[i], sizeof(calls[i]), field(v, i, 7));
	omis_values_free(v);
	ck_assert_str_eq(calls[1], calls[2]);
	ck_assert_str_ne(calls[0], calls[1]);
}

TEST(a_long_call_is_cut)
{
	struct buf text = BUF_INIT(FRAME_MAX_BYTES);
	struct omis_values *v;
	const char *call;

	buf_puts(&text, ":thread_stop([p_1_aaaaaa");
	for (int i = 0; i < 5000; i++)
		buf_puts(&text, ",p_1_bbbbbb");
	buf_puts(&text, "])");
	note(buf_str(&text));
	buf_done(&text);
	v = read_back(0, 1);
	call = field(v, 0, 7);
	ck_assert_uint_le(strlen(call), AUDIT_CALL_MAX_BYTES + 3);
	ck_assert_str_eq(call + strlen(call) - 3, "...");
	omis_values_free(v);
}

TEST(hostile_texts_stay_one_line_and_read_back)
{
	static const char who[] = "omig:tool-manipulate//\"},{\n\\u0041\x01\x7f";
	struct omis_values *v;

	note_at(who, ":proc_send_signal([p_1_aaaaaa],1)", "\"\n{}\xc3\x28", STATUS_OK, WALL);
	note(":omig_cert_revoke(\"a\\\"}\\n{\\\"number\\\":1\")");
	ck_assert_int_eq(count(0, 10), 2);
	v = read_back(0, 2);
	ck_assert_str_eq(field(v, 1, 4), who);
	ck_assert_str_eq(field(v, 0, 7), "omig_cert_revoke(\"a\\\"}\\n{\\\"number\\\":1\")");
	omis_values_free(v);
}

TEST(numbers_ascend_when_the_clock_goes_back)
{
	struct omis_values *v;
	int64_t last = 0;

	for (int i = 0; i < 3; i++)
		note_at(MANIPULATOR, ":thread_stop([p_1_aaaaaa])", "p_1_aaaaaa", 0, WALL - i * SEC);
	audit_close(a);
	open_audit(0);
	note_at(MANIPULATOR, ":thread_stop([p_1_aaaaaa])", "p_1_aaaaaa", 0, WALL - 100 * SEC);
	v = read_back(0, 10);
	for (size_t i = v->n; i-- > 4;) {
		ck_assert_int_gt(v->v[i].list.v[0].i, last);
		last = v->v[i].list.v[0].i;
	}
	omis_values_free(v);
	ck_assert_int_eq(count(last - 1, 10), 1);
	ck_assert_int_eq(count(last, 10), 0);
}

TEST(the_file_is_bounded_and_one_older_is_kept)
{
	struct stat now, before;
	int64_t n;

	audit_close(a);
	open_audit(4096);
	for (int i = 0; i < 100; i++) {
		note(":thread_stop([p_1_aaaaaa])");
		ck_assert_int_eq(stat(path, &now), 0);
		ck_assert_int_le(now.st_size, 4096);
	}
	ck_assert_int_eq(stat(older, &before), 0);
	ck_assert_int_le(before.st_size, 4096);
	ck_assert_uint_eq(before.st_mode & 07777, 0600);
	n = count(0, 1000);
	ck_assert_int_gt(n, 10);
	ck_assert_int_lt(n, 40);
	ck_assert_int_eq(count(0, 5), 5);
	ck_assert_uint_eq(troubles, 0);
}

TEST(a_flood_of_refusals_is_counted_not_written)
{
	struct omis_values *v;
	int64_t left;

	for (int i = 0; i < 1000; i++)
		note_at(OBSERVER, ":thread_stop([])", "", STATUS_NO_PERMISSION, WALL + i);
	ck_assert_int_eq(count(0, 1000), AUDIT_REFUSED_MAX);
	v = read_back(0, 1);
	ck_assert(omis_values_i64(v, 2, &left));
	ck_assert_int_eq(left, 1000 - AUDIT_REFUSED_MAX);
	omis_values_free(v);
	note_at(MANIPULATOR, ":thread_stop([p_1_aaaaaa])", "p_1_aaaaaa", 0, WALL + SEC);
	v = read_back(0, 1);
	ck_assert_int_eq(v->v[4].list.v[12].i, 1000 - AUDIT_REFUSED_MAX);
	omis_values_free(v);
	note_at(OBSERVER, ":thread_stop([])", "", STATUS_NO_PERMISSION,
		WALL + AUDIT_REFUSED_WINDOW_NS);
	ck_assert_int_eq(count(0, 1000), AUDIT_REFUSED_MAX + 2);
}

TEST(audit_close_records_the_count_of_omitted_refusals)
{
	for (int i = 0; i < AUDIT_REFUSED_MAX + 7; i++)
		note_at(OBSERVER, ":omig_shutdown()", "", STATUS_NO_PERMISSION, WALL + i);
	audit_close(a);
	ck_assert_ptr_nonnull(strstr(file_text(path), "\"left_out\":7}"));
	open_audit(0);
}

/* RLIMIT_FSIZE imitates a full disk for write(): some bytes, then none. */
TEST(a_full_disk_is_reported_once_and_when_it_is_over)
{
	struct rlimit before, tight;
	char *whole;

	sigaction(SIGXFSZ, &(struct sigaction){ .sa_handler = SIG_IGN }, NULL);
	note(":thread_stop([p_1_aaaaaa])");
	ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &before), 0);
	tight = before;
	tight.rlim_cur = strlen(file_text(path)) + 10;
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &tight), 0);
	for (int i = 0; i < 20; i++)
		note(":thread_continue([p_1_aaaaaa])");
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &before), 0);
	ck_assert_uint_eq(troubles, 1);
	ck_assert_uint_eq(ends, 0);
	ck_assert_ptr_nonnull(strstr(trouble, path));
	note(":thread_suspend([p_1_aaaaaa])");
	ck_assert_uint_eq(troubles, 1);
	ck_assert_uint_eq(ends, 1);
	ck_assert_uint_eq(lost, 20);
	ck_assert_int_eq(count(0, 10), 2);
	whole = strstr(file_text(path), "\"left_out\":20}");
	ck_assert_ptr_nonnull(whole);
}

TEST(a_file_that_is_not_ours_alone_is_not_written)
{
	struct stat st;

	ck_assert_int_eq(symlink("/dev/null", path), 0);
	note(":thread_stop([p_1_aaaaaa])");
	ck_assert_uint_eq(troubles, 1);
	ck_assert_int_eq(lstat(path, &st), 0);
	ck_assert(S_ISLNK(st.st_mode));
	ck_assert_int_eq(unlink(path), 0);
	note(":thread_stop([p_1_aaaaaa])");
	ck_assert_uint_eq(ends, 1);
	audit_close(a);
	ck_assert_int_eq(chmod(path, 0644), 0);
	open_audit(0);
	note(":thread_stop([p_1_aaaaaa])");
	ck_assert_uint_eq(troubles, 2);
	ck_assert_ptr_nonnull(strstr(trouble, "chmod 600"));
	ck_assert_int_eq(mkfifo(older, 0600), 0);
	ck_assert_int_eq(count(0, 10), 1);
}

TEST(lines_that_are_not_ours_are_passed_over)
{
	static const char *const junk[] = { "{\"number\":1",
					    "{}",
					    "{\"a\":\"b}\n",
					    "}{\n",
					    "nonsense\n\n\n",
					    "{\"number\":\"x\",1,2}\n",
					    "{[[[[[[[[[[[[[[[[[[[[[[[\n",
					    "\"\\" };

	note(":thread_stop([p_1_aaaaaa])");
	for (size_t i = 0; i < ARRAY_LEN(junk); i++) {
		FILE *f;

		audit_close(a);
		f = fopen(path, "a");
		ck_assert_ptr_nonnull(f);
		fputs(junk[i], f);
		fclose(f);
		open_audit(0);
		ck_assert_int_eq(count(0, 100), (int64_t)i + 1);
		note(":thread_stop([p_1_aaaaaa])");
		ck_assert_msg(count(0, 100) == (int64_t)i + 2, "after %s", junk[i]);
	}
}

TEST(an_answer_is_bounded)
{
	struct omis_values *v;
	int64_t more;

	for (int i = 0; i < 3000; i++)
		note(":proc_send_signal([p_1_aaaaaa],10)");
	v = read_back(0, INT64_MAX);
	ck_assert_uint_le(v->n, AUDIT_ENTRIES_MAX + 4);
	ck_assert_uint_gt(v->n, 100);
	ck_assert(omis_values_i64(v, 3, &more));
	ck_assert_int_eq(more, 1);
	omis_values_free(v);
	ck_assert_int_eq(count(0, 0), 0);
	ck_assert_int_eq(count(0, -5), 0);
	ck_assert_int_eq(count(INT64_MAX, 10), 0);
}

SUITE_WITH("audit", set_up, clean_up)
