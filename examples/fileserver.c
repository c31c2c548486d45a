/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file server and its clients on one host. Both have events before and after each operation on
 * disk and network:
 *
 *	fileserver --clients 5 --log run.olog --slow-disk 3000
 *	omig log lifelines --key conn,block -o run.html run.olog
 *
 * or, switched on remotely while it serves:
 *
 *	omig run -- fileserver --clients 5 --until enough
 *	omig events on 'server.*' --to run.olog --for 10s
 *
 * The server has a thread for each client, and sends it a file, block by block. Each client is a
 * process and writes what it gets into a file of its own. With --until FILE, clients come again and
 * again until that file is there. Printed are throughput and the processor time of the server and
 * its clients. Built with -DBARE it has no events, to be compared with.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifdef BARE
static int omig_event_open(const char *path, unsigned flags)
{
	(void)path;
	(void)flags;
	return 0;
}
static void omig_event_close(void)
{
}
#define OMIG_EVENT(name, text, level, ...)
#define omig_event(name, ...) ((void)0)
#else
#include <omig/event.h>
#endif

OMIG_EVENT(read_start, "server.disk.read.start", OMIG_INFO, (int32, conn), (int32, block))
OMIG_EVENT(read_end, "server.disk.read.end", OMIG_INFO, (int32, conn), (int32, block),
	   (int32, nbytes))
OMIG_EVENT(send_start, "server.net.send.start", OMIG_INFO, (int32, conn), (int32, block))
OMIG_EVENT(send_end, "server.net.send.end", OMIG_INFO, (int32, conn), (int32, block),
	   (int32, nbytes))
OMIG_EVENT(recv_start, "client.net.recv.start", OMIG_INFO, (int32, conn), (int32, block))
OMIG_EVENT(recv_end, "client.net.recv.end", OMIG_INFO, (int32, conn), (int32, block),
	   (int32, nbytes))
OMIG_EVENT(write_start, "client.disk.write.start", OMIG_INFO, (int32, conn), (int32, block))
OMIG_EVENT(write_end, "client.disk.write.end", OMIG_INFO, (int32, conn), (int32, block),
	   (int32, nbytes))

OMIG_EVENT(server_load, "server.load", OMIG_INFO, (double, cpu_percent), (double, net_mib_per_s))

#define BLOCK_BYTES (64 * 1024)
#define LOAD_EACH_US 50000
#define CLIENTS_MAX 64

/* Header of each block on the wire. One host: its own byte order. */
struct head {
	int32_t conn, block, nbytes; /* nbytes 0: the file is over */
};

struct study {
	int clients, mib, slow_disk_us, slow_net_us;
	const char *log, *folder, *until;
	long long served; /* clients, all rounds */
	char file[4096];
	int listener;
	struct sockaddr_in at;
};

static _Atomic int64_t sent_bytes; /* by the server */

struct conn {
	const struct study *study;
	pthread_t thread;
	int fd, number;
};

static void die(const char *what)
{
	fprintf(stderr, "fileserver: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void pause_us(int us)
{
	struct timespec t = { us / 1000000, (long)(us % 1000000) * 1000 };

	if (us)
		nanosleep(&t, NULL);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* --- the server */

static void send_all(int fd, const void *p, size_t n)
{
	for (size_t at = 0; at < n;) {
		ssize_t got = send(fd, (const char *)p + at, n - at, MSG_NOSIGNAL);

		if (got < 0 && errno != EINTR)
			die("send");
		at += got > 0 ? (size_t)got : 0;
	}
}

/* Sends one block; its head and contents are sent together. */
static int32_t serve_block(const struct conn *c, int file, int32_t block, char *buffer)
{
	struct head h = { c->number, block, 0 };
	ssize_t n;

	omig_event(read_start, c->number, block);
	pause_us(c->study->slow_disk_us);
	n = pread(file, buffer + sizeof(h), BLOCK_BYTES, (off_t)block * BLOCK_BYTES);
	if (n < 0)
		die(c->study->file);
	h.nbytes = (int32_t)n;
	memcpy(buffer, &h, sizeof(h));
	if (!n)
		return 0; /* a block that does not exist has no lifeline and no event of its end */
	omig_event(read_end, c->number, block, h.nbytes);
	omig_event(send_start, c->number, block);
	pause_us(c->study->slow_net_us);
	send_all(c->fd, buffer, sizeof(h) + (size_t)n);
	omig_event(send_end, c->number, block, h.nbytes);
	sent_bytes += n;
	return h.nbytes;
}

static void *serve(void *arg)
{
	struct conn *c = arg;
	int file = open(c->study->file, O_RDONLY | O_CLOEXEC);
	char *buffer = malloc(sizeof(struct head) + BLOCK_BYTES);
	struct head over = { .conn = c->number };
	int32_t blocks = (int32_t)((int64_t)c->study->mib * 1024 * 1024 / BLOCK_BYTES);

	if (file < 0 || !buffer)
		die(c->study->file);
	for (int32_t i = 0; i < blocks && serve_block(c, file, i, buffer); i++)
		;
	send_all(c->fd, &over, sizeof(over));
	close(c->fd);
	close(file);
	free(buffer);
	return NULL;
}

/* Returns the CPU time of this process, or of its children that have ended. */
static double cpu_seconds(int whose)
{
	struct rusage u;

	getrusage(whose, &u);
	return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
	       (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1e-6;
}

/* Load lines: what the server's processors and its net do, from time to time. It ends with the
 * program. */
static void *watch_load(void *arg)
{
	double at = now(), cpu = cpu_seconds(RUSAGE_SELF), bytes = 0;

	(void)arg;
	for (;;) {
		double then = at, cpu_then = cpu, bytes_then = bytes;

		pause_us(LOAD_EACH_US);
		at = now();
		cpu = cpu_seconds(RUSAGE_SELF);
		bytes = (double)sent_bytes;
		omig_event(server_load, 100 * (cpu - cpu_then) / (at - then),
			   (bytes - bytes_then) / (at - then) / (1024 * 1024));
		(void)bytes_then, (void)cpu_then, (void)then;
	}
	return NULL;
}

/* --- a client */

static void receive(int fd, void *p, size_t n)
{
	for (size_t at = 0; at < n;) {
		ssize_t got = recv(fd, (char *)p + at, n - at, MSG_WAITALL);

		if (!got || (got < 0 && errno != EINTR))
			die("recv");
		at += got > 0 ? (size_t)got : 0;
	}
}

static void fetch_block(const struct head *h, int fd, int file, char *buffer)
{
	if (h->nbytes < 0 || h->nbytes > BLOCK_BYTES)
		die("a block that is none");
	omig_event(recv_start, h->conn, h->block);
	receive(fd, buffer, (size_t)h->nbytes);
	omig_event(recv_end, h->conn, h->block, h->nbytes);
	omig_event(write_start, h->conn, h->block);
	if (pwrite(file, buffer, (size_t)h->nbytes, (off_t)h->block * BLOCK_BYTES) != h->nbytes)
		die("write");
	omig_event(write_end, h->conn, h->block, h->nbytes);
}

static int fetch(const struct study *s)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), file;
	char name[4200], *buffer = malloc(BLOCK_BYTES);
	struct head h;

	snprintf(name, sizeof(name), "%s/fileserver.%ld.got", s->folder, (long)getpid());
	file = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0 || !buffer || file < 0 ||
	    connect(fd, (const struct sockaddr *)&s->at, sizeof(s->at)))
		die("client");
	unlink(name);
	for (receive(fd, &h, sizeof(h)); h.nbytes; receive(fd, &h, sizeof(h)))
		fetch_block(&h, fd, file, buffer);
	close(file);
	close(fd);
	free(buffer);
	return 0;
}

/* --- both */

static void make_file(struct study *s)
{
	static char block[BLOCK_BYTES];
	int fd;

	snprintf(s->file, sizeof(s->file), "%s/fileserver.XXXXXX", s->folder);
	fd = mkstemp(s->file);
	for (int i = 0; fd >= 0 && i < s->mib * 16; i++) {
		memset(block, i, sizeof(block));
		if (write(fd, block, sizeof(block)) != sizeof(block))
			die(s->file);
	}
	if (fd < 0)
		die(s->file);
	close(fd);
}

static void start_listening(struct study *s)
{
	socklen_t n = sizeof(s->at);

	s->at = (struct sockaddr_in){ .sin_family = AF_INET,
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	s->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (s->listener < 0 || bind(s->listener, (struct sockaddr *)&s->at, n) ||
	    listen(s->listener, CLIENTS_MAX) ||
	    getsockname(s->listener, (struct sockaddr *)&s->at, &n))
		die("listen");
}

/* The first ones are there before the server has threads: they are forks. */
static void start_clients(const struct study *s)
{
	for (int i = 0; i < s->clients; i++) {
		pid_t pid = fork();

		if (pid < 0)
			die("fork");
		if (!pid)
			exit(fetch(s));
	}
}

static int serve_all(struct study *s)
{
	struct conn conn[CLIENTS_MAX];
	int status, worst = 0;

	for (int i = 0; i < s->clients; i++) {
		conn[i] = (struct conn){ .study = s,
					 .number = i,
					 .fd = accept(s->listener, NULL, NULL) };
		if (conn[i].fd < 0 || pthread_create(&conn[i].thread, NULL, serve, &conn[i]))
			die("accept");
	}
	for (int i = 0; i < s->clients; i++)
		pthread_join(conn[i].thread, NULL);
	while (wait(&status) > 0)
		worst = status ? 1 : worst;
	s->served += s->clients;
	return worst;
}

static int run(struct study *s)
{
	double begin = now(), cpu = cpu_seconds(RUSAGE_SELF), took;
	pthread_t watcher;
	int worst;

	start_clients(s);
	if ((s->log || s->until) && pthread_create(&watcher, NULL, watch_load, NULL))
		die("thread");
	worst = serve_all(s);
	while (s->until && !worst && access(s->until, F_OK)) {
		start_clients(s);
		worst = serve_all(s);
	}
	took = now() - begin;
	printf("%.1f MiB/s %.4f s\n", (double)s->mib * (double)s->served / took,
	       cpu_seconds(RUSAGE_SELF) + cpu_seconds(RUSAGE_CHILDREN) - cpu);
	return worst;
}

static int number(const char *text, int least, int most)
{
	char *end;
	long v = strtol(text, &end, 10);

	if (*end || end == text || v < least || v > most) {
		fprintf(stderr, "fileserver: %s is not a number from %d to %d\n", text, least,
			most);
		exit(2);
	}
	return (int)v;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "clients", 1, NULL, 'c' },   { "mib", 1, NULL, 'm' },
		{ "log", 1, NULL, 'l' },       { "folder", 1, NULL, 'f' },
		{ "slow-disk", 1, NULL, 'd' }, { "slow-net", 1, NULL, 'n' },
		{ "until", 1, NULL, 'u' },     { NULL, 0, NULL, 0 },
	};
	struct study s = { .clients = 1, .mib = 16, .folder = "/tmp" };
	int o, rc;

	while ((o = getopt_long(argc, argv, "", options, NULL)) != -1)
		switch (o) {
		case 'c':
			s.clients = number(optarg, 1, CLIENTS_MAX);
			break;
		case 'm':
			s.mib = number(optarg, 1, 4096);
			break;
		case 'd':
			s.slow_disk_us = number(optarg, 0, 10000000);
			break;
		case 'n':
			s.slow_net_us = number(optarg, 0, 10000000);
			break;
		case 'l':
			s.log = optarg;
			break;
		case 'f':
			s.folder = optarg;
			break;
		case 'u':
			s.until = optarg;
			break;
		default:
			fputs("usage: fileserver [--clients N] [--mib N] [--log FILE] "
			      "[--folder DIR] [--slow-disk US] [--slow-net US] "
			      "[--until FILE]\n",
			      stderr);
			return 2;
		}
	if (s.log && omig_event_open(s.log, 0))
		die(s.log);
	make_file(&s);
	start_listening(&s);
	rc = run(&s);
	unlink(s.file);
	omig_event_close();
	return rc;
}
