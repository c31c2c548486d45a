# SPDX-License-Identifier: Apache-2.0
# eventlog/archive: event logs in SQL: SQLite, and PostgreSQL where its library is.
MODULES               += eventlog/archive
eventlog/archive.src  := archive.c arcat.c arlite.c arloaded.c arschema.c arsql.c arviews.c \
			 arpg_none.c
eventlog/archive.pkgs := sqlite3
eventlog/archive.libs := -lm
eventlog/archive.uses := common/base eventlog eventlog/text
