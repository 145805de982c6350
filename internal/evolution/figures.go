package evolution

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"lockstep/internal/language"
)

// measured is the content of figures.json.
//
//go:embed figures.json
var measured []byte

// Figures holds the results of one run of bench.
type Figures struct {
	Date            string  `json:"date"`
	Machine         string  `json:"machine"`
	Redis           string  `json:"redis"`
	RoundTripMillis float64 `json:"round_trip_ms"` // delay added to each request, in milliseconds
	Repetitions     int     `json:"repetitions"`
	Cells           []Cell  `json:"cells"`
}

// Cell holds the medians of the repetitions for one lock under one condition.
type Cell struct {
	Lock string `json:"lock"`
	Condition
	Share    float64 `json:"share"`    // throughput, as a share of that of one buyer without a lock
	Commands float64 `json:"commands"` // Redis commands per sale: those of the lock, and the two of the sale
	Wait     float64 `json:"wait"`     // longest wait divided by the mean wait; 0 for a single buyer
}

// Condition is a load: how many buyers there are, in how many processes.
type Condition struct {
	Buyers    int `json:"buyers"`
	Processes int `json:"processes"`
}

// Alone is the condition of one buyer.
func Alone() Condition { return Condition{Buyers: 1, Processes: 1} }

// Conditions returns the conditions that are measured.
func Conditions() []Condition {
	return []Condition{Alone(), {16, 1}, {200, 1}, {16, 3}, {200, 3}}
}

// Measured returns the figures of figures.json.
func Measured() Figures {
	var f Figures
	if err := json.Unmarshal(measured, &f); err != nil {
		panic(err) // The file is part of the program, and tests read it.
	}
	return f
}

// Write writes the figures as JSON, one cell per line.
func (f Figures) Write(w io.Writer) error {
	cells := f.Cells
	f.Cells = []Cell{}
	document, err := json.MarshalIndent(f, "", "  ")
	if err != nil {
		return err
	}
	var lines []string
	for _, c := range cells {
		line, err := json.Marshal(c)
		if err != nil {
			return err
		}
		lines = append(lines, "    "+string(line))
	}
	_, err = fmt.Fprintf(w, "%s[\n%s\n  ]\n}\n", strings.TrimSuffix(string(document), "[]\n}"), strings.Join(lines, ",\n"))
	return err
}

// Metric names a measured number: a field of Cell.
type Metric string

// The metrics, by the names of their JSON fields.
const (
	Share    Metric = "share"
	Commands Metric = "commands"
	Wait     Metric = "wait"
)

// Point is a metric under a condition.
type Point struct {
	Metric
	Condition
}

// Points returns the points that are shown of each lock: every share, the commands under the most polls, and the waits of 16 buyers, where
// a queue makes the largest difference.
func Points() (all []Point) {
	for _, at := range Conditions() {
		all = append(all, Point{Share, at})
	}
	return append(all, Point{Commands, Condition{200, 3}}, Point{Wait, Condition{16, 1}}, Point{Wait, Condition{16, 3}})
}

// Value returns the number at a point for a lock, rounded for display; "" if it was not measured.
func (f Figures) Value(lock string, at Point) string {
	i := slices.IndexFunc(f.Cells, func(c Cell) bool { return c.Lock == lock && c.Condition == at.Condition })
	if i < 0 {
		return ""
	}
	switch c := f.Cells[i]; at.Metric {
	case Share:
		return fmt.Sprintf("%.2f", c.Share)
	case Commands:
		return fmt.Sprintf("%.1f", c.Commands)
	case Wait:
		if c.Wait > 0 {
			return fmt.Sprintf("%.1f", c.Wait)
		}
	}
	return ""
}

// Round rounds a value to three decimals, as figures.json stores it.
func Round(value float64) float64 {
	const thousand = 1000
	return math.Round(value*thousand) / thousand
}

// In returns the condition in words.
func (c Condition) In(in language.Language) string {
	switch {
	case c == Alone():
		return in.Say("one buyer", "单个买家")
	case c.Processes == 1:
		return in.Say("%d buyers in one process", "同一进程里 %d 个买家", c.Buyers)
	}
	return in.Say("%d buyers in %d processes", "%[2]d 个进程、%[1]d 个买家", c.Buyers, c.Processes)
}

// phrase returns a value of the metric in words.
func (m Metric) phrase(value string, in language.Language) string {
	switch m {
	case Share:
		return in.Say("%s of the limit", "吞吐量是上限的 %s 倍", value)
	case Commands:
		return in.Say("%s commands a sale", "每单 %s 条命令", value)
	case Wait:
		return in.Say("longest wait %s times the mean", "最长等待是平均的 %s 倍", value)
	}
	return value
}

// Change describes how a number changes from one lock to the next: "one buyer: 0.47 → 0.95 of the limit". It returns "" if the number of
// the second lock was not measured. The number of the first may be missing: v0 oversells.
func (f Figures) Change(from, to string, at Point, in language.Language) string {
	before, after := f.Value(from, at), f.Value(to, at)
	if after == "" {
		return ""
	}
	if before != "" {
		after = before + " → " + after
	}
	return at.In(in) + in.Say(": ", "：") + at.phrase(after, in)
}

// Source names the Redis, the round trips and the day of the measurement.
func (f Figures) Source(in language.Language) string {
	return in.Say("%s, round trips of %g ms, %s", "%s，往返延迟 %g 毫秒，%s", f.Redis, f.RoundTripMillis, f.Date)
}
