# SPDX-License-Identifier: Apache-2.0
# neko/cmd: the command omig neko: run, list, plot and compare.
MODULES       += neko/cmd
neko/cmd.src  := cmd_neko.c neko_compare.c neko_delays.c neko_form.c neko_hosts.c \
		  neko_messages.c neko_plot.c neko_plot_cdf.c neko_plot_page.c \
		  neko_plot_spacetime.c neko_plot_sweep.c neko_progress.c neko_show.c \
		  neko_sweep.c neko_sweep_show.c neko_text.c neko_trace.c
neko/cmd.uses := common/base common/axis common/cli common/json stats eventlog/lifeline \
		    neko/simulated neko/algorithms neko/run neko/hosts tools/results tools/libomis \
		    tools/chart tools/term
