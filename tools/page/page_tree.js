/* SPDX-License-Identifier: Apache-2.0 */
/* Sites, hosts and ranks; the chosen rank; the gauges. */

class Tree {
	constructor(look, choose) {
		this.look = look;
		this.choose = choose;
		this.open = new Set();
	}

	toggle(token) {
		if (!this.open.delete(token))
			this.open.add(token);
		this.look({ open: [...this.open].slice(-8).join(",") });
	}

	host(n) {
		const isOpen = this.open.has(n.token), isUp = n.state === "up";
		const li = make("li", {},
			make("button", { type: "button", className: "plain", "aria-expanded": String(isOpen),
				"aria-label": "ranks of " + n.name, onclick: () => this.toggle(n.token) },
				isOpen ? "\u25be " : "\u25b8 "),
			make("button", { type: "button", className: "plain name", title: "show its ranks only",
				onclick: () => filterBy(n.name) }, n.name), " ",
			make("span", { className: isUp && !n.full ? "dim" : "bad" }, isUp
				? short(n.processes) + (isKnown(n.load) ? ", load " + short(n.load, 2) + " of " + short(n.cpus) : "")
				: n.state));

		if (isOpen && n.ranks)
			li.append(make("ul", {}, ...n.ranks.map((r) => make("li", {},
				make("button", { type: "button", className: "plain name",
					onclick: () => this.choose(r[0]) },
					r[1] < 0 ? r[2] : "rank " + r[1]),
				" ", make("span", { className: "dim" }, r[3]))),
				...(n.processes > n.ranks.length
					? [make("li", { className: "dim" }, n.processes - n.ranks.length + " more")] : [])));
		return li;
	}

	set(m) {
		const at = [...$("tree").querySelectorAll("button")].indexOf(document.activeElement);

		$("tree").replaceChildren(make("ul", {}, ...m.sites.map((s) => make("li", {},
			make("b", { className: "name" }, s.name), " ",
			make("span", { className: s.state === "up" ? "dim" : "bad" }, s.state === "up" ? "" : s.state),
			make("ul", {}, ...s.nodes.map((n) => this.host(n)))))));
		if (m.more)
			$("tree").append(make("p", { className: "dim" }, m.more + " more hosts"));
		if (at >= 0) /* the focus stays where it was */
			($("tree").querySelectorAll("button")[at] || $("tree")).focus({ preventScroll: true });
		if (!m.sites.length)
			$("tree").append(make("p", { className: "dim" }, "no site yet"));
	}
}

function filterBy(text) {
	$("filter").value = $("filter").value === text ? "" : text;
	$("filter").dispatchEvent(new Event("input"));
}

const GAUGES = [
	["parallel", "Parallel efficiency", "computation of all ranks, as a share of their time if none waited: load balance x communication"],
	["load_balance", "Load balance", "mean computation / the longest"],
	["communication", "Communication", "the longest computation / time: serialisation and transfer together"],
	["mpi_share", "Time in MPI", "of all ranks"],
];

function drawGauges(e) {
	const about = e.known ? "last " + Math.round(e.span_s) + " s, " + e.known + " of " + e.of + " ranks" +
		(e.job ? " of " + e.job : "")
		: "not known yet";

	$("gauges").replaceChildren(...GAUGES.map(([key, name, help]) => {
		const bar = make("i"), isThere = isKnown(e[key]);

		bar.style.width = isThere ? Math.max(0, Math.min(100, e[key] * 100)) + "%" : "0";
		return make("div", { className: "gauge", title: help }, make("span", {}, name),
			make("b", {}, isThere ? Math.round(e[key] * 100) + " %" : "-"),
			make("div", { className: "bar" }, bar), make("span", {}, about));
	}));
}

function drawChosen(m, close) {
	const place = $("chosen");

	place.hidden = !m || !m.token;
	if (place.hidden)
		return;
	const pair = (name, value) => make("div", {}, make("dt", {}, name), make("dd", { className: "name" }, value));
	const head = (text) => make("h2", {}, text, " ", make("button", { type: "button", onclick: close }, "close"));

	if (!m.known) {
		place.replaceChildren(head("This rank is not in the last sample: it has ended, or its host is silent"));
		return;
	}
	const r = m.row;

	place.replaceChildren(head((r[AT.rank] < 0 ? "Process " + r[AT.pid] : "Rank " + r[AT.rank]) + " on " + r[AT.host]),
		make("dl", {}, pair("program", r[AT.program]), pair("job", m.job || "-"), pair("pid", String(r[AT.pid])),
			pair("state", r[AT.state]), pair("in", r[AT.call]), pair("calls", short(m.calls)),
			pair("sent", short(m.bytes_out) + " B"), pair("received", short(m.bytes_in) + " B"),
			pair("CPU", seconds(m.cpu_s)),
			...KINDS.map((k, i) => pair(k, percent(r[AT.share + i]) + " %"))));
}
