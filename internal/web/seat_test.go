//go:build long

package web_test

import (
	"fmt"
	"strings"
	"testing"
)

const (
	broken = "#/schedule/v2?in=--faults+expiry=1&do=A:SET+A:GET+A:write+expiry+B:SET+A:DEL"
	start  = "#/schedule/v2?in=--faults+expiry=1&mode=break&anomaly=foreign-release"
	level  = "&campaign=1"
)

// steps waits until the schedule has so many steps.
func (p *page) steps(n int) {
	p.t.Helper()
	p.waitUntil(fmt.Sprintf("there are %d steps", n), fmt.Sprintf(
		`document.querySelector("h1") && document.querySelectorAll(".drawing .step").length === %d`, n))
}

// at waits until this step is the current one; 0: none is.
func (p *page) at(n int) {
	p.t.Helper()
	p.waitUntil(fmt.Sprintf("step %d is the current one", n), fmt.Sprintf(
		`[...document.querySelectorAll(".drawing .step")].findIndex(step => step.ariaCurrent === "step") === %d`, n-1))
}

// tool chooses from the menu.
func (p *page) tool(name string) {
	p.t.Helper()
	p.click("[data-focus=tools]")
	p.click("#menu [data-focus=" + name + "]")
}

// press presses the number of the button with this token.
func (p *page) press(token string) {
	p.t.Helper()
	button := fmt.Sprintf("document.querySelector('.moves [data-token=%q]')", token)
	p.waitUntil("there is a button for "+token, button)
	p.key(eval[string](p, button+`.querySelector("kbd").textContent`))
}

func TestSeatCanBePlayedByKeysAlone(t *testing.T) {
	p := open(t, serve(t)+"/"+start)
	p.waitUntil("the goal is said", `document.querySelector(".goal")?.innerText.includes("in at most 6 steps")`)
	p.key("c")
	for i, step := range []struct{ token, a, b string }{ // and the lines at which A and B are then
		{"A:SET", "stock.Read(ctx, order)", ""}, {"A:GET", "stock.Write(ctx, order)", ""}, {"A:write", "l.client.Del(ctx", ""},
		{"expiry", "l.client.Del(ctx", ""}, {"B:SET", "l.client.Del(ctx", "stock.Read(ctx, order)"}, {"A:DEL", "", "stock.Read(ctx, order)"},
	} {
		p.press(step.token)
		p.steps(i + 1)
		for actor, line := range map[string]string{"A": step.a, "B": step.b} {
			p.waitUntil(fmt.Sprintf("after %s, %s is at %q", step.token, actor, line), fmt.Sprintf(
				`(lines => %q === "" ? lines.length === 0 : lines.length === 1 && lines[0].innerText.includes(%q))(
					[...document.querySelectorAll(".code .here")].filter(line => [...line.querySelectorAll(".sign b")].some(b => b.innerText === %q)))`,
				line, line, actor))
		}
	}
	p.waitForText("Solved in 6 steps")
	p.waitUntil("the breach is marked at its step alone", `(marked => marked.length === 1 && marked[0].querySelector(".sign.bad") &&
		marked[0].innerText.includes("foreign release: A removes B's lock"))([...document.querySelectorAll(".drawing .step.breach")])`)
	p.waitForText("There is no shorter way")
	if says := p.text(".now"); !strings.Contains(says, "Step 6 of 6: A removes B's lock") {
		t.Errorf("the sentence is %q", says)
	}
	p.key("ArrowLeft", "ArrowLeft")
	p.at(4)
	p.key("Home")
	p.at(0)
	p.key("End")
	p.at(6)
	p.key("c")
	p.waitUntil("the code is folded", `!document.querySelector(".code").checkVisibility()`)
	p.size(390, 844)
	p.visit(broken)
	p.steps(6)
	p.waitUntil("the step is under the board, and the rest is at the thumb", `(([choice, board, step, controls]) =>
		choice.bottom <= board.bottom && board.bottom <= step.top && step.top < controls.top && controls.bottom <= innerHeight)(
		[".choice", ".board", ".drawing [aria-current=step] .number", ".controls"].map(css =>
			document.querySelector(css).getBoundingClientRect()))`)
	if says := eval[int](p, `document.body.innerText.split("foreign release").length - 1`); says != 1 {
		t.Errorf("the breach is said %d times", says)
	}
}

// A server that stops leaves the schedule on the screen, and the page asks again until it is back.
func TestSeatKeepsItsScheduleWhileTheServerIsAway(t *testing.T) {
	p := open(t, serve(t)+"/#/schedule/v2?in=--faults+expiry=1&do=A:SET+A:GET")
	p.steps(2)
	eval[bool](p, `window.answering = fetch, window.fetch = () => Promise.reject(new TypeError("gone")), true`)
	p.press("A:write")
	p.waitForText("The server does not answer. What is shown is from before.")
	p.steps(2)
	p.waitForText("Step 2 of 2: A reads stock 100")
	eval[bool](p, `window.fetch = answering, true`)
	p.steps(3)
	p.waitUntil("nothing is awaited", `!document.querySelector("[role=alert]")`)
}

func TestSeatStepsCanBeUndoneAndForked(t *testing.T) {
	p := open(t, serve(t)+"/#/schedule/v2?in=--faults+expiry=1")
	p.press("A:SET")
	p.steps(1)
	p.press("A:GET")
	p.steps(2)
	p.key("u")
	p.steps(1)
	p.key("r")
	p.steps(2)
	p.key("ArrowLeft")
	p.at(1)
	p.press("B:SET") // another way from the middle: what came later is gone, until undo
	p.steps(2)
	p.waitForText("B tries the lock: A has it")
	p.key("u")
	p.waitUntil("the first way is back", `location.hash.includes("do=A:SET+A:GET")`)
	p.do(back)
	p.waitUntil("the browser goes back", `location.hash.includes("do=A:SET+B:SET")`)
	p.steps(2)
	p.click("[data-focus=tools]")
	p.waitUntil("the fork is this place", `document.querySelector("[data-focus=fork]").hash === location.hash`)
	p.visit("#/schedule/v2?in=--faults+expiry=1")
	p.press("A:SET")
	p.steps(1)
	p.press("A:GET")
	p.steps(2)
	p.do(back)
	p.steps(1)
	p.key("u") // what the browser's Back has undone is not undone again
	p.waitUntil("the first step is undone", `!location.hash.includes("do=")`)
}

// Keys that come faster than the server answers do what they do one after the other.
func TestQuickKeysActOneAfterTheOther(t *testing.T) {
	p := open(t, serve(t)+"/#/schedule/v2?in=--faults+expiry=1")
	p.waitUntil("there is a first choice", `document.querySelector(".moves .choice")`)
	eval[bool](p, `[..."11u2"].every(key => dispatchEvent(new KeyboardEvent("keydown", {key})))`) // A:SET A:GET, undone, B:SET
	p.waitUntil("the last key is done", `location.hash.includes("do=A:SET+B:SET")`)
	p.steps(2)
	eval[bool](p, `[..."uu2ur1"].every(key => dispatchEvent(new KeyboardEvent("keydown", {key})))`) // B:SET, undone and redone, A:SET
	p.waitUntil("the last key is done", `location.hash.includes("do=B:SET+A:SET")`)
	p.steps(2)
}

func TestSeatReportsAStaleLink(t *testing.T) {
	p := open(t, serve(t)+"/#/schedule/v3?in=--faults+expiry=1&do=A:SET+A:GET+A:DEL+B:SET")
	p.waitForText("This link is stale")
	p.waitForText("step 3")
	p.steps(2)
	p.visit(broken + "&code=AAAAAAAAAAAA")
	p.waitForText("This link is stale")
	p.waitForText("step 1")
	p.press("B:GET")
	p.waitUntil("a new link is not", `!document.body.innerText.includes("This link is stale") && location.hash.includes("code=")`)
}

func TestSeatExplainsAnInvalidAddress(t *testing.T) {
	p := open(t, serve(t)+"/#/schedule/v2")
	p.allowError("400")
	p.visit("#/schedule/v99")
	p.waitForText("This address leads nowhere.")
	p.waitForText("v99")
	p.visit("#/schedule/%E0%A4%A")
	p.waitForText("%E0%A4%A")
	p.click("main a.button")
	p.waitUntil("the first schedule is there", `document.querySelector(".moves .choice")`)
}

func TestScenarioFormChangesTheAddress(t *testing.T) {
	p := open(t, serve(t)+"/#/schedule/v6")
	p.tool("scenario")
	p.waitUntil("the form is open", `document.querySelector("[data-focus=fault-pause]")`)
	set := func(focus, value string) {
		field := fmt.Sprintf(`document.querySelector("[data-focus=%s]")`, focus)
		eval[bool](p, fmt.Sprintf(`(e => { e.value = %q; return e.dispatchEvent(new Event("change")); })(%s)`, value, field))
	}
	set("fault-pause", "1")
	p.waitUntil("pause is in the address", `location.hash.includes("--faults+pause=1")`)
	p.waitUntil("pause is allowed", `document.querySelector(".board").innerText.includes("pause: 1 left")`)
	set("flag-actors", "3")
	p.waitUntil("there are three", `location.hash.includes("--actors+3") && document.querySelector(".drawing .head").innerText.includes("C")`)
	set("flag-work", "25")
	p.waitUntil("they work long", `location.hash.includes("--work+25s")`)
	set("fault-pause", "0")
	p.waitUntil("there are no faults", `!location.hash.includes("faults") && !document.querySelector(".cannot")`)
	set("lock", "v4")
	p.waitUntil("it is v4", `location.hash.startsWith("#/schedule/v4?") && location.hash.includes("--actors+3")`)
}
