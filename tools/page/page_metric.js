/* SPDX-License-Identifier: Apache-2.0 */
/* A new chart: a metric that is found by its name or help, or typed in PMSL. */

const FOUND_MAX = 12;
const EXAMPLE = "Worst_wait(Process[] objects, TimeInterval time) {\n\tProcess p;\n\tRETURN MAX(Wait_delay(p, time) WHERE p IN objects);\n}\n";

class NewChart {
	constructor(wire, open) {
		this.wire = wire;
		this.open = open;
		this.metrics = [];
		this.at = 0;
		this.input = make("input", { placeholder: "a metric: type a part of its name or help", role: "combobox",
			"aria-expanded": "false", "aria-controls": "pick", "aria-label": "metric", spellcheck: false });
		this.list = make("ul", { className: "pick", id: "pick", role: "listbox", hidden: true });
		this.by = make("select", { "aria-label": "a value for each" },
			...[["process", "each process"], ["node", "each host"], ["site", "each site"], ["", "all together"]]
				.map(([value, text]) => make("option", { value }, text)));
		this.rate = make("input", { type: "checkbox", checked: true });
		this.mode = make("button", { type: "button", onclick: () => this.toggle() }, "type PMSL");
		this.note = make("p", { className: "note said", role: "status" });
		this.editor();
		$("new").append(make("div", { className: "grow" }, this.input, this.list, this.typed), this.by,
			make("label", {}, this.rate, " per second"), make("button", { type: "submit" }, "measure"),
			this.mode, this.note);
		this.rate.style.width = "auto";
		this.input.addEventListener("input", () => this.find());
		this.input.addEventListener("focus", () => this.find());
		this.input.addEventListener("blur", () => setTimeout(() => this.show([]), 200));
		this.input.addEventListener("keydown", (e) => this.key(e));
		$("new").addEventListener("submit", (e) => {
			e.preventDefault();
			this.submit();
		});
	}

	/* --- by name */

	async load() {
		if (!this.metrics.length)
			this.metrics = await this.wire.get("metrics").catch(() => []);
	}

	async find() {
		await this.load();
		const words = this.input.value.toLowerCase().split(/[\s_]+/).filter(Boolean);
		const fits = (m, part) => words.every((w) => m[part].toLowerCase().includes(w));
		const byName = this.metrics.filter((m) => fits(m, 0));
		const byHelp = this.metrics.filter((m) => !fits(m, 0) && fits(m, 4));

		this.at = -1;
		this.show([...byName, ...byHelp].sort((a, b) => byName.includes(b) - byName.includes(a) ||
			a[0].startsWith("MPI_") - b[0].startsWith("MPI_")).slice(0, FOUND_MAX));
	}

	show(found) {
		this.found = found;
		this.list.hidden = !found.length;
		this.input.setAttribute("aria-expanded", String(!!found.length));
		this.list.replaceChildren(...found.map((m, i) => make("li", { role: "option", id: "pick-" + i,
			"aria-selected": String(i === this.at), onmousedown: (e) => {
				e.preventDefault();
				this.take(m);
			} }, make("b", {}, m[0]), " ", make("span", { className: "dim" }, (m[1] ? "[" + m[1] + "] " : "") + m[4]))));
	}

	take(m) {
		this.input.value = m[0];
		this.rate.checked = m[2];
		this.by.value = m[3] === "process" || m[3] === "node" ? m[3] : "";
		this.show([]);
	}

	key(e) {
		const n = this.found ? this.found.length : 0;

		if ((e.key === "ArrowDown" || e.key === "ArrowUp") && n) {
			e.preventDefault();
			this.at = (this.at + (e.key === "ArrowDown" ? 1 : n - 1) + (this.at < 0 && e.key === "ArrowUp" ? 1 : 0)) % n;
			[...this.list.children].forEach((li, i) => li.setAttribute("aria-selected", String(i === this.at)));
			this.input.setAttribute("aria-activedescendant", "pick-" + this.at);
			this.list.children[this.at].scrollIntoView({ block: "nearest" });
		} else if (e.key === "Enter" && this.at >= 0 && n) {
			e.preventDefault();
			this.take(this.found[this.at]);
		} else if (e.key === "Escape") {
			this.show([]);
		}
	}

	/* --- by text */

	editor() {
		this.text = make("textarea", { spellcheck: false, "aria-label": "text of metrics in PMSL", value: EXAMPLE });
		this.mirror = make("pre", { "aria-hidden": "true" });
		this.diagnoses = make("ul", { className: "diagnoses", "aria-live": "polite" });
		this.typed = make("div", { hidden: true }, make("div", { className: "editor" }, this.mirror, this.text),
			this.diagnoses);
		this.text.addEventListener("input", () => {
			clearTimeout(this.timer);
			this.mirror.replaceChildren();
			this.timer = setTimeout(() => this.check(), 150);
		});
		this.text.addEventListener("scroll", () => this.mirror.scrollTop = this.text.scrollTop);
	}

	get isTyped() {
		return !this.typed.hidden;
	}

	toggle() {
		this.typed.hidden = this.isTyped;
		this.input.hidden = this.isTyped;
		this.mode.textContent = this.isTyped ? "choose a metric" : "type PMSL";
		if (this.isTyped) {
			this.rate.checked = false;
			this.text.focus();
			this.check();
		} else {
			this.input.focus();
		}
	}

	async check() {
		const text = this.text.value;

		try {
			this.checked = await this.wire.post("check", { text });
		} catch (e) {
			this.diagnoses.replaceChildren(make("li", { className: "bad" }, e.message));
			return false;
		}
		if (text !== this.text.value)
			return false;
		this.underline(text, this.checked.diagnoses);
		this.diagnoses.replaceChildren(...this.checked.diagnoses.map((d) => make("li",
			{ className: d.kind === "error" ? "bad" : "" },
			(d.line ? d.line + ":" + d.column + ": " : "") + d.text + (d.hint ? " (" + d.hint + ")" : ""))));
		return !this.checked.diagnoses.some((d) => d.kind === "error");
	}

	/* Places are in bytes of UTF-8. */
	underline(text, diagnoses) {
		const bytes = new TextEncoder().encode(text), decode = (a, b) => new TextDecoder().decode(bytes.subarray(a, b));
		const marks = diagnoses.filter((d) => d.at >= 0).sort((a, b) => a.at - b.at);
		const parts = [];
		let at = 0;

		for (const d of marks) {
			if (d.at < at)
				continue;
			const end = Math.min(bytes.length, d.at + Math.max(1, d.bytes));

			parts.push(decode(at, d.at), make("u", { className: d.kind }, decode(d.at, end) || " "));
			at = end;
		}
		this.mirror.replaceChildren(...parts, decode(at, bytes.length));
	}

	async submit() {
		this.note.textContent = "";
		this.note.classList.remove("bad");
		try {
			await this.begin();
		} catch (e) {
			this.note.textContent = e.message;
			this.note.classList.add("bad");
		}
	}

	async begin() {
		const what = { by: this.by.value, rate: this.rate.checked };

		if (this.isTyped) {
			if (!await this.check())
				return;
			what.text = this.text.value;
			what.metric = this.checked.metrics.at(-1) || "";
		} else {
			what.metric = this.input.value.trim();
		}
		await this.open(what);
		this.input.value = "";
	}
}
