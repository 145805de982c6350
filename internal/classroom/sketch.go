package classroom

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// sketchOf draws the schedule of an address of the seat small, as an SVG: time goes from left to right, and each row is an actor, but for
// the second, which is Redis. A step is a line from its actor to Redis; a fault is red, or goes through all rows.
func sketchOf(address string) string {
	const apart, margin, wide = 14, 10, 190
	_, query, _ := strings.Cut(address, "?")
	values, _ := url.ParseQuery(query) // a lesson's link is checked when it is parsed
	steps := strings.Fields(values.Get("do"))
	actors := []string{"A", "B"}
	for _, step := range steps {
		if actor := actorOf(step); actor != "" && !slices.Contains(actors, actor) {
			actors = append(actors, actor)
		}
	}
	y := func(row int) int { return margin + apart*row }
	high := y(len(actors)) + margin
	var all strings.Builder
	fmt.Fprintf(&all, `<svg class="sketch" viewBox="0 0 %d %d" aria-hidden="true">`, wide, high)
	for row := range len(actors) + 1 {
		fmt.Fprintf(&all, `<line class="life" x2="%d" y1="%d" y2="%[2]d"/>`, wide, y(row))
	}
	for i, step := range steps {
		x, n := margin+apart*i, slices.Index(actors, actorOf(step))
		if n < 0 { // time, or what happens to Redis
			fmt.Fprintf(&all, `<line class="fault" x1="%d" x2="%[1]d" y2="%d"/>`, x, high)
			continue
		}
		row, kind := n+1, ""
		if n == 0 {
			row = 0
		}
		if strings.Contains(step, "/") {
			kind = ` class="bad"`
		}
		fmt.Fprintf(&all, `<g class="actor%d"><line x1="%d" x2="%[2]d" y1="%d" y2="%d"/><circle cx="%[2]d" cy="%[4]d" r="4"%s/></g>`,
			n, x, y(row), y(1), kind)
	}
	return all.String() + "</svg>"
}

// actorOf is who does a step, such as A of A:SET and A.node1:SET; "" for a step of nobody's.
func actorOf(step string) string {
	who, _, is := strings.Cut(step, ":")
	if !is {
		return ""
	}
	actor, _, _ := strings.Cut(who, ".")
	return actor
}
