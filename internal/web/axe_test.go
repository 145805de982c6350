//go:build long

package web_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"

	"lockstep/internal/test/suite"
)

// darkIn has each language with one theme: names depend on the language, contrast on the theme, and no rule of axe on both.
var darkIn = map[string]bool{"en": false, "zh": true}

// Each view can be used without seeing or pointing, as far as axe can tell, and has the contrast that it requires.
func TestAxeFindsNothingOnAnyView(t *testing.T) {
	t.Parallel()
	axe, url := fetchAxe(t), serve(t)
	for name, address := range addresses {
		t.Run(name, func(t *testing.T) {
			p := open(t, url+"/"+address)
			for language, dark := range darkIn {
				p.setLanguage(language)
				p.dark(dark)
				p.waitUntilLoaded()
				for _, problem := range p.axeViolations(axe) {
					t.Errorf("%s, dark %v: %s", language, dark, problem)
				}
			}
		})
	}
}

// Nor does axe find anything in what a shop shows that has something to show.
func TestAxeFindsNothingInABusyShop(t *testing.T) {
	t.Parallel()
	axe, s := fetchAxe(t), newFakeShop(t)
	s.send("run", run("open"))
	s.send("lanes", latestSales)
	s.send("story", story)
	s.send("tally", tally)
	s.send("finding", foreignDelete)
	s.send("trouble", `["r2 is paused"]`)
	p := open(t, s.URL+"/#/")
	first := open(t, serve(t)+"/#/")
	first.click(".first .big")
	first.waitUntil("it is over", `document.querySelector(".pane .large.bad")`)
	for i, dark := range []bool{false, true, true, false} {
		for _, shop := range []*page{p, first} {
			shop.dark(dark)
			if i == 2 {
				shop.key("F")
				shop.waitUntil("it is on the stage", `document.querySelector(".bar")`)
			}
			shop.waitUntil("the picture is there, and still", `document.querySelector(".spot") && !document.getAnimations().length`)
			for _, problem := range shop.axeViolations(axe) {
				t.Errorf("dark %v: %s", dark, problem)
			}
			for _, problem := range eval[[]string](shop, misfits) {
				t.Errorf("dark %v: %s", dark, problem)
			}
		}
	}
}

// Nor does axe find anything in what takes a few steps to be seen, in either language, in both themes; and all of it fits a phone.
func TestAxeFindsNothingOnTheWay(t *testing.T) {
	t.Parallel()
	axe := fetchAxe(t)
	const lesson = "#/course/04"
	for name, row := range map[string]struct {
		address string
		do      func(p *page)
	}{
		"hint": {start + level + "&do=A:SET", func(p *page) {
			p.click("[data-focus=hint]")
			p.click("[data-focus=hint]")
			p.waitUntil("the move is named", `document.querySelector(".hinted")`)
		}},
		"tools": {start + level, func(p *page) {
			p.click("[data-focus=tools]")
			p.waitUntil("the menu is open", `document.querySelector("#menu:popover-open")`)
		}},
		"code": {broken, func(p *page) {
			p.key("c")
			p.waitUntil("the code is there", `document.querySelector(".code .diff")`)
		}},
		"state": {broken, func(p *page) {
			p.key("s")
			p.waitUntil("the state is there", `document.querySelector(".state table")`)
		}},
		"keys": {"#/schedule", func(p *page) {
			p.key("?")
			p.waitUntil("the list is there", `document.querySelector("dialog[open]")`)
		}},
		"lesson, answered": {lesson, func(p *page) {
			p.click(".choice")
			p.waitUntil("it can be run", `document.querySelector("#play")`)
		}},
		"lesson, on its way": {lesson, func(p *page) {
			p.click(".choice")
			p.click("#play")
			p.waitUntil("its first step is there", `document.querySelector(".reveals [aria-current]")`)
		}},
		"lesson, told": {lesson, func(p *page) {
			p.click(".choice")
			p.click("#play")
			p.click(".player > .row button:nth-child(4)")
			p.waitUntil("the verdict is there", `document.querySelector("#verdict")`)
			p.waitForSeat()
		}},
		"lab, running": {"#/labs/holder-dies", func(p *page) {
			p.pressButton(".labs button.main")
			p.waitUntil("it draws", `document.querySelector(".runs .trace")`)
		}},
		"lab, over": {"#/labs/lost-update", func(p *page) {
			p.pressButton(".labs button.main")
			p.waitUntil("it is over", `document.querySelector(".runs section:last-child .good") &&
				!document.querySelector(".labs button.main").ariaBusy`)
		}},
		"slow motion": {"#/", func(p *page) {
			p.click("[data-focus=demo]")
			p.click(".first .big")
			p.click(".first .row button:nth-child(2)")
			p.waitUntil("it is at its end", `document.querySelector(".why .large.bad")`)
		}},
		"slow motion on the stage": {"#/", func(p *page) {
			p.click("[data-focus=demo]")
			p.click(".first .big")
			p.waitUntil("it has been seen", `document.querySelector(".first .row button:nth-child(2):enabled")`)
			p.key("F", "ArrowRight")
			p.waitUntil("it is at its end", `document.querySelector(".bar") && document.querySelector(".why .large.bad")`)
		}},
		"comparison on the stage": {"#/?first=v0-200-4-0_v4-100-100-100", func(p *page) {
			p.key("F")
			p.waitUntil("both are there", `document.querySelector(".bar") && document.querySelectorAll(".pane").length === 2`)
		}},
		"room, closing": {"#/course/room", func(p *page) {
			p.waitUntil("it is open, or can be opened", `document.querySelector("#open, #close")`)
			eval[bool](p, `(document.querySelector("#open")?.click(), true)`)
			p.click("#close")
			p.waitUntil("it asks", `document.querySelector("#close-now")`)
		}},
		"participant": {"#/course/join", func(p *page) {
			teacher := open(p.t, p.url+"/#/course/room/03")
			teacher.waitUntil("it is open, or can be opened", `document.querySelector("#open, #reveal")`)
			eval[bool](teacher, `(document.querySelector("#open")?.click(), true)`)
			p.waitUntil("the question is there", `document.querySelector(".choice")`)
			p.click(".choice")
			teacher.click("#reveal")
			p.waitUntil("the answer is there", `document.querySelector(".attends progress") && document.querySelector("#verdict")`)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			for language, dark := range darkIn {
				p := open(t, serve(t)+"/"+row.address)
				p.setLanguage(language)
				p.still()
				row.do(p)
				p.media(dark, "reduce")
				for _, problem := range p.axeViolations(axe) {
					t.Errorf("%s, dark %v: %s", language, dark, problem)
				}
				p.size(390, 844)
				p.waitForFrame()
				for _, problem := range eval[[]string](p, misfits) {
					t.Errorf("%s, on a phone: %s", language, problem)
				}
			}
		})
	}
}

// Nor in the dialog that asks for the token, once one was refused.
func TestAxeFindsNothingWhereATokenIsRefused(t *testing.T) {
	t.Parallel()
	axe, url := fetchAxe(t), serve(t, "--admin.token", "secret")
	for _, language := range []string{"en", "zh"} {
		p := open(t, url+"/#/course/room")
		p.setLanguage(language)
		p.allowError("40") // 401, 403
		p.click("#open")
		p.waitUntil("it asks", `document.querySelector("dialog[open] input")`)
		eval[bool](p, `(document.querySelector("dialog input").value = "wrong", document.querySelector("dialog button").click(), true)`)
		p.waitUntil("it was wrong", `document.querySelector("dialog .note.bad")`)
		for _, dark := range []bool{false, true} {
			p.dark(dark)
			for _, problem := range p.axeViolations(axe) {
				t.Errorf("%s, dark %v: %s", language, dark, problem)
			}
		}
	}
}

// axeViolations are what axe finds in the page as it is now.
func (p *page) axeViolations(axe string) []string {
	p.t.Helper()
	p.do(chromedp.Evaluate[chromedp.Void](axe))
	p.still()
	p.waitUntil("no colour is half-way to another", `!document.getAnimations().some(one => one instanceof CSSTransition)`)
	return eval[[]string](p, `axe.run().then(({violations}) => violations.flatMap(v => v.nodes.map(n =>
		v.id + ": " + n.html.slice(0, 200) + " " + n.failureSummary)))`)
}

// fetchAxe fetches axe-core, which is not kept here.
func fetchAxe(t *testing.T) string {
	t.Helper()
	suite.Needs(t, "npm", "tar", "chromium")
	directory := t.TempDir()
	pack := exec.CommandContext(t.Context(), "npm", "pack", "--silent", "axe-core@4")
	pack.Dir = directory
	if output, err := pack.CombinedOutput(); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatalf("npm pack axe-core: %v\n%s", err, output)
		}
		t.Skipf("axe-core cannot be fetched: npm pack axe-core: %v\n%s", err, output)
	}
	packed, err := filepath.Glob(filepath.Join(directory, "axe-core-*.tgz"))
	if err != nil || len(packed) != 1 {
		t.Fatalf("npm packed %v, %v", packed, err)
	}
	unpack := exec.CommandContext(t.Context(), "tar", "-xzf", packed[0], "-C", directory, "package/axe.min.js")
	if output, err := unpack.CombinedOutput(); err != nil {
		t.Fatalf("tar: %v\n%s", err, output)
	}
	text, err := os.ReadFile(filepath.Join(directory, "package", "axe.min.js"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
