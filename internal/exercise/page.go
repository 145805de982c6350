package exercise

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"strconv"
	"strings"

	"lockstep/exercises"
	"lockstep/internal/anomaly"
	"lockstep/internal/explore"
	"lockstep/internal/language"
)

// Patterns for the parts of an exercise's page: title, links, story and claim; one line for each exploration; the hints.
var (
	pageHead = regexp.MustCompile(`^# \S+ \d\d[:：] ?(.+)\n\n.+\n\n(.+)\n\n\*\*[^*]+\*\* (.+)\n`)
	pageLook = regexp.MustCompile("(?m)^- (?:`([^`]+)`|[^`]+)[:：] ?`(.+)`$")
	pageHint = regexp.MustCompile(`</summary>\n\n(.+)\n\n</details>`)
)

// All returns the exercises, in order. It panics if a page does not have the required structure: the pages are embedded in the program.
func All() (all []Exercise) {
	directories, err := exercises.Pages.ReadDir(".")
	for _, directory := range directories {
		english, englishErr := readPage(directory.Name(), "README.md")
		chinese, chineseErr := readPage(directory.Name(), "README.zh-CN.md")
		if err = errors.Join(err, englishErr, chineseErr); err != nil {
			break
		}
		number, name, _ := strings.Cut(directory.Name(), "-")
		e := Exercise{Name: name, Explorations: english.explorations, Hints: make([]language.Text, HintsEach)}
		e.Number, err = strconv.Atoi(number)
		for i, field := range []*language.Text{&e.Title, &e.Story, &e.Claim, &e.Hints[0], &e.Hints[1], &e.Hints[2]} {
			*field = language.Both(english.texts[i], chinese.texts[i])
		}
		all = append(all, e)
	}
	if err != nil {
		panic(err)
	}
	return all
}

// UsualName stands for UsualAnomalies on a page.
const UsualName = "usual"

// UsualAnomalies returns the anomalies for which most explorations look.
func UsualAnomalies() []explore.Anomaly {
	return []explore.Anomaly{
		anomaly.TwoHolders, anomaly.LostUpdate, anomaly.ForeignRelease, anomaly.LeftBehind, anomaly.Stuck, anomaly.GoroutineLeak,
		anomaly.FalseWord, anomaly.TokenOrder, anomaly.Progress, anomaly.Idle,
	}
}

// page is the content of an exercise's page in one language.
type page struct {
	texts        []string // title, story, claim and hints, in this order
	explorations []Exploration
}

// readPage reads a page of an exercise.
func readPage(directory, file string) (p page, err error) {
	text, err := exercises.Pages.ReadFile(path.Join(directory, file))
	if err != nil {
		return p, err
	}
	head, hints := pageHead.FindStringSubmatch(string(text)), pageHint.FindAllStringSubmatch(string(text), -1)
	if head == nil || len(hints) != HintsEach {
		return p, fmt.Errorf("exercises/%s/%s does not have the required structure", directory, file)
	}
	p.texts = head[1:]
	for _, hint := range hints {
		p.texts = append(p.texts, hint[1])
	}
	for _, line := range pageLook.FindAllStringSubmatch(string(text), -1) {
		exploration := Exploration{}
		if exploration.Scenario, err = explore.ParseScenario(line[1]); err != nil {
			return p, fmt.Errorf("exercises/%s/%s: %w", directory, file, err)
		}
		for name := range strings.SplitSeq(line[2], "`, `") {
			if name == UsualName {
				exploration.Anomalies = append(exploration.Anomalies, UsualAnomalies()...)
				continue
			}
			exploration.Anomalies = append(exploration.Anomalies, explore.Anomaly(name))
		}
		p.explorations = append(p.explorations, exploration)
	}
	return p, nil
}
