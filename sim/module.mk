# SPDX-License-Identifier: Apache-2.0
# sim: whole hierarchies of our own daemons in virtual time, from a seed (docs/sim.md).
MODULES      += sim
sim.src      := clock.c hostclock.c trace.c world.c simrank.c simhost.c simtop.c simsite.c simnode.c simtool.c cluster.c disk.c \
		simdisk.c diskcalls.c foldercalls.c mapcalls.c diskdice.c pausedice.c clocks.c ledger.c answers.c values.c admin.c user.c keeper.c keptjudge.c \
		faults.c judge.c exam.c series.c echo.c caps.c run.c detector.c rivals.c \
		asker.c rogue.c roguetool.c lies.c lies_words.c heap.c growth.c growth_run.c
sim.uses     := common/base common/ring common/omis common/loop proto common/net common/flow common/route \
		common/daemon common/authority tree eventlog eventlog/spool stats pmsl \
		neko/core neko/algorithms neko/run lm/host lm/service lm sm/hosts sm/node sm \
		mainsm
sim.not_built := sim_main.c heap_wrap.c
sim.libexec  := omig-sim
# Who asks for the time or for random numbers, or writes to a disk, gets the simulated world's, without knowing it.
sim.wrapped  := clock_gettime rng_fill_random rng_draw_key ticks_calibrate chan_feed \
		open mkostemp close read pread write pwrite ftruncate posix_fallocate fsync fdatasync rename unlink \
		openat renameat unlinkat mkdir rmdir mmap munmap
# In the program alone: tests wrap these themselves.
sim.allocs   := malloc calloc realloc reallocarray strdup strndup free
# By name: who is linked later asks for some of them that nobody has asked for when the room is looked through.
sim.libs     := -lm $(foreach f,$(sim.wrapped),-Wl$(comma)--wrap=$f -Wl$(comma)-u$(comma)__wrap_$f)
# What stands for the one world at a time that a process has.
sim.statics  := clock.c:now_of clock.c:keys simdisk.c:disks diskcalls.c:of_fd diskcalls.c:fds mapcalls.c:all mapcalls.c:is_watching \
		trace.c:current heap.c:watched heap.c:sessions sim_main.c:crash_words sim_main.c:is_told_to_end
