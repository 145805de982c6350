package web_test

import (
	"fmt"
	"testing"
	"time"

	"lockstep/internal/test/suite"
)

func TestShopReportsALostConnection(t *testing.T) {
	suite.LongOnly(t, longShop)
	s := newFakeShop(t)
	s.send("run", run("open"))
	s.send("lanes", latestSales)
	p := open(t, s.URL+"/#/")
	p.waitUntil("it is shown", `document.querySelector(".lane")`)
	p.mu.Lock()
	p.allowed = append(p.allowed, "502")
	p.mu.Unlock()
	s.cutOff(true)
	p.waitForText("Connection lost")
	s.send("trouble", `["Redis does not answer", "r2 is paused"]`)
	s.cutOff(false)
	p.waitUntil("what is wrong is a banner", `(note => note.checkVisibility() && note.querySelectorAll("p").length === 2)(
		document.querySelector(".over [role=alert] + [role=alert]"))`)
	s.send("trouble", `[]`)
	p.waitUntil("and goes", `document.querySelector(".over [role=alert] + [role=alert]").hidden`)
	s.send("finding", foreignDelete)
	s.waitForRequest(t, "stream from 2", 1)
	p.waitUntil("it tells what it missed", `document.querySelector('[data-kind="removed"]')?.textContent.includes("A removed B's lock")`)
	p.waitUntil("all is well again", `document.querySelector("[role=alert]").hidden`)
}

// A page that is left gives its stream back: a browser has six connections to a server, and the seventh visit would wait for one.
func TestShopClosesItsStreamWhenLeft(t *testing.T) {
	suite.LongOnly(t, longShop)
	s := newFakeShop(t)
	s.send("run", run("open"))
	p := open(t, s.URL+"/#/")
	begun := time.Now()
	for range 8 {
		p.visit("#/")
		p.waitUntil("the run is shown", `document.querySelector("h1").innerText.startsWith("v2")`)
	}
	if took := time.Since(begun); took > patience/2 {
		t.Errorf("eight visits took %v", took)
	}
	hide := func(hidden bool) {
		eval[any](p, fmt.Sprintf(`Object.defineProperty(document, "hidden", {value: %v, configurable: true}) &&
			document.dispatchEvent(new Event("visibilitychange"))`, hidden))
	}
	hide(true)
	s.waitForStreams(t, 0)
	hide(false)
	s.waitForStreams(t, 1)
	s.tell(func() { s.silent = true })
	hide(true)
	hide(false)
	p.waitForText("If six other windows have this page")
	s.tell(func() { s.silent = false })
	p.waitUntil("it is there after all", `document.querySelector("[role=alert]").hidden`)
}
