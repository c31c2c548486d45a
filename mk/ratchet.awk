# SPDX-License-Identifier: Apache-2.0
# awk -v name=NAME -v list=mk/ratchet/NAME [-v part=1] [-v lower=1] -f mk/ratchet.awk FOUND.
# Compares the deviations from a rule with the list of those that are still allowed, and writes TAP.
# A line of FOUND is `KEY<TAB>what stands where`. A line of the list is `KEY`, or `KEY COUNT` where
# a key may occur more than once; ` # ` starts a reason. A key that is new, or occurs more often,
# fails, and so does an entry that is too high: the list only shrinks.
# part=1: FOUND is of a part of the tree, so a key that is missing proves nothing.
# lower=1: writes the list without what is no longer true (`make ratchet`).
BEGIN {
	FS = "\t"
	while ((got = getline line <list) > 0) {
		lines[++nlines] = line
		sub(/[ \t]*#.*/, "", line)
		if (line == "") continue
		key = line
		count = 1
		if (match(line, / [0-9]+$/)) {
			count = substr(line, RSTART + 1) + 0
			key = substr(line, 1, RSTART - 1)
			counted[key] = 1
		}
		allowed[key] = count
		at[nlines] = key
	}
	if (got >= 0) close(list)
}
{
	if (!($1 in found)) order[++nkeys] = $1
	found[$1]++
	if ($2 != "" && found[$1] <= 200) where[$1] = where[$1] "#   " $2 "\n"
}
function reason(line) { return match(line, /[ \t]*#/) ? substr(line, RSTART) : "" }
function is_true(key) { return key in found && found[key] >= allowed[key] }
END {
	if (lower && !nlines) exit
	if (lower) {
		out = ""
		for (i = 1; i <= nlines; i++) {
			line = lines[i]
			if (i in at) {
				if (!(at[i] in found)) continue
				if (found[at[i]] < allowed[at[i]])
					line = at[i] " " found[at[i]] reason(line)
			}
			out = out line "\n"
		}
		printf "%s", out >list
		exit
	}
	for (i = 1; i <= nkeys; i++) {
		key = order[i]
		if (key in allowed && found[key] <= allowed[key]) continue
		printf "%s# %s: %d, where %s allows %d\n",
			where[key], key, found[key], list, allowed[key]
		bad = 1
	}
	for (i = 1; i <= nlines && !part; i++)
		if (i in at && !is_true(at[i])) {
			printf "# %s has `%s` where %d is true: `make ratchet` lowers it\n",
				list, lines[i], found[at[i]]
			bad = 1
		}
	print (bad ? "not ok - " : "ok - ") name
}
