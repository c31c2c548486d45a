# SPDX-License-Identifier: Apache-2.0
# eventlog/lifeline: lines of related events over time, their slowest stage, and pages that show
# it.
MODULES                += eventlog/lifeline
eventlog/lifeline.src  := life.c life_lines.c life_order.c life_steps.c lifetile.c lifewords.c \
			  lifepack.c lifepage.c lifesvg.c svgaxis.c svgchart.c
eventlog/lifeline.uses := common/base common/axis common/container common/json eventlog \
		    eventlog/text
# The page's style and script go into the program. Its policy names them by their SHA-256 and
# permits nothing else.
lifeline.script := $(addprefix eventlog/lifeline/,page_data.js page_draw.js page_hands.js)
lifeline.quote  := sed -e 's/\\/\\\\/g; s/"/\\"/g; s/^/\t"/; s/$$/\\n"/'
lifeline.hash   := sha256sum | cut -c 1-64 | fold -w 2 | awk '{ h = "0123456789abcdef"; \
		   printf "\\0%03o", \
		   16 * (index(h, substr($$0, 1, 1)) - 1) + index(h, substr($$0, 2)) - 1 }'
eventlog/lifeline.gen := $(B)/gen/eventlog/lifeline/page_text.c
$(B)/gen/eventlog/lifeline/page_text.c: eventlog/lifeline/page.css $(lifeline.script) \
		eventlog/lifeline/module.mk
	$(call say,GEN)mkdir -p $(@D) && { \
		printf 'extern const char page_css[], page_js[], page_policy[];\n'; \
		printf 'const char page_css[] =\n'; $(lifeline.quote) eventlog/lifeline/page.css; \
		printf ';\nconst char page_js[] =\n'; cat $(lifeline.script) | $(lifeline.quote); \
		printf ';\nconst char page_policy[] =\n'; \
		printf "\t\"default-src 'none'; base-uri 'none'; form-action 'none'; \"\n"; \
		printf "\t\"style-src 'sha256-%s'; script-src 'sha256-%s'\";\n" \
			"$$(printf '%b' \
				"$$(cat eventlog/lifeline/page.css | $(lifeline.hash))" | base64)" \
			"$$(printf '%b' \
				"$$(cat $(lifeline.script) | $(lifeline.hash))" | base64)"; } >$@
