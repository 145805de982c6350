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
	p.waitUntil("what happened is said", `document.querySelector(".pane .large.bad")?.innerText === "200 sold of a stock of 100"`)
	t.Logf("seen %v after the click", time.Since(began).Round(10*time.Millisecond))
	p.waitUntil("there is more to see", `document.querySelector(".picture").checkVisibility()`)
	p.click(".first .big")
	p.waitUntil("the other one is beside it", `document.querySelector('[data-lock="v0"] .bad') &&
		document.querySelector('[data-lock="v4"] .good')?.innerText === "100 sold of a stock of 100, 100 refused"`)
	p.key("L")
	p.waitUntil("it is said in Chinese, too", `document.querySelector('[data-lock="v4"] .good')?.innerText === "库存 100 件，卖出 100 件，拒绝 100 人"`)
	p.key("F")
	p.waitUntil("it is on the stage", `document.querySelector(".bar")`)
	p.key("ArrowLeft", "ArrowLeft")
	p.waitUntil("its past can be seen again, on a stage", `document.querySelector(".time")?.innerText !== "现在" &&
		/^库存 100 件/.test(document.querySelector('[data-lock="v4"] .large').innerText) && !document.querySelector(".top").checkVisibility()`)
	p.key("F")
	p.waitUntil("and then it is as it was", `document.querySelector('[data-lock="v4"] .good')`)
	address := eval[string](p, "location.hash")
	q := open(t, p.url+"/"+address) // a second window, or a latecomer
	q.waitUntil("it is there, too", `document.querySelector('[data-lock="v0"] .bad')?.innerText === "200 sold of a stock of 100" &&
		document.querySelector('[data-lock="v4"] .good')`)
	q.waitUntil("it leads on", `document.querySelector(".first a").hash.startsWith("#/schedule/v0?")
		&& document.querySelectorAll(".first a")[1].hash === "#/course/01"`)
	p.click(".first button:not(.big)")
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

// A reader without the token plays again what the shop has told, and is not asked for a token.
func TestTheFirstMinuteWithoutTheToken(t *testing.T) {
	url := serve(t, "--admin.token", "secret")
	p := open(t, url+"/#/")
	p.still()
	p.waitUntil("the shop is there", `document.querySelector(".teacher fieldset")`)
	eval[bool](p, `(async () => {
		const as = {method: "POST", headers: {Authorization: "Bearer secret", "Content-Type": "application/json"}};
		return (await fetch("bursts", {...as, body: JSON.stringify({n: 200, c: 200, stock: 100})})).ok;
	})()`)
	p.click(".first .big")
	p.waitUntil("it is played", `document.querySelector(".pane .large.bad")?.innerText === "200 sold of a stock of 100"`)
	if eval[bool](p, `!!document.querySelector("dialog")`) {
		t.Error("it asks for a token")
	}
}
