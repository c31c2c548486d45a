/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of NetLogger's interface. */
#include "eventlog/netlogger/netlogger.h"

#include "common/base/array.h"
#include "common/base/str.h"
#include "eventlog/netlogger/nlog.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <unistd.h>

int NL_file_append;
static struct {
	struct inproc_lock lock;
	char *text; /* NULL = no text */
} global_tag = { .lock = INPROC_LOCK_INIT };

/* --- opening */

static bool is_on(void)
{
	static const char *const yes[] = { "1", "on", "true", "yes" };
	const char *text = secure_getenv("NETLOGGER_ON");

	for (size_t i = 0; text && i < ARRAY_LEN(yes); i++)
		if (!strcasecmp(text, yes[i]))
			return true;
	return !text;
}

static struct omig_nlog *open_handle(const char *program, const char *url, bool is_append)
{
	struct omig_nlog *h;
	struct nlout out;
	char pid[24];

	if (!url) {
		errno = EINVAL;
		return NULL;
	}
	snprintf(pid, sizeof(pid), "%ld", (long)getpid());
	h = nlurl_open(url, is_append, &out) ? NULL : nlog_new(&out, program ? program : pid);
	if (h)
		h->is_on = is_on();
	return h;
}

NL_Handle *NetLoggerOpen(char *program_name, char *url, int flags)
{
	const char *to = secure_getenv("NETLOGGER_DEST");

	return open_handle(program_name, url && !(flags & NL_ENV && to) ? url : to,
			   flags & NL_APPEND);
}

NL_Handle *NetLoggerOpenFd(char *program_name, int fd, int flags)
{
	struct omig_nlog *h = nlog_new(&(struct nlout){ .fd = fd, .is_borrowed = true },
				       program_name ? program_name : program_invocation_short_name);

	(void)flags;
	if (h)
		h->is_on = is_on();
	return h;
}

int NetLoggerSetTrigger(NL_Handle *lp, char *file, int interval_s)
{
	if (!lp || interval_s < 0 || interval_s > EVTRIGGER_INTERVAL_MAX_S) {
		errno = EINVAL;
		return -1;
	}
	return nlog_set_trigger(lp, file, interval_s * NSEC_PER_SEC);
}

/* --- messages */

struct message {
	struct omig_nlog *h;
	nsec_t wall;
	int level;
	const char *event;
};

/* Takes the lock if the message is to be written. Returns false if not. */
static bool begin(const struct message *m)
{
	if (!m->h)
		return false;
	inproc_lock(&m->h->lock);
	if (!m->h->is_on || m->h->level <= 0 || m->level > m->h->level) {
		inproc_unlock(&m->h->lock);
		return false;
	}
	nlfields_clear(&m->h->fields);
	if (m->h->tag)
		nlfields_printf(&m->h->fields, m->h->tag, NULL);
	inproc_lock(&global_tag.lock);
	if (global_tag.text)
		nlfields_printf(&m->h->fields, global_tag.text, NULL);
	inproc_unlock(&global_tag.lock);
	return true;
}

static int end(const struct message *m)
{
	int rc = nlog_write(m->h, m->wall, m->level, m->event);

	inproc_unlock(&m->h->lock);
	return rc;
}

/* const_fmt and variable_fmt use the arguments in this order. ap NULL: both are complete texts. */
static int message(const struct message *m, const char *const_fmt, const char *fmt, va_list *ap)
{
	struct nlfields *fields;

	if (!begin(m))
		return m->h ? 0 : -1;
	fields = &m->h->fields;
	nlfields_printf(fields, const_fmt, ap);
	fields->nconst = fields->n;
	nlfields_printf(fields, fmt, ap);
	return end(m);
}

static nsec_t given(long sec, long usec)
{
	return (nsec_t)sec * NSEC_PER_SEC + usec * NSEC_PER_USEC;
}

/* The body of a call with arguments after fmt. */
#define WITH_ARGUMENTS(at, lvl, const_fmt)                                                    \
	const struct message m = { .h = lp, .wall = (at), .level = (lvl), .event = keyword }; \
	va_list ap;                                                                           \
	int rc;                                                                               \
	va_start(ap, fmt);                                                                    \
	rc = message(&m, (const_fmt), fmt, &ap);                                              \
	va_end(ap);                                                                           \
	return rc

int NetLoggerWrite(NL_Handle *lp, char *keyword, char *const_fmt, char *fmt, ...)
{
	WITH_ARGUMENTS(clock_wall(), 0, const_fmt);
}

/* six: NetLogger's interface. */
int NetLoggerGTWrite(NL_Handle *lp, long sec, long usec, char *keyword, char *const_fmt, char *fmt,
		     ...)
{
	WITH_ARGUMENTS(given(sec, usec), 0, const_fmt);
}

/* six: NetLogger's interface. */
int NetLoggerWriteLvl(NL_Handle *lp, int lvl, char *keyword, char *const_fmt, char *fmt, ...)
{
	WITH_ARGUMENTS(clock_wall(), lvl, const_fmt);
}

/* six: NetLogger's interface. */
int NetLoggerGTWriteLvl(NL_Handle *lp, long sec, long usec, int lvl, char *keyword, char *const_fmt,
			char *fmt, ...)
{
	WITH_ARGUMENTS(given(sec, usec), lvl, const_fmt);
}

int NetLoggerWrite_old(NL_Handle *lp, char *keyword, char *fmt, ...)
{
	WITH_ARGUMENTS(clock_wall(), 0, NULL);
}

/* six: NetLogger's interface. */
int NetLoggerGTWrite_old(NL_Handle *lp, long sec, long usec, char *keyword, char *fmt, ...)
{
	WITH_ARGUMENTS(given(sec, usec), 0, NULL);
}

int NetLoggerWriteLvl_old(NL_Handle *lp, int lvl, char *keyword, char *fmt, ...)
{
	WITH_ARGUMENTS(clock_wall(), lvl, NULL);
}

int NetLoggerFastWrite(NL_Handle *lp, char *keyword, char *fmt, ...)
{
	WITH_ARGUMENTS(clock_wall(), 0, NULL);
}

int NetLoggerWriteString(NL_Handle *lp, char *keyword, char *const_data, char *variable_data)
{
	return message(
		&(struct message){ .h = lp, .wall = clock_wall(), .level = 0, .event = keyword },
		const_data, variable_data, NULL);
}

int NetLoggerWriteStringLvl(NL_Handle *lp, int lvl, char *keyword, char *const_data,
			    char *variable_data)
{
	return message(
		&(struct message){ .h = lp, .wall = clock_wall(), .level = lvl, .event = keyword },
		const_data, variable_data, NULL);
}

/* six: NetLogger's interface. */
int NetLoggerGTWriteString(NL_Handle *lp, long sec, long usec, char *keyword, char *const_data,
			   char *variable_data)
{
	return message(
		&(struct message){
			.h = lp, .wall = given(sec, usec), .level = 0, .event = keyword },
		const_data, variable_data, NULL);
}

/* six: NetLogger's interface. */
int NetLoggerGTWriteStringLvl(NL_Handle *lp, int lvl, long sec, long usec, char *keyword,
			      char *const_data, char *variable_data)
{
	return message(
		&(struct message){
			.h = lp, .wall = given(sec, usec), .level = lvl, .event = keyword },
		const_data, variable_data, NULL);
}

int NetLoggerWriteString_old(NL_Handle *lp, char *keyword, char *text)
{
	return message(
		&(struct message){ .h = lp, .wall = clock_wall(), .level = 0, .event = keyword },
		NULL, text, NULL);
}

int NetLoggerWriteStringLvl_old(NL_Handle *lp, int lvl, char *keyword, char *text)
{
	return message(
		&(struct message){ .h = lp, .wall = clock_wall(), .level = lvl, .event = keyword },
		NULL, text, NULL);
}

int NetLoggerGTWriteString_old(NL_Handle *lp, long sec, long usec, char *keyword, char *text)
{
	return message(
		&(struct message){
			.h = lp, .wall = given(sec, usec), .level = 0, .event = keyword },
		NULL, text, NULL);
}

/* six: NetLogger's interface. */
int NetLoggerGTWriteStringLvl_old(NL_Handle *lp, int lvl, long sec, long usec, char *keyword,
				  char *text)
{
	return message(
		&(struct message){
			.h = lp, .wall = given(sec, usec), .level = lvl, .event = keyword },
		NULL, text, NULL);
}

/* --- handles */

int NetLoggerFlush(NL_Handle *lp)
{
	return NL_flush(lp);
}

int NetLoggerClose(NL_Handle *lp)
{
	return lp ? nlog_close(lp) : -1;
}

int NetLoggerSetGlobalTag(char *tag)
{
	inproc_lock(&global_tag.lock);
	free(global_tag.text);
	global_tag.text = str_dup(tag);
	inproc_unlock(&global_tag.lock);
	return 0;
}

int NetLoggerSetTag(NL_Handle *lp, char *tag)
{
	if (!lp)
		return -1;
	inproc_lock(&lp->lock);
	free(lp->tag);
	lp->tag = str_dup(tag);
	inproc_unlock(&lp->lock);
	return 0;
}

void NetLoggerSetLevel(NL_Handle *lp, int log_level)
{
	NL_set_level(lp, log_level);
}

/* --- the later interface */

/* Reads the level from the file that NL_CFG names. */
static void take_level_of_file(struct omig_nlog *h)
{
	const char *path = secure_getenv("NL_CFG");
	FILE *f = path ? fopen(path, "re") : NULL;
	int level;

	if (f && fscanf(f, "%d", &level) == 1)
		h->level = level;
	if (f)
		fclose(f);
}

NL_log_T NL_open(const char *url)
{
	const char *to = url ? url : secure_getenv("NL_DEST");
	struct omig_nlog *h =
		open_handle(program_invocation_short_name,
			    to ? to : secure_getenv("NETLOGGER_DEST"), NL_file_append);

	if (h)
		take_level_of_file(h);
	return h;
}

static int write_letters(const struct message *m, const char *fmt, va_list *ap)
{
	struct omig_nlog *h = m->h;

	if (!begin(m))
		return h ? 0 : -1;
	if (h->constants)
		nlfields_copy(&h->fields, h->constants);
	h->fields.nconst = h->fields.n;
	nlfields_letters(&h->fields, fmt, ap);
	return end(m) == 1 ? 0 : -1;
}

int NL_write(NL_log_T log, int level, const char *event, const char *fmt, ...)
{
	va_list ap;
	int rc;

	va_start(ap, fmt);
	rc = write_letters(
		&(struct message){ .h = log, .wall = clock_wall(), .level = level, .event = event },
		fmt, &ap);
	va_end(ap);
	return rc;
}

/* six: NetLogger's interface. */
int NL_write_ts(NL_log_T log, double ts, int level, const char *event, const char *fmt, ...)
{
	va_list ap;
	int rc;

	if (!(ts > -9e9 && ts < 9e9))
		return -1;
	va_start(ap, fmt);
	rc = write_letters(&(struct message){ .h = log,
					      .wall = (nsec_t)(ts * 1e6) * NSEC_PER_USEC,
					      .level = level,
					      .event = event },
			   fmt, &ap);
	va_end(ap);
	return rc;
}

int NL_set_const(NL_log_T log, int n, const char *fmt, ...)
{
	va_list ap;
	int rc = -1;

	(void)n;
	if (!log)
		return -1;
	inproc_lock(&log->lock);
	if (!log->constants)
		log->constants = calloc(1, sizeof(*log->constants));
	if (log->constants) {
		va_start(ap, fmt);
		nlfields_letters(log->constants, fmt, &ap);
		va_end(ap);
		rc = log->constants->has_failed ? -1 : 0;
		log->constants->has_failed = false;
	}
	inproc_unlock(&log->lock);
	return rc;
}

int NL_set_level(NL_log_T log, int level)
{
	if (!log)
		return -1;
	inproc_lock(&log->lock);
	log->level = level;
	inproc_unlock(&log->lock);
	return 0;
}

int NL_flush(NL_log_T log)
{
	int rc;

	if (!log)
		return -1;
	inproc_lock(&log->lock);
	rc = nlog_flush(log);
	inproc_unlock(&log->lock);
	return rc;
}

void NL_close(NL_log_T log)
{
	if (log)
		nlog_close(log);
}
