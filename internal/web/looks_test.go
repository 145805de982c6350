//go:build long

package web_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

var back = chromedp.NavigateBack()

// addresses has one address of each view, with much content.
var addresses = map[string]string{
	"shop":    "#/",
	"demo":    "#/?first=v0-200-4-0_v4-100-100-100",
	"seat":    broken + "&mode=break&anomaly=foreign-release&beside=v3",
	"redlock": "#/schedule/redlock?in=--faults+node-crash=1&do=A:waits",
	"oracle":  "#/schedule/v2?in=--faults+expiry=1&mode=oracle&anomaly=foreign-release&do=A:SET+A:GET",
	"search":  "#/schedule/v2?in=--faults+expiry=1&anomaly=foreign-release&search=1",
	"locks":   "#/locks",
	"lock":    "#/locks/v4",
	"labs":    "#/labs",
	"lab":     "#/labs/failover",
	"course":  "#/course",
	"lesson":  "#/course/03",
	"room":    "#/course/room/02",
	"join":    "#/course/join",
	"levels":  "#/schedule",
	"level":   broken + "&mode=break&anomaly=foreign-release" + level,
	"failed":  "#/schedule/v0?mode=break&anomaly=lost-update&do=A:GET+A:write+B:GET+B:write" + level,
}

// waitUntilLoaded waits until a view has drawn the data that it requested.
func (p *page) waitUntilLoaded() {
	p.t.Helper()
	p.waitUntil("the view is there", `document.querySelector("h1") && !document.querySelector(".moves:empty")`)
	p.waitUntil("nothing is on its way", `performance.now() > 500 && !performance.getEntriesByType("resource").some(r => r.responseEnd === 0)`)
}

// waitForFrame waits until the browser has drawn the current state of the page.
func (p *page) waitForFrame() {
	p.t.Helper()
	eval[bool](p, `new Promise(drawn => requestAnimationFrame(() => requestAnimationFrame(() => drawn(true))))`)
}

// Nothing is wider than the window, and no word is cut or broken in its middle, in either language, in both themes, small and large.
func TestViewsFitTheWindow(t *testing.T) {
	t.Parallel()
	url := serve(t)
	for name, address := range addresses {
		t.Run(name, func(t *testing.T) {
			p := open(t, url+"/"+address)
			for _, language := range []string{"en", "zh"} {
				p.size(320, 900)
				if language == "zh" { // one of them is loaded so small; the other becomes so
					p.visit(address)
				}
				p.setLanguage(language)
				p.waitUntilLoaded()
				for _, width := range []int64{320, 768, 1920} {
					p.size(width, 900)
					p.waitForFrame()
					for _, problem := range eval[[]string](p, misfits) {
						t.Errorf("%s, %d px: %s", language, width, problem)
					}
					p.keep(fmt.Sprintf("%s-%s-%d", name, language, width))
				}
			}
		})
	}
}

// misfits lists the elements that do not fit.
const misfits = `(() => {
  const wrong = [], root = document.documentElement;
  const at = document.querySelector(".top [aria-current]"), [bar, it] = [at?.parentNode, at].map(node => node?.getBoundingClientRect());
  if (at && (it.left < bar.left - 1 || it.right > bar.right + 1)) wrong.push("the bar does not show where one is");
  if (root.scrollWidth > innerWidth) wrong.push("the page is " + root.scrollWidth + " px wide");
  for (const node of document.querySelectorAll("h1, h2, p, button, a, td, th, summary, label, .chip, .number")) {
    const style = getComputedStyle(node);
    if (!node.checkVisibility() || node.closest(".unseen, .skip, .scroll, svg") || node.matches(".skip")) continue;
    if (node.scrollWidth <= node.clientWidth + 2 || style.display === "inline") continue;
    wrong.push("cut: " + node.className + " " + node.innerText.slice(0, 40));
  }
  for (const node of document.querySelectorAll(".figure .head > *"))
    if (node.getBoundingClientRect().right > node.closest(".figure").getBoundingClientRect().right + 1)
      wrong.push("beyond its column: " + (node.textContent || node.classList.value));
  const walker = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
  for (let node; (node = walker.nextNode());) {
    const parent = node.parentElement;
    if (!parent.checkVisibility() || parent.closest("svg, select, pre, .unseen, .scroll")) continue;
    for (const match of node.data.matchAll(/[A-Za-z]{2,}/g)) {
      const range = document.createRange();
      range.setStart(node, match.index);
      range.setEnd(node, match.index + match[0].length);
      if (new Set([...range.getClientRects()].map(r => Math.round(r.top))).size > 1) wrong.push("broken: " + match[0]);
    }
  }
  return [...new Set(wrong)];
})()`

// setLanguage switches to a language by the page's own button.
func (p *page) setLanguage(language string) {
	p.t.Helper()
	if eval[string](p, `document.documentElement.lang`) != language {
		p.click("#lang")
	}
	p.waitUntil("it speaks "+language, fmt.Sprintf(`document.documentElement.lang === %q && document.querySelector("main > *")`, language))
}

// keep writes a picture of the page if pictures are asked for.
func (p *page) keep(name string) {
	directory := os.Getenv("SCREENSHOTS")
	if directory == "" {
		return
	}
	png, err := chromedp.Run(p.ctx, chromedp.FullScreenshot(100))
	if err == nil {
		err = os.WriteFile(filepath.Join(directory, name+".png"), png, 0o644)
	}
	if err != nil {
		p.t.Error(err)
	}
}

// Where the system's colours replace the page's, a legend's swatches keep their own, and a pressed button is visible.
func TestForcedColoursKeepTheLegend(t *testing.T) {
	p := open(t, serve(t)+"/#/?first=v0-200-4-0_v4-100-100-100")
	p.waitUntil("the legend is there", `document.querySelector(".keys .lost")`)
	call(p, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
		{Name: "forced-colors", Value: "active"},
	}})
	p.waitUntil("its swatches differ", `new Set([...document.querySelectorAll(".pane:first-child .keys i")].map(node =>
		getComputedStyle(node).backgroundColor)).size === 4`)
	p.waitUntil("what is pressed is seen", `[...document.querySelectorAll("[aria-pressed=true], [aria-current]")].every(node =>
		getComputedStyle(node).outlineStyle === "solid")`)
}

// The switches are remembered, and a large size makes everything larger.
func TestSwitchesAreRemembered(t *testing.T) {
	p := open(t, serve(t)+"/#/schedule/v2")
	background := func() string { return eval[string](p, `getComputedStyle(document.documentElement).backgroundColor`) }
	light, small := background(), eval[float64](p, `parseFloat(getComputedStyle(document.documentElement).fontSize)`)
	p.key("D", "A", "L")
	p.waitUntil("it is dark", fmt.Sprintf(`getComputedStyle(document.documentElement).backgroundColor !== %q`, light))
	p.do(chromedp.Navigate(p.url + "/?x=1#/schedule/v2"))
	p.waitUntil("it speaks Chinese still", `document.documentElement.lang === "zh" && document.querySelector("h1")?.innerText === "调度席"`)
	if background() == light {
		t.Error("the theme is forgotten")
	}
	if large := eval[float64](p, `parseFloat(getComputedStyle(document.documentElement).fontSize)`); large < 1.25*small {
		t.Errorf("large is %v px; normal %v", large, small)
	}
	p.size(1280, 720)
	p.do(chromedp.Navigate(p.url + "/?x=1#/schedule/v10?in=--actors+3+--faults+crash=1"))
	p.waitUntil("large, too, each sale's choice begins in the window", `(choices => choices.length >= 3 &&
		choices.slice(0, 3).every(c => c.getBoundingClientRect().bottom < innerHeight + c.offsetHeight / 2 && c.getBoundingClientRect().top > 0))(
		[...document.querySelectorAll(".choice")])`)
	p.dark(true)
	p.key("?")
	if at := eval[int](p, `document.querySelector("dialog").scrollTop`); at != 0 {
		t.Errorf("the list of keys begins %d px below its top", at)
	}
	if keys := p.text("dialog"); !strings.Contains(keys, "撤销") {
		t.Errorf("? lists %q", keys)
	}
}

// dark makes the system's colours dark, or light.
func (p *page) dark(dark bool) {
	p.t.Helper()
	p.media(dark, "no-preference")
}

// text is what an element shows; "" if there is none.
func (p *page) text(css string) string {
	p.t.Helper()
	return eval[string](p, fmt.Sprintf(`document.querySelector(%q)?.innerText ?? ""`, css))
}

// address is what the browser shows after #.
func (p *page) address() string {
	p.t.Helper()
	return eval[string](p, `location.hash`)
}

// The page shows the server's errors in the reader's language.
func TestErrorsAreInTheReadersLanguage(t *testing.T) {
	p := open(t, serve(t)+"/#/")
	p.allowError("404")
	p.allowError("400")
	const ask = `import("./web/server.js").then(({get}) => get(%q)).catch(({message}) => message)`
	for _, language := range []string{"en", "zh"} {
		p.setLanguage(language)
		for path, says := range map[string]map[string]string{
			"/bursts/x":  {"en": "There is no such burst, or it has been forgotten", "zh": "没有这次抢购，或者已经结束。"},
			"/orders/x":  {"en": "no such order is in the ledger", "zh": "账本里没有这个订单。"},
			"/live/pair": {"en": "", "zh": "请求失败（bad_request）："},
		} {
			if message := eval[string](p, fmt.Sprintf(ask, path)); !strings.Contains(message, says[language]) {
				t.Errorf("%s, %s: %q; want %q", language, path, message, says[language])
			}
		}
	}
}
