/* --- moving about */

let isSaving = 0;
function save() {
	const at = { from: Math.round(view.from), to: Math.round(view.to) };
	if (view.pick >= 0)
		at.key = log.keys[lines.key[view.pick]];
	clearTimeout(isSaving);
	isSaving = setTimeout(() => {
		try {
			history.replaceState(null, "", "#" + new URLSearchParams(at));
		} catch { /* some viewers keep a page from that */ }
	}, 300);
}

function show(from, to) {
	const least = 10, wide = Math.min(Math.max(to - from, least), span);
	view.from = Math.min(Math.max(from, 0), span - wide);
	view.to = view.from + wide;
	save();
	redraw();
}
const zoom = (factor, t = (view.from + view.to) / 2) => show(t - (t - view.from) * factor, t + (view.to - t) * factor);
const pan = part => show(view.from + part * (view.to - view.from), view.to + part * (view.to - view.from));

function zoomToPick() {
	if (view.pick < 0)
		return;
	const a = lines.at[lines.first[view.pick]], b = a + lines.took[view.pick], room = Math.max((b - a) * 1.5, 20);
	show(a - room, b + room);
}

/* --- one line */

function cell(row, text) {
	row.appendChild(document.createElement("td")).textContent = text;
}

function tellSteps(i) {
	const table = document.createElement("table"), top = table.createTHead().insertRow(), body = table.createTBody();
	for (const word of ["step of this line", "time", "median"])
		top.appendChild(document.createElement("th")).textContent = word;
	for (let p = lines.first[i] + 1; p < lines.first[i + 1]; p++) {
		const a = lines.stage[p - 1], b = lines.stage[p], took = lines.at[p] - lines.at[p - 1];
		const step = log.steps.find(s => s.a === a && s.b === b), row = body.insertRow();
		row.className = step && took > 3 * step.median ? "much" : "";
		cell(row, step ? step.name : stages[a].name + " \u2192 " + stages[b].name);
		cell(row, duration(took));
		cell(row, step && step.median ? (took / step.median).toFixed(took / step.median < 10 ? 1 : 0) + " \u00d7" : "");
	}
	return table;
}

function pick(i, move) {
	view.pick = i;
	said.textContent = "";
	if (i >= 0) {
		const a = lines.first[i], kind = stages[lines.stage[a]].kind, has = new Set(lines.stage.subarray(a, lines.first[i + 1]));
		const lack = stages.filter((s, k) => s.expected && s.kind === kind && !has.has(k)).map(s => s.name);
		const head = document.createElement("p"), name = document.createElement("b");
		name.textContent = `${log.keyName} ${log.keys[lines.key[i]]}`;
		head.append(name, `: ${duration(lines.took[i])}, begun at ${clock(lines.at[a], 1000)}` +
			(lack.length ? "; missing: " + lack.join(", ") : ""));
		said.append(head, tellSteps(i));
		if (move && (lines.at[a] > view.to || lines.at[a] + lines.took[i] < view.from))
			zoomToPick();
	}
	save();
	redraw();
}

const slowRank = i => lines.bySlow.indexOf(i);
const nextSlow = by => lines.n && pick(lines.bySlow[view.pick < 0 ? 0 : (slowRank(view.pick) + by + lines.n) % lines.n], true);
const nextLine = by => lines.n && pick(view.pick < 0 ? visible()[0] % lines.n : (view.pick + by + lines.n) % lines.n, true);

function findKey(text, after) {
	const is = i => log.keys[lines.key[i]] === text, has = i => log.keys[lines.key[i]].includes(text);
	for (const fits of [is, has])
		for (let k = 1; k <= lines.n; k++)
			if (fits((after + k) % lines.n))
				return (after + k) % lines.n;
	return -1;
}

function searchNow() {
	const text = search.value.trim(), i = text && lines.n ? findKey(text, Math.max(view.pick, 0) - (view.pick < 0)) : -1;
	pick(i, true);
	if (i >= 0)
		zoomToPick();
	else if (text)
		said.textContent = `no line has ${log.keyName} ${text}`;
}

/* The line nearest to a place on the canvas, at most 12 pixels away. */
function nearest(x, y) {
	const [a, b] = visible();
	let best = -1, least = 12;
	for (let i = a; i < b; i++)
		for (let p = lines.first[i] + 1; p < lines.first[i + 1]; p++) {
			const x0 = xOf(lines.at[p - 1]), x1 = xOf(lines.at[p]);
			if (x < x0 - least || x > x1 + least)
				continue;
			const y0 = yOf(lines.stage[p - 1]), dx = x1 - x0, dy = yOf(lines.stage[p]) - y0;
			const k = Math.min(1, Math.max(0, ((x - x0) * dx + (y - y0) * dy) / (dx * dx + dy * dy || 1)));
			const d = Math.hypot(x - x0 - k * dx, y - y0 - k * dy);
			if (d < least) {
				least = d;
				best = i;
			}
		}
	return best;
}

/* --- hands */

function place(ev, c) {
	const r = c.getBoundingClientRect();
	return [ev.clientX - r.left, ev.clientY - r.top];
}

let drag = null;
canvas.addEventListener("pointerdown", ev => {
	const [x] = place(ev, canvas);
	drag = { x, from: view.from, to: view.to, moved: false };
	canvas.setPointerCapture(ev.pointerId);
	canvas.focus({ preventScroll: true });
});
canvas.addEventListener("pointermove", ev => {
	const [x, y] = place(ev, canvas);
	if (drag) {
		drag.moved ||= Math.abs(x - drag.x) > 3;
		const by = (drag.x - x) / view.wide * (drag.to - drag.from);
		if (drag.moved)
			show(drag.from + by, drag.to + by);
	}
	tellPlace(x, y);
});
canvas.addEventListener("pointerup", ev => {
	if (drag && !drag.moved)
		pick(nearest(...place(ev, canvas)), false);
	drag = null;
});
canvas.addEventListener("pointerleave", () => tip.hidden = true);
canvas.addEventListener("dblclick", ev => zoom(0.4, tOf(place(ev, canvas)[0])));
canvas.addEventListener("wheel", ev => {
	ev.preventDefault();
	if (Math.abs(ev.deltaX) > Math.abs(ev.deltaY) || ev.shiftKey)
		pan((ev.deltaX || ev.deltaY) / view.wide);
	else
		zoom(Math.exp(Math.max(-60, Math.min(60, ev.deltaY)) * 0.004), tOf(place(ev, canvas)[0]));
}, { passive: false });

function tellPlace(x, y) {
	tip.hidden = x < gutter;
	if (tip.hidden)
		return;
	let text = clock(tOf(x), (view.to - view.from) / view.wide);
	const i = document.body.dataset.mode === "lines" && y < linesEnd() && !drag ? nearest(x, y) : -1;
	if (i >= 0)
		text += ` \u00b7 ${log.keyName} ${log.keys[lines.key[i]]}, ${duration(lines.took[i])}`;
	const k = Math.floor((y - linesEnd() - marks.length * MARK) / LOAD);
	if (k >= 0 && k < loads.length && loads[k].at.length)
		text += ` \u00b7 ${figure(loads[k].value[Math.min(lower(loads[k].at, tOf(x)), loads[k].at.length - 1)])}`;
	tip.textContent = text;
	tip.style.left = Math.max(0, Math.min(x + 14, canvas.clientWidth - tip.offsetWidth - 4)) + "px";
	tip.style.top = y + whole.clientHeight + 16 + "px";
}

let isMovingWindow = false;
function moveWindow(ev) {
	const t = (place(ev, whole)[0] - gutter) / view.wide * span, half = (view.to - view.from) / 2;
	show(t - half, t + half);
}
whole.addEventListener("pointerdown", ev => {
	isMovingWindow = true;
	whole.setPointerCapture(ev.pointerId);
	moveWindow(ev);
});
whole.addEventListener("pointermove", ev => isMovingWindow && moveWindow(ev));
whole.addEventListener("pointerup", () => isMovingWindow = false);

const KEYS = {
	ArrowLeft: () => pan(-0.2), ArrowRight: () => pan(0.2), ArrowUp: () => zoom(0.6), ArrowDown: () => zoom(1 / 0.6),
	"+": () => zoom(0.6), "=": () => zoom(0.6), "-": () => zoom(1 / 0.6), Home: () => show(0, span), 0: () => show(0, span),
	n: () => nextLine(1), p: () => nextLine(-1), s: () => nextSlow(1), S: () => nextSlow(-1), z: zoomToPick,
	"/": () => search.focus(), Escape: () => pick(-1, false), "?": () => find("help").open = !find("help").open,
};
document.addEventListener("keydown", ev => {
	if (ev.ctrlKey || ev.metaKey || ev.altKey)
		return;
	if (ev.target === search) {
		if (ev.key === "Enter")
			searchNow();
		else if (ev.key === "Escape")
			canvas.focus();
		return;
	}
	const act = (ev.target === canvas || !["Home", " ", "Enter"].includes(ev.key)) && KEYS[ev.key];
	if (act && !(ev.target.closest && ev.target.closest("summary"))) {
		ev.preventDefault();
		act();
	}
});
const BUTTONS = { in: "+", out: "-", all: "0", slow: "s", next: "n", fit: "z" };
for (const b of document.querySelectorAll("button[data-do]"))
	b.addEventListener("click", () => KEYS[BUTTONS[b.dataset.do]]());

function start() {
	const at = new URLSearchParams(location.hash.slice(1)), from = parseFloat(at.get("from")), to = parseFloat(at.get("to"));
	readColors();
	if (to > from)
		show(from, to);
	if (at.has("key") && lines.n)
		pick(findKey(at.get("key"), -1), true);
	draw();
	document.body.dataset.ready = lines.n;
}
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
	readColors();
	redraw();
});
window.addEventListener("resize", redraw);
window.addEventListener("hashchange", start);
start();
})();
