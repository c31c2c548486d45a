/* SPDX-License-Identifier: Apache-2.0 */
/* A program of before there was a const_fmt. */
#define OLD_API
#include "eventlog/netlogger/netlogger.h"

int old_api_writes(NL_Handle *lp);

int old_api_writes(NL_Handle *lp)
{
	int n = NetLoggerWrite(lp, (char *)"Old", (char *)"DPSS.SES=%d DPSS.BID=%s", 1, "15.98");

	n += NetLoggerGTWrite(lp, 889644821, 333739, (char *)"OldGT", (char *)"A=%d", 2);
	n += NetLoggerWriteString(lp, (char *)"OldString", (char *)"A=3 B=text");
	n += NetLoggerWriteLvl(lp, 2, (char *)"OldLvl", (char *)"A=%d", 4);
	n += NetLoggerGTWriteStringLvl(lp, 2, 5, 6, (char *)"OldGTStringLvl", (char *)"A=5");
	return n;
}
