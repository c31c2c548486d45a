/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program with every kind of field, in the plain language: `make check-headers` compiles it as C
 * and as C++.
 */
#include "eventlog/app/event.h"

OMIG_EVENT(sent, "block.sent", OMIG_INFO, (int32, bytes), (int64, total), (float, load),
	   (double, rate), (string, to))
OMIG_EVENT0(over, "block.over", OMIG_WARN)

int main(void)
{
	omig_event(sent, 1, 2, 3.0f, 4.0, "x");
	omig_event0(over);
	return omig_event_flush();
}
