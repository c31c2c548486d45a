/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions of both generations of NetLogger. Programs that use them build without changes, and
 * write event logs of Omig (docs/eventlog.md). Also found as NetLogger.h, nl.h, nl_log.h, nlsumm.h
 * and nltransfer.h.
 *
 *	cc $(pkg-config --cflags omig-netlogger) ... $(pkg-config --libs omig-netlogger)
 *
 * Calls may be made in any thread. Messages have up to 64 KB. A buffer has 128 KB. It is written
 * when it is full, by a flush, and after a second by a helper thread. It is also written when the
 * handle is closed, and when the program ends.
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

/*
 * Flags of NetLoggerOpen: NL_ENV gives the destination of the environment precedence; NL_MEM
 * buffers in memory, which is always so; NL_APPEND appends.
 */
typedef enum { NL_ENV = 1, NL_MEM = 8, NL_APPEND = 16 } NL_openflag_t;
enum { NL_OFF = 0, NL_ON = 1, NL_NOTSET = 2 };

/* Levels: a higher level logs more messages. */
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
 * --- The full library. url: file://PATH, or a path with a / (a bare name is refused, because it
 * meant a host in NetLogger). NULL or NL_ENV means NETLOGGER_DEST. prog NULL means the process's
 * number. NETLOGGER_ON switches messages off unless it is unset, 1, on, true or yes. Handles are
 * NULL after a failure. The functions return 1 if the message was written, 0 if it is off or
 * filtered, -1 after a failure.
 *
 * const_fmt and variable_fmt are names and values, "NAME=%d OTHER=%s FIXED=7", as printf reads
 * them; %s is a string, %d and its like a number. With OLD_API defined there is no const_fmt.
 */
NL_Handle *NetLoggerOpen(char *program_name, char *url, int flags);
NL_Handle *NetLoggerOpenFd(char *program_name, int fd, int flags);

#ifndef OLD_API
int NetLoggerWrite(NL_Handle *lp, char *keyword, char *const_fmt, char *variable_fmt, ...);
int NetLoggerGTWrite(NL_Handle *lp, long sec, long usec, char *keyword, char *const_fmt,
		     char *variable_fmt, ...);
int NetLoggerWriteLvl(NL_Handle *lp, int lvl, char *keyword, char *const_fmt, char *variable_fmt,
		      ...);
int NetLoggerGTWriteLvl(NL_Handle *lp, long sec, long usec, int lvl, char *keyword, char *const_fmt,
			char *variable_fmt, ...);
int NetLoggerWriteString(NL_Handle *lp, char *keyword, char *const_data, char *variable_data);
int NetLoggerWriteStringLvl(NL_Handle *lp, int lvl, char *keyword, char *const_data,
			    char *variable_data);
int NetLoggerGTWriteString(NL_Handle *lp, long sec, long usec, char *keyword, char *const_data,
			   char *variable_data);
int NetLoggerGTWriteStringLvl(NL_Handle *lp, int lvl, long sec, long usec, char *keyword,
			      char *const_data, char *variable_data);
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
int NetLoggerGTWriteStringLvl_old(NL_Handle *lp, int lvl, long sec, long usec, char *keyword,
				  char *text);

int NetLoggerFastWrite(NL_Handle *lp, char *keyword, char *fmt, ...);
int NetLoggerFlush(NL_Handle *lp);
int NetLoggerClose(NL_Handle *lp);
int NetLoggerSetGlobalTag(char *tag);
int NetLoggerSetTag(NL_Handle *lp, char *tag);
void NetLoggerSetLevel(NL_Handle *lp, int log_level);
/*
 * From now on writes only messages that the entries of a trigger file select (docs/eventlog.md).
 * The to=URL of an entry is opened for appending. The file is read at once, and every interval_s
 * seconds by the helper thread (0: each second). file NULL or "" ends this. Returns 0, or -1.
 */
int NetLoggerSetTrigger(NL_Handle *lp, char *file, int interval_s);

/*
 * --- The later interface. url is as above, "-" for the standard output, or "&" for the standard
 * error; NULL means NL_DEST, then NETLOGGER_DEST. fmt is "name=i other=s" with i int, l long long,
 * d double, s string; "name:s" is accepted too. NL_CFG names a file with one number, the level.
 * Functions return 0, or -1 after a failure; a message above the level is not a failure.
 */
NL_log_T NL_open(const char *url);
int NL_write(NL_log_T log, int level, const char *event, const char *fmt, ...);
int NL_write_ts(NL_log_T log, double ts, int level, const char *event, const char *fmt, ...);
int NL_set_const(NL_log_T log, int n, const char *fmt, ...);
int NL_set_level(NL_log_T log, int level);
int NL_flush(NL_log_T log);
void NL_close(NL_log_T log);

/*
 * --- Summaries of transfers. A summary adds up the work on its logs by transfer (id) and kind. It
 * writes the sums to its output every interval_us (<= 0: at the end), and in NL_transfer_finalize.
 * Events in the sums are not written unless they are passed through. Without a summary both events
 * are written. Returns 0, or -1.
 */
typedef struct omig_nlsumm *NL_summ_T;
enum { NL_TRANSFER_DISK_READ, NL_TRANSFER_DISK_WRITE, NL_TRANSFER_NET_READ, NL_TRANSFER_NET_WRITE };
enum { NL_BTL_UNKNOWN, NL_BTL_KNOWN };
enum { NL_BTL_NOWHERE, NL_BTL_DISK_READ, NL_BTL_DISK_WRITE, NL_BTL_DISK, NL_BTL_NET };
typedef struct {
	int result; /* NL_BTL_KNOWN: location is the slowest */
	int location; /* NL_BTL_DISK: reading and writing are equally slow */
} NL_transfer_btl_T;

NL_summ_T NL_summ(void);
int NL_summ_set_shared_output(NL_summ_T summ, NL_log_T log);
int NL_summ_add_log(NL_summ_T summ, NL_log_T log);
void NL_summ_close(NL_summ_T summ);
int NL_transfer_init(NL_summ_T summ, int interval_us, int level);
int NL_transfer_set_passthrough(NL_summ_T summ);
int NL_transfer_start(NL_log_T log, int level, int op, const char *id, int stream, int block);
int NL_transfer_end(NL_log_T log, int level, int op, const char *id, int stream, int block,
		    double nbytes);
int NL_transfer_finalize(NL_summ_T summ);
/* The caller frees the result, which is NULL for an unknown transfer. */
char *NL_transfer_get_result_string(NL_summ_T summ, const char *id);
/* Finds the bottleneck from the results of both ends. Returns -1 if they are insufficient. */
int NL_transfer_get_bottleneck(const char *one, const char *other, NL_transfer_btl_T *out);

extern int NL_flush_on; /* not 0: each call is written at once */
extern int NL_file_mode; /* mode of new files; 0666 */
extern int NL_file_append; /* not 0: append to existing files */

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
