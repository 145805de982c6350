package web_test

import (
	"strings"
	"testing"

	"lockstep/internal/test/suite"
)

func TestShopButtonsSendTheirRequests(t *testing.T) {
	suite.LongOnly(t, longShop)
	s := newFakeShop(t)
	s.send("run", strings.Replace(run("open"), `"lock":"v2"`, `"lock":"redlock"`, 1))
	p := open(t, s.URL+"/#/")
	p.waitUntil("the locks are listed", `document.querySelectorAll("select[name=lock] option").length === 2`)
	for _, button := range []struct{ before, css, request string }{
		{"", ".buy", "POST /inventory/sale"},
		{`document.querySelector("select[name=lock]").value = "v4"`, `form:has([name="lock"]) button`, `PUT /lock {"version":"v4"}`},
		{`document.querySelector("[name=stock]").value = 50`, `form:has([name="stock"]) button`, `PUT /inventory {"stock":50}`},
		{
			`document.querySelector("[name=ttl]").value = 1.5`, `form:has([name="ttl"]) button`,
			`PUT /settings {"ttl_ms":1500,"think_ms":5000,"nested":0}`,
		},
		{`document.querySelector("fieldset > .danger").click()`, ".controls [role=status] .danger", "DELETE /lock?holder=dead"},
		{"", `[aria-label="Pause: r1"]`, `POST /replicas/r1 {"do":"pause"}`},
		{"", `[aria-label="Resume: r2"]`, `POST /replicas/r2 {"do":"resume"}`},
		{"", `[aria-label="Kill: r2"]`, `POST /replicas/r2 {"do":"kill"}`},
		{"", `[aria-label="Stop: node 1"]`, `POST /nodes/1 {"do":"stop"}`},
		{"", `[aria-label="Hang: node 1"]`, `POST /nodes/1 {"do":"hang"}`},
		{"", `[aria-label="Start: node 2"]`, `POST /nodes/2 {"do":"start"}`},
		{"", `[aria-label="Empty: node 2"]`, `POST /nodes/2 {"do":"empty"}`},
		{"", `[aria-label="Many buyers"] button`, `POST /bursts {"n":200,"c":200}`},
		{"", `[aria-label="Many buyers"] button + button`, "DELETE /bursts/b7"},
	} {
		if button.before != "" {
			eval[any](p, button.before)
		}
		p.click(button.css)
		s.waitForRequest(t, button.request, 1)
	}
	eval[any](p, `(n => { n.value = 2001; n.form.requestSubmit(); })(document.querySelector("[aria-label='Many buyers'] input"))`)
	p.waitForText("No more than 2000 buyers at once")
	if n := s.count(`POST /bursts {"n":2001,"c":2001}`); n > 0 {
		t.Error("too many buyers are asked for")
	}
	p.waitUntil("the burst has progress", `document.querySelector("progress").value === 20 && document.querySelector("progress").max === 50`)
}

// A paused replica is shown as paused at once, before its heartbeat is missed.
func TestPausedReplicaIsShownAtOnce(t *testing.T) {
	suite.LongOnly(t, longShop)
	p := open(t, serve(t, "cluster", "--replicas", "2")+"/#/")
	p.waitUntil("there are two", `document.querySelectorAll(".machines [data-do=pause]").length === 2`)
	eval[bool](p, `(window.setTimeout = () => 0, document.querySelector("[aria-label='Pause: r1']").click(), true)`)
	p.waitUntil("it is paused", `document.querySelector(".machines li .soft").textContent === "paused"`)
}

// A guest may look and buy; all other actions need the token.
func TestShopAsksGuestsForTheToken(t *testing.T) {
	suite.LongOnly(t, longShop)
	s := newFakeShop(t)
	s.token = "secret"
	s.send("run", run("token"))
	p := open(t, s.URL+"/#/")
	p.waitUntil("the buttons are off, and say why", `document.querySelector("fieldset").disabled &&
		document.querySelector(".controls").innerText.includes("need the token")`)
	p.click(".buy")
	p.waitForText("sold at r1: stock 200 → 199")
	p.click(".controls .note button")
	p.waitUntil("the token is asked for", `document.activeElement.type === "password"`)
	p.allowError("401") // to the wrong one
	p.key("w", "r", "o", "n", "g", "Enter")
	p.waitUntil("it is asked for again, and why", `document.querySelector("dialog .note.bad") && document.activeElement.type === "password"`)
	p.key("s", "e", "c", "r", "e", "t", "Enter")
	p.waitUntil("the buttons are on", `!document.querySelector("fieldset").disabled`)
	p.click("fieldset > .danger")
	p.click(".controls [role=status] .danger")
	s.waitForRequest(t, "DELETE /lock?holder=dead", 1)
}

// The page names the holder of a stuck lock, and removes the lock only after the reader confirms.
func TestStuckLockIsTakenFromNamedHolder(t *testing.T) {
	suite.LongOnly(t, longShop)
	s := newFakeShop(t)
	s.send("run", run("open"))
	p := open(t, s.URL+"/#/")
	p.click("fieldset > .danger")
	p.waitForText("The holder is dead (expires in 8 s). If it is still at work, the next sale gets in beside it.")
	if n := s.count("DELETE /lock?holder=dead"); n > 0 {
		t.Error("the lock is taken before its reader has confirmed it")
	}
	p.click(".controls [role=status] .danger")
	p.waitForText("The lock is released.")
}

func TestShopCanBeUsedByKeysAlone(t *testing.T) {
	suite.LongOnly(t, longShop)
	s := newFakeShop(t)
	s.blocked = make(chan struct{})
	s.send("run", run("open"))
	s.send("finding", foreignDelete)
	p := open(t, s.URL+"/#/")
	p.waitUntil("it is shown", `document.querySelector(".finding")`)
	p.key("b", "b", "b")
	s.waitForRequest(t, "POST /inventory/sale", 3)
	p.waitUntil("each is listed", `document.querySelectorAll(".orders li").length === 3`)
	close(s.blocked)
	p.waitUntil("each is answered", `document.querySelectorAll(".orders .good").length === 3`)
	reached := map[string]bool{}
	p.click(".seen summary")
	for range 60 {
		p.key("Tab")
		reached[eval[string](p, `document.activeElement.ariaLabel || document.activeElement.innerText.trim()`)] = true
	}
	for _, name := range []string{
		"Buy one\nb", "The latest sales", "All critical sections", "Draw it", "Buy at once", "Apply", "Refill", "Release a stuck lock",
		"Kill: r2",
	} {
		if !reached[name] {
			t.Errorf("Tab does not reach %q; it reaches %v", name, reached)
		}
	}
}
