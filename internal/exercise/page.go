package exercise

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"strconv"
	"strings"

	"lockstep/exercises"
	"lockstep/internal/explore"
	"lockstep/internal/language"
)

// The form of an exercise's page: title, links, story and claim; what is explored; and the hints.
var (
	pageBegins = regexp.MustCompile(`^# \S+ \d\d[:：] ?(.+)\n\n.+\n\n(.+)\n\n\*\*[^*]+\*\* (.+)\n`)
	pageLook   = regexp.MustCompile("(?m)^- (?:`([^`]+)`|[^`]+)[:：] ?`(.+)`$")
	pageHint   = regexp.MustCompile(`</summary>\n\n(.+)\n\n</details>`)
)

// All reads the exercises, in order. It panics if a page is not of its form: pages are part of the program.
func All() (all []Exercise) {
	directories, err := exercises.Pages.ReadDir(".")
	for _, directory := range directories {
		english, unread := read(directory.Name(), "README.md")
		chinese, unreadToo := read(directory.Name(), "README.zh-CN.md")
		if err = errors.Join(err, unread, unreadToo); err != nil {
			break
		}
		number, name, _ := strings.Cut(directory.Name(), "-")
		e := Exercise{Name: name, Looks: english.looks, Hints: make([]language.Text, HintsEach)}
		e.Number, err = strconv.Atoi(number)
		for i, to := range []*language.Text{&e.Title, &e.Story, &e.Claim, &e.Hints[0], &e.Hints[1], &e.Hints[2]} {
			*to = language.Both(english.says[i], chinese.says[i])
		}
		all = append(all, e)
	}
	if err != nil {
		panic(err)
	}
	return all
}

// page is what an exercise's page says in one language: title, story, claim and hints; and what is explored.
type page struct {
	says  []string
	looks []Look
}

func read(directory, file string) (p page, err error) {
	text, err := exercises.Pages.ReadFile(path.Join(directory, file))
	if err != nil {
		return p, err
	}
	begins, hints := pageBegins.FindStringSubmatch(string(text)), pageHint.FindAllStringSubmatch(string(text), -1)
	if begins == nil || len(hints) != HintsEach {
		return p, fmt.Errorf("exercises/%s/%s is not of the form that it has to have", directory, file)
	}
	p.says = begins[1:]
	for _, hint := range hints {
		p.says = append(p.says, hint[1])
	}
	for _, line := range pageLook.FindAllStringSubmatch(string(text), -1) {
		look := Look{}
		if look.Scenario, err = explore.ParseScenario(line[1]); err != nil {
			return p, fmt.Errorf("exercises/%s/%s: %w", directory, file, err)
		}
		for anomaly := range strings.SplitSeq(line[2], "`, `") {
			look.Anomalies = append(look.Anomalies, explore.Anomaly(anomaly))
		}
		p.looks = append(p.looks, look)
	}
	return p, nil
}
