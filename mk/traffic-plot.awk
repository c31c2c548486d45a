# SPDX-License-Identifier: Apache-2.0
# The lines of bench_traffic -> an SVG: a panel for each axis and unit, evaluated where the data is
# born and at the top.
function field(name,   at, rest) {
	at = index($0, "\"" name "\":")
	rest = at ? substr($0, at + length(name) + 3) : ""
	gsub(/^[" ]+/, "", rest)
	sub(/[",}].*/, "", rest)
	return rest
}
function log2(v) { return log(v > 0 ? v : 0.001) / log(2) }
function left(panel) { return panel % 2 * 460 + 80 }
function top(panel) { return int(panel / 2) * 290 + 45 }
function x(panel, axis, i) {
	return left(panel) + 30 + (count[axis] > 1 ? (i - 1) / (count[axis] - 1) : 0) * 280
}
function y(panel, v) { return top(panel) + 200 - (log2(v) - lo) / (hi - lo) * 160 }
function text(px, py, words, more) {
	printf "<text x=\"%.1f\" y=\"%.1f\" %s>%s</text>\n", px, py, more, words
}
function short(v) { return v >= 1048576 ? v / 1048576 " Mi" : v >= 1024 ? v / 1024 " Ki" : v "" }
function curve(panel, axis, what, words, colour, place,   i, points) {
	for (i = 1; i <= count[axis]; i++) {
		points = points sprintf("%.1f,%.1f ", x(panel, axis, i), \
			y(panel, value[what, axis, at[axis, i]]))
		printf "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"%s\"/>\n", \
			x(panel, axis, i), y(panel, value[what, axis, at[axis, i]]), colour
	}
	printf "<polyline points=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"2\"/>\n", \
		points, colour
	text(left(panel) + 10, top(panel) + 16 * place, words, "fill=\"" colour "\"")
}
function frame(panel, axis, what, title,   i, v, k) {
	lo = 1e9; hi = -1e9
	for (i = 1; i <= count[axis]; i++)
		for (k = 0; k < 2; k++) {
			v = log2(value[what (k ? ".central" : ""), axis, at[axis, i]])
			lo = v < lo ? v : lo; hi = v > hi ? v : hi
		}
	lo = int(lo) - 1; hi = int(hi) + 1
	printf "<rect x=\"%d\" y=\"%d\" width=\"340\" height=\"205\" " \
		"fill=\"none\" stroke=\"#888\"/>\n", \
		left(panel), top(panel)
	text(left(panel), top(panel) - 8, title, "font-weight=\"bold\"")
	for (i = 1; i <= count[axis]; i++)
		text(x(panel, axis, i), top(panel) + 222, at[axis, i], "text-anchor=\"middle\"")
	for (v = lo; v <= hi; v += int((hi - lo) / 6) + 1)
		text(left(panel) - 6, y(panel, 2 ^ v) + 4, short(2 ^ v), "text-anchor=\"end\"")
	curve(panel, axis, what ".central", "all at the top", "#c4351f", 1)
	curve(panel, axis, what, "where the data is born", "#0b62a4", 2)
}
/"name":"flow\.[a-z_]*\.(rate|procs|hosts|sites)_/ {
	split(field("name"), part, ".")
	split(part[3], where, "_")
	value[part[2] (part[4] ? "." part[4] : ""), where[1], where[2]] = field("value")
	if (!((where[1], where[2]) in seen)) {
		seen[where[1], where[2]] = 1
		at[where[1], ++count[where[1]]] = where[2]
	}
}
END {
	print "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"920\" height=\"880\" " \
		"font-family=\"sans-serif\" font-size=\"12\">"
	print "<rect width=\"920\" height=\"880\" fill=\"white\"/>"
	frame(0, "rate", "top_bytes_per_s", \
		"Bytes/s to the front end, by events/s of each process")
	frame(1, "rate", "host_bytes_per_s", \
		"Bytes/s on a host's link, by events/s of each process")
	frame(2, "rate", "top_msgs_per_s", \
		"Messages/s to the front end, by events/s of each process")
	frame(3, "procs", "top_bytes_per_s", "Bytes/s to the front end, by processes on one host")
	frame(4, "hosts", "top_bytes_per_s", "Bytes/s to the front end, by hosts of one site")
	frame(5, "sites", "top_bytes_per_s", "Bytes/s to the front end, by sites of two hosts")
	print "</svg>"
}
