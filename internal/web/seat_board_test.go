//go:build long

package web_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// query gives what a command of the browser answers; not ok, if that failed, as about a node that was drawn anew meanwhile.
func query[P, R any](p *page, command cdp.Command[P, R], params P) (answer R, ok bool) {
	p.t.Helper()
	p.do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		var err error
		answer, err = cdp.Call(ctx, t, command, params)
		ok = err == nil
		return ctx.Err()
	}))
	return answer, ok
}

// buttonCalled finds the middle of the button that has this accessible name.
func (p *page) buttonCalled(name string) (x, y float64, ok bool) {
	p.t.Helper()
	root, _ := query(p, runtime.Evaluate, runtime.EvaluateParams{Expression: "document.body"})
	found, ok := query(p, accessibility.QueryAXTree, accessibility.QueryAXTreeParams{
		ObjectID: root.Result.ObjectID, AccessibleName: name, Role: "button",
	})
	if !ok || len(found.Nodes) == 0 {
		return 0, 0, false
	}
	box, ok := query(p, dom.GetContentQuads, dom.GetContentQuadsParams{BackendNodeID: found.Nodes[0].BackendDOMNodeID})
	if !ok || len(box.Quads) == 0 {
		return 0, 0, false
	}
	corners := box.Quads[0]
	return (corners[0] + corners[4]) / 2, (corners[1] + corners[5]) / 2, true
}

// clickUnderFigure clicks on the button under a figure that has this accessible name, once it is there.
func (p *page) clickUnderFigure(name string) {
	p.t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(pollInterval) {
		x, y, ok := p.buttonCalled(name)
		if ok && eval[bool](p, fmt.Sprintf(`!!document.elementFromPoint(%v, %v)?.closest(".board .figure .acts button")`, x, y)) {
			p.do(chromedp.MouseClickXY(x, y))
			return
		}
	}
	p.t.Fatalf("no button under a figure is called %q\n%s", name, p.text(".board"))
}

// A beginner solves the first levels with the mouse, by the buttons under the figures. A button is called by what it does, not by its key.
func TestBoardLetsABeginnerSolveTheFirstLevels(t *testing.T) {
	p := open(t, serve(t)+"/#/schedule")
	p.still()
	p.size(1280, 720)
	const expires = "expiry: 10s later: A's lock expires"
	for level, moves := range [][]string{
		{"A reads stock 100", "B reads stock 100", "A writes stock 99; A has sold", "B writes stock 99; B has sold"},
		{"crash: A takes the lock, and dies", "B tries the lock: A has it", "B tries the lock: A has it"},
		{"A takes the lock", "A reads stock 100", "A writes stock 99", expires, "B takes the lock", "A removes B's lock; A has sold"},
		{
			"A takes the lock", "A reads stock 100", "A writes stock 99", "A looks at the lock: A has it", expires, "B takes the lock",
			"A removes B's lock; A has sold",
		},
		{"A takes the lock", "A reads stock 100", "A tries the lock: A has it", "B tries the lock: A has it"},
		{"A takes the lock", expires, "B takes the lock"},
		{
			"A begins an attempt", "A takes the lock", "A reads stock 100",
			expires + "; A is told that it lost the lock, while its write is in flight", "B takes the lock", "B reads stock 100",
			"A writes stock 99 (the command was already in flight)", "B writes stock 99",
		},
	} {
		if level > 0 {
			p.click(fmt.Sprintf("[data-focus=level-v%d]", level))
		}
		p.steps(0)
		p.waitUntil("the level is there", fmt.Sprintf(`location.hash.startsWith("#/schedule/v%d?")`, level))
		for i, move := range moves {
			p.clickUnderFigure(move)
			p.steps(i + 1)
		}
		p.waitUntil("it is solved", `document.querySelector(".drawing .solved")?.checkVisibility()`)
	}
}

// The figures say who has the lock, who only believes it, what each remembers, and the stock. The key is where the lock is. Of v0,
// which has no lock, they say nothing about one.
func TestBoardShowsTheState(t *testing.T) {
	p := open(t, serve(t)+"/#/schedule/v2?in=--faults+expiry=1,crash=1,lost-reply=1&do=A:SET+A:GET")
	says := func(figures ...string) {
		t.Helper()
		for i, says := range figures {
			css := []string{".actor0", ".redis", ".actor1"}[i]
			p.waitUntil(css+" says: "+says, fmt.Sprintf(`document.querySelector(".board %s .head p")?.innerText === %q`, css, says))
		}
	}
	key := func(css, kind string) {
		t.Helper()
		p.waitUntil("the key is "+kind+" by "+css, fmt.Sprintf(`document.querySelector(".board %s .head .key.%s")
			&& document.querySelectorAll(".board .key.%s").length === 1`, css, kind, kind))
	}
	says("has the lock · remembers 100", "stock 100 · lock: A’s, 10 s", "asleep")
	key(".actor0", "held")
	p.waitUntil("many faults are folded away, and those of a connection named", `(folded => !folded.open &&
		/^Faults \(\d\)$/.test(folded.innerText.trim()) && /A ⇄ Redis/.test(folded.textContent))(document.querySelector(".actor0 details"))`)
	p.click("[data-focus=faults-A]")
	p.waitUntil("they are shown", `document.querySelector(".actor0 .fault").checkVisibility()`)
	p.press("expiry")
	says("believes it has the lock · remembers 100", "stock 100 · lock: free · ◷ 10 s", "asleep")
	key(".redis", "held")
	key(".actor0", "believed")
	p.waitUntil("what was shown stays so", `document.querySelector(".actor0 details").open`)
	p.press("B:SET")
	says("believes it has the lock · remembers 100", "stock 100 · lock: B’s, 10 s · ◷ 10 s", "has the lock")
	key(".actor1", "held")
	p.visit("#/schedule/v0?do=A:GET&mode=break&anomaly=lost-update")
	says("remembers 100", "stock 100", "asleep")
	p.key("s")
	p.waitUntil("the state is there", `document.querySelector(".state table")`)
	if text := p.text("main > .board") + p.text("main > .seat"); strings.Contains(text, "lock") {
		t.Errorf("v0 has no lock; the page says: %s", text)
	}
	p.visit("#/schedule/v1?in=--faults+crash=1&do=A:SET/dies-after+B:SET+B:SET")
	p.steps(3)
	if text := p.text("main"); strings.Contains(text, "has ended") {
		t.Errorf("B waits, and the page says that all have ended: %s", text)
	}
}

// The key travels to where the lock is; for those who want no motion, it is there at once.
func TestKeyTravelsToTheLockHolder(t *testing.T) {
	p := open(t, serve(t)+"/#/schedule/v2?in=--faults+expiry=1")
	const moves = `document.querySelector(".board .actor0 .key.held")?.getAnimations().length === %d`
	eval[bool](p, `(window.travels = 0, Element.prototype.animate = (animate => function (...how) {
		travels++;
		return animate.apply(this, how);
	})(Element.prototype.animate), true)`)
	p.press("A:SET")
	p.waitUntil("it travels", `travels > 0`)
	p.waitUntil("it arrives", fmt.Sprintf(moves, 0))
	p.still()
	eval[bool](p, `(window.travels = 0, true)`)
	p.key("u")
	p.steps(0)
	p.press("A:SET")
	p.steps(1)
	if n := eval[int](p, `travels`); n > 0 {
		t.Errorf("it moves %d times for those who want no motion", n)
	}
}

// From level 2 on the distance is in sight, in words and as a meter; before, there is neither that nor a menu of tools.
func TestGaugeShowsTheDistance(t *testing.T) {
	p := open(t, serve(t)+"/#/schedule/v1?in=--faults+crash=1&mode=break&anomaly=stuck&campaign=1")
	p.waitUntil("the first levels have neither gauge nor tools",
		`document.querySelector(".choice") && !document.querySelector(".gauge, [data-focus=tools]")`)
	far := func(value int, says string) {
		t.Helper()
		p.waitUntil("the gauge says "+says, fmt.Sprintf(`(gauge => gauge?.innerText.trim() === %q && gauge.querySelector("meter").value === %d &&
			gauge.querySelector("meter").ariaValueText === %q)(document.querySelector(".gauge"))`, says, value, says))
	}
	p.visit("#/schedule/v2?in=--faults+expiry=1&mode=break&anomaly=foreign-release&campaign=1")
	far(6, "6 to a breach")
	eval[bool](p, `(document.querySelector(".choice").pressed = true)`)
	p.click("[data-focus=hint]")
	p.waitUntil("a button that is pressed meanwhile is not drawn anew",
		`document.querySelector(".gauge.told") && document.querySelector(".choice").pressed`)
	p.press("A:SET")
	far(5, "5 to a breach")
	if n := eval[int](p, `document.querySelectorAll(".choice .chip, .drawing .chip.good").length`); n > 0 {
		t.Errorf("%d choices say how far they lead, without being asked", n)
	}
	p.click("[data-focus=hint]")
	p.waitUntil("the first hint is the gauge", `document.querySelector(".gauge.told") && !document.querySelector(".hinted")`)
	p.click("[data-focus=hint]")
	p.waitUntil("the second is the move", `document.querySelector(".hinted")?.dataset.token === "A:GET"`)
	p.key("o")
	p.waitUntil("the tool says it of each move", `[...document.querySelectorAll(".choice")].every(c => /breach|safe/.test(c.innerText))`)
	p.visit("#/schedule/v2?in=--faults+expiry=1&mode=break&anomaly=foreign-release&campaign=1&do=A:SET+expiry+A:GET+A:write+A:DEL")
	far(6, "safe forever")
	const long = "#/schedule/v10?in=--faults+pause=1&mode=break&anomaly=two-holders&campaign=1"
	eval[bool](p, `window.fetch = (fetches => async (path, ...more) => !path.includes("oracle") ? fetches(path, ...more) : new Response(
		'event: failed\ndata: {"code": "too_large", "message": "too many states"}\n\n'))(fetch), true`)
	eval[string](p, fmt.Sprintf(`location.hash = %q`, long))
	far(14, "14 to a breach") // as a hint says, of too many states to count
	eval[string](p, fmt.Sprintf(`location.hash = %q`, long+
		"&do=A:begins+A:acquire+A:pauses+B:acquire+B:subscribes+B:acquire+time+B:acquire+time+B:acquire+time+B:acquire+time+B:acquire"))
	far(0, "breach")
}

// On a phone the goal, its gauge and the board alone are above the picture, and this has half of the screen once a level is solved. It is
// one tab from the head of the page to the first move.
func TestBoardLeavesHalfOfAPhone(t *testing.T) {
	p := open(t, serve(t)+"/#/schedule")
	p.size(390, 844)
	p.waitUntil("there is a move", `document.querySelector(".choice")`)
	eval[bool](p, `(document.querySelector(".skip").click(), true)`)
	p.key("Tab")
	p.waitUntil("the first tab is a move", `document.activeElement.matches(".choice")`)
	stops := eval[int](p, `(all => all.indexOf(document.querySelector(".level a")) - all.indexOf(document.activeElement))(
		[...document.querySelectorAll("main :is(a, button, select, summary)")].filter(node => !node.disabled && node.checkVisibility()))`)
	if stops > 8 {
		t.Errorf("%d stops from the first level to the first move; want at most 8", stops)
	}
	p.visit(broken + "&mode=break&anomaly=foreign-release" + level)
	p.steps(6)
	p.waitUntil("the picture has half of the screen", `document.querySelector(".drawing").clientHeight >= innerHeight / 2`)
	p.waitUntil("what is above it is the goal, its gauge and the board", `[...document.querySelectorAll("main *")].filter(node =>
		node.checkVisibility() && !node.closest(".unseen, .board, .goal, .gauge, .drawing") && node.children.length === 0 &&
		node.getBoundingClientRect().bottom > 0 &&
		node.getBoundingClientRect().bottom <= document.querySelector(".drawing").getBoundingClientRect().top).length === 0`)
}

// A level that takes longer than necessary counts its steps, and no more of so many; while it goes on, it offers the shorter way.
func TestLevelCountsItsSteps(t *testing.T) {
	url := serve(t) + "/#/schedule/v1?in=--faults+crash=1&mode=break&anomaly=stuck&campaign=1&do=A:SET+A:GET+A:write"
	for _, row := range []struct{ name, more, count, card string }{
		{"as long as the shortest", "", "3/3 steps", "faults"},
		{"longer", "+A:DEL", "4 steps", "There is a shorter way: 3 steps"},
		{"longer, and at its end", "+A:DEL+B:SET+B:GET+B:write+B:DEL", "8 steps", "faults"},
	} {
		t.Run(row.name, func(t *testing.T) {
			p := open(t, url+row.more)
			p.waitUntil("it counts "+row.count, fmt.Sprintf(`document.querySelector(".card .count")?.innerText === %q &&
				document.querySelector(".card").innerText.includes(%q)`, row.count, row.card))
		})
	}
}
