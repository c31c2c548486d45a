# SPDX-License-Identifier: Apache-2.0
# tools/page: the page of omig web: its keys, its history, and what each viewer gets.
MODULES         += tools/page
tools/page.src  := chart.c charted.c form.c frames.c keys.c paths.c scene.c strip.c viewer.c
tools/page.uses := common/base common/container common/json common/omis/text pmsl/check \
		tools/libomis tools/web tools/term tools/summary tools/session tools/view \
		tools/measure
tools/page.libs := -lm
# The files of the page go into the program. Names of parts have a hash of their text, so that a
# browser may keep them.
page.script := $(addprefix tools/page/,page_wire.js page_draw.js page_strip.js page_table.js \
		page_tree.js page_chart.js page_metric.js page_main.js)
page.quote  := sed -e 's/\\/\\\\/g; s/"/\\"/g; s/^/\t"/; s/$$/\\n"/'
page.name    = $$(cat $(1) | sha256sum | cut -c 1-16)
tools/page.gen := $(B)/gen/tools/page/page_text.c
$(B)/gen/tools/page/page_text.c: tools/page/page.html tools/page/page.css $(page.script) \
		tools/page/module.mk
	$(call say,GEN)mkdir -p $(@D) && { css=$(call page.name,tools/page/page.css); \
		js=$(call page.name,$(page.script)); \
		printf '#include "tools/page/page_text.h"\n'; \
		printf 'const char page_css_path[] = "/a/%s.css";\n' "$$css"; \
		printf 'const char page_js_path[] = "/a/%s.js";\n' "$$js"; \
		printf 'const char page_css_text[] =\n'; $(page.quote) tools/page/page.css; \
		printf ';\nconst char page_js_text[] =\n'; cat $(page.script) | $(page.quote); \
		printf ';\nconst char page_html[] =\n'; \
		sed "s/@CSS@/$$css/; s/@JS@/$$js/" tools/page/page.html | $(page.quote); \
		printf ';\n'; } >$@
