/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Vertices of interaction networks, written by a C or C++ program. An interaction is one action of
 * a user and all that the system does because of it. A thread or message carries a sub-task of an
 * interaction (Ashton and Penny, TR COSC 01/91, section 3). omig interaction analyze reads the log.
 *
 *	#include <omig/interaction.h>
 *
 *	omig_interaction_source("request");
 *	struct omig_task message = omig_interaction_fork(OMIG_BY_MESSAGE);
 *	... the other thread:
 *	omig_interaction_receive(message);
 *	omig_interaction_begin_use("database");
 *	...
 *	omig_interaction_end_use("database");
 *	omig_interaction_sink();
 *
 *	cc ... -lomig-event
 *
 * Vertices are events of <omig/event.h>, named interaction.source and so on, and are written to the
 * same log. While they are off, omig_interaction_source() begins nothing, and all other calls do
 * nothing: a thread without a sub-task has a load and a test. All functions may be called in any
 * thread, and none can fail. The first call in a process registers the events, and may wait for the
 * event log. No function may be called in a signal handler.
 */
#ifndef OMIG_INTERACTION_H
#define OMIG_INTERACTION_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/* A sub-task. It may be copied, and sent to other processes. */
struct omig_task {
	uint64_t high, low; /* the interaction: a trace-id of W3C trace context */
	uint64_t task; /* the sub-task: a parent-id; 0: no sub-task */
};

enum omig_by { OMIG_BY_THREAD, OMIG_BY_MESSAGE };

/*
 * Begins an interaction in this thread. A sub-task of the thread ends. name: at most 255 bytes are
 * used; NULL: no name.
 */
void omig_interaction_source(const char *name);

/*
 * Creates a sub-task for a thread to be started, or a message to be sent. Returns task 0 if this
 * thread has no sub-task.
 */
struct omig_task omig_interaction_fork(enum omig_by by);

/* Marks the time from which this thread waits for another sub-task of its interaction. */
void omig_interaction_wait(void);

/*
 * Ends the sub-task t by joining it to the sub-task of this thread, which continues. Both belong to
 * one interaction.
 */
void omig_interaction_join(struct omig_task t);

/*
 * Called when this thread gets a message. If the thread carries a sub-task of the same interaction,
 * t joins it. Otherwise the thread continues with t, and its earlier sub-task ends.
 */
void omig_interaction_receive(struct omig_task t);

/* Ends the sub-task of this thread. */
void omig_interaction_sink(void);

/*
 * For event loops: removes the sub-task from the thread without ending it, and returns it.
 * omig_interaction_attach() gives it to any thread later, whose earlier sub-task ends.
 */
struct omig_task omig_interaction_detach(void);
void omig_interaction_attach(struct omig_task t);

/*
 * Mark the begin and end of the use of an object: hardware, software or data, with a name of up to
 * 200 bytes without blanks and commas. Other names are ignored. Uses of one object may be nested.
 */
void omig_interaction_begin_use(const char *object);
void omig_interaction_end_use(const char *object);

/*
 * The header traceparent of W3C trace context, level 1. export writes it with a 0 at its end;
 * without a sub-task the text is empty. import returns task 0 if the text breaks the rules of its
 * version.
 */
#define OMIG_TRACEPARENT_BYTES 56
void omig_interaction_export(struct omig_task t, char out[OMIG_TRACEPARENT_BYTES]);
struct omig_task omig_interaction_import(const char *traceparent);

#pragma GCC visibility pop

#ifdef __cplusplus
}

namespace omig
{

/* Marks the use of an object in a scope. */
class use
{
	const char *object_;

      public:
	explicit use(const char *object) : object_(object)
	{
		omig_interaction_begin_use(object_);
	}
	~use()
	{
		omig_interaction_end_use(object_);
	}
	use(const use &) = delete;
	use &operator=(const use &) = delete;
};

/* An interaction that begins and ends with a scope; sub-tasks that it has forked may continue. */
class interaction
{
      public:
	explicit interaction(const char *name)
	{
		omig_interaction_source(name);
	}
	~interaction()
	{
		omig_interaction_sink();
	}
	interaction(const interaction &) = delete;
	interaction &operator=(const interaction &) = delete;
};

} // namespace omig
#endif

#endif
