/* SPDX-License-Identifier: Apache-2.0 */
/* Launchers of sms as real processes: their input, and the reports of their ends. */
#include "common/loop/loop.h"
#include "mainsm/start/starter.h"
#include "tests/process.h"

#include <fcntl.h>

#define CONNECTION "omig1:localhost:4711:pin:id.secret"

static struct loop *loop;
static struct starter *starter;
static char ended[FILE_PATH_BYTES * 2];

static void on_exit_of(void *arg, const char *site, const char *how)
{
	snprintf(arg, sizeof(ended), "%s: %s", site, how);
}

static void set_up(void)
{
	process_set_up();
	ck_assert_int_eq(mkdir(process_files.state, 0700), 0);
	loop = loop_new();
	ck_assert_ptr_nonnull(loop);
	starter = starter_new(&(struct starter_conf){ .loop = loop,
						      .sm = "/opt/sm",
						      .listen = "127.0.0.1",
						      .listen_elsewhere = "auto",
						      .state_dir = process_files.state,
						      .on_exit = on_exit_of,
						      .arg = ended });
	ck_assert_ptr_nonnull(starter);
	ended[0] = 0;
}

static void clean_up(void)
{
	starter_free(starter);
	loop_free(loop);
	process_clean_up();
}

static int start(const struct site *site, const char *launcher)
{
	struct err e = { 0 };

	return starter_start(starter, site, launcher, CONNECTION, &e);
}

/* Runs until the launcher's end is reported, and returns the report. */
static const char *end(void)
{
	for (int i = 0; i < PROCESS_PATIENCE_MS / 10 && !ended[0]; i++)
		loop_wait(loop, 10 * NSEC_PER_MSEC);
	return ended;
}

/* The launcher as a template: a shell with that script, which has the command in its parameters. */
static int shell(const struct site *site, const char *script)
{
	char text[1024];

	snprintf(text, sizeof(text), "sh -c '%s' sh {command}", script);
	return start(site, text);
}

static struct site site_named(const char *listen)
{
	struct site s = { .name = "alpha",
			  .host = (char *)(uintptr_t) "h",
			  .listen = (char *)(uintptr_t)listen };

	return s;
}

static const char *log_text(void)
{
	char path[FILE_PATH_BYTES];

	snprintf(path, sizeof(path), "%s/sm-alpha.log", process_files.state);
	return process_text(path);
}

TEST(a_launcher_gets_the_command_and_the_string_by_two_ways)
{
	struct site s = site_named("");
	char want[512];

	setenv("OMIG_MAINSM", "another", 1);
	setenv("OMIG_SITE", "another", 1);
	setenv("NOTIFY_SOCKET", "/nowhere", 1);
	setenv("OMIG_OTHER", "kept", 1);
	unsetenv("OMIG_SIM_SEEDS"); /* set in a run with sanitizers */
	unsetenv("OMIG_SETUP"); /* set in a run without a network */
	ck_assert_int_eq(shell(&s, "read line; echo \"$line\" >&2; echo \"$*\" >&2; "
				   "env | grep -e ^OMIG -e ^NOTIFY | sort >&2; echo lost"),
			 0);
	ck_assert_ptr_nonnull(strstr(end(), "alpha: its launcher ended with status 0, see "));
	snprintf(want, sizeof(want),
		 CONNECTION "\n/opt/sm --foreground --site alpha --listen auto --mainsm-stdin\n"
			    "OMIG_MAINSM=" CONNECTION "\nOMIG_OTHER=kept\nOMIG_SITE=alpha\n"
			    "OMIG_STATE_DIR=%s\n",
		 process_files.state);
	ck_assert_str_eq(log_text(), want);
	ck_assert_ptr_nonnull(strstr(ended, "sm-alpha.log"));
}

TEST(a_local_sm_listens_at_the_address_of_its_site_or_mainsm)
{
	static const struct {
		const char *listen, *want;
	} row[] = {
		{ "", "--foreground --site alpha --listen 127.0.0.1\n" },
		{ "10.0.0.1", "--foreground --site alpha --listen 10.0.0.1\n" },
	};
	char sm[FILE_PATH_BYTES];

	snprintf(sm, sizeof(sm), "%s/sm", process_files.dir);
	process_put(sm, "#!/bin/sh\necho \"$*\" >&2\n");
	ck_assert_int_eq(chmod(sm, 0700), 0);
	for (size_t i = 0; i < ARRAY_LEN(row); i++) {
		const struct starter_conf conf = { .loop = loop,
						   .sm = sm,
						   .listen = "127.0.0.1",
						   .listen_elsewhere = "auto",
						   .state_dir = process_files.state,
						   .on_exit = on_exit_of,
						   .arg = ended };
		struct site s = site_named(row[i].listen);
		char path[FILE_PATH_BYTES];

		starter_free(starter);
		starter = starter_new(&conf);
		ended[0] = 0;
		ck_assert_int_eq(start(&s, "local"), 0);
		ck_assert_ptr_nonnull(strstr(end(), "status 0"));
		ck_assert_str_eq(log_text(), row[i].want);
		snprintf(path, sizeof(path), "%s/sm-alpha.log", process_files.state);
		ck_assert_int_eq(unlink(path), 0);
	}
}

TEST(the_end_of_a_launcher_is_reported_with_its_status_or_signal)
{
	struct site s = site_named("");

	ck_assert_int_eq(shell(&s, "exit 7"), 0);
	ck_assert_ptr_nonnull(strstr(end(), "alpha: its launcher ended with status 7, see "));
	ended[0] = 0;
	ck_assert_int_eq(shell(&s, "kill -9 $$"), 0);
	ck_assert_ptr_nonnull(strstr(end(), "alpha: its launcher ended with signal 9, see "));
}

TEST(a_launcher_has_a_session_of_its_own_and_default_signals)
{
	struct site s = site_named("");
	sigset_t term;

	ck_assert_int_eq(sigaction(SIGTERM, &(struct sigaction){ .sa_handler = SIG_IGN }, NULL), 0);
	sigemptyset(&term);
	sigaddset(&term, SIGTERM);
	sigprocmask(SIG_BLOCK, &term, NULL);
	ck_assert_int_eq(shell(&s, "test $(ps -o sid= -p $$) = $$ && kill -TERM $$"), 0);
	ck_assert_ptr_nonnull(strstr(end(), "with signal 15"));
}

TEST(launcher_output_is_appended_to_a_private_file)
{
	struct site s = site_named("");
	char path[FILE_PATH_BYTES];
	struct stat st;

	for (int i = 0; i < 2; i++) {
		ended[0] = 0;
		ck_assert_int_eq(shell(&s, "echo words >&2"), 0);
		end();
	}
	ck_assert_str_eq(log_text(), "words\nwords\n");
	snprintf(path, sizeof(path), "%s/sm-alpha.log", process_files.state);
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_uint_eq(st.st_mode & 0777, 0600);
}

TEST(unusable_launcher_is_refused)
{
	static const struct {
		const char *launcher;
		enum err_code code;
	} row[] = {
		{ "/nowhere/launch {command}", ERR_SYS },
		{ "launch", ERR_PARSE },
		{ "launch '{command}", ERR_PARSE },
		{ "launch {port} {command}", ERR_PARSE },
	};
	struct site s = site_named("");

	for (size_t i = 0; i < ARRAY_LEN(row); i++)
		ck_assert_int_eq(start(&s, row[i].launcher), -(int)row[i].code);
	s.host = (char *)(uintptr_t) "";
	ck_assert_int_eq(start(&s, "ssh"), -ERR_INVALID);
}

TEST(a_start_leaves_no_descriptor_behind)
{
	struct site s = site_named("");
	int before = open("/dev/null", O_RDONLY | O_CLOEXEC), after;

	ck_assert_int_eq(close(before), 0);
	for (int i = 0; i < 5; i++) {
		ended[0] = 0;
		/* The line is the whole input. */
		ck_assert_int_eq(shell(&s, "wc -l >&2"), 0);
		ck_assert_str_ne(end(), "");
	}
	ck_assert_str_eq(log_text(), "1\n1\n1\n1\n1\n");
	after = open("/dev/null", O_RDONLY | O_CLOEXEC);
	ck_assert_int_eq(after, before);
	close(after);
}

SUITE_WITH("starter", set_up, clean_up)
