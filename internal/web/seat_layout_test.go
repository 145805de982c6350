//go:build long

package web_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// The button of an actor's next step stays at one spot, so neither the page nor the board moves under the finger.
func TestSeatButtonsDoNotMoveWithSteps(t *testing.T) {
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

// Task, board, faults, picture, modes and the help controls fit in the window, however small it is and however large the letters.
func TestSeatFitsEveryWindow(t *testing.T) {
	p := open(t, serve(t)+"/"+start+"&do=A:SET+A:GET")
	for _, window := range []struct {
		width, height  int64
		size, language string
		level          string
	}{
		{1280, 720, "", "en", ""}, {1024, 720, "", "en", ""}, {390, 844, "", "en", ""}, {1280, 720, "large", "en", ""}, {640, 360, "", "en", ""},
		{1280, 720, "", "en", level}, {1024, 720, "", "zh", level}, {390, 844, "", "en", level}, {390, 844, "", "zh", level},
		{1280, 720, "large", "zh", level}, {640, 360, "", "en", level}, {390, 844, "large", "en", level},
	} {
		p.size(window.width, window.height)
		eval[bool](p, fmt.Sprintf("location.hash = %q, true", start+"&do=A:SET+A:GET"+window.level))
		p.setLanguage(window.language)
		eval[string](p, fmt.Sprintf("document.documentElement.dataset.size = %q", window.size))
		p.waitUntil("it is a level, or none", fmt.Sprintf(`!!document.querySelector(".level") === %t`, window.level != ""))
		p.steps(2)
		p.waitUntil(fmt.Sprintf("%+v: all is in the window, and the page does not scroll", window), `[
			".goal", ".actor0 .choice", ".redis .fault", ".actor1 .choice", ".drawing [aria-current=step] .number", "[data-focus=undo]",
			"[data-focus=restart]", "[data-focus=hint]", "[data-focus=tools]", "[data-focus=mode-keep]"].every(css =>
			(r => r && r.top >= 0 && r.bottom <= innerHeight + 1 && r.left >= 0 && r.right <= innerWidth + 1)(
				document.querySelector(css)?.getBoundingClientRect())) && document.documentElement.scrollHeight <= innerHeight`)
		p.waitUntil("the board is whole, but for a window too low for it", `innerHeight < 500 ||
			(board => board.scrollHeight <= board.clientHeight && board.scrollWidth <= board.clientWidth)(document.querySelector(".board"))`)
		p.keep(fmt.Sprintf("seat-%d-%s-%s%s", window.width, window.size, window.language, window.level))
	}
}

// A redraw keeps the scroll positions: the row of help controls stays where it was scrolled to, and the last step stays in sight when its
// distances are added.
func TestSeatRedrawKeepsScrollPositions(t *testing.T) {
	p := open(t, serve(t)+"/"+broken+"&mode=break&anomaly=foreign-release")
	p.steps(6)
	p.size(560, 360)
	eval[bool](p, `(document.querySelector("[data-focus=lock]").scrollIntoView(), true)`)
	before := eval[float64](p, `document.querySelector(".controls > .row").scrollLeft`)
	p.tool("scenario")
	p.waitUntil("the form is open", `document.querySelector("[data-focus=look-for]")`)
	if after := eval[float64](p, `document.querySelector(".controls > .row").scrollLeft`); before == 0 || after != before {
		t.Errorf("the help controls were scrolled by %v; now by %v", before, after)
	}
	p.size(1280, 720)
	p.visit(broken + "&mode=break&anomaly=foreign-release")
	p.steps(6)
	p.key("o")
	p.waitUntil("each step has its distance", `document.querySelectorAll(".drawing .step .changes .chip.bad").length > 0`)
	p.waitUntil("the end of the picture is in sight", `(e => e.scrollTop > 0 && e.scrollTop + e.clientHeight >= e.scrollHeight - 1)(
		document.querySelector(".drawing"))`)
}

// A reader who tabs finds every control, and sees where the focus is.
func TestSeatControlsShowTheirFocus(t *testing.T) {
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
