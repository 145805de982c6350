package classroom_test

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"lockstep/docs"
	"lockstep/internal/api/route"
	"lockstep/internal/classroom"
	"lockstep/internal/course"
	"lockstep/internal/language"
)

// ask sends a request. It decodes a successful answer into into.
func ask(t *testing.T, to http.Handler, method, address, body string, into any) (status int) {
	t.Helper()
	answer := httptest.NewRecorder()
	to.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), method, address, strings.NewReader(body)))
	if into != nil && answer.Code == http.StatusOK {
		if err := json.Unmarshal(answer.Body.Bytes(), into); err != nil {
			t.Errorf("%s %s: %v: %s", method, address, err, answer.Body)
		}
	}
	return answer.Code
}

var (
	href   = regexp.MustCompile(`href="([^"]*)"`)
	tag    = regexp.MustCompile(`</?([a-z0-9]+)[^>]*>`)
	code   = regexp.MustCompile(`(?s)<code[^>]*>.*?</code>`)
	nested = regexp.MustCompile(`[(（][^()（）]*\([^()]*\)[)）]`)
	plain  = "p ol ul li a em strong code pre table thead tbody tr th td h3 br"
	inPage = regexp.MustCompile(`^#/(course(/\d\d)?$|locks(/|$)|schedule/|$)`)
)

// Every lesson is rendered in both languages, without dead links, without leftover Markdown, and only with elements that Markdown
// generates.
func TestEachLessonRendersAsHTML(t *testing.T) {
	handler := route.Mux(classroom.New(docs.Course()).Routes()...)
	for _, in := range language.All() {
		var list struct{ Lessons []classroom.Entry }
		ask(t, handler, http.MethodGet, "/course?lang="+string(in), "", &list)
		if len(list.Lessons) < 12 {
			t.Fatalf("%s: %d lessons; want 12 or more", in, len(list.Lessons))
		}
		if labs := list.Lessons[11].Labs; !slices.Contains(labs, "failover") {
			t.Errorf("%s: lesson 12 runs the labs %q; want failover, too", in, labs)
		}
		for _, entry := range list.Lessons {
			var sketch struct{}
			if err := xml.Unmarshal([]byte(entry.Sketch), &sketch); err != nil || !strings.Contains(entry.Sketch, "<circle") {
				t.Errorf("%s: lesson %d is drawn so: %s: %v", in, entry.Number, entry.Sketch, err)
			}
			var lesson classroom.Page
			address := fmt.Sprintf("/course/%02d?lang=%s", entry.Number, in)
			if status := ask(t, handler, http.MethodGet, address, "", &lesson); status != http.StatusOK {
				t.Errorf("%s: %d", address, status)
				continue
			}
			if lesson.Title != entry.Title || len(lesson.Choices) < 2 || len(lesson.After) != 4 {
				t.Errorf("%s: it is %+v", address, lesson)
			}
			texts := append([]string{entry.Idea, lesson.Idea}, lesson.Choices...)
			for _, section := range append(lesson.After, lesson.Predict, lesson.Run) {
				for _, part := range section.Parts {
					if len(part.Commands) == 0 {
						texts = append(texts, part.HTML)
					}
				}
			}
			for _, text := range texts {
				checkHTML(t, address, text, len(list.Lessons))
			}
			for _, choice := range lesson.Choices {
				if strings.Contains(choice, "<a ") || strings.Contains(choice, "<p>") {
					t.Errorf("%s: a choice is a button, and cannot have this in it: %s", address, choice)
				}
			}
		}
	}
}

// Each lesson shows a diagram or sentences for its command before anything is explored, and the diagram shows what the command looks for.
func TestEachLessonShowsDiagramOrSentences(t *testing.T) {
	handler := route.Mux(classroom.New(docs.Course()).Routes()...)
	for _, in := range language.All() {
		for number := 1; number <= 16; number++ {
			var lesson classroom.Page
			ask(t, handler, http.MethodGet, fmt.Sprintf("/course/%d?lang=%s", number, in), "", &lesson)
			if len(lesson.Run.Parts) == 0 {
				t.Fatalf("%s %d: nothing is run", in, number)
			}
			run := lesson.Run.Parts[len(lesson.Run.Parts)-1]
			diagram := run.Commands[0].Diagram
			switch {
			case diagram == nil && len(run.Says) < 2:
				t.Errorf("%s %d: neither a drawing nor a sentence: %+v", in, number, run)
			case diagram != nil && (len(diagram.Hits) == 0) == (run.Commands[0].Kind == course.KindExplore):
				t.Errorf("%s %d: the drawing of %s shows %v", in, number, run.Commands[0].Line, diagram.Hits)
			}
			if diagram != nil && len(diagram.Hits) > 0 && !strings.Contains(run.Says[0], " "+diagram.Hits[0].Title) {
				t.Errorf("%s %d: the drawing shows %q; the sentence beside it calls it otherwise: %s", in, number, diagram.Hits[0].Title, run.Says[0])
			}
			for _, says := range run.Says {
				if strings.Contains(says, "│") || strings.Contains(says, "go run") {
					t.Errorf("%s %d: it says %q", in, number, says)
				}
			}
		}
	}
}

func checkHTML(t *testing.T, address, text string, lessons int) {
	t.Helper()
	if text == "" {
		t.Errorf("%s: a text is empty", address)
	}
	if twice := nested.FindString(code.ReplaceAllString(text, "")); strings.Contains(twice, ".md)") {
		t.Errorf("%s: it has parentheses within parentheses: %s", address, twice)
	}
	for _, link := range href.FindAllStringSubmatch(text, -1) {
		var number int
		if n, _ := fmt.Sscanf(link[1], "#/course/%d", &number); n == 1 && number > lessons {
			t.Errorf("%s: there is no lesson %d", address, number)
		}
		if !inPage.MatchString(link[1]) && !strings.HasPrefix(link[1], "https://") {
			t.Errorf("%s: the link %s is dead", address, link[1])
		}
	}
	for _, found := range tag.FindAllStringSubmatch(text, -1) {
		if !strings.Contains(" "+plain+" ", " "+found[1]+" ") {
			t.Errorf("%s: what is %s?", address, found[0])
		}
	}
	if said := code.ReplaceAllString(text, ""); strings.Contains(said, "**") || strings.Contains(said, "](") || strings.Contains(said,
		"<!--") {
		t.Errorf("%s: a mark is left: %s", address, said)
	}
}

const hostile = `# 1. A

[x](01-a.zh-CN.md)

<script>alert(1)</script> [a](javascript:alert(2)) <b onclick="x">b</b>

## Predict

Q?

1. <img src=x onerror=alert(3)>
2. b

## Run

` + "```sh\ngo run . explore v0\n```" + `

## See

<!-- lockstep explore v0 -->
` + "```text\nv0 holds\n```" + `

## Explain

The answer is **1**. From <!-- v1 share 1 -->0.5 to <!-- v2 share 1 -->0.6. See [the code](../../util/a.lua).

## In the scheduler's seat

With ` + "`go run .`" + ` in another terminal, open [S](http://127.0.0.1:8080/#/schedule/v0?do=A).
[S](http://127.0.0.1:8080/#/schedule/v0?do=A)

## Try

` + "```text\n<script>alert(4)</script>\n```" + `

## Still broken

B
`

// HTML in a lesson is removed, and a link to a file of the repository is shown as its name.
func TestHTMLInLessonIsRemoved(t *testing.T) {
	handler := route.Mux(classroom.New(fstest.MapFS{"01-a.md": {Data: []byte(hostile)}}).Routes()...)
	answer := httptest.NewRecorder()
	handler.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/course/1", http.NoBody))
	body := answer.Body.String()
	for _, wrong := range []string{"<script", "<img", "onclick", "href=\\\"javascript"} {
		if strings.Contains(body, wrong) {
			t.Errorf("%s is passed on: %s", wrong, body)
		}
	}
	for _, right := range []string{"&lt;script&gt;alert(4)", "From 0.5 to 0.6. See the code (util/a.lua).", `href=\"#/schedule/v0?do=A\"`} {
		if !strings.Contains(body, right) {
			t.Errorf("there is no %s in %s", right, body)
		}
	}
}
