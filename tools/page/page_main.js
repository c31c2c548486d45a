/* SPDX-License-Identifier: Apache-2.0 */
/* The page: lines of the stream become parts of it. It draws once a frame, what is newest. */

const CHARTS = "omig-charts";
const KEYS = [["?", "these keys"], ["/", "filter the ranks"], ["m", "a new metric"], ["e", "type a metric in PMSL"],
	["space", "freeze the pictures, and go on"], ["[ ]", "step back and forth in time"],
	["+ -", "a shorter and a longer time"], ["arrows", "move the cursor in a picture; its value is in words below"],
	["Enter", "in the strip: choose the rank"], ["t", "tables in place of charts"], ["Esc", "close the rank, leave a field"]];

const colours = new Colours();
const charts = new Map();
let dirty = false, now = null, chosen = null, lookLater = {};

function redraw() {
	if (dirty)
		return;
	dirty = true;
	requestAnimationFrame(() => {
		dirty = false;
		draw();
	});
}

/* --- what this page looks at */

let lookTimer = 0;

function look(what) {
	Object.assign(lookLater, what);
	clearTimeout(lookTimer);
	lookTimer = setTimeout(() => {
		const it = lookLater;

		lookLater = {};
		Object.assign(state, it);
		if (wire.viewer)
			wire.post("look", it).catch(() => 0);
	}, 10);
}

const state = { rows: Strip.wantedRows(), count: 40 };

function choose(token) {
	const is = token === state.chosen ? "" : token;

	state.chosen = strip.chosen = table.chosen = is;
	chosen = null;
	look({ chosen: is });
	redraw();
}

/* --- charts: they are opened again when the stream is */

const wanted = JSON.parse(sessionStorage.getItem(CHARTS) || "[]");

function keepWanted() {
	sessionStorage.setItem(CHARTS, JSON.stringify(wanted));
}

async function openChart(what) {
	const { id } = await wire.post("chart", what);
	const one = charts.get(id) || new Chart(id, colours, () => closeChart(id));

	what.id = id;
	one.redraw = redraw;
	charts.set(id, one);
	$("charts").append(one.element);
	return one;
}

async function newChart(what) {
	await openChart(what);
	if (!wanted.some((w) => w.id === what.id))
		wanted.push(what);
	keepWanted();
}

function closeChart(id) {
	const one = charts.get(id), at = wanted.findIndex((w) => w.id === id);

	if (at >= 0)
		wanted.splice(at, 1);
	keepWanted();
	charts.delete(id);
	one.element.remove();
	wire.post("drop", { id }).catch(() => 0);
}

const isPartial = (m) => m.lost_ms > 0 || m.asked > m.answered;

/*
 * A refused chart is dropped. Without mainsm, a host or a stream it may be no refusal: the chart is
 * opened later.
 */
async function openMissing() {
	const viewer = wire.viewer;

	for (const what of wanted.filter((w) => !charts.has(w.id))) {
		if (wire.viewer !== viewer)
			return;
		await openChart(what).catch((e) => {
			const at = wanted.indexOf(what);

			newOne.note.textContent = what.metric + ": " + e.message;
			if (e.status === 409 && wire.viewer === viewer && now && !isPartial(now) && at >= 0)
				wanted.splice(at, 1);
		});
	}
	keepWanted();
}

function reopenCharts() {
	charts.clear();
	$("charts").replaceChildren();
	wanted.forEach((w) => w.id = 0);
	openMissing();
}

/* --- lines of the stream */

function setLink(text, isBad) {
	$("link").textContent = text;
	$("link").classList.toggle("bad", !!isBad);
}

const wire = new Wire({
	door(why) {
		$("door").hidden = false;
		document.querySelector("main").hidden = true;
		$("door-why").textContent = why;
		$("answer").textContent = "not connected";
		setLink("");
	},
	state(is, why) {
		if (is === "down") {
			page.down = why;
			redraw();
		} else {
			page.down = "";
			$("door").hidden = true;
			document.querySelector("main").hidden = false;
		}
	},
	hello(m) {
		$("version").textContent = m.version;
		wire.post("look", state).catch(() => 0);
		reopenCharts();
	},
	now(m) {
		if (now && isPartial(now) && !isPartial(m))
			openMissing();
		now = m;
		page.skew = Date.now() - m.server_ms;
		strip.every = m.every_ms;
		redraw();
	},
	rows(m) {
		strip.setRows(m);
		redraw();
	},
	columns(m) {
		strip.add(m);
		redraw();
	},
	table(m) {
		if (!strip.frozen)
			table.set(m);
		redraw();
	},
	rank(m) {
		if (!strip.frozen)
			chosen = m;
		redraw();
	},
	tree(m) {
		tree.set(m);
	},
	chart(m) {
		if (charts.has(m.id))
			charts.get(m.id).set(m);
		redraw();
	},
});

const page = { down: "", skew: 0 };
const strip = new Strip(colours, choose);
const table = new Table(look, choose);
const tree = new Tree(look, choose);
const newOne = new NewChart(wire, newChart);

/* --- drawing */

function drawLink() {
	const lag = now && now.ms ? Date.now() - page.skew - now.ms : 0;

	if (page.down) {
		setLink("Not connected: " + page.down + ". What was seen stays; the page tries again.", true);
	} else if (now && now.lost_ms) {
		setLink("mainsm is gone since " + clock(now.lost_ms) + ": nothing new is known. The page goes on when it is back.", true);
	} else if (now) {
		const missing = now.asked > now.answered ? "; " + now.answered + " of " + now.asked + " objects answered" +
			now.missing.map((x) => "; \u2068" + x.name + "\u2069: " + x.why).join("") : "";
		const isOld = lag > 5 * now.every_ms + 2000;

		setLink((strip.frozen ? "frozen at " + clock(strip.frozen) + "; " : "") + (now.ms ? "sample of " + clock(now.ms) : "no sample yet") +
			(isOld ? ", " + ago(lag) + " old" : "") + (now.job ? ", job " + now.job : "") + missing,
			missing || isOld);
	}
}

function drawWords() {
	$("answer").textContent = now.answer;
	document.title = now.answer + " \u2013 Omig";
	$("words").replaceChildren(...now.words.map((w) => make("li",
		{ className: w.kind === "plain" || w.kind === "ended" ? "plain" : "urgent" },
		make("span", { className: "name" }, w.text))));
	if (now.more_words)
		$("words").append(make("li", { className: "plain" }, now.more_words + " more"));
}

function draw() {
	drawLink();
	if (!now)
		return;
	if (!strip.frozen) {
		drawWords();
		drawGauges(now.efficiency);
	}
	strip.draw();
	table.draw();
	drawChosen(state.chosen ? chosen : null, () => choose(""));
	for (const c of charts.values()) {
		c.every = now.every_ms;
		c.draw(strip.end + (strip.frozen ? 0 : now.every_ms), strip.spanMs);
		c.drawTwin();
	}
}

/* --- keys */

function help() {
	const d = $("help");

	d.replaceChildren(make("h2", {}, "Keys"), make("table", {}, make("tbody", {}, ...KEYS.map(([k, text]) =>
		make("tr", {}, make("td", {}, make("kbd", {}, k)), make("td", {}, text))))),
		make("form", { method: "dialog" }, make("button", {}, "close")));
	d.showModal();
}

const ACTIONS = {
	"?": help,
	"/": () => $("filter").focus(),
	m: () => {
		if (newOne.isTyped)
			newOne.toggle();
		newOne.input.focus();
	},
	e: () => newOne.isTyped ? newOne.text.focus() : newOne.toggle(),
	" ": () => {
		strip.freeze();
		redraw();
	},
	"[": () => strip.step(-1),
	"]": () => strip.step(1),
	"+": () => strip.zoom(-1),
	"-": () => strip.zoom(1),
	t: () => charts.forEach((c) => c.table()),
};

function onKey(e) {
	const isField = /^(INPUT|TEXTAREA|SELECT)$/.test(e.target.tagName);

	if (e.ctrlKey || e.altKey || e.metaKey)
		return;
	if (e.key === "Escape" && isField) {
		e.target.blur();
		return;
	}
	if (e.key === "Escape" && state.chosen)
		choose("");
	if (isField || (e.key === " " && e.target.tagName === "BUTTON"))
		return;
	const act = ACTIONS[e.key];

	if (act) {
		e.preventDefault();
		act();
		redraw();
	}
}

document.addEventListener("keydown", onKey);
addEventListener("resize", redraw);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
setInterval(drawLink, 1000);
wire.start();
