/* SPDX-License-Identifier: Apache-2.0 */
/* Sites and nodes. */
#include "common/omis/services/services.h"

static const struct omis_service node[] = {
	{ SERVICE("node_attach", MANIP, 'n', TOP, OBSERVE, DONE), .flags = OMIS_RAW | OMIS_SCOPE,
	  .param = { NODES },
	  .help = "Makes nodes visible to this tool; attached ones stay attached. [] takes all "
		  "nodes of the attached sites, or all there are when no site is attached." },
	{ SERVICE("node_attach2", MANIP, 0, TOP, OBSERVE, DONE), .flags = OMIS_SCOPE,
	  .param = { P_STRING("name") }, .result = "node",
	  .help = "As node_attach, for one node by host name or address; gives its token." },
	{ SERVICE("node_detach", MANIP, 'n', TOP, OBSERVE, DONE), .flags = OMIS_SCOPE,
	  .param = { NODES }, .help = "Takes nodes, and their processes, out of the tool's view." },
	{ EXT_SERVICE("ocmg", "node_get_file_listing", INFO, 'n', NODE, OBSERVE, DONE),
	  .param = { NODES, P_STRING("path"), P_INT("offset"), P_INT("length") }, .result = "text",
	  .help = "A part of a text file of the node; length 0 = all that is behind the offset. "
		  "65,536 bytes at most, and only files that lm.conf lists under 'files'; a file "
		  "with a 0 byte comes as a binary value." },
	{ SERVICE("node_get_info", INFO, 'n', NODE, OBSERVE, DONE),
	  .param = { NODES, P_FLAGS("flags") },
	  .result = "fields by bits of flags: 0 name; 1 os_name, os_version, os_release, "
		    "os_nodename, os_boottime; 2 cpu_arch, cpu_num, cpu_maxproc, cpu_clock, "
		    "cpu_intbench, cpu_fpbench; 3 mem_numpages, mem_pagesize, mem_bench; 4 "
		    "dsk_num, dsk_size, dsk_tmpsize, dsk_swapsize, dsk_bench; 5 net_numlinks, "
		    "[net_type, net_ipaddr, net_bandwidth, net_bench]; 6 usr_maxlogins; 7 "
		    "os_ctxtswitch, os_execs, os_syscalls; 8 cpu_rql, cpu_dwj, cpu_pwj, cpu_slj, "
		    "cpu_swj, cpu_rql1, cpu_rql5, cpu_rql15; 9 mem_freepages, mem_usedpages, "
		    "mem_freeswap; 10 vm_swap, vm_swapin, vm_swapout, vm_page, vm_pagein, "
		    "vm_pageout; 11 dsk_rawrd, dsk_rawwr, dsk_nfsrd, dsk_nfswr, dsk_sysrd, "
		    "dsk_syswr; 12 net_lpkt, net_fpkt, net_fpktrcv, net_fpktsnd, net_spkt, "
		    "net_spktrcv, net_spktsnd; 13 usr_numlocal, usr_localact, usr_numremote, "
		    "usr_remoteact; 14 shares of processor time: user, system, idle, "
		    "waiting for disks, taken by other guests; 15 pressure, percent of 10 s: cpu "
		    "some, memory some, memory full, io some, io full; 16 control group: memory "
		    "limit and use in bytes, processors",
	  .help = "What the node is and how it does. Fields that cannot be known are -1 or \"\"; "
		  "rates are per second. flags 0 lists the nodes only, -1 means all bits." },
};

static const struct omis_service site[] = {
	{ EXT_SERVICE("site", "site_attach", MANIP, 's', TOP, OBSERVE, DONE),
	  .flags = OMIS_RAW | OMIS_SCOPE, .param = { P_TOKENS("site_list", 's') },
	  .help = "Makes sites visible to this tool. [] takes all sites." },
	{ EXT_SERVICE("site", "site_detach", MANIP, 's', TOP, OBSERVE, DONE), .flags = OMIS_SCOPE,
	  .param = { P_TOKENS("site_list", 's') },
	  .help = "Takes sites, their nodes and their processes out of the tool's view." },
	{ EXT_SERVICE("site", "site_get_info", INFO, 's', TOP, OBSERVE, DONE),
	  .param = { P_TOKENS("site_list", 's'), P_FLAGS("flags") },
	  .result = "fields by bits of flags: 0 name; 1 hosts up, hosts known; 2 address of the "
		    "sm; 3 processes",
	  .help = "What the top knows about a site. flags 0 lists the sites only." },
};

const struct omis_services omis_services_node = SERVICES(node);
const struct omis_services omis_services_site = SERVICES(site);
