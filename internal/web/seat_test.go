//go:build long

package web_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
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

func TestSeatIsSolvedByKeysAlone(t *testing.T) {
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
	p.shows("Solved in 6 steps")
	p.waitUntil("the breach is marked at its step alone", `(marked => marked.length === 1 && marked[0].querySelector(".sign.bad") &&
		marked[0].innerText.includes("foreign release: A removes B's lock"))([...document.querySelectorAll(".drawing .step.breach")])`)
	p.shows("There is no shorter way")
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

// The same spot is the same actor's next step, again and again: neither the page nor the board moves under the finger.
func TestSeatStaysUnderTheFinger(t *testing.T) {
	p := open(t, serve(t)+"/#/schedule/v2?in=--faults+expiry=1&mode=break&anomaly=foreign-release")
	p.size(1280, 720)
	for _, actor := range []string{".actor0", ".actor1"} {
		css := ".board " + actor + " .choice"
		p.visit(start)
		p.waitUntil("there is "+css, fmt.Sprintf("document.querySelector(%q)", css))
		at := eval[[2]float64](p, fmt.Sprintf(`(r => [r.x + r.width / 2, r.y + r.height / 2])(
			document.querySelector(%q).getBoundingClientRect())`, css))
		for n := 1; n <= 4; n++ { // then it has sold
			p.do(chromedp.MouseClickXY(at[0], at[1]))
			p.steps(n)
			p.at(n)
			if y := eval[float64](p, "scrollY"); y != 0 {
				t.Fatalf("%s: after %d clicks the page is scrolled by %v", css, n, y)
			}
		}
	}
}

// Task, board, faults, picture, modes and what helps are in the window, however small it is and however large the letters.
func TestSeatNeedsNoScrolling(t *testing.T) {
	p := open(t, serve(t)+"/"+start+"&do=A:SET+A:GET")
	for _, window := range []struct {
		width, height  int64
		size, language string
		level          string
	}{
		{1280, 720, "", "en", ""}, {1024, 720, "", "en", ""}, {390, 844, "", "en", ""}, {1280, 720, "large", "en", ""}, {640, 360, "", "en", ""},
		{1280, 720, "", "en", level}, {1024, 720, "", "zh", level}, {390, 844, "", "en", level}, {390, 844, "", "zh", level},
		{1280, 720, "large", "zh", level}, {640, 360, "", "en", level},
	} {
		p.size(window.width, window.height)
		eval[bool](p, fmt.Sprintf("location.hash = %q, true", start+"&do=A:SET+A:GET"+window.level))
		p.speak(window.language)
		eval[string](p, fmt.Sprintf("document.documentElement.dataset.size = %q", window.size))
		p.waitUntil("it is a level, or none", fmt.Sprintf(`!!document.querySelector(".level") === %t`, window.level != ""))
		p.steps(2)
		p.waitUntil(fmt.Sprintf("%+v: all is in the window, and the page does not scroll", window), `[
			".goal", ".actor0 .choice", ".redis .fault", ".actor1 .choice", ".drawing [aria-current=step] .number", "[data-focus=undo]",
			"[data-focus=restart]", "[data-focus=hint]", "[data-focus=tools]", "[data-focus=mode-keep]"].every(css =>
			(r => r && r.top >= 0 && r.bottom <= innerHeight + 1 && r.left >= 0 && r.right <= innerWidth + 1)(
				document.querySelector(css)?.getBoundingClientRect())) && document.documentElement.scrollHeight <= innerHeight`)
		p.keep(fmt.Sprintf("seat-%d-%s-%s%s", window.width, window.size, window.language, window.level))
	}
}

// What is drawn anew stays in sight: what helps where it was scrolled to, and the last step as distances come to it.
func TestSeatKeepsWhatIsInSight(t *testing.T) {
	p := open(t, serve(t)+"/"+broken+"&mode=break&anomaly=foreign-release")
	p.steps(6)
	p.size(560, 360)
	eval[bool](p, `(document.querySelector("[data-focus=lock]").scrollIntoView(), true)`)
	at := eval[float64](p, `document.querySelector(".controls > .row").scrollLeft`)
	p.tool("scenario")
	p.waitUntil("the form is open", `document.querySelector("[data-focus=look-for]")`)
	if is := eval[float64](p, `document.querySelector(".controls > .row").scrollLeft`); at == 0 || is != at {
		t.Errorf("what helps was scrolled by %v; now by %v", at, is)
	}
	p.size(1280, 720)
	p.visit(broken + "&mode=break&anomaly=foreign-release")
	p.steps(6)
	p.key("o")
	p.waitUntil("each step has its distance", `document.querySelectorAll(".drawing .step .changes .chip.breach").length > 0`)
	p.waitUntil("the end of the picture is in sight", `(e => e.scrollTop > 0 && e.scrollTop + e.clientHeight >= e.scrollHeight - 1)(
		document.querySelector(".drawing"))`)
}

// The levels by keys alone, from the first that is open: one is solved, its schedule is shown under the next lock, and the next level
// follows. What was solved is kept, and can be sent as a picture that needs no styles of the page. No flag is said.
func TestTheLevels(t *testing.T) {
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
	p.shows("1/12 solved · 1 optimal")
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
	p.shows("Side level atomic · one script, no lock · Nothing breaks it in any scenario of the table.")
}

// A level ends. Failed, a card says what was reached and what was wanted, and begins again. Solved, it says why, what the next lock makes
// of it, and the stars: a hint costs one, more steps than it takes another. After the last level something follows.
func TestALevelEnds(t *testing.T) {
	p := open(t, serve(t)+"/#/schedule")
	take := func(schedule string) {
		t.Helper()
		for i, token := range strings.Fields(schedule) {
			p.press(token)
			p.steps(i + 1)
		}
	}
	take("A:GET A:write B:GET B:write")
	p.shows("Both sold, stock 98: correct.")
	p.shows("Wanted: 99, with one sale lost. Each sale has to read before the other one writes.")
	p.keep("level-failed")
	p.click("[data-focus=again]")
	p.steps(3)
	p.press("B:write")
	p.click("[data-focus=restart]")
	p.steps(0)
	take("A:GET B:GET A:write B:write")
	p.shows("B writes 99, having read 100, but the stock was 99 by then: a sale is lost.")
	stars := func(n int) {
		t.Helper()
		p.waitUntil(fmt.Sprintf("there are %d stars", n), fmt.Sprintf(`document.querySelector(".end .stars")?.ariaLabel === "%d of 3 stars"`, n))
	}
	stars(3)
	p.shows("See v1 stop this")
	p.keep("level-solved")
	p.click("[data-focus=under-next]")
	p.shows("Under v1 it does not happen: lost update")
	p.click("[data-focus=onward]")
	p.shows("0/3 steps · faults: crash")
	take("B:SET A:SET B:GET B:write")
	p.shows("4 steps · There is a shorter way: 3 steps")
	p.click("[data-focus=restart]")
	p.steps(0)
	take("B:SET A:SET B:GET B:write/dies-after A:SET")
	p.shows("The shortest takes 3.")
	stars(2)
	p.visit("#/schedule")
	p.waitUntil("the next level is open", `location.hash.startsWith("#/schedule/v2?")`)
	for n := range 6 {
		p.key("h") // first the distance
		p.shows("Press Hint again for the move.")
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
	const last = "#/schedule/v11?in=--faults+pause=1&mode=break&anomaly=two-holders&campaign=1&do=A:begins+A:acquireOrAsk+B:begins+" +
		"B:acquireOrAsk+B:subscribes+B:acquireOrAsk+A:pauses+time+B:acquireOrAsk+time+B:acquireOrAsk+time+B:acquireOrAsk+time+B:acquireOrAsk"
	p.visit(last)
	p.shows("Next: v3")
	eval[bool](p, `fetch("seat").then(answer => answer.json()).then(({locks}) => {
		const kept = locks.filter(({level}) => level?.anomaly).map(({name, level}) => [name, {...level, schedule: ""}]);
		localStorage["lockstep.campaign"] = JSON.stringify(Object.fromEntries(kept));
		return true;
	})`)
	p.visit(last)
	p.shows("All twelve levels solved.")
}

// What the shop shows is done by hand from its beginning: no step is shown before the reader comes to it, or goes another way.
func TestSeatGivesNothingAway(t *testing.T) {
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
	p.shows("Solved in 4 steps.")
	p.waitUntil("there is no further step", `!document.querySelector("[data-focus=next-step]")`)
	p.key("Home")
	seen(0)
	p.press("B:GET")
	seen(1)
	p.steps(1)
}

// What was kept of a level that is another one by now does not count, and nothing else is lost.
func TestALevelThatHasChangedIsOpen(t *testing.T) {
	p := open(t, serve(t)+"/#/labs")
	eval[bool](p, `localStorage["lockstep.campaign"] = JSON.stringify({v0: {anomaly: "lost-update", in: "", steps: 5, schedule: ""},
		v8: {anomaly: "two-holders", in: "--faults pause=1", steps: 6, schedule: ""}}), true`)
	p.visit("#/schedule")
	p.shows("1/12 solved · 0 optimal")
	p.waitUntil("level 8 is open", `document.querySelector("[data-focus=level-v8]").ariaLabel === "Level 8: open, shortest 4"`)
}

// A reader who tabs finds every control, and sees where the focus is.
func TestSeatHasVisibleFocus(t *testing.T) {
	p := open(t, serve(t)+"/"+broken+"&mode=break&anomaly=foreign-release")
	p.steps(6)
	seen := map[string]bool{}
	for range 60 {
		p.key("Tab")
		at := eval[string](p, `(e => e === document.body ? "" : e.dataset.focus || e.id || e.className || e.textContent)(document.activeElement)`)
		if at == "" {
			break
		}
		seen[at] = true
		if !eval[bool](p, `(e => e.matches(":focus-visible") && getComputedStyle(e).outlineStyle !== "none")(document.activeElement)`) {
			t.Errorf("nobody sees that the focus is on %q", at)
		}
	}
	for _, control := range strings.Fields("lang theme lock mode-break goal hint choice0 undo restart tools") {
		if !seen[control] {
			t.Errorf("Tab does not come to %s; it does to %v", control, seen)
		}
	}
}

func TestSeatHintLeadsToTheBreach(t *testing.T) {
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
	p.shows("Solved in 6 steps")
	p.key("h")
	p.shows("It has happened: foreign release")
	belongs := func(what string) {
		t.Helper()
		p.waitUntil("no word is of another place: "+what, `!/has happened|Solved|to go\./.test(document.querySelector("main").innerText)`)
	}
	p.key("ArrowLeft")
	p.at(5)
	belongs("a step before")
	p.key("h", "h")
	p.shows("1 step to go. Next: A removes B's lock") // as its choice says
	p.key("ArrowLeft")
	p.at(4)
	belongs("two steps before")
	p.key("ArrowRight", "u")
	p.steps(5)
	p.shows("1 step to go") // here it is so
	eval[bool](p, `location.hash = "#/schedule/v2?in=--faults+expiry=1&mode=break&anomaly=foreign-release&do=A:SET", true`)
	p.steps(1)
	belongs("another address")
	p.do(back)
	p.shows("1 step to go")
}

// A server that stops leaves the schedule on the screen, and the page asks again until it is back.
func TestSeatOutlastsItsServer(t *testing.T) {
	p := open(t, serve(t)+"/#/schedule/v2?in=--faults+expiry=1&do=A:SET+A:GET")
	p.steps(2)
	eval[bool](p, `window.answering = fetch, window.fetch = () => Promise.reject(new TypeError("gone")), true`)
	p.press("A:write")
	p.shows("The server does not answer. What is shown is from before.")
	p.steps(2)
	p.shows("Step 2 of 2: A reads stock 100")
	eval[bool](p, `window.fetch = answering, true`)
	p.steps(3)
	p.waitUntil("nothing is awaited", `!document.querySelector("[role=alert]")`)
}

func TestSeatOracleKnowsTheDistance(t *testing.T) {
	p := open(t, serve(t)+"/#/schedule/v2?in=--faults+expiry=1&anomaly=foreign-release&do=A:SET+A:GET+A:write+A:DEL")
	p.steps(4)
	p.key("o")
	p.waitUntil("the distances are there", `document.querySelector(".drawing .chip.no-return, .drawing .safe, .drawing .step .changes .chip")`)
	p.shows("states, exactly")
	p.key("Home")
	p.shows("6 to a breach")
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
func TestSeatOracleMarksThePointOfNoReturn(t *testing.T) {
	p := open(t, serve(t)+"/#/schedule/v0?mode=oracle&anomaly=lost-update&do=A:GET+B:GET+A:write+B:write")
	p.steps(4)
	p.waitUntil("it is marked", `document.querySelectorAll(".no-return").length === 1`)
	p.waitUntil("it is the second step", `document.querySelectorAll(".drawing .step")[1].querySelector(".no-return")`)
	p.key("Home", "ArrowRight", "ArrowRight")
	p.shows("It can no longer be avoided")
	p.visit("#/schedule/v0?mode=oracle&anomaly=lost-update&do=A:GET+A:write")
	p.shows("safe for ever")
}

func TestSeatUndoesAndForks(t *testing.T) {
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
	p.shows("B finds the lock to be A's")
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
func TestSeatQuickKeysTakeTurns(t *testing.T) {
	p := open(t, serve(t)+"/#/schedule/v2?in=--faults+expiry=1")
	p.waitUntil("there is a first choice", `document.querySelector(".moves .choice")`)
	eval[bool](p, `[..."11u2"].every(key => dispatchEvent(new KeyboardEvent("keydown", {key})))`) // A:SET A:GET, undone, B:SET
	p.waitUntil("the last key is done", `location.hash.includes("do=A:SET+B:SET")`)
	p.steps(2)
	eval[bool](p, `[..."uu2ur1"].every(key => dispatchEvent(new KeyboardEvent("keydown", {key})))`) // B:SET, undone and redone, A:SET
	p.waitUntil("the last key is done", `location.hash.includes("do=B:SET+A:SET")`)
	p.steps(2)
}

func TestSeatTellsOfAStaleLink(t *testing.T) {
	p := open(t, serve(t)+"/#/schedule/v3?in=--faults+expiry=1&do=A:SET+A:GET+A:DEL+B:SET")
	p.shows("This link is stale")
	p.shows("step 3")
	p.steps(2)
	p.visit(broken + "&code=AAAAAAAAAAAA")
	p.shows("This link is stale")
	p.shows("step 1")
	p.press("B:GET")
	p.waitUntil("a new link is not", `!document.body.innerText.includes("This link is stale") && location.hash.includes("code=")`)
}

func TestSeatSaysWhatIsWrongWithAnAddress(t *testing.T) {
	p := open(t, serve(t)+"/#/schedule/v2")
	p.expect("400")
	p.visit("#/schedule/v99")
	p.shows("This address leads nowhere.")
	p.shows("v99")
	p.visit("#/schedule/%E0%A4%A")
	p.shows("%E0%A4%A")
	p.click("main a.button")
	p.waitUntil("the first schedule is there", `document.querySelector(".moves .choice")`)
}

func TestSeatScenarioIsAForm(t *testing.T) {
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
