# SPDX-License-Identifier: Apache-2.0
# eventlog/archive: event logs in SQL: SQLite, and PostgreSQL whose library is loaded when needed.
MODULES                    += eventlog/archive
eventlog/archive.src       := archive.c arcat.c arcompare.c ardesc.c arevents.c arkept.c arlite.c \
		arloaded.c arquery.c arsame.c arschema.c arsql.c arstat.c arvalue.c arviews.c \
		arpg.c arpq.c
eventlog/archive.cflags    := $(if $(filter no,$(POSTGRESQL)),-DARPQ_LIBRARY='""')
eventlog/archive.pkgs      := sqlite3
eventlog/archive.libs      := -lm
eventlog/archive.uses      := common/base common/container stats eventlog eventlog/text
# For a package manager whose libraries only an rpath finds: libpq is linked and loaded at once.
ifeq ($(POSTGRESQL),yes)
eventlog/archive.pkgs      += libpq
eventlog/archive.libs      += -Wl,--push-state,--no-as-needed,-lpq,--pop-state
endif
