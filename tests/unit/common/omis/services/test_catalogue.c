/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/array.h"
#include "common/base/str.h"
#include "common/omis/omis.h"
#include "tests/suite.h"

#include <ctype.h>
#include <string.h>

#define EACH_SERVICE(s)                                                                           \
	for (size_t i##s = 0; i##s < omis_service_count(); i##s++)                                \
		for (const struct omis_service *s = omis_service_at(i##s), *once##s = s; once##s; \
		     once##s = NULL)

static size_t count(const char *prefix, const char *extension)
{
	size_t n = 0;

	EACH_SERVICE(s)
	n += str_has_prefix(s->name, prefix) && str_eq(s->extension, extension);
	return n;
}

TEST(all_81_basic_services_are_there)
{
	ck_assert_uint_eq(count("node_", ""), 4);
	ck_assert_uint_eq(count("proc_", ""), 22);
	ck_assert_uint_eq(count("thread_", ""), 35);
	ck_assert_uint_eq(count("message_", ""), 9);
	ck_assert_uint_eq(count("", ""), 81);
}

TEST(every_service_is_found_by_its_name_and_only_by_it)
{
	char name[80];

	EACH_SERVICE(s)
	{
		size_t n = strlen(s->name);

		ck_assert_msg(omis_service_find(s->name, n) == s, "%s", s->name);
		ck_assert(str_copy(name, sizeof(name), s->name));
		ck_assert_ptr_ne(omis_service_find(name, n - 1), s);
		name[n] = 'x';
		ck_assert_ptr_null(omis_service_find(name, n + 1));
	}
	ck_assert_ptr_null(omis_service_find("", 0));
	ck_assert_ptr_null(omis_service_find("node_", 5));
	ck_assert_ptr_null(omis_service_find("zzz", 3));
	ck_assert_ptr_null(omis_service_at(omis_service_count()));
}

TEST(no_service_is_without_a_right)
{
	EACH_SERVICE(s)
	ck_assert_msg(s->right >= OMIS_OBSERVE && s->right <= OMIS_ADMIN, "%s", s->name);
}

TEST(manipulations_need_more_than_the_right_to_observe)
{
	/* Manipulations that change only the tool's own view or the monitor's own objects. */
	static const char *const own[] = { "_attach", "_detach", "csr_",  "user_event_", "pa_",
					   "patop_",  "trace_",	 "omig_", "dfg_" };

	EACH_SERVICE(s)
	{
		bool harmless = s->class != OMIS_MANIP;

		for (size_t i = 0; i < ARRAY_LEN(own); i++)
			harmless |= strstr(s->name, own[i]) != NULL;
		ck_assert_msg(harmless || s->right >= OMIS_MANIPULATE, "%s", s->name);
	}
}

TEST(the_object_parameter_is_a_token_of_the_objects_class)
{
	EACH_SERVICE(s)
	{
		const struct omis_param *p;

		ck_assert_msg((s->object == 0) == (s->object_param < 0), "%s", s->name);
		if (s->object_param < 0)
			continue;
		ck_assert_uint_lt((size_t)s->object_param, omis_service_nparam(s));
		p = &s->param[s->object_param];
		ck_assert_msg(p->type == OMIS_T_TOKEN, "%s", s->name);
		ck_assert_msg(p->class == s->object ||
				      (s->object == 'a' &&
				       (p->class == 'k' || p->class == 'i' || p->class == 'b')),
			      "%s", s->name);
	}
}

TEST(defaults_stand_at_the_end_and_are_values_of_their_type)
{
	EACH_SERVICE(s)
	{
		bool optional = false;

		for (const struct omis_param *p = s->param; p->name; p++) {
			struct omis_values *v = NULL;

			ck_assert_msg(!optional || p->def, "%s", s->name);
			optional = p->def;
			if (!p->def)
				continue;
			ck_assert_int_eq(omis_parse_values(p->def, strlen(p->def), &v, NULL), 0);
			ck_assert_uint_eq(v->n, 1);
			if (p->list)
				ck_assert(v->v[0].kind == OMIS_LIST && !v->v[0].list.n);
			else if (p->type == OMIS_T_STRING)
				ck_assert(v->v[0].kind == OMIS_STRING && !v->v[0].s.n);
			else
				ck_assert(p->type == OMIS_T_INT && v->v[0].kind == OMIS_INT);
			omis_values_free(v);
		}
		ck_assert_uint_le(omis_service_nparam(s), OMIS_PARAMS_MAX);
	}
}

TEST(only_events_have_context_parameters_and_none_has_a_result)
{
	EACH_SERVICE(s)
	{
		ck_assert_msg(!s->ecps || s->class == OMIS_EVENT, "%s", s->name);
		ck_assert_msg(!s->result || s->class != OMIS_EVENT, "%s", s->name);
		/* A predicate returns no values, it filters. */
		ck_assert_msg(s->class != OMIS_INFO || s->result || s->where == OMIS_AT_EVENT, "%s",
			      s->name);
	}
}

TEST(names_of_an_extension_carry_its_prefix)
{
	EACH_SERVICE(s)
	{
		size_t n = strlen(s->extension);

		if (n && strcmp(s->extension, "ocmg"))
			ck_assert_msg(!strncmp(s->name, s->extension, n) && s->name[n] == '_', "%s",
				      s->name);
		for (const char *c = s->name; *c; c++)
			ck_assert(islower((unsigned char)*c) || isdigit((unsigned char)*c) ||
				  *c == '_');
	}
}

TEST(every_service_has_help_in_sentences)
{
	EACH_SERVICE(s)
	{
		ck_assert(s->help && isupper((unsigned char)s->help[0]));
		ck_assert_msg(s->help[strlen(s->help) - 1] == '.', "%s", s->name);
	}
}

static const char *const promised[] = {
	"node_attach",
	"node_attach2",
	"node_detach",
	"node_get_info",
	"proc_attach",
	"proc_attach3",
	"proc_detach",
	"proc_get_info",
	"proc_send_signal",
	"proc_has_terminated",
	"proc_has_been_stopped",
	"proc_has_been_continued",
	"thread_has_been_stopped",
	"thread_has_been_continued",
	"thread_get_info",
	"thread_stop",
	"thread_continue",
	"thread_detach",
	"thread_suspend",
	"thread_resume",
	"thread_send_signal",
	"thread_set_priority",
	"proc_set_priority",
	"proc_read_memory",
	"proc_read_memory_bin",
	"proc_write_memory",
	"proc_write_memory_bin",
	"proc_get_loader_info",
	"thread_creates_proc",
	"thread_creates_thread",
	"thread_has_terminated",
	"thread_has_started_lib_call",
	"thread_has_ended_lib_call",
	"csr_enable",
	"csr_disable",
	"csr_delete",
	"user_event_create",
	"user_event_raise",
	"user_event_destroy",
	"user_event_has_been_raised",
	"print",
	"version",
	"extensions",
	"services",
	"proc_create",
	"proc_has_been_descheduled",
	"proc_has_been_scheduled",
	"thread_has_been_descheduled",
	"thread_has_been_scheduled",
	"thread_has_blocked",
	"thread_has_ended_sys_call",
	"thread_has_started_sys_call",
	"thread_reached_addr",
	"thread_received_signal",
};

/* Depends on Linux; the help states when not. */
static const char *const in_part[] = {
	"message_queue_get_info",    "thread_call",
	"thread_get_backtrace",	     "thread_goto",
	"thread_has_been_unblocked", "thread_read_fp_regs",
	"thread_read_int_regs",	     "thread_write_fp_regs",
	"thread_write_int_regs",
};

TEST(promised_services_are_marked_as_done)
{
	size_t done = 0;

	for (size_t i = 0; i < ARRAY_LEN(promised); i++) {
		const struct omis_service *s = omis_service_find(promised[i], strlen(promised[i]));

		ck_assert_msg(s && s->state == OMIS_DONE, "%s", promised[i]);
	}
	for (size_t i = 0; i < ARRAY_LEN(in_part); i++) {
		const struct omis_service *s = omis_service_find(in_part[i], strlen(in_part[i]));

		ck_assert_msg(s && s->state == OMIS_PARTLY, "%s", in_part[i]);
	}
	EACH_SERVICE(s)
	done += !*s->extension && s->state != OMIS_UNSUPPORTED;
	ck_assert_uint_eq(done, ARRAY_LEN(promised) + ARRAY_LEN(in_part));
}

TEST(an_event_has_its_context_parameters_only)
{
	static const struct {
		const char *event, *ecp;
		bool known;
	} cases[] = {
		{ "proc_has_terminated", "proc", true },
		{ "proc_has_terminated", "csr", true },
		{ "proc_has_terminated", "time", true },
		{ "proc_has_terminated", "par1", false },
		{ "proc_has_terminated", "pro", false },
		{ "proc_has_terminated", "procs", false },
		{ "proc_has_terminated", "", false },
		{ "thread_creates_proc", "new_proc", true },
		{ "thread_creates_proc", "new_thread", false },
		{ "thread_has_started_lib_call", "par0", true },
		{ "thread_has_started_lib_call", "par15", true },
		{ "thread_has_started_lib_call", "par16", false },
		{ "thread_has_started_lib_call", "par01", false },
		{ "thread_has_started_lib_call", "par", false },
		{ "thread_has_received_tagged_msg", "sender", true },
		{ "thread_has_received_tagged_msg", "msg sender", false },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const struct omis_service *s =
			omis_service_find(cases[i].event, strlen(cases[i].event));

		ck_assert_msg(omis_service_has_ecp(s, cases[i].ecp, strlen(cases[i].ecp)) ==
				      cases[i].known,
			      "%s %s", cases[i].event, cases[i].ecp);
	}
	ck_assert_int_eq(omis_par_number("par0", 4), 0);
	ck_assert_int_eq(omis_par_number("par15", 5), 15);
	ck_assert_int_eq(omis_par_number("par150", 6), -1);
	ck_assert_int_eq(omis_par_number("parx", 4), -1);
}

/* Reads n, then n names. Returns the index after them. */
static size_t names_at(const struct omis_values *v, size_t at, const char *extension,
		       enum omis_state state)
{
	int64_t n;

	ck_assert(omis_values_i64(v, at++, &n));
	for (int64_t i = 0; i < n; i++, at++) {
		const char *name = omis_values_text(v, at);
		const struct omis_service *s = omis_service_find(name, strlen(name));

		ck_assert(s && s->state == state && str_eq(s->extension, extension) &&
			  !(s->flags & OMIS_INTERNAL));
	}
	return at;
}

TEST(the_list_of_services_is_right_about_each_extension)
{
	struct buf b = BUF_INIT(100000), all = BUF_INIT(1000);
	struct omis_writer w = OMIS_WRITER(&b), wall = OMIS_WRITER(&all);
	struct omis_values *extensions = NULL;
	size_t offered = 0, reported = 0;

	omis_write_extensions(&wall);
	ck_assert_int_eq(omis_parse_values(buf_str(&all), all.n, &extensions, NULL), 0);
	EACH_SERVICE(s)
	offered += s->state != OMIS_UNSUPPORTED && !(s->flags & OMIS_INTERNAL);
	for (size_t i = 0; i < extensions->n; i++) {
		const char *prefix = i ? omis_values_text(extensions, i) : "";
		struct omis_values *v = NULL;

		buf_clear(&b);
		w.comma = false;
		ck_assert_int_eq(omis_write_services(&w, prefix), 0);
		ck_assert_int_eq(omis_parse_values(buf_str(&b), b.n, &v, NULL), 0);
		ck_assert_uint_eq(
			names_at(v, names_at(v, 0, prefix, OMIS_DONE), prefix, OMIS_PARTLY), v->n);
		reported += v->n - 2;
		omis_values_free(v);
	}
	ck_assert_uint_eq(reported, offered);
	ck_assert_int_eq(omis_write_services(&w, "nothing"), -ERR_NOTFOUND);
	omis_values_free(extensions);
	buf_done(&b);
	buf_done(&all);
}

TEST(documents_name_exactly_the_services_that_tools_may_use)
{
	void (*const documents[])(struct buf *) = { omis_print_scdoc, omis_print_markdown,
						    omis_print_completion };
	struct buf b = BUF_INIT(1000000);
	char name[100];

	for (size_t i = 0; i < ARRAY_LEN(documents); i++) {
		buf_clear(&b);
		documents[i](&b);
		ck_assert(!b.failed);
		EACH_SERVICE(s)
		{
			char *out = name;
			const char *first;

			/*
			 * scdoc needs escapes, a signature ends the name with '(', completion
			 * with a tab.
			 */
			for (const char *c = s->name; *c; c++) {
				if (*c == '_' && documents[i] == omis_print_scdoc)
					*out++ = '\\';
				*out++ = *c;
			}
			*out = '\0';
			out[0] = documents[i] == omis_print_completion ? '\t' : '(';
			out[1] = '\0';
			first = strstr(buf_str(&b), name);
			ck_assert_msg(!first == !!(s->flags & OMIS_INTERNAL), "%s", name);
		}
	}
	buf_done(&b);
}

TEST(a_signature_reads_like_a_declaration)
{
	struct buf b = BUF_INIT(1000);

	omis_print_signature(&b, omis_service_find("omig_calls_enable", 17));
	ck_assert_str_eq(
		buf_str(&b),
		"omig_calls_enable(token* proc_list, string what, int sample_shift = 0, int depth = 1)");
	buf_clear(&b);
	omis_print_signature(&b, omis_service_find("version", 7));
	ck_assert_str_eq(buf_str(&b), "version()");
	buf_done(&b);
}

TEST(enums_of_the_catalogue_have_names)
{
	ck_assert_str_eq(omis_class_name(OMIS_MANIP), "manipulation");
	ck_assert_str_eq(omis_right_name(OMIS_ADMIN), "admin");
	ck_assert_str_eq(omis_state_name(OMIS_UNSUPPORTED), "unsupported");
	ck_assert_str_eq(omis_where_name(OMIS_AT_EACH), "each");
	ck_assert_str_eq(omis_where_name(OMIS_AT_EVENT), "event");
	ck_assert_str_eq(omis_class_name((enum omis_class)9), "?");
	ck_assert_str_eq(omis_right_name((enum omis_right)9), "?");
	ck_assert_str_eq(omis_state_name((enum omis_state)9), "?");
	ck_assert_str_eq(omis_where_name((enum omis_where)9), "?");
}

SUITE("omis catalogue")
