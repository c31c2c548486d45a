/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every hard limit of the system, with its reason. A limit is checked before anything is allocated
 * or copied. Tests use limit - 1, limit and limit + 1. Times are nanoseconds.
 */
#ifndef COMMON_BASE_LIMITS_H
#define COMMON_BASE_LIMITS_H

#include <stdint.h>

/* --- frames and the cost of decoding one */
/* one reply of a large site; larger replies are sent in parts */
#define FRAME_MAX_BYTES (1024 * 1024)
/* a HELLO with an enrolment request; the peer is not known yet */
#define FRAME_PREAUTH_MAX_BYTES (16 * 1024)
#define PROTO_DEPTH_MAX 8 /* our messages nest 5 deep; the decoder recurses on the stack */
#define PROTO_ELEMENTS_MAX 20000 /* a MiB of empty elements would become 92 MB of heap */
#define DECODE_HEAP_MAX_BYTES (8 * 1024 * 1024) /* memory of one decoded frame */

/* --- time limits of a peer */
#define HANDSHAKE_MAX_NS (5 * INT64_C(1000000000)) /* TLS over a bad link takes 1 s */
#define HELLO_MAX_NS (2 * INT64_C(1000000000)) /* the first message after the handshake */
/* against a peer that sends one byte at intervals, which defeats a read time-out */
#define FRAME_COMPLETE_MAX_NS (10 * INT64_C(1000000000))
/* TCP does not report that a peer is stopped */
#define HEARTBEAT_PERIOD_NS (3 * INT64_C(1000000000))
#define HEARTBEAT_MISSED_MAX 2 /* with the period: a silent peer is detected after 6 s */
/*
 * heartbeats of branches within this time share a wake-up, so a silent branch is detected later by
 * as much
 */
#define HEARTBEAT_SLOT_NS (250 * INT64_C(1000000))
/* pings to a tool: they measure the round trip, and let TCP detect a lost host */
#define PROBE_PERIOD_NS (30 * INT64_C(1000000000))
/*
 * between daemons: clocks differ by at most 6 ms after this time; a measurement costs as much as
 * some heartbeats
 */
#define MEASURE_PERIOD_NS (60 * INT64_C(1000000000))
#define RECONNECT_MIN_NS (100 * INT64_C(1000000)) /* a restart takes about this time */
/* longest time until a repaired link is used again */
#define RECONNECT_MAX_NS (10 * INT64_C(1000000000))
/* time of an lm without its link to the parent, after which stopped processes continue */
#define STOP_LEASH_NS (5 * INT64_C(1000000000))
/* the links of a revoked identity are closed within 10 s */
#define REVOKE_CHECK_NS (5 * INT64_C(1000000000))

/* --- peers that are not known yet, or misbehave */
/* connections whose peer is not known: a handshake costs 1.2 ms of a core and 56 KiB */
#define HALF_OPEN_MAX 100
#define HALF_OPEN_PER_SOURCE_MAX 16 /* so that one address cannot use all of them */
#define PENALTY_AUTH_NS (5 * INT64_C(1000000000)) /* for refused credentials */
/* for input that seems made to crash a decoder */
#define PENALTY_CRASH_NS (90 * INT64_C(1000000000))
#define PENALTY_MAX_NS (600 * INT64_C(1000000000)) /* the largest sum of penalties */
/* each update costs 29 us, and TLS does not limit their number */
#define KEY_UPDATES_PER_MIN_MAX 20

/* --- requests */
/* requests are written by hand; programs send less at once */
#define OMIS_REQUEST_MAX_BYTES (64 * 1024)
#define OMIS_DEPTH_MAX 16 /* nesting of lists: the parser recurses */
#define OMIS_TOKENS_MAX 4096 /* tokens in one request */
#define OMIS_OBJECTS_MAX 65536 /* objects after expansion: ten thousand ranks with threads */
/* Values in one text: a host's part of 4,096 outputs has 40 values each, and 64 further ones. */
#define OMIS_VALUES_MAX (4 * OMIS_OBJECTS_MAX)
#define TOOL_CSRS_MAX 256 /* conditional requests of one tool */
#define CSR_ACTIONS_MAX 16 /* actions that one event may start */
#define TOOL_FIRINGS_PER_SEC_MAX 1000 /* firings of csrs with actions outside the rank */
/* each stop costs the program about 10 us: at a tenth of a core the program is released */
#define TRACE_EVENTS_PER_SEC_MAX 10000
/* actions may cause events that start actions: such chains end here */
#define CAUSAL_DEPTH_MAX 4
#define TOOLS_MAX 64 /* tools that are connected to one mainsm */
/*
 * Part of TOOLS_MAX that is reserved for tool-admin: an owner can end sessions when all other
 * places are used.
 */
#define TOOLS_ADMIN_PLACES 8

/* Per process and call: as numbers in text this is a quarter of a frame. */
#define MEMORY_CALL_MAX_BYTES (64 * 1024)
/* each block is a system call that keeps the lm busy */
#define MEMORY_BLOCKS_MAX 4096
#define FILE_LISTING_MAX_BYTES (64 * 1024) /* bytes per call; with escapes still below a frame */

/* --- trace buffers of one lm */
#define TRACE_BUFFERS_MAX 4096 /* TOOLS_MAX tools with 64 objects each */
/* a block of events: sixteen parameters are a kilobyte of text */
#define TRACE_RECORD_MAX_BYTES (64 * 1024)
/* Bytes per process and buffer: 1.5 s of 100,000 events a second. */
#define TRACE_PART_MAX_BYTES (4 * 1024 * 1024)
#define TRACE_ALL_MAX_BYTES (64 * 1024 * 1024) /* of all tools: memory a watched host can spare */
/* Per call, shared by the processes: a quarter of a frame. */
#define TRACE_READ_MAX_BYTES (256 * 1024)

/* --- the audit of a daemon: what was done to programs, and by which identity */
/* ten thousand entries; one older file is kept */
#define AUDIT_FILE_MAX_BYTES (4 * 1024 * 1024)
#define AUDIT_CALL_MAX_BYTES 512 /* a call and its parameters; longer ones are cut */
/* pairs of ranks of a host in a profile: 64 ranks with 64 partners each */
#define PROFILE_PAIRS_MAX 4096
/* pairs in memory until all ranks of the host are added up: the same number for each of 16 ranks */
#define PROFILE_PAIRS_HELD_MAX (16 * PROFILE_PAIRS_MAX)
/* bytes of the pairs in a reply: with the names of objects less than half a frame */
#define PROFILE_ROWS_MAX_BYTES (FRAME_MAX_BYTES / 4)
#define PROFILE_SITES_MAX 2048 /* call sites of a host in a profile: more than anyone reads */
#define AUDIT_OBJECTS_MAX_BYTES 512 /* tokens of a few dozen objects; longer lists are cut */
/* refusals of one identity in a window; further ones are only counted */
#define AUDIT_REFUSED_MAX 10
/* with this window, refusals add at most 10 KB per minute */
#define AUDIT_REFUSED_WINDOW_NS (60 * INT64_C(1000000000))
/* bytes from the end of the files that a request reads */
#define AUDIT_READ_MAX_BYTES (256 * 1024)
#define AUDIT_ENTRIES_MAX 1000 /* entries per daemon and answer */

/* --- queues for a peer that reads slowly */
/* pending replies; beyond this the tool is disconnected */
#define TOOL_QUEUE_MAX_BYTES (32 * 1024 * 1024)
#define TOOL_STALL_MAX_NS (10 * INT64_C(1000000000)) /* also after this time without progress */
#define PEER_QUEUE_MAX_BYTES (64 * 1024 * 1024) /* between daemons: a minute of a site's data */

/* --- event logs in the net (eventlog/send, omig log receive) */
/*
 * Queue for one destination: 25 s at 6,250 events of 50 bytes a second. Unused pages cost nothing.
 */
#define EVSEND_ROOM_BYTES (8 * 1024 * 1024)
/* a block in a datagram: six Ethernet packets, all of which must arrive */
#define EVSEND_DATAGRAM_BYTES (8 * 1024)
/* the largest IPv4 datagram: an event of this size has its own */
#define EVSEND_DATAGRAM_MAX_BYTES 65507
/* wait at the end of a program: longer than a round trip around the earth and a sync of a disk */
#define EVSEND_CLOSE_NS (2 * INT64_C(1000000000))
/* wait after a fatal signal: long enough for a receiver in the same net */
#define EVSEND_FATAL_NS (300 * INT64_C(1000000))

/*
 * time until a tunnel is ready: it may enrol first, and looks up a host and makes a TLS handshake
 */
#define EVSEND_TUNNEL_MAX_NS (15 * INT64_C(1000000000))
/* bytes of a tunnel in one message: a frame that a slow net completes in time */
#define TUNNEL_CHUNK_BYTES (16 * 1024)
/* bytes that wait for the net in a tunnel; more remain in its program */
#define TUNNEL_QUEUE_MAX_BYTES (256 * 1024)

/* time without progress after which the tunnel of an ended program ends, too */
#define TUNNEL_STALL_MAX_NS (60 * INT64_C(1000000000))

/* programs that one receiver serves at once: 320 KiB each, and a descriptor */
#define RECEIVE_CONNS_MAX 256
#define RECEIVE_PORTS_MAX 16 /* addresses of one receiver */
/* blocks of one connection that are not on the disk yet */
#define RECEIVE_UNSETTLED_MAX 1024
/* streams whose last number is stored, to detect repeated blocks: 32 MB */
#define RECEIVE_STREAMS_MAX (1024 * 1024)
/* time in which events of text are stored, though their block is not full */
#define RECEIVE_FLUSH_NS (200 * INT64_C(1000000))
/* wait at the end of a receiver: the rest stays in the spool */
#define RECEIVE_END_NS (5 * INT64_C(1000000000))
/* time between attempts after a failure of the file or the archive */
#define RECEIVE_RETRY_NS INT64_C(1000000000)
#define RECEIVE_ROTATED_MAX 1000 /* older files that are kept; each needs a name */

/* --- HTTP input from outside (tools/web, omig export, omig web) */
#define WEB_HEAD_MAX_BYTES (8 * 1024) /* a scraper sends half a KiB */
#define WEB_CONNS_MAX 32 /* two scrapers, and some connections by hand */
#define WEB_PAGE_CONNS_MAX 64 /* of omig web: 16 viewers with six connections each, mostly idle */
#define WEB_BODY_MAX_BYTES (64 * 1024) /* a text of metrics that a person has typed, not a file */
/* time without reading after which a viewer or its tunnel counts as lost */
#define WEB_STALL_MAX_NS (10 * INT64_C(1000000000))
/* the usual time-out of scrapers, for the whole request and not between two bytes */
#define WEB_TIME_MAX_NS (10 * INT64_C(1000000000))
/* time for the other end to close after an answer */
#define WEB_DRAIN_MAX_NS INT64_C(1000000000)
/* more than a scraper accepts; 32 of these fit in memory */
#define WEB_ANSWER_MAX_BYTES (64 * 1024 * 1024)
/* --- omig web (tools/page) */
#define PAGE_TOKENS_MAX 4 /* links that were printed and not opened yet */
#define PAGE_TOKEN_NS (600 * INT64_C(1000000000)) /* to make the tunnel and to open the link */
#define PAGE_KEYS_MAX 16 /* browsers of one job: those of a team */
/* life of an unused key: a page may be open and unused for a working day */
#define PAGE_KEY_IDLE_NS (8 * 3600 * INT64_C(1000000000))
#define PAGE_VIEWERS_MAX 16 /* streams: each gets a few KiB a second */
/* tabs of one browser, which opens six connections to a server; requests need one of them */
#define PAGE_TABS_MAX 4
#define PAGE_CHARTS_MAX 16 /* measurements of all viewers together */
#define PAGE_TABLE_ROWS_MAX 128 /* rows of a screen, with some above and below */
/* enough for some thousand jobs by node and class; a scrape of 2 MB */
#define EXPORT_SERIES_DEFAULT 20000
/* 10,000 ranks by class and kind, which is the largest useful request */
#define EXPORT_SERIES_MAX 500000
#define EXPORT_PROCS_MAX OMIS_OBJECTS_MAX /* processes that are stored between scrapes */

/* --- metric language and graphs */
#define PMSL_SOURCE_MAX_BYTES (256 * 1024) /* one specification */
/* metrics that users have registered: texts of one user, of all users, and their bytes */
#define REGISTRY_TEXTS_EACH_MAX 256
#define REGISTRY_TEXTS_MAX 1024
#define REGISTRY_MAX_BYTES (4 * 1024 * 1024) /* mainsm reads all of them at its start */
#define REGISTRY_NAME_MAX 63
/* Plug-ins of an lm: services and figures that a user's shared objects add. */
#define PLUGINS_MAX 16 /* plug-ins of a host: each is a process */
#define PLUGIN_SERVICES_MAX 64 /* services of one plug-in */
#define PLUGIN_TEXT_MAX_BYTES (64 * 1024) /* definitions of a host: part of one message */
#define PLUGIN_REPLY_MAX_BYTES (256 * 1024) /* of one call: with others of a step in a frame */
#define PLUGIN_NAME_MAX 47 /* of a plug-in, service or parameter */
/* Deadline of a call: its error arrives within the 2 s that a tool waits for a reply. */
#define PLUGIN_ANSWER_MAX_NS INT64_C(1500000000)
/* pause before a restart, which doubles with each end of the process */
#define PLUGIN_BACKOFF_MIN_NS INT64_C(500000000)
#define PLUGIN_BACKOFF_MAX_NS (60 * INT64_C(1000000000))
#define PLUGIN_MEMORY_MAX_BYTES (INT64_C(512) * 1024 * 1024) /* address space of its process */
/* services of plug-ins that mainsm lists: of all hosts, each name once */
#define ADDED_SERVICES_MAX 1024
#define PMSL_DEPTH_MAX 64 /* nesting of expressions: parser and checker recurse */
/* Nodes of a graph: a value of each of thousands of processes, each with a link and a result. */
#define FLOW_NODES_MAX 16384
#define FLOW_EDGES_MAX 65536
#define FLOW_STATE_MAX_BYTES (32 * 1024 * 1024) /* memory that is used only as needed */
#define FLOW_EVALS_PER_EVENT_MAX 256 /* nodes that one event may wake */
/* shortest time between two reads: each host sends a frame per read, and rings are read as often */
#define FLOW_EVERY_MIN_NS (10 * INT64_C(1000000))
#define FLOW_EVERY_MAX_NS (86400 * INT64_C(1000000000)) /* a longer time is a mistake */

/* --- searches for lost time (why/) */
/* ranks of a block: the largest job that the search is measured with */
#define WHY_RANKS_MAX 65536
/* pairs of a block: 16 partners of each rank are more than a stencil has */
#define WHY_PAIRS_MAX (16 * WHY_RANKS_MAX)
#define WHY_FINDINGS_MAX 64 /* of a search, those that are gone included: a reader needs five */

/* --- texts and records */
/* names of hosts, sites, functions: UTF-8 without control characters */
#define NAME_MAX_BYTES 255
#define CONF_MAX_BYTES (1024 * 1024) /* a configuration file */
/* 2000-01-01: an earlier time is a mistake or an attack */
#define TIME_MIN_WALL_NS (INT64_C(946684800) * 1000000000)
/* the clocks of two hosts differ by less than a day */
#define TIME_FUTURE_MAX_NS (INT64_C(86400) * 1000000000)

#endif
