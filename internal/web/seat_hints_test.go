//go:build long

package web_test

import (
	"fmt"
	"strings"
	"testing"
)

func TestHintsLeadToTheBreach(t *testing.T) {
	p := open(t, serve(t)+"/"+start)
	for n := range 6 {
		p.waitUntil("no hint is shown", `document.querySelector(".moves") && !document.querySelector(".hinted")`)
		p.key("h")
		p.waitUntil("it says how far it is, and not yet the move", fmt.Sprintf(
			`/^%d steps? to go. Press Hint/.test(document.querySelector(".controls .note")?.innerText) && !document.querySelector(".hinted")`, 6-n))
		p.key("h")
		p.waitUntil("then the move", `document.querySelector(".hinted")`)
		p.press(eval[string](p, `document.querySelector(".hinted").dataset.token`))
		p.steps(n + 1)
	}
	p.waitForText("Solved in 6 steps")
	p.key("h")
	p.waitForText("It has happened: foreign release")
	belongs := func(what string) {
		t.Helper()
		p.waitUntil("no word is of another place: "+what, `!/has happened|Solved|to go\./.test(document.querySelector("main").innerText)`)
	}
	p.key("ArrowLeft")
	p.at(5)
	belongs("a step before")
	p.key("h", "h")
	p.waitForText("1 step to go. Next: A removes B's lock") // as its choice says
	p.key("ArrowLeft")
	p.at(4)
	belongs("two steps before")
	p.key("ArrowRight", "u")
	p.steps(5)
	p.waitForText("1 step to go") // here it is so
	eval[bool](p, `location.hash = "#/schedule/v2?in=--faults+expiry=1&mode=break&anomaly=foreign-release&do=A:SET", true`)
	p.steps(1)
	belongs("another address")
	p.do(back)
	p.waitForText("1 step to go")
	p.click("[data-focus=mode-keep]")
	belongs("another mode")
	p.click("[data-focus=hint]")
	p.waitUntil("who keeps the lock whole is told what each move does", `document.querySelector(".choice .chip") &&
		!document.querySelector(".hinted")`)
}

func TestDistanceIsShownAtEachStepAndChoice(t *testing.T) {
	p := open(t, serve(t)+"/#/schedule/v2?in=--faults+expiry=1&anomaly=foreign-release&do=A:SET+A:GET+A:write+A:DEL")
	p.steps(4)
	p.key("o")
	p.waitUntil("the distances are there", `document.querySelector(".drawing :is(.chip.no-return, .chip.good, .step .changes .chip)")`)
	p.waitForText("states, exactly")
	p.key("Home")
	p.waitForText("6 to a breach")
	p.waitUntil("each choice has its distance", `[...document.querySelectorAll(".choice")].every(c => /safe|breach/.test(c.innerText))`)
	p.press("A:SET")
	p.waitUntil("the gauge follows", `document.querySelector(".gauge").innerText.trim() === "5 to a breach"`)
	if says := eval[string](p, `document.querySelector(".task").innerText`); strings.Contains("\n"+says+"\n", "\n0\n") {
		t.Errorf("a number without a word: %q", says)
	}
	if !strings.Contains(p.address(), "oracle=1") {
		t.Errorf("the address forgets the mode: %s", p.address())
	}
}

// Once both have read the stock, one update will be lost. Once one sale has ended, none can be.
func TestDistanceMarksThePointOfNoReturn(t *testing.T) {
	p := open(t, serve(t)+"/#/schedule/v0?mode=oracle&anomaly=lost-update&do=A:GET+B:GET+A:write+B:write")
	p.steps(4)
	p.waitUntil("it is marked", `document.querySelectorAll(".no-return").length === 1`)
	p.waitUntil("it is the second step", `document.querySelectorAll(".drawing .step")[1].querySelector(".no-return")`)
	p.key("Home", "ArrowRight", "ArrowRight")
	p.waitForText("It can no longer be avoided")
	p.visit("#/schedule/v0?mode=oracle&anomaly=lost-update&do=A:GET+A:write")
	p.waitForText("safe forever")
}
