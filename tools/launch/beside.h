/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process beside the program that `omig run` becomes. It is no child of the program, and holds
 * none of its descriptors but stderr.
 */
#ifndef TOOLS_LAUNCH_BESIDE_H
#define TOOLS_LAUNCH_BESIDE_H

/*
 * Calls fn in a new process, which ends when fn returns. `program` is a pidfd of the calling
 * process, which polls readable when that has ended. Without such a process (an old kernel, no
 * memory) nothing happens.
 */
void beside_start(void (*fn)(void *arg, int program), void *arg);

#endif
