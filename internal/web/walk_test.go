//go:build long

package web_test

import (
	"fmt"
	"testing"

	"github.com/chromedp/cdproto/cdp"
)

// addressesOfHalf returns the addresses of all views, and of every second lock, lesson, level end and lab, beginning with the first (0) or
// the second (1): two walks that differ in this meet them all.
const addressesOfHalf = `(async half => {
	const {get} = await import("./web/server.js"), names = ({name}) => name;
	const [{locks}, {lessons}, labs] = await Promise.all(["/seat", "/course", "/labs"].map(path => get(path)));
	const end = "&mode=break&campaign=1&do="; // of a level: failed, and solved
	const ends = ["v0?anomaly=lost-update" + end + "A:GET+A:write+B:GET+B:write",
		"v0?anomaly=lost-update" + end + "A:GET+B:GET+A:write+B:write",
		"v7?in=--faults+pause=1&anomaly=two-holders" + end + "A:begins+A:lockFenced+A:pauses+B:lockFenced+time+B:lockFenced"];
	return ["#/", "#/campaign", "#/explore", "#/locks", "#/steps/v4", "#/labs", "#/course"].concat([
		locks.map(names).concat(ends).map(name => "#/schedule/" + name), lessons.map(({number}) => "#/course/" + number),
		locks.map(names).map(name => "#/locks/" + name), labs.map(names).map(name => "#/labs/" + name),
	].flat().filter((_, i) => i %% 2 === half));
})(%d)`

// walk goes to an address, presses each button of the view once, and returns what went wrong: boxes that report an error, and empty views.
// It stops long runs by their own button.
const walk = `(async address => {
	window.prompt = () => null; // a page without the focus may not copy, asks to do it by hand, and waits
	const answers = "#verdict, .answer, .told *, .embedded .note.warn, main.schedule .note.warn:not(.panel *), " +
		"main.schedule .task .note.bad"; // to what a reader did, or asked
	const wrong = [], pushed = new Set(), later = ms => new Promise(then => setTimeout(then, ms));
	const shown = css => [...document.querySelectorAll(css)].filter(node => node.checkVisibility());
	const look = after => {
		for (const box of shown("[role=alert], .note.bad, .note.warn"))
			if (box.innerText.trim() && !box.matches(answers)) wrong.push(address + ", " + after + ": " + box.innerText.slice(0, 200));
	};
	const there = async () => {
		for (let n = 0; n < 100 && !shown("main > *").some(node => node.innerText.trim()); n++) await later(50);
		await later(50);
	};
	location.hash = address;
	await there();
	const skip = "[data-do], .danger, [data-focus=save], [data-focus=tools], #shops, .top *, [target], .machines *, .number";
	for (let n = 0; n < 60; n++) {
		document.querySelector("#menu:not(:popover-open)")?.showPopover();
		const button = shown("main button:enabled, main summary").find(one => !one.matches(skip)
			&& !pushed.has(one.textContent + (one.dataset.focus ?? "")));
		if (!button) break;
		const name = button.textContent + (button.dataset.focus ?? "");
		pushed.add(name);
		button.click();
		await later(60);
		for (const stop of shown("main [aria-busy=true], main [data-focus=stop]")) stop.click();
		document.querySelector("dialog[open]")?.close();
		if (document.fullscreenElement) await document.exitFullscreen();
		look(name);
		if (location.hash.split("?")[0] !== address.split("?")[0] && !location.hash.includes(address.split("/")[2] ?? "")) {
			location.hash = address;
			await there();
		}
	}
	look("at the end");
	const empty = () => !pushed.size && !shown("main").some(node => node.innerText.length > 40);
	for (let n = 0; n < 100 && empty(); n++) await later(50);
	if (empty()) wrong.push(address + " is empty");
	return wrong;
})(%q)`

// leastAddresses bounds what a walk must meet: 7 views, and half of some 90 locks, lessons, level ends and labs.
const leastAddresses = 45

// Two walks push every button: one of a server's page in Chinese, one of a tab's in English. Each takes all views; of the locks, lessons,
// level ends and labs, each takes one half. No request fails, no box reports an error, and the console stays empty.
func TestEveryButtonWorks(t *testing.T) {
	needsChrome(t)
	class := host(t).URL + "/a/class/"
	for name, c := range map[string]struct {
		language string
		half     int
		address  func(*testing.T) string
	}{
		"served":   {"zh", 0, func(t *testing.T) string { return serve(t) + "/" }},
		"in a tab": {"en", 1, func(*testing.T) string { return class }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // it waits most of its time
			url := c.address(t)
			p := open(t, url+"#/labs")
			p.setLanguage(c.language)
			p.allowError("503 (Service Unavailable) " + url + "seat/hint") // a search that takes too long says so
			p.allowError("409 (Conflict) " + url + "bursts")               // nobody pushes both buttons of a burst as fast as the walk does
			all := eval[[]string](p, fmt.Sprintf(addressesOfHalf, c.half))
			if len(all) < leastAddresses {
				t.Fatalf("got %d addresses; want at least %d", len(all), leastAddresses)
			}
			for _, address := range all {
				for _, problem := range eval[[]string](p, fmt.Sprintf(walk, address)) {
					t.Error(problem)
				}
			}
			t.Log(len(all), "addresses")
		})
	}
}

// A view that cannot be loaded reports it, and loads once the server is back.
func TestViewLoadsOnceTheServerIsBack(t *testing.T) {
	p := open(t, serve(t)+"/#/labs")
	p.allowError("ERR_")
	p.offline(true)
	eval[bool](p, `location.hash = "#/locks/v4", true`)
	p.waitForText("this view cannot be loaded")
	p.offline(false)
	p.waitUntil("it is there", `document.querySelector(".step-code")`)
}

// offline disconnects the tab from the network, or reconnects it.
func (p *page) offline(isOffline bool) {
	p.t.Helper()
	call(p, emulateNetwork, conditions{Offline: isOffline, Download: -1, Upload: -1})
}

type conditions struct {
	Offline  bool `json:"offline"`
	Latency  int  `json:"latency"`
	Download int  `json:"downloadThroughput"`
	Upload   int  `json:"uploadThroughput"`
}

var emulateNetwork = cdp.Command[conditions, cdp.Empty]{Method: "Network.emulateNetworkConditions"}
