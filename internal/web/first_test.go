package web_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"

	"lockstep/internal/test/suite"
)

// From a cold start, a click shows a burst without a lock, and another one shows a burst with a lock beside it.
func TestFirstClickOversellsAndTheSecondCompares(t *testing.T) {
	p := open(t, serve(t)+"/#/")
	if !suite.Long {
		p.still()
	}
	p.waitUntil("there is one thing to do", `document.querySelector(".first .big") && !document.querySelector(".teacher").open &&
		!document.querySelector(".picture").checkVisibility()`)
	// The burst is over before it is known to be, so it is played afterwards.
	eval[bool](p, `window.counts = [], window.fetch = (fetches => async (path, ...more) => {
		if (/bursts.+/.test(path)) await new Promise(passed => setTimeout(passed, 700));
		return fetches(path, ...more);
	})(fetch), new MutationObserver(() => {
		const sold = parseInt(document.querySelector(".pane .large")?.innerText);
		if (sold >= 0) counts.push(sold);
	}).observe(document.querySelector(".first"), {childList: true, characterData: true, subtree: true}), true`)
	began := time.Now()
	p.click(".first .big")
	p.waitUntil("what happened is said", `document.querySelector(".pane .large.bad")?.innerText === "200 sold of a stock of 100"`)
	t.Logf("seen %v after the click", time.Since(began).Round(10*time.Millisecond))
	if counts := eval[[]int](p, "counts"); !slices.IsSorted(counts) {
		t.Errorf("the number of sold items falls: %v", counts)
	}
	p.waitUntil("there is more to see", `document.querySelector(".picture").checkVisibility()`)
	p.click(".first .big")
	p.waitUntil("the other one is beside it", `document.querySelector('[data-lock="v0"] .bad') && document.querySelector('[data-lock="v4"]')`)
	p.waitUntil("it is kept before it has been played", `location.hash.includes("_v4-100-100-100")`)
	p.key("L")
	p.waitUntil("it is said in Chinese, too", `document.querySelector('[data-lock="v4"] .good')?.innerText === "库存 100 件，卖出 100 件，拒绝 100 人"`)
	address := eval[string](p, "location.hash")
	q := open(t, p.url+"/"+address) // a second window, or a latecomer
	q.waitUntil("it is there, too", `document.querySelector('[data-lock="v0"] .bad')?.innerText === "200 sold of a stock of 100" &&
		document.querySelector('[data-lock="v4"] .good')`)
	if title := eval[string](q, `document.querySelector('[data-lock="v0"] h2').innerText`); title != "no lock · from the link" {
		t.Errorf("what this shop may not have seen is titled %q", title)
	}
	q.waitUntil("it leads on", `document.querySelector(".first a").hash.startsWith("#/schedule/v0?")
		&& document.querySelectorAll(".first a")[1].hash === "#/course/01"`)
	p.click(".first .details")
	p.waitUntil("it makes way", `!document.querySelector(".first").checkVisibility() && document.querySelector(".teacher").open`)
	p.visit("#/")
	p.click("[data-focus=demo]") // whatever the shop has seen
	p.click(".first .big")
	p.waitUntil("it can be seen again", `document.querySelector(".pane .large.bad")?.innerText === "200 sold of a stock of 100"`)
}

// One click from its result, a burst replays its decisive moments in slow motion, and another click leads to the seat. In the sales' own
// steps, two buyers read the same stock, and the stock falls once.
func TestSlowMotionLeadsToTheSeat(t *testing.T) {
	p := open(t, serve(t)+"/#/")
	p.click(".first .big")
	p.click(".first .big + button")
	p.waitUntil("first, both have read", `document.querySelectorAll(".why tr.later").length === 2`)
	p.waitUntil("at the end it is said", `document.querySelector(".why .large.bad")?.innerText === "Two sold, and the stock fell by one."`)
	if squares := eval[string](p, `(([a, b, c, d]) => a === b && c === d && a.replace("reads", "writes") !== c ? "" : [a, b, c, d].join())(
		[...document.querySelectorAll(".why .square")].map(square => square.innerText))`); squares != "" {
		t.Errorf("the squares say %q; want that both read one number, and both write one less", squares)
	}
	if same := eval[bool](p, `(colours => colours.size === 2 && new Set(colours.values()).size === 2)(new Map(
		[...document.querySelectorAll(".why tr:not(:last-child) .square")].map(square => {
			const {backgroundColor} = getComputedStyle(square);
			return [square.parentNode.cellIndex + backgroundColor, backgroundColor];
		})))`); !same {
		t.Error("until the last step, each buyer should have one colour, and not the other one's")
	}
	if title := eval[string](p, `document.querySelector(".why h2").innerText`); !strings.HasSuffix(title, " ms of this burst, slowed down") {
		t.Errorf("it is titled %q", title)
	}
	p.click(".first a")
	p.waitUntil("the seat has the schedule", `location.hash.startsWith("#/schedule/v0?") && document.querySelector(".drawing .step")`)
}

// The stage is a deck of slides that the arrow keys turn, and it shows the state of the shop.
func TestStageSlidesAreTurnedByArrowKeys(t *testing.T) {
	p := open(t, serve(t)+"/#/")
	p.size(1280, 720)
	p.still()
	p.key("F")
	slide := func(n int, has string) {
		t.Helper()
		p.waitUntil(fmt.Sprint("slide ", n, " is there"), fmt.Sprintf(
			`document.querySelector(".first .row button:nth-child(%d)")?.ariaPressed === "true" && document.querySelector(%q)`, n, has))
		p.waitUntil("nothing is cut",
			`(scroller => scroller.scrollHeight <= scroller.clientHeight)(document.querySelector(".over")) &&
			(bar => bar.bottom <= innerHeight && bar.height < 60)(document.querySelector(".bar").getBoundingClientRect())`) // one row
	}
	p.waitUntil("the shop is there", `document.querySelector(".bar optgroup") && document.querySelector(".first .big")`)
	p.click(".first .big")
	slide(1, `[data-lock="v0"] .bad`)
	p.key("ArrowRight")
	slide(2, ".why .large.bad")
	p.key(",")
	p.waitUntil("a step back", `document.querySelectorAll(".why tr.later").length === 0 &&
		document.querySelector(".time").innerText !== "now"`)
	p.key(",", ",")
	p.waitUntil("and others", `document.querySelectorAll(".why tr.later").length === 2`)
	p.key("ArrowRight")
	slide(3, `[data-lock="v0"] .bad`)
	slide(3, `[data-lock="v4"] .good`) // the key has run it
	eval[bool](p, `(lock => (lock.value = "v1", true))(document.querySelector(".bar [aria-label=Lock]"))`)
	p.click(".bar [data-focus=again]")
	slide(3, `[data-lock="v0"] .bad ~ *`)
	slide(3, `[data-lock="v1"] .good`)
	if lock := eval[string](p, `fetch("lock").then(is => is.json()).then(is => is.version)`); lock != "v1" {
		t.Errorf("the shop has %s", lock)
	}
	eval[bool](p, `fetch("lock", {method: "PUT", headers: {"Content-Type": "application/json"}, body: '{"version":"v5"}'}).then(is => is.ok)`)
	p.waitUntil("what is no longer so makes way", `document.querySelector(".first").hidden &&
		document.querySelector(".bar [aria-label=Lock]").value === "v5" &&
		document.querySelector(".bar [aria-label=Picture]").checkVisibility() &&
		document.querySelector(".bar").offsetHeight < 60`)
	p.key("F")
	p.waitUntil("the stage is left, and nothing scrolls", `!document.querySelector(".bar") && scrollY === 0`)
	p.key("F")
	p.click(".bar [data-focus=demo]")
	p.waitUntil("and can be shown again", `document.querySelector(".first .big")`)
	listed := eval[[]string](p, `[...document.querySelector(".bar [aria-label=Lock]").children].map(is => is.value ?? is.label)`)
	if !slices.Equal(listed, []string{"v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "more"}) {
		t.Errorf("listed are %q", listed)
	}
}

// still sets the browser to prefer reduced motion.
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

// A reader without the token sees the latest bursts again, and is not asked for a token.
func TestReaderWithoutTokenSeesTheLatestBursts(t *testing.T) {
	url := serve(t, "--admin.token", "secret")
	p := open(t, url+"/#/")
	p.still()
	p.waitUntil("the shop is there", `document.querySelector(".teacher fieldset")`)
	p.click("[data-focus=demo]")
	p.waitForText("No burst has been run in this shop yet.")
	p.waitUntil("two buyers are shown in its place", `document.querySelector(".why .large.bad")`)
	for _, lock := range []string{"v4", "v0"} {
		eval[bool](p, fmt.Sprintf(`(async () => {
			const headers = {Authorization: "Bearer secret", "Content-Type": "application/json"};
			await fetch("lock", {method: "PUT", headers, body: JSON.stringify({version: %q})});
			const begun = await fetch("bursts", {method: "POST", headers, body: JSON.stringify({n: 200, c: 200, stock: 100})});
			const {id} = await begun.json();
			while (!(await (await fetch("bursts/" + id)).json()).done);
			return true;
		})()`, lock))
	}
	p.waitUntil("a burst is shown as soon as there is one", `document.querySelector(".pane[data-lock]")`)
	p.click("[data-focus=demo]")
	p.waitUntil("both are there, without a lock first", `document.querySelectorAll(".pane").length === 2 &&
		document.querySelector('.pane:first-child[data-lock="v0"] .bad')?.innerText === "200 sold of a stock of 100" &&
		document.querySelector('[data-lock="v4"] .good')?.innerText === "100 sold of a stock of 100, 100 refused"`)
	p.key("ArrowLeft")
	p.waitUntil("why, too", `document.querySelector(".why .large.bad")`)
	if eval[bool](p, `!!document.querySelector("dialog")`) {
		t.Error("it asks for a token")
	}
}

// An error is shown in the reader's language, and disappears once its cause is gone.
func TestBurstWithoutRedisShowsTheError(t *testing.T) {
	s := newFakeShop(t)
	s.send("run", strings.Replace(run("open"), `"lock":"v2"`, `"lock":"v0"`, 1))
	s.send("tally", `{"sold":0,"in_flight":0,"found":{},"says":"nothing is sold yet","verdict":"UNKNOWN"}`)
	p := open(t, s.URL+"/#/")
	p.key("L")
	p.click("[data-focus=demo]")
	s.tell(func() {
		s.done = `{"done":true,"requests":200,"answered":0,"error":"the server refused PUT http://shop: 503 EVAL lock.lua"}`
	})
	p.click(".first .big")
	p.waitForText("商店或它的 Redis 没有响应，恢复后再试。")
	s.send("trouble", `["Redis 没有响应"]`)
	p.waitForText("Redis 没有响应")
	s.send("trouble", `[]`)
	p.waitUntil("it is no longer so", `!document.querySelector(".first [role=alert]").innerText && document.querySelector(".first .big")`)
}
