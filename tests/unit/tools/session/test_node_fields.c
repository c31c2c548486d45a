/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/session/node_fields.h"

#include "common/base/array.h"
#include "common/omis/services/catalogue.h"
#include "tests/suite.h"

#include <stdio.h>
#include <string.h>

/* "2 cpu_arch, cpu_num, ...; 3 ...": the text after the bit, as in the catalogue. */
static const char *fields_of(unsigned bit)
{
	const struct omis_service *s = omis_service_find("node_get_info", strlen("node_get_info"));
	const char *p;
	char head[16];

	ck_assert_ptr_nonnull(s);
	snprintf(head, sizeof(head), bit ? "; %u " : ": %u ", bit);
	p = strstr(s->result, bit ? head : "0 name");
	ck_assert_msg(p, "bit %u", bit);
	return p + (bit ? strlen(head) : 2);
}

/* A list in brackets is one value. */
static size_t count_of(const char *p)
{
	size_t n = 1;
	bool is_inside = false;

	for (; *p && *p != ';'; p++) {
		if (*p == '[' || *p == ']')
			is_inside = *p == '[';
		n += *p == ',' && !is_inside;
	}
	return n;
}

TEST(each_bit_has_the_values_of_the_catalogue)
{
	for (unsigned bit = 0; bit <= 13; bit++)
		ck_assert_msg(node_field_at((enum node_field)NODE_FIELD(bit + 1, 0), 1u << bit) ==
				      count_of(fields_of(bit)),
			      "bit %u", bit);
}

TEST(each_field_has_the_place_of_its_name)
{
	static const struct {
		enum node_field field;
		const char *name;
	} named[] = {
		{ NODE_NAME, "name" },
		{ NODE_CPUS, "cpu_num" },
		{ NODE_PAGES, "mem_numpages" },
		{ NODE_PAGE_SIZE, "mem_pagesize" },
		{ NODE_SWITCHES, "os_ctxtswitch" },
		{ NODE_RUNNING, "cpu_rql" },
		{ NODE_LOAD_1MIN, "cpu_rql1" },
		{ NODE_LOAD_5MIN, "cpu_rql5" },
		{ NODE_LOAD_15MIN, "cpu_rql15" },
		{ NODE_PAGES_USED, "mem_usedpages" },
		{ NODE_SWAP_PAGES_FREE, "mem_freeswap" },
		{ NODE_FAST_PACKETS_IN, "net_fpktrcv" },
		{ NODE_FAST_PACKETS_OUT, "net_fpktsnd" },
		{ NODE_SLOW_PACKETS_IN, "net_spktrcv" },
		{ NODE_SLOW_PACKETS_OUT, "net_spktsnd" },
	};

	for (size_t i = 0; i < ARRAY_LEN(named); i++) {
		const char *p = fields_of((unsigned)named[i].field >> 3);

		for (unsigned place = named[i].field & 7; place; place--)
			p = strstr(p, ", ") + 2;
		ck_assert_msg(strncmp(p, named[i].name, strlen(named[i].name)) == 0, "%s",
			      named[i].name);
	}
}

TEST(values_of_bits_that_are_not_asked_for_take_no_place)
{
	unsigned flags = NODE_FLAG(NODE_NAME) | NODE_FLAG(NODE_CPUS) | NODE_FLAG(NODE_PAGES) |
			 NODE_FLAG(NODE_RUNNING) | NODE_FLAG(NODE_PAGES_USED);

	ck_assert_uint_eq(node_field_at(NODE_NAME, flags), 0);
	ck_assert_uint_eq(node_field_at(NODE_CPUS, flags), 2);
	ck_assert_uint_eq(node_field_at(NODE_PAGE_SIZE, flags), 8);
	ck_assert_uint_eq(node_field_at(NODE_LOAD_1MIN, flags), 15);
	ck_assert_uint_eq(node_field_at(NODE_PAGES_USED, flags), 19);
	ck_assert_uint_eq(node_field_at(NODE_PAGES_USED, NODE_FLAG(NODE_PAGES_USED)), 1);
}

SUITE("node fields")
