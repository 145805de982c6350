//go:build long

package web_test

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"lockstep/internal/evolution"
	"lockstep/internal/language"

	"lockstep/internal/cli"
)

// A row of the locks: the code beside what it adds, its neighbours by the keyboard, and the way into the seat; in both languages, narrow
// and wide. Addresses as they were lead to it.
func TestRowOfALockShowsItsCode(t *testing.T) {
	p := open(t, serve(t)+"/#/steps/v3-v4")
	p.waitUntil("the code is there", `document.querySelectorAll(".diff ins").length > 5 && document.querySelector(".diff .code-word")`)
	p.waitUntil("the address is that of the lock", `location.hash === "#/locks/v4" &&
		document.querySelector("[aria-expanded=true]").hash === location.hash`)
	p.waitForText("compareAndDelete.lua")
	p.waitUntil("the heads come last, and are closed", `(all => all.length === 4 && all.every((file, i) => file.open === (i < 2)))(
		[...document.querySelectorAll(".file")])`)
	v4, err := evolution.Find("v4")
	if err != nil {
		t.Fatal(err)
	}
	p.waitForText(v4.StillBroken.In(language.English))
	p.waitForText("one buyer: 0.")
	p.key("j")
	p.waitUntil("the next lock", `location.hash === "#/locks/v5" && document.querySelector(".step h2")?.innerText.includes("v4 → v5")`)
	p.key("k", "k")
	p.waitUntil("two back", `location.hash === "#/locks/v3" && document.querySelector(".step h2")?.innerText.includes("v2 → v3")`)
	hidden := eval[int](p, `document.querySelectorAll(".diff .line").length`)
	p.click(".fold")
	if shown := eval[int](p, `document.querySelectorAll(".diff .line").length`); shown <= hidden {
		t.Errorf("%d lines, and %d once unfolded", hidden, shown)
	}
	p.click("#lang")
	p.waitForText("GET 与 DEL 之间，锁可能已经易主")
	p.size(320, 700)
	p.fits()
	p.waitUntil("long lines are wrapped", `[...document.querySelectorAll(".diff")].every(code => code.scrollWidth <= code.clientWidth)`)
	p.click(".step .button.main")
	p.waitUntil("the seat has the schedule", `location.hash.startsWith("#/schedule/v2?") &&
		document.querySelectorAll(".trace .step").length >= 6`)
	for address, says := range map[string]string{"#/locks/v99": "There is no lock v99.", "#/steps/v3-v10": "There is no lock v3-v10.",
		"#/labs/v99": "There is no lab v99.", "#/shop": "There is no view “shop”", "#/?lock=v99&buyers=3": "There is no lock v99.",
		"#/?lock=v0&buyers=-3": "-3 is no number of buyers: from 1 to 2000."} {
		p.visit(address)
		p.waitForText(says)
		p.waitUntil("there is no note in a note", `!document.querySelector(".note .note")`)
	}
	p.visit("#/locks/v0")
	p.waitForText("func (s *Sale) prepare")
	p.click("[aria-expanded=true]")
	p.waitUntil("it is closed", `location.hash === "#/locks" && !document.querySelector(".opened")`)
}

// Back is where the reader was, as soon as the view is that long again.
func TestBackRestoresTheScrollPosition(t *testing.T) {
	p := open(t, serve(t)+"/#/course")
	p.waitUntil("the lessons are there", `document.querySelectorAll(".course li").length > 12`)
	eval[bool](p, `new Promise(then => { addEventListener("scrollend", () => setTimeout(then, 0, true), {once: true}); scrollTo(0, 400); })`)
	for _, address := range []string{"#/labs", "#/course/04"} {
		eval[bool](p, fmt.Sprintf(`location.hash = %q, true`, address))
		p.waitUntil("another view is there", `scrollY === 0 && document.querySelector(".labs li, .choice")`)
		eval[bool](p, `history.back(), true`)
		p.waitUntil("it is where it was", `location.hash === "#/course" && scrollY === 400`)
	}
}

// fits fails if the page is wider than its window.
func (p *page) fits() {
	p.t.Helper()
	if wide := eval[int](p, `document.documentElement.scrollWidth - innerWidth`); wide > 0 {
		p.t.Errorf("the page is %d pixels too wide", wide)
	}
}

// shifted is how far what was there has moved by itself: the cumulative layout shift.
const shifted = `new Promise(then => {
	new PerformanceObserver(all => then(all.getEntries().reduce((sum, shift) => sum + shift.value, 0)))
		.observe({type: "layout-shift", buffered: true});
	setTimeout(then, 500, 0); // nothing has
})`

// The table is filled; it is one stop of Tab, its cells are gone through by the arrows, explained, and lead into the seat. Nothing is
// printed over its corner.
func TestTableCellsAreReachedByArrowKeys(t *testing.T) {
	p := open(t, serve(t)+"/#/table")
	p.waitUntil("it is there", `document.querySelectorAll("tbody tr")[2]?.querySelector(".broken a") && document.querySelector("#anew")`)
	p.waitUntil("no column is empty",
		`[...document.querySelectorAll("tbody tr")[0].cells].slice(2).every(cell => cell.classList.contains("filled"))`)
	const stops = `document.querySelectorAll(".anomalies [tabindex='0'], .anomalies :is(a, button):not([tabindex])").length`
	if stops := eval[int](p, stops); stops != 1 {
		t.Errorf("Tab stops at %d places of the table; want one", stops)
	}
	p.waitUntil("a dot says what it means", `(dot => dot.innerText === "•" && dot.ariaLabel.startsWith("v4, foreign release: never"))(
		document.querySelectorAll("tbody tr")[4].querySelector("[data-column=foreign-release] a"))`)
	const colours = `["v2?/idle", "v2?/foreign-release", "v4?/search=table"].map(part => part.split("/"))
		.map(([lock, cell]) => document.querySelector("td [href^='#/schedule/" + lock + "'][href*='" + cell + "']").closest("td"))
		.map(cell => getComputedStyle(cell).backgroundColor)`
	if looks := eval[[]string](p, colours); looks[0] == looks[1] || looks[1] == looks[2] {
		t.Errorf("cells of 2 steps, 6 steps and never look like %q; want three colours", looks)
	}
	eval[string](p, `(document.querySelectorAll("tbody tr")[2].querySelector("[data-column=foreign-release] a").focus(), "")`)
	p.waitForText("v2, foreign release: in 6 steps")
	p.key("ArrowUp")
	p.waitForText("v1, foreign release: ")
	p.key("ArrowDown", "ArrowRight")
	p.waitForText("v2, lock left behind: never")
	if shift := eval[float64](p, shifted); shift > 0.02 {
		t.Errorf("what is there has moved by %.3f; want 0.02 at most", shift)
	}
	p.size(320, 700)
	p.fits()
	p.waitUntil("the corner is on top, wherever one looks", `(corner => {
		document.querySelector(".wide").scrollLeft = 200;
		corner.scrollIntoView({block: "center"});
		const {left, right, top, bottom} = corner.getBoundingClientRect();
		for (let x = left + 3; x < right - 3; x += 4)
			for (let y = top + 4; y < bottom - 4; y += 8) if (document.elementFromPoint(x, y) !== corner) return false;
		return true;
	})(document.querySelector(".anomalies th"))`)
	p.key("ArrowLeft", "Enter")
	p.waitUntil("the seat shows it", `location.hash.startsWith("#/schedule/v2?") && document.querySelectorAll(".trace .step").length === 6`)
	p.visit("#/locks")
	p.click("#anew")
	p.waitWithin(4*time.Minute, "v0 is explored anew", `document.querySelector("progress").value >= 1`)
	p.click("#lang")
	p.waitForText("每种锁加了什么，还有什么问题")
}

// file runs a command that writes a document, and opens it from disk.
func file(t *testing.T, args ...string) *page {
	t.Helper()
	needsChrome(t)
	name := filepath.Join(t.TempDir(), "out.html")
	cli.Run(context.Background(), append(args, "--html", name), io.Discard, io.Discard)
	if _, err := os.Stat(name); err != nil {
		t.Fatal(err)
	}
	p := open(t, serve(t)+"/#/")
	p.fromDisk(name)
	return p
}

// fromDisk opens a document.
func (p *page) fromDisk(name string) {
	p.t.Helper()
	p.do(chromedp.Navigate((&url.URL{Scheme: "file", Path: name}).String()))
	p.waitUntil("the document is there", `location.protocol === "file:" && document.querySelector("main h1")`)
}

// A document of schedules needs no server: keys step through it, and buttons choose.
func TestDocumentIsSteppedThroughByKeys(t *testing.T) {
	p := file(t, "explore", "v3", "--faults", "expiry=1", "--each")
	p.waitForText("v3: two holders, in 3 steps and in no fewer")
	p.key("Home")
	p.waitForText("The start. 3 steps to the end.")
	p.key("ArrowRight", "ArrowRight")
	p.waitUntil("the second step", `document.querySelector(".told").innerText.includes("Step 2 of 3")`)
	p.waitUntil("the picture follows",
		`[...document.querySelectorAll(".trace .step")].findIndex(step =>
			step.ariaCurrent === "step" || step.getAttribute("aria-current")) === 1`)
	p.key("End")
	p.waitForText("A and B are both in the critical section")
	p.click(".row button:nth-child(3)")
	p.waitUntil("another anomaly", `document.querySelector("h1").innerText.includes("foreign release") &&
		document.querySelectorAll(".trace .step").length === 7`)
	p.size(320, 700)
	p.fits()
	if text := eval[string](p, `performance.getEntriesByType("resource").map(entry => entry.name).join(" ")`); text != "" {
		t.Errorf("it has asked for %s", text)
	}
}

// The seat's schedule is saved as such a document, which opens from disk, and keeps the reader's goal.
func TestSeatSavesItsSchedule(t *testing.T) {
	p := open(t, serve(t)+"/#/schedule/v2?in=--faults+expiry=1&do=A:SET+expiry+B:SET&mode=break&anomaly=lost-update")
	p.click("[data-focus=tools]")
	p.waitUntil("the button is there", `document.querySelector("[data-focus=save]")`)
	p.save(`"token":"expiry"`)
	p.key("End")
	p.waitForText("A and B are both in the critical section")
	p.waitForText("The goal: Make v2 lose an update of the stock. Not reached.")
	p.waitForText("A schedule of v2")
}

// save clicks on the button that saves a file, which contains a text, and opens it from disk.
func (p *page) save(text string) {
	p.t.Helper()
	eval[string](p, `(window.saved = [], URL.createObjectURL = blob => (blob.text().then(text => saved.push(text)), "#"), "")`)
	p.click("[data-focus=save]")
	p.waitUntil("the file is made", fmt.Sprintf(`window.saved[0]?.includes(%q) && saved[0].includes("default-src 'none'")`, text))
	name := filepath.Join(p.t.TempDir(), "saved.html")
	if err := os.WriteFile(name, []byte(eval[string](p, `window.saved[0]`)), 0o600); err != nil {
		p.t.Fatal(err)
	}
	p.fromDisk(name)
}

// The shop's run is saved by a guest as such a document, in the reader's language, with all that two sales did; also by a cluster's front.
func TestShopSavesItsRun(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{"one server": nil, "cluster": {"cluster", "--replicas", "2"}} {
		t.Run(name, func(t *testing.T) {
			p := open(t, serve(t, append(args, "--lock.version", "v0", "--sale.think_time", "2s", "--admin.token", "secret")...)+"/#/")
			p.click("#lang")
			p.click(".buy")
			p.click(".buy")
			p.waitUntil("both are sold", `document.querySelectorAll(".orders .good").length === 2`)
			p.waitUntil("an update is lost", `document.querySelector('[data-kind="lost-update"]')`)
			p.waitForText("丢失了 1 次扣减")
			lost := p.text(".story")
			p.save(`"kind":"lost-update"`)
			p.waitForText("丢失了 1 次扣减")
			if again := p.text(".story"); again != lost || lost == "" {
				t.Errorf("the shop says %q, and the file %q", lost, again)
			}
			p.waitUntil("the sales are there, once", `document.querySelectorAll(".lane .inside").length === 2`)
			p.waitUntil("the sections are there", `document.querySelector(".gantt summary")?.innerText.includes("2 个临界区，1 处重叠")`)
			p.click(".story .bad button")
			p.waitUntil("the two are drawn", `document.querySelectorAll(".scroll .trace .step").length > 2`)
			if asked := eval[string](p, `performance.getEntriesByType("resource").map(entry => entry.name).join(" ")`); asked != "" {
				t.Errorf("it has asked for %s", asked)
			}
			if text := p.text("main"); strings.Contains(text, "undefined") || strings.Contains(text, "NaN") {
				t.Error(text)
			}
			p.size(320, 700)
			p.fits()
		})
	}
}

// A menu opens at its button, and stays there when the seat is drawn anew.
func TestMenuOpensAtItsButton(t *testing.T) {
	p := open(t, serve(t)+"/#/schedule/v2?mode=free")
	p.click("[data-focus=tools]")
	const isThere = `(([menu, button]) => menu.width && Math.abs(menu.left - button.left) < 300 &&
		Math.min(Math.abs(menu.top - button.bottom), Math.abs(button.top - menu.bottom)) < 20)(
		["#menu", "[data-focus=tools]"].map(css => document.querySelector(css).getBoundingClientRect()))`
	p.waitUntil("it is there", isThere)
	eval[bool](p, `(document.querySelector("[data-focus=tools]").old = true)`)
	p.key("1")
	p.waitUntil("it stays there", `!document.querySelector("[data-focus=tools]").old && `+isThere)
}
