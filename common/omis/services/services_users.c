/* SPDX-License-Identifier: Apache-2.0 */
/* Services of a shared sm, on a port of its own. */
#include "common/omis/services/services.h"

static const struct omis_service users[] = {
	{ EXT_SERVICE("omig", "omig_site_drain", MANIP, 0, TOP, ADMIN, DONE),
	  .param = { P_STRING("user"), P_INT_OR("drain", "1") },
	  .help = "Asked of a site's sm: lets no new hosts of a user in; 0: lets them in again." },
	{ EXT_SERVICE("omig", "omig_site_drop", MANIP, 0, TOP, ADMIN, DONE),
	  .param = { P_STRING("user") },
	  .help = "Asked of a site's sm: disconnects a user and deletes the entry." },
	{ EXT_SERVICE("omig", "omig_site_join", MANIP, 0, TOP, OBSERVE, DONE),
	  .param = { P_STRING("connection_string") }, .result = "site, port",
	  .help = "Asked of a site's sm: it enrols at that mainsm as the sm of the site." },
	{ EXT_SERVICE("omig", "omig_site_limit", MANIP, 0, TOP, ADMIN, DONE),
	  .param = { P_STRING("user"), P_STRING("what"), P_INT("n") },
	  .help = "Asked of a site's sm: what a user may take. what: hosts, objects, csrs, "
		  "messages (a second) or bytes. n: 0 no limit, -1 as the configuration says." },
	{ EXT_SERVICE("omig", "omig_site_status", INFO, 0, TOP, ADMIN, DONE),
	  .result = "daemon, version, uptime_ns, [name, value]...",
	  .help = "Asked of a site's sm: its own health." },
	{ EXT_SERVICE("omig", "omig_site_users", INFO, 0, TOP, ADMIN, DONE),
	  .result =
		  "pin, name, state, draining, mainsm, port, since_ns, seen_ns, hosts, processes, "
		  "objects, csrs, bytes, messages, bytes_read, read_later_ns, refused, "
		  "[limits]..., trouble",
	  .help = "Asked of a site's sm: its users, a result for each; how much they have, never "
		  "what." },
};

const struct omis_services omis_services_users = SERVICES(users);
