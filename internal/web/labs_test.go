//go:build long

package web_test

import (
	"fmt"
	"strings"
	"testing"
)

// runsOfALab lists the heads of a lab's runs, each with the position of its box.
const runsOfALab = `[...document.querySelectorAll(".runs section")].map(run => {
	const {left, top} = run.getBoundingClientRect(), head = run.querySelector("h2");
	return {says: head.innerText, looks: head.className, left, top};
})`

type runOfALab struct {
	Says, Looks string
	Left, Top   float64
}

// A lab is named after the trouble that it makes, and runs on the server's machine. Its two runs stand side by side, and one below the
// other on a phone. The page says under a kept promise which other anomalies were seen.
func TestLabShowsBothRunsSideBySide(t *testing.T) {
	axe := fetchAxe(t)
	p := open(t, serve(t)+"/#/labs")
	p.waitForText("Run them here")
	p.waitForText("The holder dies: everybody waits")
	p.waitForText("foreign-delete · v2 → v3")
	corner := eval[string](p, `(({right, bottom}) => document.elementFromPoint(right - 9, bottom - 9).closest("a")?.hash)(
		document.querySelector(".sheets li").getBoundingClientRect())`)
	if !strings.HasPrefix(corner, "#/labs/") {
		t.Errorf("a card's corner leads to %q; want the whole card to lead to its lab", corner)
	}
	p.runLab("foreign-delete")
	runs := eval[[]runOfALab](p, runsOfALab)
	if len(runs) != 2 || runs[0].Says != "v2 is broken: r1#1 removed r2#1's lock" || runs[0].Looks != "bad" ||
		!strings.HasPrefix(runs[1].Says, "v3 keeps its promise: nobody removes a lock") || runs[1].Looks != "good" {
		t.Fatalf("the runs are %+v", runs)
	}
	if runs[0].Top != runs[1].Top || runs[0].Left >= runs[1].Left {
		t.Errorf("on a wide screen they stand at %+v; want them side by side", runs)
	}
	const suffix = "\nStill seen, and not promised: Lock expired during the work · Two holders · Late write · Lost update"
	texts := eval[string](p, `[...document.querySelectorAll(".runs section:last-child > *")].slice(1, 3).map(e => e.innerText).join("\n")`)
	if !strings.HasPrefix(texts, "As expected: ") || !strings.HasSuffix(texts, suffix) {
		t.Errorf("under the kept promise: got %q", texts)
	}
	for _, problem := range p.axeViolations(axe) {
		t.Error(problem)
	}
	p.runLab("slow-node") // its commands and its drawing are wide
	p.fits()
	const bareCommands = `[...document.querySelectorAll(".says")].map(is => is.innerText).filter(is => /^[A-Z]{3}/.test(is))`
	if bare := eval[[]string](p, bareCommands); len(bare) > 0 {
		t.Errorf("in place of a sentence there is %q", bare)
	}
	p.size(390, 844)
	p.fits()
	if runs := eval[[]runOfALab](p, runsOfALab); runs[0].Left != runs[1].Left || runs[0].Top >= runs[1].Top {
		t.Errorf("on a phone they stand at %+v; want them one above the other", runs)
	}
}

// One lab runs at a time. Its button stops it, and so does leaving the view; then another lab may run.
func TestLabEndsByItsButtonAndByLeaving(t *testing.T) {
	url := serve(t)
	p, other := open(t, url+"/#/labs/holder-dies"), open(t, url+"/#/labs/self-deadlock")
	other.allowError("409")
	runs := func() {
		p.pressButton(".labs button.main")
		p.waitUntil("it runs", `document.querySelector(".runs .trace")`)
	}
	runs()
	other.pressButton(".labs button.main")
	other.waitForText("holder-dies is running, started")
	if parts := eval[int](other, `document.querySelectorAll(".runs section").length`); parts != 0 {
		t.Errorf("%d runs are drawn of a lab that was refused", parts)
	}
	p.pressButton(".labs button.main")
	p.waitForText("Stopped.")
	runs()
	eval[bool](p, `(location.hash = "#/labs", true)`)
	other.runLab("self-deadlock", "v4 is broken: ", "v5 keeps its promise: ")
	p.visit("#/labs/holder-dies")
	runs()
	p.key("L")
	p.waitForText("离开或切换语言时已停止。")
	p.key("L")
	p.waitForText("Stopped when you left or switched.")
	eval[bool](p, `window.fetch = async () => new Response(new ReadableStream({start: stream => stream.error(new TypeError("gone"))})), true`)
	p.pressButton(".labs button.main")
	p.waitUntil("the failure is said in sight", `(alarm => alarm && alarm.getBoundingClientRect().top < innerHeight)(
		document.querySelector(".labs > div > [role=alert]"))`)
}

// A reader who may not run a lab sees the command to type instead of a button, and one with the token sees the button. The page offers a
// tab if this server has one.
func TestLabShowsItsCommandWhereItCannotRun(t *testing.T) {
	p := open(t, serve(t, "--admin.token", "secret")+"/#/labs/lost-update")
	p.waitForText("lockstep lab lost-update")
	const labels = `[...document.querySelectorAll(".labs :is(button, .button)")].map(button => button.textContent).join()`
	if buttons := eval[string](p, labels); strings.Contains(buttons, "Run it:") || !strings.Contains(buttons, "Copy") {
		t.Errorf("there are the buttons %s", buttons)
	}
	const works = `Promise.all([import("./web/server.js").then(({get}) => get("/labs")), fetch("tab/")]).then(([labs, {ok}]) =>
		labs[0].tab === ok && !!document.querySelector("[href^='tab/']") === ok)`
	p.allowError(p.url + "/tab/") // if it is not there
	if !eval[bool](p, works) {
		t.Error("the tab is offered where it is not, or is not offered where it is")
	}
	unlocks := func(token string) {
		t.Helper()
		eval[bool](p, `([...document.querySelectorAll(".labs button")].find(b => b.textContent === "I have the token").click(), true)`)
		p.waitUntil("it asks for the token", `document.querySelector("dialog[open] input")`)
		eval[bool](p, fmt.Sprintf(`(document.querySelector("dialog input").value = %q, true)`, token))
		p.pressButton("dialog button")
	}
	p.allowError("403")
	p.allowError("404 (Not Found) " + p.url + "/room/participants") // the request that tries a token
	unlocks("wrong")
	p.waitUntil("the token is refused", `document.querySelector("dialog[open] .note.bad")`)
	eval[bool](p, `(document.querySelector("dialog button:last-child").click(), true)`)
	p.waitUntil("the one that was refused is forgotten", `!document.querySelector("dialog") && document.querySelector(".labs button.quiet")`)
	unlocks("secret")
	p.waitUntil("it can be run", fmt.Sprintf(`%s.startsWith("Run it: v0, then v1")`, labels))
}
