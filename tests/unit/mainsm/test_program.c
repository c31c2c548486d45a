/* SPDX-License-Identifier: Apache-2.0 */
/* mainsm as a process: its effects on its user, its files and its signals. */
#include "common/link/connstr.h"
#include "mainsm/program.h"
#include "tests/process.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#define OPTIONS(...) ((const char *const[]){ __VA_ARGS__, NULL })

static pid_t start(const char *const *options, struct connstr *c)
{
	pid_t pid = process_start(&mainsm_program_spec, options);

	ck_assert_ptr_nonnull(process_says(process_files.out, "\n"));
	ck_assert_int_eq(connstr_parse(process_text(process_files.out), c, NULL), 0);
	return pid;
}

static void in_state(char out[FILE_PATH_BYTES], const char *name)
{
	snprintf(out, FILE_PATH_BYTES, "%s/mainsm/%s", process_files.state, name);
}

TEST(mainsm_prints_the_connection_string_of_its_file)
{
	struct connstr c, kept;
	char path[FILE_PATH_BYTES];
	pid_t pid = start(OPTIONS("--listen", "127.0.0.1"), &c);

	ck_assert_uint_eq(c.nhost, 1);
	ck_assert_str_eq(c.host[0], "127.0.0.1");
	ck_assert_uint_ne(c.port, 0);
	ck_assert_str_ne(c.token_id, "");
	ck_assert(!connstr_is_for_lms(&c));
	in_state(path, "mainsm.conn");
	ck_assert_int_eq(connstr_parse(process_text(path), &kept, NULL), 0);
	ck_assert_mem_eq(&kept, &c, sizeof(c));
	ck_assert_int_eq(process_end(pid), DAEMON_OK);
}

TEST(the_next_start_keeps_the_string)
{
	struct connstr first, second;

	ck_assert_int_eq(process_end(start(OPTIONS("--advertise", "a.example,b"), &first)), 0);
	ck_assert_uint_eq(first.nhost, 2);
	ck_assert_str_eq(first.host[0], "a.example");
	ck_assert_str_eq(first.host[1], "b");
	ck_assert_int_eq(process_end(start(OPTIONS("--advertise", "a.example,b"), &second)), 0);
	ck_assert_mem_eq(&first, &second, sizeof(first));
	/* A token with less than half of the requested lifetime is not handed out. */
	ck_assert_int_eq(process_end(start(OPTIONS("--token-lifetime", "30d"), &second)), 0);
	ck_assert_str_eq(first.pin, second.pin);
	ck_assert_uint_eq(first.port, second.port);
	ck_assert_str_ne(first.token_id, second.token_id);
}

TEST(a_second_one_is_refused_with_the_remedy)
{
	struct connstr c;
	pid_t pid = start(OPTIONS("--port", "0"), &c);
	char want[200];

	ck_assert_int_eq(process_wait(process_start(&mainsm_program_spec, OPTIONS("--port", "0"))),
			 DAEMON_RUNNING);
	snprintf(want, sizeof(want), "one runs for you already: pid %ld, ", (long)pid);
	ck_assert_ptr_nonnull(strstr(process_text(process_files.err), want));
	ck_assert_ptr_nonnull(strstr(process_text(process_files.err), "omig stop"));
	ck_assert_int_eq(process_end(pid), DAEMON_OK);
}

/* Opens a listening socket. *port: 0 = any; set to the port of the socket. */
static int occupy(uint16_t *port)
{
	struct sockaddr_in a = { .sin_family = AF_INET,
				 .sin_port = htons(*port),
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t n = sizeof(a);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	ck_assert_int_eq(listen(fd, 1), 0);
	ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&a, &n), 0);
	*port = ntohs(a.sin_port);
	return fd;
}

TEST(only_the_port_of_the_last_start_may_be_replaced)
{
	struct connstr first, second;
	uint16_t port = 0;
	char text[8];
	int fd = occupy(&port);

	snprintf(text, sizeof(text), "%u", port);
	ck_assert_int_eq(process_wait(process_start(&mainsm_program_spec, OPTIONS("--port", text))),
			 DAEMON_FAILED);
	close(fd);
	ck_assert_int_eq(process_end(start(OPTIONS("--port", text), &first)), 0);
	ck_assert_uint_eq(first.port, port);
	fd = occupy(&port);
	ck_assert_int_eq(process_end(start(OPTIONS("--port", "0"), &second)), 0);
	ck_assert_uint_ne(second.port, port);
	ck_assert_ptr_nonnull(
		strstr(process_text(process_files.err), "of the last start is taken"));
	close(fd);
}

TEST(mainsm_without_a_peer_ends_after_its_linger)
{
	struct connstr c;

	ck_assert_int_eq(process_wait(start(OPTIONS("--linger", "10ms"), &c)), DAEMON_OK);
}

TEST(a_configuration_that_cannot_work_is_refused)
{
	static const struct {
		const char *name, *value, *says;
	} bad[] = {
		{ "--launcher", "rsh {host}", "{command}" },
		{ "--site", "a", "NAME=HOSTS is expected, not 'a'" },
		{ "--site", "a=x;-b=y", "'-b'" },
		{ "--listen", "192.0.2.1", "192.0.2.1" },
	};

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		pid_t pid = process_start(&mainsm_program_spec, OPTIONS(bad[i].name, bad[i].value));

		ck_assert_int_ne(process_wait(pid), DAEMON_OK);
		ck_assert_msg(strstr(process_text(process_files.err), bad[i].says) != NULL,
			      "%s: %s", bad[i].says, process_text(process_files.err));
	}
}

TEST(a_reload_takes_all_in_or_leaves_all_as_it_is)
{
	struct connstr c;
	pid_t pid = start(OPTIONS("--log-level", "info"), &c);

	process_put(process_files.conf, "linger = 10ms\n[site s]\nhosts = n*\nlauncher = rsh\n");
	kill(pid, SIGHUP);
	ck_assert_ptr_nonnull(process_says(process_files.err, "the old configuration stays"));
	process_put(process_files.conf, "linger = 0\n[site s]\nhosts = n*\n");
	kill(pid, SIGHUP);
	ck_assert_ptr_nonnull(process_says(process_files.err, "configuration reloaded"));
	ck_assert_int_eq(waitpid(pid, NULL, WNOHANG), 0);
	process_put(process_files.conf, "linger = 10ms\n[site s]\nhosts = n*\n");
	kill(pid, SIGHUP);
	ck_assert_int_eq(process_wait(pid), DAEMON_OK);
}

SUITE_WITH("mainsm program", process_set_up, process_clean_up)
