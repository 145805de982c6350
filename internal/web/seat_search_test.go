//go:build long

package web_test

import (
	"strings"
	"testing"
)

// A form starts a search of every schedule, which shows the shortest schedule in the seat's own picture, and why it breaks the lock. The
// search can be stopped. An address of the explorer leads to it, and no sentence on the page has a flag.
func TestSearchFindsACounterexample(t *testing.T) {
	p := open(t, serve(t)+"/#/explore/v2?in=--faults+expiry=1&anomaly=foreign-release")
	p.waitUntil("the address is the seat's", `location.hash === "#/schedule/v2?in=--faults+expiry=1&anomaly=foreign-release&search=1"`)
	p.waitForText("Scenario · faults: expiry")
	p.click("[data-focus=explore]")
	p.steps(6)
	p.waitForText("v2 shows foreign release in 6 steps, and in no fewer") // as people say it
	p.at(6)
	p.key("ArrowLeft")
	p.at(5)
	p.click("[data-focus=why]")
	p.waitForText("Why: step 4, expiry, made it possible")
	p.tool("scenario")
	p.waitUntil("it is shut", `!document.querySelector(".panel").checkVisibility()`)
	p.tool("search")
	p.waitForText("Why: step 4, expiry, made it possible") // it is remembered
	if says := p.text("main"); strings.Contains(says, "--") {
		t.Errorf("the page says a flag: %s", says)
	}
	eval[bool](p, `location.hash = "#/explore/v9?in=--actors+4+--faults+expiry=3,crash=3&anomaly=starved", true`)
	p.waitForText("Scenario · buyers: 4 · faults: expiry ×3, crash ×3")
	p.click("[data-focus=explore]")
	p.waitUntil("it tells how far it is", `/[1-9]\d* schedules/.test(document.querySelector(".result").innerText)`)
	p.click("[data-focus=stop]")
	p.waitForText("Stopped. Nothing is known")
	p.allowError("400")
	eval[bool](p, `location.hash = "#/explore/v2?in=--faults+fire=1", true`)
	p.waitForText("there is no \"fire\"")
}

// A cell of the table that says never opens the search of its scenario, and the search proves it. A search for an unknown anomaly says that
// there is none of that name.
func TestSearchProvesNever(t *testing.T) {
	p := open(t, serve(t)+"/#/locks")
	p.click(".never a[href='#/schedule/v4?anomaly=foreign-release&search=table']")
	p.waitForText("Scenario · each of the table: no fault, nested calls,")
	p.click("[data-focus=explore]")
	p.waitForText("v4 never shows foreign release: every schedule of all 17 scenarios was explored.")
	p.waitForText("expiry: 382 schedules, 238 states, at most 9 steps.")
	p.visit("#/explore/v4?anomaly=fire")
	p.waitForText("There is no anomaly “fire”.")
}

// A reader who leaves just as an answer arrives is not brought back by it.
func TestLeftSeatIgnoresALateAnswer(t *testing.T) {
	p := open(t, serve(t)+"/#/schedule/v2?in=--faults+expiry=1")
	p.waitUntil("there is a first choice", `document.querySelector(".moves .choice")`)
	eval[bool](p, `window.fetch = (fetches => async (path, ...more) => {
		const answer = await fetches(path, ...more);
		if (!path.includes("do=A") || window.gone) return answer;
		const told = await answer.json();
		return Object.assign(new Response(), {json: async () => {
			[window.gone, location.hash] = [true, "#/labs"];
			return told;
		}});
	})(fetch), true`)
	p.click(".moves .choice")
	p.waitForText("Run them here")
	if address := p.address(); address != "#/labs" {
		t.Errorf("it is at %s", address)
	}
}
