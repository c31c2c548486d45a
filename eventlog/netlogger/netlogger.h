/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The calls of NetLogger, both generations, for programs that have them: they build as they are, and
 * write event logs of Omig (docs/eventlog.md). Also found as NetLogger.h, nl.h and nl_log.h.
 *
 * cc $(pkg-config --cflags omig-netlogger) ... $(pkg-config --libs omig-netlogger)
 *
 * Calls may be made in any thread. Messages have up to 64 KB. A buffer of 128 KB is written when it is
 * full, by a helper thread after a second, by a flush, when the handle is closed, and when the program ends.
 */
#ifndef OMIG_NETLOGGER_H
#define OMIG_NETLOGGER_H

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

typedef struct omig_nlog NL_Handle;
typedef struct omig_nlog *NL_log_T;
#define NLhandle NL_Handle

#define NL_OK 0
#define NL_ERR -1

/* Flags of NetLoggerOpen: the destination of the environment wins; buffer in memory (always so); append. */
typedef enum { NL_ENV = 1, NL_MEM = 8, NL_APPEND = 16 } NL_openflag_t;
enum { NL_OFF = 0, NL_ON = 1, NL_NOTSET = 2 };

/* Levels: larger is chattier. */
enum {
	NL_LVL_NOLOG,
	NL_LVL_FATAL,
	NL_LVL_ERROR,
	NL_LVL_WARN,
	NL_LVL_INFO,
	NL_LVL_DEBUG,
	NL_LVL_DEBUG1,
	NL_LVL_DEBUG2,
	NL_LVL_DEBUG3,
	NL_LVL_TRACE = NL_LVL_DEBUG1,
	NL_LVL_UDEF = 255
};

/*
 * --- The full library. url: file://PATH or PATH; NULL, or NL_ENV, is NETLOGGER_DEST. prog NULL is the
 * process's number. NETLOGGER_ON set to anything but 1, on, true or yes switches off. Handles are NULL on
 * failure. The calls return 1 written, 0 off or filtered, -1 failed.
 *
 * const_fmt and variable_fmt are names and values, "NAME=%d OTHER=%s FIXED=7", as printf reads them; %s is a
 * string, %d and its like a number. With OLD_API defined there is no const_fmt.
 */
NL_Handle *NetLoggerOpen(char *program_name, char *url, int flags);
NL_Handle *NetLoggerOpenFd(char *program_name, int fd, int flags);

#ifndef OLD_API
int NetLoggerWrite(NL_Handle *lp, char *keyword, char *const_fmt, char *variable_fmt, ...);
int NetLoggerGTWrite(NL_Handle *lp, long sec, long usec, char *keyword, char *const_fmt, char *variable_fmt, ...);
int NetLoggerWriteLvl(NL_Handle *lp, int lvl, char *keyword, char *const_fmt, char *variable_fmt, ...);
int NetLoggerGTWriteLvl(NL_Handle *lp, long sec, long usec, int lvl, char *keyword, char *const_fmt, char *variable_fmt,
			...);
int NetLoggerWriteString(NL_Handle *lp, char *keyword, char *const_data, char *variable_data);
int NetLoggerWriteStringLvl(NL_Handle *lp, int lvl, char *keyword, char *const_data, char *variable_data);
int NetLoggerGTWriteString(NL_Handle *lp, long sec, long usec, char *keyword, char *const_data, char *variable_data);
int NetLoggerGTWriteStringLvl(NL_Handle *lp, int lvl, long sec, long usec, char *keyword, char *const_data,
			      char *variable_data);
#else
#define NetLoggerWrite NetLoggerWrite_old
#define NetLoggerGTWrite NetLoggerGTWrite_old
#define NetLoggerWriteLvl NetLoggerWriteLvl_old
#define NetLoggerWriteString NetLoggerWriteString_old
#define NetLoggerWriteStringLvl NetLoggerWriteStringLvl_old
#define NetLoggerGTWriteString NetLoggerGTWriteString_old
#define NetLoggerGTWriteStringLvl NetLoggerGTWriteStringLvl_old
#endif
int NetLoggerWrite_old(NL_Handle *lp, char *keyword, char *fmt, ...);
int NetLoggerGTWrite_old(NL_Handle *lp, long sec, long usec, char *keyword, char *fmt, ...);
int NetLoggerWriteLvl_old(NL_Handle *lp, int lvl, char *keyword, char *fmt, ...);
int NetLoggerWriteString_old(NL_Handle *lp, char *keyword, char *text);
int NetLoggerWriteStringLvl_old(NL_Handle *lp, int lvl, char *keyword, char *text);
int NetLoggerGTWriteString_old(NL_Handle *lp, long sec, long usec, char *keyword, char *text);
int NetLoggerGTWriteStringLvl_old(NL_Handle *lp, int lvl, long sec, long usec, char *keyword, char *text);

int NetLoggerFastWrite(NL_Handle *lp, char *keyword, char *fmt, ...);
int NetLoggerFlush(NL_Handle *lp);
int NetLoggerClose(NL_Handle *lp);
int NetLoggerSetGlobalTag(char *tag);
int NetLoggerSetTag(NL_Handle *lp, char *tag);
void NetLoggerSetLevel(NL_Handle *lp, int log_level);

/*
 * --- The later one. url as above, "-" the standard output, "&" the standard error; NULL is NL_DEST, then
 * NETLOGGER_DEST. fmt is "name=i other=s": i int, l long long, d double, s string; "name:s" too. NL_CFG names a file
 * that holds one number, the level. 0, or -1 failed; what is above the level is 0 too.
 */
NL_log_T NL_open(const char *url);
int NL_write(NL_log_T log, int level, const char *event, const char *fmt, ...);
int NL_write_ts(NL_log_T log, double ts, int level, const char *event, const char *fmt, ...);
int NL_set_const(NL_log_T log, int n, const char *fmt, ...);
int NL_set_level(NL_log_T log, int level);
int NL_flush(NL_log_T log);
void NL_close(NL_log_T log);
extern int NL_flush_on; /* not 0: each call is written at once */
extern int NL_file_mode; /* of files that are made; 0666 */
extern int NL_file_append; /* not 0: behind what is there */

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
