# SPDX-License-Identifier: Apache-2.0
# eventlog/archive: event logs in SQL: SQLite, and PostgreSQL where its library is installed.
MODULES                    += eventlog/archive
eventlog/archive.has_pq    := $(shell $(PKG_CONFIG) --exists libpq 2>/dev/null && echo y)
eventlog/archive.src       := archive.c arcat.c arcompare.c ardesc.c arevents.c arkept.c arlite.c \
		arloaded.c arquery.c arsame.c arschema.c arsql.c arstat.c arvalue.c arviews.c \
			      $(if $(eventlog/archive.has_pq),arpg.c,arpg_none.c)
eventlog/archive.not_built := $(if $(eventlog/archive.has_pq),arpg_none.c,arpg.c)
eventlog/archive.pkgs      := sqlite3 $(if $(eventlog/archive.has_pq),libpq)
eventlog/archive.libs      := -lm
eventlog/archive.uses      := common/base common/container stats eventlog eventlog/text
