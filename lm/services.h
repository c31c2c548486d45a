/* SPDX-License-Identifier: Apache-2.0 */
/* What a host can do, by the name of the service. */
#ifndef LM_SERVICES_H
#define LM_SERVICES_H

#include "lm/task.h"

/* NULL: not done here. */
service_fn service_find(const char *name);

int serve_node_get_info(struct service_call *c);
int serve_proc_get_info(struct service_call *c);
int serve_get_event_types(struct service_call *c);
int serve_get_probes(struct service_call *c);
int serve_thread_get_info(struct service_call *c);
int serve_queue_get_info(struct service_call *c);
int serve_send_signal(struct service_call *c);
int serve_stop(struct service_call *c);
int serve_continue(struct service_call *c);
int serve_file_listing(struct service_call *c);
int serve_read_memory(struct service_call *c);
int serve_read_memory_bin(struct service_call *c);
int serve_write_memory(struct service_call *c); /* and _bin */
int serve_loader_info(struct service_call *c);
int serve_suspend(struct service_call *c);
int serve_resume(struct service_call *c);
int serve_thread_send_signal(struct service_call *c);
int serve_thread_set_priority(struct service_call *c);
int serve_proc_set_priority(struct service_call *c);
int serve_proc_take(struct service_call *c);
int serve_calls_enable(struct service_call *c);
int serve_calls_disable(struct service_call *c);
int serve_calls_read(struct service_call *c);
int serve_calls_now(struct service_call *c);
int serve_audit(struct service_call *c);
int serve_status(struct service_call *c);
int serve_dfg_look(struct service_call *c);
int serve_pa_create(struct service_call *c);
int serve_pa_delete(struct service_call *c);
int serve_pa_read(struct service_call *c);
int serve_pa_reset(struct service_call *c);
int serve_counter_increment(struct service_call *c);
int serve_integrator_increment(struct service_call *c);
int serve_patop_increment(struct service_call *c);
int serve_patop_read(struct service_call *c);
int serve_tracebuf_create(struct service_call *c);
int serve_tracebuf_append(struct service_call *c);
int serve_tracebuf_read(struct service_call *c);
int serve_tracebuf_delete(struct service_call *c);
int serve_proc_create(struct service_call *c);
int serve_backtrace(struct service_call *c);
int serve_backtrace_names(struct service_call *c);
int serve_read_regs(struct service_call *c);
int serve_write_regs(struct service_call *c);
int serve_thread_goto(struct service_call *c); /* and thread_call */

#endif
