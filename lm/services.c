/* SPDX-License-Identifier: Apache-2.0 */
#include "lm/services.h"

#include "common/base/array.h"

#include <string.h>

static const struct {
	const char *name;
	service_fn fn;
} table[] = {
	{ "message_queue_get_info", serve_queue_get_info },
	{ "node_get_file_listing", serve_file_listing },
	{ "node_get_info", serve_node_get_info },
	{ "omig_audit", serve_audit },
	{ "omig_backtrace", serve_backtrace_names },
	{ "omig_calls_disable", serve_calls_disable },
	{ "omig_calls_enable", serve_calls_enable },
	{ "omig_calls_now", serve_calls_now },
	{ "omig_calls_read", serve_calls_read },
	{ "omig_dfg_look", serve_dfg_look },
	{ "omig_pa_create", serve_pa_create },
	{ "omig_proc_create", serve_proc_create },
	{ "omig_proc_take", serve_proc_take },
	{ "omig_status", serve_status },
	{ "pa_counter_delete", serve_pa_delete },
	{ "pa_counter_global_increment", serve_counter_increment },
	{ "pa_counter_local_increment", serve_counter_increment },
	{ "pa_counter_read", serve_pa_read },
	{ "pa_counter_reset", serve_pa_reset },
	{ "pa_integrator_delete", serve_pa_delete },
	{ "pa_integrator_global_increment", serve_integrator_increment },
	{ "pa_integrator_local_increment", serve_integrator_increment },
	{ "pa_integrator_read", serve_pa_read },
	{ "pa_integrator_reset", serve_pa_reset },
	{ "patop_integrator_global_increment", serve_patop_increment },
	{ "patop_integrator_local_increment", serve_patop_increment },
	{ "patop_measurement_counter_read", serve_patop_read },
	{ "patop_measurement_integrator_read", serve_patop_read },
	{ "proc_get_event_types", serve_get_event_types },
	{ "proc_get_info", serve_proc_get_info },
	{ "proc_get_loader_info", serve_loader_info },
	{ "proc_get_probes", serve_get_probes },
	{ "proc_read_memory", serve_read_memory },
	{ "proc_read_memory_bin", serve_read_memory_bin },
	{ "proc_send_signal", serve_send_signal },
	{ "proc_set_priority", serve_proc_set_priority },
	{ "proc_write_memory", serve_write_memory },
	{ "proc_write_memory_bin", serve_write_memory },
	{ "thread_call", serve_thread_goto },
	{ "thread_continue", serve_continue },
	{ "thread_get_backtrace", serve_backtrace },
	{ "thread_get_info", serve_thread_get_info },
	{ "thread_goto", serve_thread_goto },
	{ "thread_read_fp_regs", serve_read_regs },
	{ "thread_read_int_regs", serve_read_regs },
	{ "thread_resume", serve_resume },
	{ "thread_send_signal", serve_thread_send_signal },
	{ "thread_set_priority", serve_thread_set_priority },
	{ "thread_stop", serve_stop },
	{ "thread_suspend", serve_suspend },
	{ "thread_write_fp_regs", serve_write_regs },
	{ "thread_write_int_regs", serve_write_regs },
	{ "trace_buffer_append", serve_tracebuf_append },
	{ "trace_buffer_delete", serve_tracebuf_delete },
	{ "trace_buffer_read", serve_tracebuf_read },
};

service_fn service_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(table); i++)
		if (!strcmp(table[i].name, name))
			return table[i].fn;
	return NULL;
}
