//go:build long

package web_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"lockstep/internal/classroom"
)

// The course has a list of lessons, asks for a prediction before it shows the answer, keeps the progress, and can be used by keys, in both
// languages and in a narrow window.
func TestCourseAsksBeforeItShowsTheAnswer(t *testing.T) {
	p := open(t, serve(t)+"/#/course")
	p.waitUntil("all lessons are listed", `document.querySelectorAll(".course li").length >= 12`)
	const chapters = `[...document.querySelectorAll(".course h2")].map(h => h.innerText).join()`
	if says := eval[string](p, chapters); says != "Broken locks,Sound locks,Beyond one Redis, and many who wait" {
		t.Errorf("the chapters are %s", says)
	}
	if bare := eval[int](p, `document.querySelectorAll(".path li:not(:has(.sketch circle))").length`); bare != 0 {
		t.Errorf("%d cards have no drawing", bare)
	}
	p.waitUntil("it begins with the first", `(next => next.innerText === "Start" && next.hash === "#/course/01")(
		document.querySelector("#next"))`)
	p.click(".path li:nth-child(4) .sketch") // the whole card is the link
	p.waitUntil("it asks", `document.querySelectorAll(".choice").length === 3`)
	if eval[bool](p, `!!document.querySelector("#explain, #see, #run")`) {
		t.Error("the answer is shown before the question")
	}
	p.click("li:nth-child(2) > .choice")
	p.waitUntil("the command is there, and the seat before it", `document.querySelector('[aria-labelledby=run] a[href*="mode=break"]') &&
		!document.querySelector("#see")`)
	p.waitForMainButton("▶ Run")
	p.click("#play")
	p.waitUntil("the drawing is at its first step, and nothing is given away", `!document.querySelector("#verdict, #explain, .embedded") &&
		document.querySelectorAll(".player .step.later").length === 5`)
	p.waitForText("Explored here, just now")
	p.waitForMainButton("Next step ›")
	p.visit("#/course/04")
	p.waitUntil("that is kept", `document.querySelectorAll(".player .step.later").length === 5 && document.querySelector(".choice:disabled") &&
		!document.querySelector("#verdict")`)
	p.playsLessonFour()
	p.key("n")
	p.waitUntil("the next lesson", `location.hash === "#/course/05" && document.querySelector("h1").innerText.startsWith("5.")`)
	p.key("p")
	p.waitUntil("what was predicted is kept", `document.querySelector("h1").innerText.startsWith("4.") && document.querySelector("#verdict")`)
	p.waitForSeat()
	p.click("[data-focus=kept]")
	p.waitForText("Kept, in 9 steps. Both sold, stock 98: correct.")
	const under = `(([board, drawing]) => board.bottom <= drawing.top)([".board", ".drawing"].map(css =>
		document.querySelector(".embedded " + css).getBoundingClientRect()))`
	if !eval[bool](p, under) {
		t.Error("the drawing is not under the board")
	}
	p.visit("#/course/04#explain")
	p.waitUntil("a link leads to its heading", `scrollY > 0 &&
		Math.abs(document.querySelector("#explain")?.getBoundingClientRect().top) < 200`)
	p.waitForSeat()
	p.click("#try a")
	p.waitUntil("a heading is a link to itself", `location.hash === "#/course/04#try"`)
	p.visit("#/course")
	p.waitUntil("what is done is marked", `document.querySelectorAll(".path .chip").length === 1 &&
		document.querySelector("#next").innerText === "Continue: lesson 1"`)
	p.waitForText("1 of 16 lessons done")
	p.visit("#/course/04")
	p.waitUntil("differences are coloured, and nothing is cut", `(code => code?.querySelector("ins") &&
		code.scrollWidth <= code.clientWidth)(document.querySelector("#explain ~ div .diff"))`)
	// the address comes while the page is drawn anew
	eval[bool](p, `location.hash = "#/course/04#see", document.querySelector("#lang").click(), true`)
	p.waitForText("你选了 2，答案是 1")
	for _, address := range []string{"#/course", "#/course/04", "#/course/11", "#/course/room"} {
		p.size(320, 700)
		p.visit(address)
		p.waitUntil("it is drawn", `document.querySelector("main h1")`)
		p.fits()
		for _, problem := range eval[[]string](p, misfits) {
			t.Errorf("%s: %s", address, problem)
		}
	}
	p.visit("#/course/07")
	p.click(".choice")
	p.click("#play")
	p.waitUntil("the drawing is there", `document.querySelector(".player .step")`)
	p.key("End")
	p.waitUntil("each button names its lock", `[...document.querySelectorAll("#try ~ .part .runner")].map(e => e.innerText)
		.join() === "▶ Run v5,▶ Run v6"`)
	p.visit("#/course/99")
	p.waitForText("There is no lesson 99; there are 1 to 16.")
}

// waitForSeat scrolls to the seat of a lesson, and waits until it has loaded. It loads once it is in sight, and moves everything below it.
func (p *page) waitForSeat() {
	p.t.Helper()
	p.waitUntil("the seat is there", `(document.querySelector("#seat")?.scrollIntoView(), document.querySelector(".embedded [data-token]"))`)
}

// waitForMainButton waits until the one main button, or link, has this text.
func (p *page) waitForMainButton(text string) {
	p.t.Helper()
	p.waitUntil(text+" leads on", fmt.Sprintf(`(all => all.length === 1 && all[0].innerText === %q)(
		[...document.querySelectorAll("main :is(button, .button).main")].filter(one => one.checkVisibility()))`, text))
}

// A lesson says when its server is gone, and continues when the server is back.
func TestLessonContinuesWhenTheServerIsBack(t *testing.T) {
	p := open(t, serve(t)+"/#/course/04")
	p.click(".choice")
	p.waitUntil("the command is there", `document.querySelector("#play")`)
	p.allowError("ERR_")
	p.offline(true)
	p.click("#play")
	p.waitForText("Connection lost. Retrying…")
	p.key("End")
	p.click(".difference > summary")
	p.waitUntil("the difference says so, too",
		`document.querySelector(".difference [role=alert]")?.innerText === "Connection lost. Retrying…"`)
	p.waitUntil("so is the seat", `(document.querySelector("#seat")?.scrollIntoView(),
		document.querySelector(".embedded [role=alert]")?.innerText === "Connection lost. Retrying…")`)
	p.offline(false)
	p.waitForSeat()
}

// playsLessonFour steps through its drawing, by key and by button; opens what the step changes; runs it beside the next lock; and keeps
// B's lock in the seat, once it was lost. Its last click is into the seat: keys go there.
func (p *page) playsLessonFour() {
	p.t.Helper()
	const seen = `[...document.querySelectorAll(".player .step")].filter(step => step.checkVisibility()).length`
	if n := eval[int](p, seen); n != 1 {
		p.t.Errorf("%d steps are seen at the beginning; want one", n)
	}
	p.key("ArrowRight", "ArrowRight")
	p.click(".player > .row button:nth-child(3)")
	p.waitUntil("it is at step 4", `document.querySelectorAll(".player .step.later").length === 2 &&
		document.querySelector(".player [aria-current=step]").innerText.includes("expires")`)
	const ends = `(said => said.innerText.includes("foreign release") && said.checkVisibility())(document.querySelector(".result .told"))`
	if n := eval[int](p, seen); n != 4 || eval[bool](p, ends) {
		p.t.Errorf("%d steps are seen, and perhaps how it ends; want 4, without", n)
	}
	p.click(".player > .row button:nth-child(4)")
	p.waitUntil("all is shown, and how it ends, as the drawing calls it", ends+` && `+seen+` === 6`)
	p.waitForText("You chose 2; it is 1")
	p.waitForMainButton("Next (n) →")
	p.key("Home")
	p.waitUntil("what was shown stays", seen+` === 6`)
	p.click(".difference summary")
	p.waitUntil("the difference is there", `document.querySelector(".difference ins")`)
	p.waitForSeat()
	p.waitUntil("the seat shows no step that is still to come", `[...document.querySelectorAll(".embedded .step")]
		.filter(step => step.checkVisibility()).length === 5`)
	p.click("#try ~ .part .runner button")
	p.waitForText("Step 6 differs.")
	for _, asked := range eval[[]string](p, `[...document.querySelectorAll("main :is(p, pre, code)")].filter(e => e.checkVisibility())
		.map(e => e.innerText).filter(text => /go run|another terminal/.test(text))`) {
		p.t.Errorf("a reader without a terminal is told: %s", asked)
	}
	p.click(".embedded [data-token='A:DEL']")
	p.waitForText("Not kept, in step 6")
	p.click("[data-focus=again]")
	for i, token := range strings.Fields("B:GET B:write B:DEL A:DEL") {
		p.waitUntil("there is a choice "+token, fmt.Sprintf(`document.querySelectorAll(".embedded .step:not(.later)").length === %d &&
			document.querySelector('.embedded [data-token=%q]')`, 5+i, token))
		p.key(eval[string](p, fmt.Sprintf(`document.querySelector('.embedded [data-token=%q] kbd').textContent`, token)))
	}
	p.waitForText("Kept, in 9 steps. Both sold, stock 98: correct.")
	if p.address() != "#/course/04" {
		p.t.Errorf("the lesson's address is %s", p.address())
	}
}

// A teacher opens a room and fifty participants predict, one of them on the page. The bars appear only after the answer is revealed. A
// participant's page goes to the lesson that the class is at.
func TestRoomShowsTheBarsAfterTheAnswer(t *testing.T) {
	t.Parallel()
	url := serve(t)
	pupil := open(t, url+"/#/course/04")
	pupil.click(".choice") // before the room is open
	teacher := open(t, url+"/#/course/room/04")
	teacher.click("#open")
	teacher.waitUntil("the question is there", `document.querySelectorAll(".bars li").length === 3`)
	teacher.waitForText("Only this machine reaches this server")
	if !eval[bool](teacher, `(at => at(".bars").right < at(".door").left && at(".bars").top - at(".question").bottom < 50)(
		css => document.querySelector(css).getBoundingClientRect())`) {
		t.Error("the choices do not follow the question, beside the door")
	}
	joined := open(t, url+"/#/join")
	joined.waitUntil("who joined is at the lesson", `location.hash === "#/course/04" && document.querySelector(".choice")`)
	for i := range 49 {
		var joined classroom.JoinReply
		post(t, url+"/room/join", "", &joined)
		post(t, url+"/room/answer", fmt.Sprintf(`{"participant":%q,"lesson":4,"choice":%d}`, joined.Participant, i%3+1), &struct{}{})
	}
	teacher.waitForText("50 of 51 have answered") // who joined has not
	if counts := eval[string](teacher, `[...document.querySelectorAll(".bars progress")].map(bar => bar.value)
		.join()`); counts != "18,16,16" {
		t.Errorf("the bars are %s; want 18,16,16", counts)
	}
	pupil.click("li:nth-child(2) > .choice")
	teacher.waitUntil("the pupil's other answer counts", `[...document.querySelectorAll(".bars progress")].map(bar => bar.value)
		.join() === "17,17,16"`)
	if eval[bool](teacher, `document.querySelector(".bars progress").checkVisibility()`) {
		t.Error("the bars are there before the answer")
	}
	teacher.click("#reveal")
	joined.waitUntil("who joined sees the whole", `document.querySelector("#verdict")?.innerText.startsWith("The answer is 1") &&
		document.querySelector("#explain") && !document.querySelector(".player .later")`)
	teacher.waitUntil("the right one is marked", `document.querySelector(".bars li.good") === document.querySelector(".bars li")`)
	teacher.waitUntil("the bars are there", `document.querySelector(".bars progress").checkVisibility()`)
	teacher.visit("#/course/04")
	teacher.click(".choice")
	teacher.click(`a[href="#/course/05"]`)
	teacher.visit("#/course/room/05")
	teacher.waitForText("Nobody has answered yet") // the teacher is no participant
	joined.waitUntil("who joined is at the next lesson", `location.hash === "#/course/05"`)
	teacher.click("#participants summary")
	teacher.waitUntil("all are of one address", `document.querySelectorAll("#participants li").length === 1`)
	teacher.size(320, 700)
	teacher.fits()
	teacher.click("#participants .danger")
	teacher.waitUntil("nobody is left", `document.querySelectorAll("#participants li").length === 0`)
	teacher.allowError("404") // it looks at the question once more, perhaps
	teacher.click("#close")
	teacher.waitForText("Close the room for everybody?")
	teacher.click("#close-now + button")
	teacher.waitUntil("it is still open", `document.querySelector("#close")`)
	teacher.click("#close")
	teacher.click("#close-now")
	teacher.waitUntil("it is closed", `document.querySelector("#open")`)
}

// A participant has a strip on every view, also after a reload. It follows the class until the participant goes elsewhere, shows the answer
// beside the participant's own and the class's, lets the participant leave, and says when the class is over.
func TestParticipantSeesTheStripOnEveryView(t *testing.T) {
	t.Parallel()
	url := serve(t)
	teacher := open(t, url+"/#/course/room/04")
	teacher.click("#open")
	teacher.waitUntil("the question is there", `document.querySelectorAll(".bars li").length === 3`)
	joined, other := open(t, url+"/#/join"), open(t, url+"/#/course/04")
	const follows = `document.querySelector("#follow")?.checked`
	joined.waitUntil("who joined follows", `location.hash === "#/course/04" && `+follows)
	joined.click("li:nth-child(2) > .choice")
	other.click(".choice")
	other.waitUntil("who predicts is in class, and does not follow", follows+` === false`)
	teacher.waitForText("2 of 2 have answered")
	teacher.click("#reveal")
	joined.waitForText("You: 2. Answer: 1.")
	joined.waitUntil("so are the bars", `[...document.querySelectorAll(".attends progress")].map(bar => bar.value).join() === "1,1,0"`)
	for _, language := range []string{"zh", "en"} {
		joined.setLanguage(language)
		joined.size(320, 700)
		joined.fits()
	}
	joined.visit("#/course/04")
	joined.waitForText("You: 2. Answer: 1.")
	eval[bool](joined, `location.hash = "#/", true`)
	joined.waitUntil("who goes elsewhere does not follow", follows+` === false && document.querySelector("main.shop")`)
	teacher.key("n")
	teacher.waitUntil("the class goes on", `location.hash === "#/course/room/05"`)
	joined.waitUntil("who went elsewhere stays there", `document.querySelector(".attends")?.innerText.includes("lesson 5") &&
		location.hash === "#/"`)
	joined.click("#follow")
	joined.waitUntil("who follows again is where the class is", `location.hash === "#/course/05" && `+follows)
	joined.waitUntil("the answer of the lesson before is gone", `!document.querySelector(".attends progress")`)
	other.visit("#/locks/v4")
	other.waitUntil("the strip is on every view", `document.querySelector(".attends")?.innerText.includes("lesson 5")`)
	other.click("#leave")
	other.waitUntil("who has left has no strip", `!document.querySelector(".attends")`)
	joined.click(".choice")
	teacher.waitForText("1 of 1 have answered")
	other.visit("#/course/05")
	other.click(".choice")    // the class does not hear it
	teacher.allowError("404") // it looks at the question once more, perhaps
	joined.allowError("404")
	teacher.click("#close")
	teacher.click("#close-now")
	joined.waitForText("The class is over")
	joined.click("#leave")
	joined.waitUntil("it has been read", `!document.querySelector(".attends")`)
}

// post sends a body, and decodes the answer.
func post(t *testing.T, url, body string, into any) {
	t.Helper()
	answer, err := http.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if err := json.NewDecoder(answer.Body).Decode(into); err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("%s: %d, %v", url, answer.StatusCode, err)
	}
}

// Axe finds nothing in an open room whose answer is revealed, nor in a lesson that has been answered.
func TestAxeFindsNothingInARoomOrAnAnsweredLesson(t *testing.T) {
	t.Parallel()
	axe, url := fetchAxe(t), serve(t)
	teacher, pupil := open(t, url+"/#/course/room/04"), open(t, url+"/#/course/04")
	teacher.click("#open")
	pupil.click(".choice")
	teacher.waitForText("1 of 1 have answered")
	for _, p := range []*page{teacher, pupil} {
		p.click("#reveal, #play")
		if p == pupil {
			p.click(".player > .row button:nth-child(4)")
		}
		p.waitUntil("the answer is there", `document.querySelector("#verdict, .bars li.good")`)
		if p == pupil {
			p.waitForSeat()
		}
		for _, problem := range p.axeViolations(axe) {
			t.Error(problem)
		}
	}
}
