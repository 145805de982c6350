package route

import "strings"

// Answerer is who answers a request in a tab, where there is no server.
type Answerer int

// Those who answer in a tab.
const (
	Nobody Answerer = iota // the page does not ask for it there
	File                   // a file of the site: the answer is always the same
	Itself                 // the page
	Shop                   // the worker of a replica
	Seat                   // the worker of the scheduler's seat
	Search                 // another one with the same program: a click does not wait for it
	Stage                  // the worker that plays a lab
)

// InTab returns who answers a row in a tab. What always has the same answer is a file; a table that is computed anew is not.
func (row *Row) InTab() Answerer {
	switch row.Pattern {
	case "/seat", "/seat/table", "/seat/code", "/seat/steps", "/seat/steps/{pair}", "/labs", "/course", "/course/{lesson}":
		return File
	case "/seat/hint", "/seat/oracle", "/seat/explore":
		return Search
	case "/labs/{name}":
		return Stage
	case "/replicas", "/replicas/{name}":
		return Itself
	}
	switch part, _, _ := strings.Cut(strings.TrimPrefix(row.Pattern, "/"), "/"); part {
	case "room":
		return Itself // there is none
	case "seat":
		return Seat
	case "live", "lock", "inventory", "orders", "settings", "bursts", "nodes":
		return Shop
	}
	return Nobody
}
