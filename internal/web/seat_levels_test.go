//go:build long

package web_test

import (
	"fmt"
	"strings"
	"testing"
)

// The levels can be played by keys alone, from the first open one. A solved level shows its schedule under the next lock, and the next
// level follows. The solution is kept, and can be sent as a picture that needs no styles of the page. No text has a flag.
func TestLevelsCanBePlayedByKeysAlone(t *testing.T) {
	p := open(t, serve(t)+"/#/schedule")
	p.waitUntil("there is a path of levels, and the first one is there",
		`document.querySelectorAll(".level li").length === 12 && document.querySelector(".level [aria-current]").innerText === "0"`)
	for i, token := range []string{"A:GET", "B:GET", "A:write", "B:write"} {
		p.press(token)
		p.steps(i + 1)
		p.waitUntil("the steps are counted", fmt.Sprintf(`document.querySelector(".card .count").innerText === "%d/4 steps"`, i+1))
	}
	p.click("[data-focus=card]")
	p.waitUntil("the card is there", `document.querySelector("dialog svg.card")?.innerHTML.includes("v0: lost update")`)
	if bare := eval[int](p, `[...document.querySelectorAll("dialog svg.card :is(line, text)")]
		.filter(node => !node.getAttribute("fill")).length`); bare > 0 {
		t.Errorf("%d marks of the card have no look of their own", bare)
	}
	p.key("Escape")
	p.click("[data-focus=under-next]")
	p.waitUntil("it is shown under v1", `document.querySelector(".beside .pair th:last-child")?.innerText === "v1"`)
	p.key("n")
	p.waitUntil("the next level is there", `location.hash.startsWith("#/schedule/v1?") &&
		document.querySelector(".card").innerText.includes("0/3 steps · faults: crash")`)
	solved := `document.querySelector(".level .good")?.ariaLabel === "Level 0: ✓ in 4 steps, the fewest, 3 stars"`
	p.visit("#/campaign")
	p.waitForText("1/12 solved · 1 optimal")
	p.waitUntil("it is solved, and the next is there", solved+` && location.hash.startsWith("#/schedule/v1?")`)
	if says := p.text("main"); strings.Contains(says, "--") {
		t.Errorf("the page says a flag: %s", says)
	}
	eval[bool](p, `import("./web/views/levels.js").then(({keepSolution}) => {
		const {v0} = JSON.parse(localStorage["lockstep.campaign"]);
		keepSolution({name: "v0", level: v0}, {steps: 9, schedule: ""});
		return true;
	})`)
	p.visit("#/schedule")
	p.waitUntil("a longer way takes nothing away", solved)
	eval[bool](p, `(e => { e.value = "atomic"; return e.dispatchEvent(new Event("change")); })(document.querySelector("[data-focus=side]"))`)
	p.waitForText("Side level atomic · one script, no lock · Nothing breaks it in any scenario of the table.")
}

// A level ends with a card. The card of a failed level says which anomaly was reached and which was wanted, and begins again. That of a
// solved level gives the reason, the schedule's outcome under the next lock, and the stars: a hint costs one, and more steps than needed
// cost another. The card of the last level leads on too.
func TestLevelEndsWithACard(t *testing.T) {
	p := open(t, serve(t)+"/#/schedule")
	take := func(schedule string) {
		t.Helper()
		for i, token := range strings.Fields(schedule) {
			p.press(token)
			p.steps(i + 1)
		}
	}
	take("A:GET A:write B:GET B:write")
	p.waitForText("Both sold, stock 98: correct.")
	p.waitForText("Wanted: stock 99, with one sale lost. Each sale has to read before the other one writes.")
	p.keep("level-failed")
	p.click("[data-focus=again]")
	p.steps(3)
	p.press("B:write")
	p.click("[data-focus=restart]")
	p.steps(0)
	take("A:GET B:GET A:write B:write")
	p.waitForText("Nothing keeps the other sale out between the read and the write.")
	stars := func(n int) {
		t.Helper()
		p.waitUntil(fmt.Sprintf("there are %d stars", n), fmt.Sprintf(`document.querySelector(".end .stars")?.ariaLabel === "%d of 3 stars"`, n))
	}
	stars(3)
	p.waitForText("See v1 stop this")
	p.keep("level-solved")
	p.click("[data-focus=under-next]")
	p.waitForText("Under v1 it does not happen: lost update")
	p.size(390, 844) // a phone has room for one of the two
	p.click("[data-focus=beside-close]")
	p.waitUntil("the drawing is back", `document.querySelector(".drawing").checkVisibility()`)
	p.click("[data-focus=under-next]")
	p.click("[data-focus=restart]")
	p.steps(0)
	p.waitUntil("so is a level that begins again", `document.querySelector(".drawing").checkVisibility()`)
	take("A:GET B:GET A:write B:write")
	p.click("[data-focus=under-next]")
	p.click(".beside .main")
	p.waitUntil("there is nothing to undo in a level that begins", `document.querySelector("[data-focus=level-v1][aria-current]") &&
		document.querySelector("[data-focus=undo]").disabled`)
	take("B:SET A:SET B:GET B:write")
	p.waitForText("4 steps · There is a shorter way: 3 steps")
	p.click("[data-focus=restart]")
	p.steps(0)
	p.size(1280, 900)
	take("B:SET A:SET B:GET B:write/dies-after A:SET")
	p.waitForText("The shortest takes 3.")
	stars(2)
	p.visit("#/schedule")
	p.waitUntil("the next level is open", `location.hash.startsWith("#/schedule/v2?")`)
	for n := range 6 {
		p.key("h") // first the distance
		p.waitForText("Press Hint again for the move.")
		p.key("h")
		p.waitUntil("a hint is shown", `document.querySelector(".hinted")`)
		p.press(eval[string](p, `document.querySelector(".hinted").dataset.token`))
		p.steps(n + 1)
	}
	stars(2)
	p.click("[data-focus=undo]")
	p.steps(5)
	p.press("A:DEL")
	p.steps(6)
	stars(2)
	p.visit("#/schedule")
	p.waitUntil("that is kept", `document.querySelector(".level [data-focus=level-v2]")?.ariaLabel ===
		"Level 2: ✓ in 6 steps, the fewest, 2 stars"`)
	p.visit("#/schedule/v2?in=--faults+expiry=1&mode=break&anomaly=foreign-release&campaign=1")
	take("A:SET A:GET A:write expiry B:SET A:DEL")
	stars(3) // without a hint from its beginning
	const last = "#/schedule/v11?in=--faults+pause=1&mode=break&anomaly=two-holders&campaign=1&do=A:begins+A:acquireOrAsk+B:begins+" +
		"B:acquireOrAsk+B:subscribes+B:acquireOrAsk+A:pauses+time+B:acquireOrAsk+time+B:acquireOrAsk+time+B:acquireOrAsk+time+B:acquireOrAsk"
	p.visit(last)
	p.waitForText("Next: v3")
	eval[bool](p, `fetch("seat").then(answer => answer.json()).then(({locks}) => {
		const kept = locks.filter(({level}) => level?.anomaly).map(({name, level}) => [name, {...level, schedule: ""}]);
		localStorage["lockstep.campaign"] = JSON.stringify(Object.fromEntries(kept));
		return true;
	})`)
	p.visit(last)
	p.waitForText("All twelve levels solved.")
}

// A schedule from the shop starts at its beginning, and shows no step before the reader comes to it or takes another one.
func TestVeiledScheduleShowsNoLaterStep(t *testing.T) {
	p := open(t, serve(t)+"/#/schedule/v0?mode=break&anomaly=lost-update&do=A:GET+B:GET+A:write+B:write&at=0&veil=1")
	seen := func(n int) {
		t.Helper()
		p.waitUntil(fmt.Sprintf("%d steps are seen", n), fmt.Sprintf(`document.querySelector(".drawing .trace") &&
			[...document.querySelectorAll(".drawing .step")].filter(step => step.checkVisibility()).length === %d`, n))
	}
	seen(0)
	for n := range 4 {
		p.click("[data-focus=next-step]")
		seen(n + 1)
	}
	p.waitForText("That was it: lost update.")
	p.waitUntil("there is no further step, and no praise", `!document.querySelector("[data-focus=next-step], .solved")`)
	p.waitForText("See v1 stop this")
	p.waitUntil("it leads to the level", `document.querySelector("[data-focus=onward]")?.hash.includes("campaign=1")`)
	p.key("Home")
	seen(0)
	p.press("B:GET")
	seen(1)
	p.steps(1)
}

// A stored solution of a level that has changed since does not count, and all other solutions stay.
func TestSolutionOfChangedLevelDoesNotCount(t *testing.T) {
	p := open(t, serve(t)+"/#/labs")
	eval[bool](p, `localStorage["lockstep.campaign"] = JSON.stringify({v0: {anomaly: "lost-update", in: "", steps: 5, schedule: ""},
		v8: {anomaly: "two-holders", in: "--faults pause=1", steps: 6, schedule: ""}}), true`)
	p.visit("#/schedule")
	p.waitForText("1/12 solved · 0 optimal")
	p.waitUntil("level 8 is open", `document.querySelector("[data-focus=level-v8]").ariaLabel === "Level 8: open, shortest 4"`)
}
