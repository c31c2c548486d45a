/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process beside the program that `omig run` becomes. It is not a child of the program, and holds
 * none of its descriptors but stderr.
 */
#ifndef TOOLS_LAUNCH_BESIDE_H
#define TOOLS_LAUNCH_BESIDE_H

struct beside {
	void (*run)(void *arg);
	void (*on_end)(void); /* called in another thread, when the program has ended */
	void *arg;
};

/*
 * Calls run in a new process, which ends when run returns. Without such a process (an old kernel,
 * no memory) nothing happens.
 */
void beside_start(const struct beside *b);

#endif
