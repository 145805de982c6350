package classroom

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// sketch returns a small SVG of the schedule in an address of the scheduler's seat. Time runs from left to right. The second row is Redis;
// each other row is an actor. A step is a line from its actor to Redis. A faulty step is red; a fault without an actor crosses all rows.
func sketch(address string) string {
	const spacing, margin, width = 14, 10, 190 // pixels
	_, query, _ := strings.Cut(address, "?")
	values, _ := url.ParseQuery(query) // The parser has checked the link of the lesson.
	steps := strings.Fields(values.Get("do"))
	actors := []string{"A", "B"}
	for _, step := range steps {
		if actor := actorOf(step); actor != "" && !slices.Contains(actors, actor) {
			actors = append(actors, actor)
		}
	}
	y := func(row int) int { return margin + spacing*row }
	height := y(len(actors)) + margin
	var all strings.Builder
	fmt.Fprintf(&all, `<svg class="sketch" viewBox="0 0 %d %d" aria-hidden="true">`, width, height)
	for row := range len(actors) + 1 {
		fmt.Fprintf(&all, `<line class="life" x2="%d" y1="%d" y2="%[2]d"/>`, width, y(row))
	}
	for i, step := range steps {
		x, n := margin+spacing*i, slices.Index(actors, actorOf(step))
		if n < 0 { // The step is time, or a fault of Redis.
			fmt.Fprintf(&all, `<line class="fault" x1="%d" x2="%[1]d" y2="%d"/>`, x, height)
			continue
		}
		row, class := n+1, ""
		if n == 0 {
			row = 0
		}
		if strings.Contains(step, "/") {
			class = ` class="bad"`
		}
		fmt.Fprintf(&all, `<g class="actor%d"><line x1="%d" x2="%[2]d" y1="%d" y2="%d"/><circle cx="%[2]d" cy="%[4]d" r="4"%s/></g>`,
			n, x, y(row), y(1), class)
	}
	return all.String() + "</svg>"
}

// actorOf returns the actor of a step, such as A for A:SET and A.node1:SET; "" for a step without an actor.
func actorOf(step string) string {
	source, _, ok := strings.Cut(step, ":")
	if !ok {
		return ""
	}
	actor, _, _ := strings.Cut(source, ".")
	return actor
}
