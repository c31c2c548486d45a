/* SPDX-License-Identifier: Apache-2.0 */
/* The lm as a program: its options, files and life. */
#ifndef LM_LM_DAEMON_H
#define LM_LM_DAEMON_H

struct daemon_spec;

/* For daemon_main(). */
extern const struct daemon_spec lm_daemon_spec;

#endif
