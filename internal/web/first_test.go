package web_test

import (
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"

	"lockstep/internal/test/suite"
)

// From a cold start, a click shows what happens without a lock, and another one what a lock does, side by side.
func TestTheFirstMinute(t *testing.T) {
	p := open(t, serve(t)+"/#/")
	if !suite.Long {
		p.still()
	}
	p.waitUntil("there is one thing to do", `document.querySelector(".first .big") && !document.querySelector(".teacher").open &&
		!document.querySelector(".picture").checkVisibility()`)
	began := time.Now()
	p.click(".first .big")
	p.waitUntil("what happened is said", `/^200 paid, the stock fell by \d+$/.test(document.querySelector(".pane .large.bad")?.innerText)`)
	t.Logf("seen %v after the click", time.Since(began).Round(10*time.Millisecond))
	p.waitUntil("there is more to see", `document.querySelector(".picture").checkVisibility()`)
	p.click(".first .big")
	p.waitUntil("the other one is beside it", `document.querySelector('[data-lock="v0"] .bad') &&
		document.querySelector('[data-lock="v4"] .good')?.innerText === "200 paid, the stock fell by 200"`)
	p.key("L")
	p.waitUntil("it is said in Chinese, too", `document.querySelector('[data-lock="v4"] .good')?.innerText === "200 人付了款，库存减少了 200 件"`)
	p.key("F")
	p.waitUntil("it is on the stage", `document.querySelector(".bar")`)
	p.key("ArrowLeft", "ArrowLeft")
	p.waitUntil("its past can be seen again, on a stage", `document.querySelector(".time")?.innerText !== "现在" &&
		/^1\d\d 人付了款/.test(document.querySelector('[data-lock="v4"] .large').innerText) && !document.querySelector(".top").checkVisibility()`)
	p.key("F")
	p.waitUntil("and then it is as it was", `document.querySelector('[data-lock="v4"] .good')`)
	p.click(".first button")
	p.waitUntil("it makes way", `!document.querySelector(".first").checkVisibility() && document.querySelector(".teacher").open`)
}

// still asks the page for no motion.
func (p *page) still() {
	p.t.Helper()
	p.media(eval[bool](p, `matchMedia("(prefers-color-scheme: dark)").matches`), "reduce")
}

// media makes the system's colours dark, or light, and has it ask for motion: "no-preference" or "reduce".
func (p *page) media(dark bool, motion string) {
	p.t.Helper()
	scheme := map[bool]string{true: "dark", false: "light"}[dark]
	call(p, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: motion},
	}})
}
