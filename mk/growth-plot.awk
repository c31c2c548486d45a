# SPDX-License-Identifier: Apache-2.0
# Lines "X.CURVE.N.UNIT" -> an SVG with N on x, both axes logarithmic.
# panels: "title|curves;..."; by: the curve with the Ns of the axis; only: the prefix of names.
function field(name,   at, rest) {
	at = index($0, "\"" name "\":")
	rest = at ? substr($0, at + length(name) + 3) : ""
	gsub(/^[" ]+/, "", rest)
	sub(/[",}].*/, "", rest)
	return rest
}
function log2(v) { return log(v > 0 ? v : 0.001) / log(2) }
function x(panel, hosts) {
	return panel % 2 * 460 + 70 + (log2(hosts) - xmin) / (xmax - xmin) * 340
}
function y(panel, v) { return int(panel / 2) * 300 + 250 - (log2(v) - lo) / (hi - lo) * 190 }
function text(px, py, words, more) {
	printf "<text x=\"%.1f\" y=\"%.1f\" %s>%s</text>\n", px, py, more, words
}
function short(v) { return v >= 1e6 ? v / 1e6 "M" : v >= 1000 ? v / 1000 "k" : v "" }
function curve(panel, what, colour, place,   i, points) {
	for (i = 1; i <= nhosts; i++)
		if ((what, hosts[i]) in value) {
			points = points sprintf("%.1f,%.1f ", x(panel, hosts[i]), \
				y(panel, value[what, hosts[i]]))
			printf "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"%s\"/>\n", \
				x(panel, hosts[i]), y(panel, value[what, hosts[i]]), colour
		}
	printf "<polyline points=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"2\"/>\n", \
		points, colour
	text(panel % 2 * 460 + 80, int(panel / 2) * 300 + 62 + 16 * place, what, \
		"fill=\"" colour "\"")
}
function frame(panel, title, curves,   n, w, i, k, v, c) {
	n = split(curves, w, " ")
	lo = 1e9; hi = -1e9
	for (k = 1; k <= n; k++)
		for (i = 1; i <= nhosts; i++)
			if ((w[k], hosts[i]) in value) {
				v = log2(value[w[k], hosts[i]])
				lo = v < lo ? v : lo; hi = v > hi ? v : hi
			}
	lo = int(lo) - (lo < 0); hi = int(hi) + 1
	printf "<rect x=\"%d\" y=\"%d\" width=\"340\" height=\"210\" " \
		"fill=\"none\" stroke=\"#888\"/>\n", \
		panel % 2 * 460 + 70, int(panel / 2) * 300 + 45
	text(panel % 2 * 460 + 70, int(panel / 2) * 300 + 36, title, "font-weight=\"bold\"")
	for (i = 1; i <= nhosts; i++)
		text(x(panel, hosts[i]), int(panel / 2) * 300 + 272, hosts[i], \
			"text-anchor=\"middle\"")
	for (v = lo; v <= hi; v += int((hi - lo) / 5) + 1)
		text(panel % 2 * 460 + 64, y(panel, 2 ^ v) + 4, short(2 ^ v), "text-anchor=\"end\"")
	split("#0b62a4 #c4351f #4d8b31 #777777", c, " ")
	for (k = 1; k <= n; k++)
		curve(panel, w[k], c[k], k)
}
index($0, "\"name\":\"" only ".") {
	n = split(field("name"), part, ".")
	if (part[n - 1] !~ /^[0-9]+$/)
		next
	what = part[2]
	for (i = 3; i < n - 1; i++)
		what = what "." part[i]
	if (what == "top")
		what = what "." part[n]
	value[what, part[n - 1]] = field("value")
	if (what == by) {
		hosts[++nhosts] = part[n - 1]
		xmin = nhosts == 1 ? log2(part[n - 1]) : xmin
		xmax = log2(part[n - 1])
	}
}
END {
	if (xmax == xmin)
		xmax++
	npanel = split(panels, panel, ";")
	high = int((npanel + 1) / 2) * 300
	print "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"920\" height=\"" high "\" " \
		"font-family=\"sans-serif\" font-size=\"12\">"
	print "<rect width=\"920\" height=\"" high "\" fill=\"white\"/>"
	for (i = 1; i <= npanel; i++) {
		split(panel[i], words, "|")
		frame(i - 1, words[1], words[2])
	}
	print "</svg>"
}
