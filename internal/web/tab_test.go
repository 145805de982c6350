//go:build long

package web_test

import (
	"context"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"lockstep/internal/cli"
	"lockstep/internal/test/suite"
)

// site is the page for a host of files. It is built once.
var site struct {
	once  sync.Once
	files http.FileSystem
}

// host is a host of files that has the page below a path.
func host(t *testing.T) *httptest.Server {
	t.Helper()
	site.once.Do(func() {
		dir := t.TempDir()
		var said strings.Builder
		if code := cli.Run(context.Background(), []string{"site", dir}, &said, &said); code != 0 {
			t.Fatalf("site: exit code %d\n%s", code, &said)
		}
		t.Log(said.String())
		kept := fstest.MapFS{} // longer than the directory
		if err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			data, err := os.ReadFile(path)
			kept[strings.TrimPrefix(path, dir+"/")] = &fstest.MapFile{Data: data}
			return err
		}); err != nil {
			t.Fatal(err)
		}
		site.files = http.FS(kept)
	})
	files := http.NewServeMux()
	files.Handle("/a/class/", http.StripPrefix("/a/class/", http.FileServer(site.files)))
	server := httptest.NewServer(files)
	t.Cleanup(server.Close)
	return server
}

// From a host of files, below a path: the seat, a hint, an oracle, a burst; then the same without a network.
func TestTabWorksWithoutANetwork(t *testing.T) {
	t.Parallel()
	needsChrome(t)
	files := host(t)
	p := open(t, files.URL+"/a/class/#/locks")
	p.waitForText("In this tab: real lock code")
	for _, problem := range p.axeViolations(fetchAxe(t)) {
		t.Error(problem)
	}
	p.playThrough()
	p.waitUntil("the files are kept", `navigator.serviceWorker.controller`)
	files.CloseClientConnections()
	files.Close()
	p.allowError("ERR_") // the network is gone
	p.playThrough()
}

// While the shop is on its way, a recorded burst plays, and nothing else is fetched that could wait; then the shop is there, fetched once.
func TestTabPlaysARecordedBurstWhileItLoads(t *testing.T) {
	needsChrome(t)
	files, arrive := host(t), make(chan struct{})
	var mu sync.Mutex
	var asked []string // whatever is large, or for later
	serves := files.Config.Handler
	files.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if name := path.Base(r.URL.Path); strings.HasSuffix(name, ".packed") || name == "files.json" {
			mu.Lock()
			asked = append(asked, name)
			mu.Unlock()
			<-arrive
		}
		serves.ServeHTTP(w, r)
	})
	p := open(t, files.URL+"/a/class/#/")
	p.waitUntil("a burst is shown, and said to be recorded", `document.querySelector(".pane .large.bad")?.innerText ===
		"200 sold of a stock of 100" && document.querySelector(".pane h2").innerText === "no lock · recorded"`)
	p.waitForText("The live shop is loading")
	p.key("ArrowRight")
	p.waitUntil("it is explained", `document.querySelector(".why .large.bad")`)
	p.key("ArrowLeft")
	mu.Lock()
	if !slices.Equal(asked, []string{"shop.packed"}) {
		t.Errorf("meanwhile it asks for %q", asked)
	}
	mu.Unlock()
	close(arrive)
	p.size(1280, 720)
	p.waitUntil("below the recorded burst, the button that begins one is in sight", `scrollY === 0 &&
		document.querySelector(".first .big")?.getBoundingClientRect().bottom <= innerHeight`)
	p.click(".first .big")
	p.waitUntil("it happens here", `document.querySelector(".pane .large.bad") && document.querySelector(".pane h2").innerText === "no lock"`)
	p.waitUntil("the files are kept", `caches.open("lockstep").then(all => all.keys()).then(
		all => all.some(({url}) => url.includes("seat.packed")))`)
	mu.Lock()
	defer mu.Unlock()
	if n := len(slices.DeleteFunc(slices.Clone(asked), func(name string) bool { return name != "shop.packed" })); n != 1 || len(asked) != 3 {
		t.Errorf("it asked for %q; want each once", asked)
	}
}

func TestFirefoxTabWorksWithoutANetwork(t *testing.T) {
	t.Parallel()
	suite.Needs(t, "firefox-esr")
	files := host(t)
	p := openFirefox(t, files.URL+"/a/class/#/locks")
	p.allowError("A ServiceWorker intercepted the request") // Firefox logs this if a page is left while its worker is loading
	p.playThrough()
	p.waitUntil("the files are kept", `navigator.serviceWorker.controller`)
	p.defineShopHelpers()
	p.startThreeReplicas()
	if verdict := eval[string](p, `burst("local")`); verdict != "OVERSOLD" {
		t.Errorf("local with three replicas: %s; want OVERSOLD", verdict)
	}
	p.killFirstReplica()
	p.runLab("lost-update", "v0 is broken: ", "v1 keeps its promise: ")
	files.CloseClientConnections()
	files.Close()
	p.playThrough()
}

// A program that fails begins anew, and the page says so. A search that its reader leaves ends with its worker, and a click never waits for
// one.
func TestFailedProgramRestartsInTheTab(t *testing.T) {
	needsChrome(t)
	p := open(t, host(t).URL+"/a/class/#/locks")
	eval[bool](p, `window.workers = [], window.Worker = class extends Worker {
		constructor(...of) { super(...of); workers.push(this); }
		terminate() { this.ended = true; super.terminate(); }
	}, true`)
	eval[bool](p, `MessagePort.prototype.close = function() { // Firefox still delivers what was on its way
		setTimeout(() => this.onmessage?.({ data: new Uint8Array(1) }));
	}, true`)
	eval[bool](p, `location.hash = "#/", true`)
	p.waitUntil("the shop is open", `document.querySelector("form select[name=lock]")?.options.length > 10`)
	eval[bool](p, `workers[0].postMessage("no request"), true`)
	p.waitForText("The program of the shop failed in this tab")
	p.waitUntil("it is there again", `workers.length === 2 && document.querySelector(".note.bad").hidden`)

	eval[bool](p, `location.hash = "#/schedule/v9?in=--actors+3+--faults+expiry=1,pause=1&mode=oracle&anomaly=two-holders", true`)
	p.waitUntil("it tells how far it is", `/counting … [1-9]\d* states/.test(document.querySelector("main").innerText)`)
	p.key("1")
	p.steps(1)
	p.stopExploration()
	if n := eval[int](p, `workers.length`); n < 5 { // the shop twice, the seat, a search that was left, and the next
		t.Errorf("there were %d workers; want 5", n)
	}
	if eval[bool](p, `workers.at(-1).ended ?? false`) {
		t.Error("the search has ended already")
	}
	eval[bool](p, `window.setTimeout = (later => (does, ms, ...of) => later(does, Math.min(ms, 100), ...of))(setTimeout), true`)
	p.pressButton("[data-focus=explore]")
	p.waitUntil("a search that nobody asks any more is ended", `workers.at(-1).ended`)
}

// stopExploration stops an exploration that would take minutes, and begins another.
func (p *page) stopExploration() {
	p.t.Helper()
	eval[bool](p, `location.hash = "#/explore/v9?in=--actors+4+--faults+expiry=3,crash=3&anomaly=starved", true`)
	p.waitForText("Scenario · buyers: 4 · faults: expiry ×3, crash ×3")
	p.pressButton("[data-focus=explore]")
	p.waitUntil("it tells how far it is", `/[1-9]\d* states/.test(document.querySelector(".result [role=status]")?.innerText)`)
	running := eval[int](p, `workers.length`)
	p.pressButton("[data-focus=stop]")
	p.waitForText("Stopped. Nothing is known")
	eval[bool](p, `location.hash = "#/explore/v2?in=--faults+expiry=1&anomaly=foreign-release", true`)
	p.waitForText("Scenario · faults: expiry")
	p.pressButton("[data-focus=explore]")
	p.waitUntil("it is found", `document.querySelector("[data-focus=why]")`)
	if n := eval[int](p, `workers.length`); n != running+1 {
		p.t.Errorf("there were %d workers, and now %d; want that what was stopped is ended, and that one more began", running, n)
	}
}

// Three replicas are three workers on one Redis in a fourth: a queue in each is no lock for all, and a killed holder's lock is left.
func TestTabReplicasShareOneRedis(t *testing.T) {
	t.Parallel()
	needsChrome(t)
	p := open(t, host(t).URL+"/a/class/#/")
	p.waitUntil("the shop is open", `document.querySelector("form select[name=lock]")?.options.length > 10`)
	p.defineShopHelpers()
	if verdict := eval[string](p, `burst("local")`); verdict != "PASS" {
		t.Errorf("local with one replica: %s; want PASS", verdict)
	}
	p.startThreeReplicas()
	eval[bool](p, `api.put("/settings", {ttl_ms: 60000, think_ms: 0, nested: 0}).then(() => true)`) // redlock's nodes have 3 s to answer
	for version, want := range map[string]string{"local": "OVERSOLD", "v4": "PASS", "v10": "PASS", "redlock": "PASS"} {
		if verdict := eval[string](p, `burst("`+version+`")`); verdict != want {
			t.Errorf("%s with three replicas: %s; want %s", version, verdict, want)
		}
	}
	eval[bool](p, `api.put("/lock", {version: "v1"}).then(() => api.put("/settings", {ttl_ms: 1000, think_ms: 60000, nested: 0}))`+
		`.then(() => (api.post("/inventory/sale").catch(() => {}), true))`)
	eval[bool](p, `until(async () => (await api.get("/lock")).key.ttl_ms === -1)`) // r1 has it
	p.waitUntil("it is seen", `[...document.querySelectorAll("svg.lanes")].some(lanes => lanes.textContent.includes("no expiry"))`)
	p.killFirstReplica()
	if !eval[bool](p, `api.get("/lock").then(({key}) => key.ttl_ms === -1)`) {
		t.Error("the lock of a holder that was killed is gone")
	}
	p.waitForText("A's replica died")
	p.cutOffReplica() // the others hear the one that was started again
	p.runLab("check-then-delete", "v3 is broken: r1#1 removed r2#1's lock", "v4 keeps its promise: ")
}

// defineShopHelpers defines functions in the page that call the shop, and wait for conditions.
func (p *page) defineShopHelpers() {
	p.t.Helper()
	eval[bool](p, `(async () => {
		window.api = await import("./web/server.js");
		window.until = async is => {
			while (!(await is())) await new Promise(soon => setTimeout(soon, 50));
			return true;
		};
		window.burst = async version => {
			await api.put("/lock", {version});
			const {id} = await api.post("/bursts", {n: 100, c: 100});
			for (;;) {
				const {done, result, error} = await api.get("/bursts/" + id);
				if (done) return result?.verdict ?? error;
				await new Promise(soon => setTimeout(soon, 50));
			}
		};
		return true;
	})()`)
}

// startThreeReplicas restarts the shop with three replicas.
func (p *page) startThreeReplicas() {
	p.t.Helper()
	eval[bool](p, `(shops => (shops.value = "3", shops.dispatchEvent(new Event("change"))))(document.querySelector("#shops"))`)
	p.waitUntil("there are three", `document.querySelectorAll(".machines [data-do=kill]").length === 3`)
}

// killFirstReplica kills the first replica, and waits until it was restarted.
func (p *page) killFirstReplica() {
	p.t.Helper()
	eval[bool](p, `(async () => {
		const is = state => until(async () => (await api.get("/replicas"))[0].state === state);
		await until(() => document.querySelector(".machines [data-do=kill]:enabled"));
		document.querySelector(".machines [data-do=kill]").click();
		return (await is("dead")) && is("up");
	})()`)
}

// runLab runs a lab, and waits for the texts that it shows.
func (p *page) runLab(name string, texts ...string) {
	p.t.Helper()
	p.visit("#/labs/" + name)
	p.pressButton(".labs button.main")
	p.waitUntil("it is over", `!document.querySelector(".labs button.main").ariaBusy`)
	for _, text := range texts {
		p.waitForText(text)
	}
}

// pressButton clicks by script, in any browser.
func (p *page) pressButton(css string) {
	p.t.Helper()
	p.waitUntil("there is "+css, fmt.Sprintf(`(e => e && !e.disabled)(document.querySelector(%q))`, css))
	eval[bool](p, fmt.Sprintf(`(document.querySelector(%q).click(), true)`, css))
}

// cutOffReplica cuts a replica off from Redis: its sales wait, those of others succeed, and pending commands arrive when it is reconnected.
func (p *page) cutOffReplica() {
	p.t.Helper()
	eval[bool](p, `api.del("/lock?force=true").then(() => api.put("/lock", {version: "v4"}))`+ // A killed replica has left its lock.
		`.then(() => api.put("/settings", {ttl_ms: 1000, think_ms: 0, nested: 0})).then(() => true)`)
	p.waitUntil("it can be cut off", `document.querySelector(".machines [data-do=cut]")`)
	p.pressButton(".machines [data-do=cut]")
	p.waitUntil("it can be reconnected", `document.querySelector(".machines [data-do=mend]")`)
	p.waitForText("r1 is cut off from Redis")
	sold := eval[[]string](p, `Promise.all([1, 2, 3].map(() =>
		api.post("/inventory/sale").then(({replica}) => replica, ({code}) => code))).then(told => told.sort())`)
	if !slices.Equal(sold, []string{"r2", "r3", "redis_unavailable"}) {
		p.t.Errorf("the outcomes of three sales are %v; want one redis_unavailable", sold)
	}
	p.pressButton(".machines [data-do=mend]")
	eval[bool](p, `until(async () => {
		const all = await Promise.all([1, 2, 3].map(() => api.post("/inventory/sale").then(() => true, () => false)));
		return all.every(Boolean);
	})`)
}

// playThrough breaks v2 by hand, asks for a hint and an oracle, explores v2, and oversells v0.
func (p *page) playThrough() {
	p.t.Helper()
	took := func(what, does, until string) {
		p.t.Helper()
		eval[bool](p, "("+does+", true)")
		p.waitUntil(what, until)
	}
	took("the seat opens", `location.hash = "`+start+`"`, `document.querySelector(".moves [data-token]")`)
	for i, token := range strings.Fields("A:SET A:GET A:write expiry B:SET A:DEL") {
		took(token, fmt.Sprintf(`document.querySelector('.moves [data-token=%q]').click()`, token),
			fmt.Sprintf(`document.querySelectorAll(".drawing .step").length === %d`, i+1))
	}
	p.waitForText("Solved in 6 steps")
	p.visit(start)
	p.waitUntil("the seat can be used", `document.querySelector(".moves [data-token]")`)
	took("a hint", `[1, 2].map(() => document.querySelector("[data-focus=hint]").click())`, `document.querySelector(".hinted")`)
	p.visit("#/locks")
	took("an oracle", `location.hash = "`+strings.Replace(start, "mode=break", "mode=oracle", 1)+`"`,
		`/\d+ states?/.test(document.querySelector("main").innerText)`)
	p.visit("#/explore/v2?in=--faults+expiry=1&each=true")
	p.waitUntil("the form is there", `document.querySelector("[data-focus=explore]")`)
	took("an exploration", `document.querySelector("[data-focus=explore]").click()`,
		`/Every schedule was explored/.test(document.querySelector("main").innerText)`)
	took("the shop opens", `location.hash = "#/"`, `document.querySelector("form select[name=lock]")?.options.length > 10`)
	took("another lock", `(select => { select.value = "v0"; select.form.requestSubmit(); })(document.querySelector("select[name=lock]"))`,
		`document.querySelector("h1").innerText.startsWith("v0")`)
	took("a burst of 200", `document.querySelector(".controls form").requestSubmit()`, `/200 buyers: \d+ sold/.test(document.body.innerText)`)
	p.waitForText("OVERSOLD")
}
