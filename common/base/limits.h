/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every hard limit of the system, with its reason. A limit is checked before
 * anything is allocated or copied; a test visits limit - 1, limit, limit + 1.
 * Times are nanoseconds.
 */
#ifndef COMMON_BASE_LIMITS_H
#define COMMON_BASE_LIMITS_H

#include <stdint.h>

/* --- frames and the cost of decoding one */
/* one reply of a large site; larger ones are sent in parts */
#define FRAME_MAX_BYTES (1024 * 1024)
/* a HELLO with an enrolment request; the peer is not known yet */
#define FRAME_PREAUTH_MAX_BYTES (16 * 1024)
#define PROTO_DEPTH_MAX 8 /* our messages nest 5 deep; the decoder recurses on the stack */
#define PROTO_ELEMENTS_MAX 20000 /* a MiB of empty elements would become 92 MB of heap */
#define DECODE_HEAP_MAX_BYTES (8 * 1024 * 1024) /* memory of one decoded frame */

/* --- time that a peer may take */
#define HANDSHAKE_MAX_NS (5 * INT64_C(1000000000)) /* TLS over a bad link takes 1 s */
#define HELLO_MAX_NS (2 * INT64_C(1000000000)) /* the first message after the handshake */
/* one byte at intervals defeats a read time-out */
#define FRAME_COMPLETE_MAX_NS (10 * INT64_C(1000000000))
/* TCP does not report a stopped peer */
#define HEARTBEAT_PERIOD_NS (3 * INT64_C(1000000000))
#define HEARTBEAT_MISSED_MAX 2 /* with the period: a silent peer is found in 6 s */
/*
 * heartbeats of children within this time share a wake-up; a silent one is found later by as much
 */
#define HEARTBEAT_SLOT_NS (250 * INT64_C(1000000))
/* to a tool: measures the round trip, and lets TCP detect a lost host */
#define PROBE_PERIOD_NS (30 * INT64_C(1000000000))
/*
 * between daemons: their clocks drift at most 6 ms apart in this time; it costs as much as some
 * heartbeats
 */
#define MEASURE_PERIOD_NS (60 * INT64_C(1000000000))
#define RECONNECT_MIN_NS (100 * INT64_C(1000000)) /* a restart is over in this time */
#define RECONNECT_MAX_NS (10 * INT64_C(1000000000)) /* a healed link is used within this time */
/* an lm without its link to the parent: stopped processes then continue */
#define STOP_LEASH_NS (5 * INT64_C(1000000000))
#define REVOKE_CHECK_NS (5 * INT64_C(1000000000)) /* a revoked identity is cut within 10 s */

/* --- peers that are not known yet, or misbehave */
#define HALF_OPEN_MAX 100 /* a handshake costs 1.2 ms of a core and 56 KiB */
#define HALF_OPEN_PER_SOURCE_MAX 16 /* so that one address cannot take all of them */
#define PENALTY_AUTH_NS (5 * INT64_C(1000000000)) /* refused credentials */
/* for input that seems made to crash a decoder */
#define PENALTY_CRASH_NS (90 * INT64_C(1000000000))
#define PENALTY_MAX_NS (600 * INT64_C(1000000000)) /* penalties add up to this */
#define KEY_UPDATES_PER_MIN_MAX 20 /* each costs 29 us and has no other bound */

/* --- requests */
#define OMIS_REQUEST_MAX_BYTES (64 * 1024) /* people write these; programs batch below it */
#define OMIS_DEPTH_MAX 16 /* nesting of lists; the parser recurses */
#define OMIS_TOKENS_MAX 4096 /* tokens written in one request */
#define OMIS_OBJECTS_MAX 65536 /* objects after expansion: ten thousand ranks with threads */
/* In one text: a host's part of 4,096 outputs has 40 each and 64 to spare. */
#define OMIS_VALUES_MAX (4 * OMIS_OBJECTS_MAX)
#define TOOL_CSRS_MAX 256 /* conditional requests of one tool */
#define CSR_ACTIONS_MAX 16 /* actions that one event may start */
#define TOOL_FIRINGS_PER_SEC_MAX 1000 /* csrs with actions outside the rank */
/* each stop costs the program some 10 us: at a tenth of a core it is released */
#define TRACE_EVENTS_PER_SEC_MAX 10000
#define CAUSAL_DEPTH_MAX 4 /* an action's event starts an action, ...: loops end here */
#define TOOLS_MAX 64 /* connected to one mainsm */
/*
 * Part of TOOLS_MAX, reserved for tool-admin: an owner can end sessions when all other places are
 * used.
 */
#define TOOLS_ADMIN_PLACES 8

/* Per process and call: as numbers in text it is a quarter of a frame. */
#define MEMORY_CALL_MAX_BYTES (64 * 1024)
/* each is a system call that keeps the lm busy */
#define MEMORY_BLOCKS_MAX 4096
#define FILE_LISTING_MAX_BYTES (64 * 1024) /* per call; with escapes still below a frame */

/* --- trace buffers of one lm */
#define TRACE_BUFFERS_MAX 4096 /* TOOLS_MAX tools with 64 objects each */
/* a block of events; sixteen parameters are a kilobyte of text */
#define TRACE_RECORD_MAX_BYTES (64 * 1024)
/* Per process and buffer: 1.5 s of 100,000 events a second. */
#define TRACE_PART_MAX_BYTES (4 * 1024 * 1024)
#define TRACE_ALL_MAX_BYTES (64 * 1024 * 1024) /* of all tools: memory a watched host can spare */
/* Per call, shared by the processes: a quarter of a frame. */
#define TRACE_READ_MAX_BYTES (256 * 1024)

/* --- the audit of a daemon: what was done to programs, and by which identity */
/* ten thousand entries; one older file is kept */
#define AUDIT_FILE_MAX_BYTES (4 * 1024 * 1024)
#define AUDIT_CALL_MAX_BYTES 512 /* a call and its parameters, then it is cut */
/* pairs of ranks that a profile names for a host: 64 ranks with 64 partners each */
#define PROFILE_PAIRS_MAX 4096
/*
 * pairs in memory until all ranks of the host are added up: as many as above for each of 16
 * ranks
 */
#define PROFILE_PAIRS_HELD_MAX (16 * PROFILE_PAIRS_MAX)
/* of the pairs in a reply: with the names of objects less than half a frame */
#define PROFILE_ROWS_MAX_BYTES (FRAME_MAX_BYTES / 4)
#define PROFILE_SITES_MAX 2048 /* places that a profile names for a host: more than people read */
#define AUDIT_OBJECTS_MAX_BYTES 512 /* tokens of a few dozen objects, then it is cut */
#define AUDIT_REFUSED_MAX 10 /* refusals of one identity in a window; the others are counted */
/* refusals then add at most 10 KB a minute */
#define AUDIT_REFUSED_WINDOW_NS (60 * INT64_C(1000000000))
#define AUDIT_READ_MAX_BYTES (256 * 1024) /* read from the end of the files, per request */
#define AUDIT_ENTRIES_MAX 1000 /* per daemon and answer */

/* --- queues for a peer that reads slowly */
/* pending replies; beyond it the tool is disconnected */
#define TOOL_QUEUE_MAX_BYTES (32 * 1024 * 1024)
#define TOOL_STALL_MAX_NS (10 * INT64_C(1000000000)) /* also after this time without progress */
#define PEER_QUEUE_MAX_BYTES (64 * 1024 * 1024) /* between daemons: a minute of a site's data */

/* --- event logs in the net (eventlog/send, omig log receive) */
/* For one destination: 25 s at 6,250 events of 50 bytes a second; untouched pages cost nothing. */
#define EVSEND_ROOM_BYTES (8 * 1024 * 1024)
/* a block in a datagram: six packets of Ethernet, of which none may be lost */
#define EVSEND_DATAGRAM_BYTES (8 * 1024)
/* the largest datagram of IPv4: an event of this size goes alone */
#define EVSEND_DATAGRAM_MAX_BYTES 65507
/* at the end of a program: longer than a round trip around the earth and a sync of a disk */
#define EVSEND_CLOSE_NS (2 * INT64_C(1000000000))
/* after a fatal signal: long enough for a receiver on the same net */
#define EVSEND_FATAL_NS (300 * INT64_C(1000000))

/* until a tunnel is greeted: it enrols at first, then looks a host up and shakes hands */
#define EVSEND_TUNNEL_MAX_NS (15 * INT64_C(1000000000))
/* of a tunnel in one message: a frame that a slow net completes in time */
#define TUNNEL_CHUNK_BYTES (16 * 1024)
/* that wait for the net in a tunnel; more stay with their program */
#define TUNNEL_QUEUE_MAX_BYTES (256 * 1024)

/* without a byte taken: the tunnel of a program that has ended ends, too */
#define TUNNEL_STALL_MAX_NS (60 * INT64_C(1000000000))

/* programs that one receiver serves at once: 320 KiB each, and their descriptors */
#define RECEIVE_CONNS_MAX 256
#define RECEIVE_PORTS_MAX 16 /* addresses of one receiver */
/* blocks of one connection that are not on the disk yet */
#define RECEIVE_UNSETTLED_MAX 1024
/* streams whose last number is remembered, to recognise repeated blocks: 32 MB */
#define RECEIVE_STREAMS_MAX (1024 * 1024)
/* events of text become safe in this time, though their block is not full */
#define RECEIVE_FLUSH_NS (200 * INT64_C(1000000))
/* at the end: then the rest stays in the spool */
#define RECEIVE_END_NS (5 * INT64_C(1000000000))
/* after a failure of the file or the archive */
#define RECEIVE_RETRY_NS INT64_C(1000000000)
#define RECEIVE_ROTATED_MAX 1000 /* older files that are kept: a name each */

/* --- HTTP input from outside (tools/web, omig export, omig web) */
#define WEB_HEAD_MAX_BYTES (8 * 1024) /* a scraper sends half a KiB */
#define WEB_CONNS_MAX 32 /* two scrapers, and a few connections made by hand */
#define WEB_PAGE_CONNS_MAX 64 /* of omig web: 16 viewers with six connections each, mostly idle */
#define WEB_BODY_MAX_BYTES (64 * 1024) /* a text of metrics that was typed, not a file */
/* a viewer that reads nothing for so long has gone, or its tunnel has */
#define WEB_STALL_MAX_NS (10 * INT64_C(1000000000))
/* the usual time-out of scrapers; for the whole request, not between two bytes */
#define WEB_TIME_MAX_NS (10 * INT64_C(1000000000))
/* time for the other end to close after the answer */
#define WEB_DRAIN_MAX_NS INT64_C(1000000000)
/* more than a scraper accepts; 32 of them fit in memory */
#define WEB_ANSWER_MAX_BYTES (64 * 1024 * 1024)
/* --- omig web (tools/page) */
#define PAGE_TOKENS_MAX 4 /* links that were printed and not opened yet */
#define PAGE_TOKEN_NS (600 * INT64_C(1000000000)) /* to make the tunnel and to open the link */
#define PAGE_KEYS_MAX 16 /* browsers: a team in front of one job */
/* of a page that was left open over a working day */
#define PAGE_KEY_IDLE_NS (8 * 3600 * INT64_C(1000000000))
#define PAGE_VIEWERS_MAX 16 /* streams: each gets a few KiB a second */
/* tabs of one browser: a browser opens six connections to a server, and requests need one */
#define PAGE_TABS_MAX 4
#define PAGE_CHARTS_MAX 16 /* measurements of all viewers together */
#define PAGE_TABLE_ROWS_MAX 128 /* of a screen, with some above and below */
#define EXPORT_SERIES_DEFAULT 20000 /* some thousand jobs by node and class; a scrape of 2 MB */
#define EXPORT_SERIES_MAX 500000 /* 10,000 ranks by class and kind: the largest useful request */
#define EXPORT_PROCS_MAX OMIS_OBJECTS_MAX /* processes that are remembered between scrapes */

/* --- metric language and graphs */
#define PMSL_SOURCE_MAX_BYTES (256 * 1024) /* one specification */
/* metrics that users have added to a monitor: texts of one user, of all, and their bytes */
#define REGISTRY_TEXTS_EACH_MAX 256
#define REGISTRY_TEXTS_MAX 1024
#define REGISTRY_MAX_BYTES (4 * 1024 * 1024) /* all are read at the start of mainsm */
#define REGISTRY_NAME_MAX 63
/* Plug-ins of an lm: services and figures that a user's shared objects add. */
#define PLUGINS_MAX 16 /* plug-ins of a host: each is a process */
#define PLUGIN_SERVICES_MAX 64 /* services of one plug-in */
#define PLUGIN_TEXT_MAX_BYTES (64 * 1024) /* definitions of a host: part of one message */
#define PLUGIN_REPLY_MAX_BYTES (256 * 1024) /* of one call: with others of a step in a frame */
#define PLUGIN_NAME_MAX 47 /* of a plug-in, service or parameter */
/* Deadline of a call: its error arrives within the 2 s that a tool waits for a reply. */
#define PLUGIN_ANSWER_MAX_NS INT64_C(1500000000)
#define PLUGIN_BACKOFF_MIN_NS INT64_C(500000000) /* doubled at each end of the process */
#define PLUGIN_BACKOFF_MAX_NS (60 * INT64_C(1000000000))
#define PLUGIN_MEMORY_MAX_BYTES (INT64_C(512) * 1024 * 1024) /* address space of its process */
#define ADDED_SERVICES_MAX 1024 /* that mainsm lists: of all hosts, each name once */
#define PMSL_DEPTH_MAX 64 /* nesting of expressions; parser and checker recurse */
/* Per graph: a value of each of thousands of processes, each with a link and a result. */
#define FLOW_NODES_MAX 16384
#define FLOW_EDGES_MAX 65536
#define FLOW_STATE_MAX_BYTES (32 * 1024 * 1024) /* touched only as far as it is used */
#define FLOW_EVALS_PER_EVENT_MAX 256 /* nodes that one event may wake */
/* between two reads: each host sends a frame per read, and rings are read as often */
#define FLOW_EVERY_MIN_NS (10 * INT64_C(1000000))
#define FLOW_EVERY_MAX_NS (86400 * INT64_C(1000000000)) /* longer is a mistake */

/* --- texts and records */
#define NAME_MAX_BYTES 255 /* hosts, sites, functions: UTF-8 without control characters */
#define CONF_MAX_BYTES (1024 * 1024) /* a configuration file */
/* 2000-01-01: earlier is a mistake or an attack */
#define TIME_MIN_WALL_NS (INT64_C(946684800) * 1000000000)
/* clocks of two hosts differ by less than a day */
#define TIME_FUTURE_MAX_NS (INT64_C(86400) * 1000000000)

#endif
