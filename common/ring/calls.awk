# SPDX-License-Identifier: Apache-2.0
# calls.def -> the ids (-v out=id) or the table of calls.h (-v out=table)

function fail(text) { print FILENAME ":" FNR ": " text >"/dev/stderr"; bad = 1; exit 1 }

BEGIN {
	nk = split("b POINTER i INT n COUNT d PEER r ROOT g TAG a AINT o OFFSET t TYPE c COMM " \
		   "w WIN " \
		   "f FILE h HANDLE q REQUEST Q HANDLE u STATUS s STRING S STRINGS", k, " ")
	for (i = 1; i <= nk; i += 2) kind[k[i]] = "CALL_P_" k[i + 1]
	nv = split("send send_init recv recv_post recv_init mrecv mrecv_post sendrecv " \
		   "sendrecv_replace " \
		   "isendrecv isendrecv_replace wait waitany " \
		   "waitall waitsome test testany testall start startall pready pready_range pready_list request_free psend_init precv_init bcast gather gatherv scatter " \
		   "scatterv allgather allgatherv alltoall alltoallv alltoallw reduce allreduce reduce_scatter " \
		   "reduce_scatter_block neighbor_allgather neighbor_allgatherv neighbor_alltoall neighbor_alltoallv " \
		   "neighbor_alltoallw put get get_accumulate fetch_and_op compare_and_swap file_in file_out " \
		   "file_in_post file_out_post forget finalize", v, " ")
	for (i = 1; i <= nv; i++) known[v[i]] = 1
	# what has a length when it begins, and when it ends
	n = split("send sendrecv sendrecv_replace isendrecv isendrecv_replace bcast gather " \
		  "scatter allgather alltoall reduce allreduce put get " \
		  "recv_post mrecv_post", s, " ")
	for (i = 1; i <= n; i++) at_start[s[i]] = 1
	n = split("wait waitany waitall waitsome test testany testall start startall pready " \
		  "pready_range " \
		  "pready_list request_free forget finalize - @", s, " ")
	for (i = 1; i <= n; i++) no_length[s[i]] = 1
	print "/* SPDX-License-Identifier: Apache-2.0 */"
	print "/* Generated from common/ring/calls.def. */"
	if (out == "id") {
		print "#ifndef GEN_CALLS_ID_H\n#define GEN_CALLS_ID_H\n"
		print "enum call_volume {\n\tCALL_V_NONE,"
		for (i = 1; i <= nv; i++) print "\tCALL_V_" toupper(v[i]) ","
		print "};\n\nenum call_id {"
	} else
		print "#include \"common/ring/calls.h\"\n#include \"common/ring/calls_id.h\"\n\n" \
		      "const struct call_desc call_table[] = {"
}

/^#/ || NF == 0 { next }

{
	name = $1; class = $2; volume = $3
	if (name in seen) fail(name " is there twice")
	seen[name] = 1
	if (!(volume in known) && volume != "-" && volume != "@") fail("no volume rule " volume)
	if (NF - 3 > 14) fail("too many parameters")
	if (out == "id") { print "\tCALL_ID_" name ","; next }
	args = ""; inputs = 0
	persistent = name ~ /_init$/
	tag = comm = count = type = peer = status = 0
	for (i = 4; i <= NF; i++) {
		split($i, p, ":")
		if (!(p[2] in kind)) fail("no kind " p[2])
		args = args sprintf("%s{ \"%s\", %s }", i > 4 ? ", " : "", p[1], kind[p[2]])
		if (p[2] != "u") inputs++
		if (p[2] == "n" && !count) count = i - 3
		if (p[2] == "d" && !peer) peer = i - 3
		if (p[2] == "g" && !tag) tag = i - 3
		if (p[2] == "t" && !type) type = i - 3
		if ((p[2] == "c" || p[2] == "w") && !comm) comm = i - 3
		if (p[2] == "u" && !status) status = i - 3
	}
	npar = 1 + inputs
	start_length = (volume in at_start && !persistent) ? ++npar : 0
	start_partner = peer ? ++npar : 0
	end = 2
	end_partner = peer ? ++end : 0
	end_length = (volume in no_length || persistent) ? 0 : ++end
	printf "\t{ \"MPI_%s\", CALL_%s, %d, %d, %d, %d, %d, %d, %d, CALL_V_%s, ",
		name, toupper(class), NF - 3, npar, start_length, start_partner, end, end_length,
		end_partner, (volume in known) ? toupper(volume) : "NONE"
	printf "%d, %d, %d, %d, %d, %d, %d, { %s } },\n",
		tag, comm, count, type, peer, status, persistent, args == "" ? "{ 0 }" : args
}

END {
	if (bad) exit 1
	if (out == "id") print "\tCALL_COUNT\n};\n\n#endif"
	else print "};\n\nconst unsigned call_count = CALL_COUNT;"
}
