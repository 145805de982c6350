package web_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"lockstep/internal/test/suite"
)

const longShop = "the quick suite draws the latest sales"

// run is the frame that begins a run.
func run(administer string) string {
	return fmt.Sprintf(`{"fresh":true,"run_id":"7","lock":"v2","title":"with an expiry","initial":200,"replicas":["r1","r2","r3"],
		"hosts":{"r1":"shop1","r2":"shop2","r3":"shop3"},"settings":{"ttl_ms":3000,"think_ms":5000,"nested":0,"wait_ms":30000},
		"can":{"administer":%q,"replicas":["pause","resume","kill"],"nodes":true},
		"kinds":{"removed":{"title":"Foreign delete","shown":{"in":"--faults expiry=1","anomaly":"foreign-release"}}}}`, administer)
}

const (
	foreignDelete = `{"id":"a","at":5200,"kind":"removed","says":"A removed B's lock",
		"why":"DEL looks at no owner.","sales":["A","B"],"bad":true}`
	latestSales = `{"now_ms":6000,"more":0,"sales":[
		{"name":"A","replica":"r1","ended":"sold","marks":[{"at":210,"says":"A takes the lock","bad":false}],
			"spans":[{"kind":"inside","from":200,"to":3200},{"kind":"late","from":3200,"to":5200}]},
		{"name":"B","replica":"r2","ended":"","marks":[],
			"spans":[{"kind":"waits","from":1000,"to":3210},{"kind":"inside","from":3210,"to":5200},{"kind":"late","from":5200,"to":null}]},
		{"name":"C","replica":"r3","ended":"","marks":[],"spans":[{"kind":"waits","from":1500,"to":5220},{"kind":"inside","from":5220,
			"to":null}]},
		{"name":"D","replica":"r3","ended":"","marks":[],"spans":[{"kind":"waits","from":1700,"to":null}]}],
		"rail":[{"holder":"A","replica":"r1","from":200,"to":3200,"end":"expired","by":"","expires":3200,"node":0},
			{"holder":"B","replica":"r2","from":3210,"to":5200,"end":"removed","by":"A","expires":6210,"node":0},
			{"holder":"C","replica":"r3","from":5220,"to":null,"end":"","by":"","expires":99000,"node":0}],
		"queue":[{"sale":"D","replica":"r3"}]}`
	story = `{"turns":[
		{"at":3200,"kind":"expired-at-work","says":"A's lock expired after 3.0 s","sales":["A"],"after":null,"bad":true},
		{"at":3210,"kind":"came-in","says":"B came in while A was at work","sales":["B","A"],"after":[1],"bad":false},
		{"at":5200,"kind":"removed","says":"A removed B's lock","sales":["A","B"],"after":[2],"bad":true},
		{"at":5220,"kind":"came-in","says":"C came in while B was at work","sales":["C","B"],"after":[3],"bad":false},
		{"at":5230,"kind":"lost-update","says":"A's update is lost","sales":["B","A"],"after":[2],"bad":true}],
		"picture":` + latestSales + `}`
	tally = `{"run_id":"7","lock":"v2","initial":200,"remaining":199,"sold":2,"oversold":0,"lost":1,"in_flight":2,"max_in_flight":4,
		"verdict":"OVERSOLD","says":"2 sold, but the stock fell by 1 only: 1 update was lost","found":{"removed":3}}`
)

func TestShopDrawsTheLatestSales(t *testing.T) {
	s := newFakeShop(t)
	s.send("run", run("open"))
	s.send("lanes", latestSales)
	s.send("tally", tally)
	p := open(t, s.URL+"/#/")
	p.waitUntil("there is a lane for each sale", `document.querySelectorAll(".lane").length === 4`)
	p.waitUntil("each span is drawn", `document.querySelectorAll(".lane .inside").length === 3 &&
		document.querySelectorAll(".lane .late").length === 2`)
	p.waitUntil("the rail counts down", `/^9\d s$/.test(document.querySelector(".held .countdown").textContent)`)
	p.waitUntil("the rail shows who lost the lock", `document.querySelectorAll(".held .cross").length === 1`)
	p.waitUntil("the queue is in order", `[...document.querySelectorAll(".queue .line")].at(-1).innerText.trim() === "D"`)
	p.waitUntil("the picture is told in words",
		`[...document.querySelectorAll("svg.lanes[aria-label]")].at(-1).ariaLabel.includes("inside: C")`)
	p.waitUntil("no host is named in it, and it is in a tooltip", `(all => !all.some(text => text.includes("shop")))(
		[...document.querySelectorAll(".lanes text")].map(text => text.lastChild.data)) &&
		document.querySelector(".lane .name title").textContent === "r1 · shop1"`)
	p.waitForText("2 sold, but the stock fell by 1 only")
	if eval[bool](p, `document.querySelector(".facts").innerText.includes("beyond")`) {
		t.Error("nothing was sold beyond the stock, and the page speaks of it")
	}

	s.send("finding", foreignDelete)
	p.click(".seen summary")
	p.waitUntil("the finding is named, counted and explained", `(text => ["Foreign delete", "× 3", "A removed B's lock",
		"DEL looks at no owner."]
		.every(part => text.includes(part)))(document.querySelector('.finding[data-kind="removed"]').innerText)`)
	p.waitUntil("it leads to the seat", `document.querySelector(".finding a").hash.startsWith("#/schedule/v2?") &&
		document.querySelector(".finding a").hash.includes("anomaly=foreign-release")`)
	p.click(".finding li button")
	p.waitUntil("the two are drawn", `document.querySelector("dialog.pair .trace")`)
	p.key("Escape")
	p.assertStoryIsInThePicture(s)
}

// assertStoryIsInThePicture checks that what went wrong is one story, whose numbers are all in the picture, and that pointing at one shows
// the other.
func (p *page) assertStoryIsInThePicture(s *fakeShop) {
	p.t.Helper()
	p.size(1280, 720)
	s.send("story", story)
	p.waitUntil("it is announced", `document.querySelector(".found [role=status]").textContent === "A's update is lost"`)
	p.waitUntil("its turns are in order, with causes", `document.querySelectorAll(".story li").length === 5 &&
		document.querySelector('.story [data-turn="4"]').innerText.includes("③ → at 5.2 s C came in")`)
	p.waitUntil("each number is in the picture, in the window, and covers no other", `(spots => spots.length === 5 &&
		spots.every(s => s.checkVisibility() && s.getBoundingClientRect().bottom < innerHeight) &&
		spots.every((s, i) => spots.slice(i + 1).every(other => { const [a, b] = [s, other].map(x => x.getBoundingClientRect());
			return Math.hypot(a.x - b.x, a.y - b.y) > 8; })))(
		[...document.querySelectorAll(".picture .spot circle:last-of-type")].filter(s => s.checkVisibility()))`)
	p.do(chromedp.Focus(chromedp.CSS("#turn-3")))
	p.waitUntil("the picture shows the one with the focus", `document.querySelector('.spot.marked')?.dataset.turn === "3" &&
		document.querySelector(".story li.marked").dataset.turn === "3"`)
	eval[any](p, `document.querySelectorAll('.spot[data-turn="5"]').forEach(spot => spot.dispatchEvent(new MouseEvent("mouseenter")))`)
	p.waitUntil("the story shows the one that is pointed at", `document.querySelector(".story li.marked").dataset.turn === "5"`)
	p.standsOnTheStage(s)
}

// standsOnTheStage checks that a teacher sees the verdict, the picture and a sentence alone, goes through the past by keys, and misses
// nothing that happens meanwhile.
func (p *page) standsOnTheStage(s *fakeShop) {
	p.t.Helper()
	p.key("F")
	p.waitUntil("there is nothing else", `document.querySelector(".says .verdict").checkVisibility() &&
		document.querySelector(".sentence")?.innerText.replace(/\s+/g, " ") === "5 A's update is lost" &&
		![...document.querySelectorAll(".top, .found, .teacher, .buying, .stocks, .picture button")].some(e => e.checkVisibility())`)
	p.waitUntil("it fits, and is large", `document.documentElement.scrollHeight <= innerHeight &&
		Math.min(...[...document.querySelectorAll(".picture .lane .name, .picture .end, .picture .soft")].filter(e => e.checkVisibility())
			.map(e => parseFloat(getComputedStyle(e).fontSize))) >= 20 &&
		document.querySelector(".bar").getBoundingClientRect().bottom <= innerHeight`)
	told := func(n int, says string) {
		p.t.Helper()
		p.waitUntil(fmt.Sprintf("turn %d is told, and no later one is in the picture", n), fmt.Sprintf(
			`document.querySelector(".sentence")?.innerText.replace(/\s+/g, " ") === "%d %s" &&
			(spots => spots.length === %[1]d && spots.at(-1).matches(".marked"))(
			[...document.querySelectorAll(".picture .spot")].filter(s => s.checkVisibility()))`, n, says))
	}
	p.key("ArrowLeft", "ArrowLeft")
	told(4, "C came in while B was at work")
	s.send("tally", strings.Replace(tally, "2 sold, but", "3 sold, but", 1))
	s.send("trouble", `["r2 is paused"]`)
	p.waitForText("r2 is paused") // and by then the tally has come
	came := eval[bool](p, `document.querySelector(".says").textContent.includes("3 sold, but")`)
	if says := eval[string](p, `document.querySelector(".lead").innerText`); says == "" || came {
		p.t.Errorf("in the past it says %q, and what has come meanwhile", says)
	}
	p.key("ArrowLeft")
	told(3, "A removed B's lock")
	p.key("ArrowRight", "ArrowRight")
	told(5, "A's update is lost")
	p.key("Space")
	p.waitUntil("it plays", `document.querySelector(".bar .main").innerText.trim() === "Pause"`)
	p.waitUntil("and at the end there is the present, with what has come", `document.querySelector(".time")?.innerText === "now" &&
		document.querySelector(".says").innerText.includes("3 sold, but")`)
	p.key("Escape")
	p.waitUntil("all is there again", `document.querySelector(".top").checkVisibility() &&
		document.querySelector(".found").checkVisibility() &&
		!document.querySelector(".bar")`)
	s.send("trouble", `[]`)
}

func TestShopDrawsAllCriticalSections(t *testing.T) {
	suite.LongOnly(t, longShop)
	s := newFakeShop(t)
	s.send("run", run("open"))
	type section struct {
		Sale    string `json:"sale"`
		Replica string `json:"replica"`
		From    int64  `json:"from"`
		To      int64  `json:"to"`
	}
	var all []section
	for i := range int64(10_000) { // the last of each hundred lasts into the next
		replica := fmt.Sprintf("r%d", i%3+1)
		one := section{fmt.Sprintf("%s#%d", replica, i), replica, 10 * i, 10*i + 8}
		if i%100 == 99 {
			one.To += 6
		}
		all = append(all, one)
	}
	p := open(t, s.URL+"/#/")
	for len(all) > 0 {
		data, err := json.Marshal(all[:500])
		if err != nil {
			t.Fatal(err)
		}
		s.send("sections", string(data))
		all = all[500:]
	}
	p.waitUntil("all are counted", `document.querySelector(".gantt details").innerText.includes("10000 sections, 99 overlaps")`)
	p.waitUntil("so many are on the canvas", `document.querySelector('[data-shows="sections"]').ariaPressed === "true"`)
	median := eval[float64](p, `(async () => {
		const canvas = document.querySelector("canvas"), times = [];
		for (let i = 0; i < 30; i++) {
			const began = performance.now();
			canvas.dispatchEvent(new WheelEvent("wheel", {deltaY: i < 15 ? -100 : 100, cancelable: true}));
			await new Promise(drawn => requestAnimationFrame(() => requestAnimationFrame(drawn)));
			times.push(performance.now() - began);
		}
		return times.sort((a, b) => a - b)[15];
	})()`)
	t.Logf("zooming: two frames take %.0f ms", median)
	if median > 100 {
		t.Errorf("two frames take %.0f ms; want 33 ms, and never more than 100", median)
	}
	p.do(chromedp.Focus(chromedp.CSS("canvas")))
	p.key("n", "n")
	p.waitForText("Overlap 2 of 99")
	p.waitForText("r2#199 and r3#200")
	p.key("Enter")
	p.waitUntil("the pair is drawn", `document.querySelector("dialog.pair .trace")`)
	p.key("Escape")
	p.waitUntil("the dialog is gone", `!document.querySelector("dialog")`)
	p.click(".gantt summary")
	p.waitUntil("the overlaps are a table, too", `document.querySelectorAll(".gantt tbody tr").length === 99`)
}

// Everything has its place, whatever the window, the size and the language.
func TestShopFitsTheWindow(t *testing.T) {
	suite.LongOnly(t, longShop)
	s := newFakeShop(t)
	s.send("run", run("token"))
	s.send("lanes", latestSales)
	s.send("tally", tally)
	s.send("finding", foreignDelete)
	p := open(t, s.URL+"/#/")
	for _, width := range []int64{320, 900, 1280, 1920} {
		for range 2 {
			p.size(width, 900)
			p.key("A", "L")
			p.waitUntil("it is drawn", `document.querySelectorAll(".lane").length === 4`)
			p.waitUntil(fmt.Sprintf("nothing sticks out at %d", width), `document.documentElement.scrollWidth <= innerWidth`)
		}
	}
	p.key("L")
	p.waitUntil("it speaks Chinese", `["买一件", "处理中的请求", "设置商店", "令牌"].every(part => document.body.innerText.includes(part))`)
}

// A shop says only what is so of its lock, and a loss once.
func TestShopSaysOnlyWhatHoldsForItsLock(t *testing.T) {
	s := newFakeShop(t)
	s.send("run", strings.Replace(run("open"), `"lock":"v2"`, `"lock":"v0"`, 1))
	s.send("lanes", latestSales)
	s.send("tally", tally)
	p := open(t, s.URL+"/#/")
	p.waitForText("1 update was lost")
	says := eval[string](p, `document.querySelector("main").innerText`)
	if strings.Contains(says, "lost updates") || strings.Contains(says, "node 1") || strings.Count(says, "1 update was lost") != 1 {
		t.Errorf("a loss is told twice, or of nodes: %s", says)
	}
	if eval[bool](p, `[...document.querySelectorAll(".picture li")].some(li => li.checkVisibility() && li.innerText.includes("believes"))`) {
		t.Error("somebody believes to hold a lock, and there is none")
	}
	s.send("run", strings.Replace(run("open"), `"lock":"v2"`, `"lock":"redlock"`, 1))
	p.waitForText("node 1")
	if twice := eval[bool](p, `import("./web/views/drawing.js").then(({formatTime}) =>
		[1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000].some(step => formatTime(10600, step) === formatTime(10600 + step, step)))`); twice {
		t.Error("two steps of an axis are written alike")
	}
	p.key("F")
	p.click(".bar [data-focus=again]")
	s.waitForRequest(t, `POST /bursts {"n":200,"c":200}`, 1)
}
