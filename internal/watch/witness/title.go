package witness

import "lockstep/internal/language"

// Titles names the kinds of findings, and of what happens to a replica or to a Redis, as the page lists them.
func Titles() map[string]language.Text {
	titles := map[string]language.Text{}
	for _, row := range rows() {
		titles[string(row.kind)] = row.title
	}
	for _, h := range happenings() {
		titles[string(h.kind)] = h.title
	}
	for kind, title := range titles {
		if title == (language.Text{}) {
			delete(titles, kind)
		}
	}
	return titles
}
