/* SPDX-License-Identifier: Apache-2.0 */
/* The table of ranks: the rows in sight, as omig web sends them. */

const ROW_PX = 24;
const AT = { token: 0, rank: 1, host: 2, program: 3, pid: 4, state: 5, slow: 6, call: 7, seconds: 8,
	share: 9, calls: 17, messages: 18, out: 19, in: 20, cpu: 21, rss: 22 };

/* Heading, help, the order that omig web knows (or none), text of a row. */
const COLUMNS_OF_TABLE = [
	["Rank", "number in MPI_COMM_WORLD; red: the others wait for it", "rank",
		(r) => r[AT.rank] < 0 ? "-" : String(r[AT.rank])],
	["Host", "where it runs", "", (r) => r[AT.host], "text"],
	["State", "of the process", "", (r) => r[AT.state], "text"],
	["Does", "the call in which it is now; - is none", "", (r) => r[AT.call], "text"],
	["For", "how long it has been there", "for", (r) => r[AT.call] === "-" ? "" : seconds(r[AT.seconds])],
	["Share of time", "in the last interval, by kind of work", "", null, "text"],
	["MPI %", "time in MPI", "mpi", (r) => isKnown(r[AT.share]) ? percent(100 - r[AT.share]) : "-"],
	["Calls/s", "MPI calls", "calls", (r) => short(r[AT.calls])],
	["Messages/s", "messages sent", "", (r) => short(r[AT.messages])],
	["Out B/s", "bytes sent", "bytes", (r) => short(r[AT.out])],
	["In B/s", "bytes received", "", (r) => short(r[AT.in])],
	["CPU %", "of one processor", "cpu", (r) => percent(r[AT.cpu])],
	["Memory B", "resident", "rss", (r) => short(r[AT.rss])],
];

class Table {
	constructor(look, choose) {
		this.look = look;
		this.choose = choose;
		this.sort = "rank";
		this.reverse = false;
		this.first = 0;
		this.place = $("table");
		this.body = make("tbody");
		this.heads = COLUMNS_OF_TABLE.map((c) => this.head(c));
		this.spacer = make("div");
		this.place.append(make("div", { className: "tall" }, make("table", {},
			make("thead", {}, make("tr", {}, ...this.heads)), this.body), this.spacer));
		this.place.addEventListener("scroll", () => this.scrolled());
		$("filter").addEventListener("input", () => {
			clearTimeout(this.typing);
			this.typing = setTimeout(() => this.look({ filter: $("filter").value, first: 0 }), 150);
		});
	}

	head([name, help, sort, , kind]) {
		const inside = sort ? make("button", { type: "button", className: "plain",
			onclick: () => this.order(sort) }, name) : name;
		const th = make("th", { scope: "col", title: help, className: kind || "" }, inside);

		th.dataset.sort = sort;
		return th;
	}

	order(sort) {
		this.reverse = this.sort === sort ? !this.reverse : false;
		this.sort = sort;
		this.look({ sort, reverse: this.reverse, first: 0 });
		this.place.scrollTop = 0;
	}

	/* Rows above the first one are as high as if they were there. */
	scrolled() {
		const first = Math.max(0, Math.floor(this.place.scrollTop / ROW_PX) - 5);

		if (Math.abs(first - this.first) < 5 && first)
			return;
		clearTimeout(this.timer);
		this.timer = setTimeout(() => this.look({ first }), 60);
	}

	mix(r) {
		const parts = KINDS.map((name, k) => ({ name, k, v: r[AT.share + k] }));
		const e = make("div", { className: isKnown(r[AT.share]) ? "mix" : "mix none" });
		const said = parts.filter((p) => isKnown(p.v) && p.v >= 0.5)
			.map((p) => p.name + " " + percent(p.v) + " %").join(", ");

		for (const p of parts)
			if (isKnown(p.v) && p.v > 0) {
				const i = make("i");

				i.style.width = Math.min(100, p.v) + "%";
				i.style.background = "var(--k" + p.k + ")";
				e.append(i);
			}
		e.title = said || "unknown";
		e.setAttribute("role", "img");
		e.setAttribute("aria-label", said || "unknown");
		return e;
	}

	row(r) {
		const tr = make("tr", { onclick: () => this.choose(r[AT.token]) });

		tr.className = (r[AT.slow] ? "slow " : "") + (r[AT.token] === this.chosen ? "chosen" : "");
		for (const [, , , text, kind] of COLUMNS_OF_TABLE)
			tr.append(text ? make("td", { className: kind || "", title: kind ? text(r) : "" },
				kind ? make("span", { className: "name" }, text(r)) : text(r))
				: make("td", { className: "text" }, this.mix(r)));
		return tr;
	}

	set(m) {
		this.last = m;
		this.first = m.first;
	}

	draw() {
		const m = this.last;

		/* rows stay while nothing changes: a pointer or a selection may be on them */
		if (!m || (this.drawn === m && this.drawnChosen === this.chosen))
			return;
		this.drawn = m;
		this.drawnChosen = this.chosen;
		this.body.replaceChildren(...m.rows.map((r) => this.row(r)));
		this.body.style.transform = m.first ? "translateY(" + m.first * ROW_PX + "px)" : "";
		this.spacer.style.height = Math.max(0, m.found - m.rows.length) * ROW_PX + "px";
		for (const th of this.heads)
			if (th.dataset.sort)
				th.setAttribute("aria-sort", th.dataset.sort !== m.sort ? "none"
					: m.reverse === (m.sort === "rank") ? "descending" : "ascending");
		$("found").textContent = (m.found === m.all ? m.all + " processes"
			: m.found + " of " + m.all + " processes") + (m.ended ? ", " + m.ended + " ended" : "");
	}
}
