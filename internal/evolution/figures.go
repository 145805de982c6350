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

//go:embed figures.json
var measured []byte

// Figures are what one run of bench measured.
type Figures struct {
	Date            string  `json:"date"`
	Machine         string  `json:"machine"`
	Redis           string  `json:"redis"`
	RoundTripMillis float64 `json:"round_trip_ms"` // added to each request
	Repetitions     int     `json:"repetitions"`
	Cells           []Cell  `json:"cells"`
}

// Cell is one lock under one condition: the medians of the repetitions.
type Cell struct {
	Lock string `json:"lock"`
	Condition
	Share    float64 `json:"share"`    // of the limit: one buyer without a lock
	Commands float64 `json:"commands"` // per sale: those of the lock, and the sale's two
	Wait     float64 `json:"wait"`     // the longest over the mean; 0 of a buyer alone
}

// Condition is who buys.
type Condition struct {
	Buyers    int `json:"buyers"`
	Processes int `json:"processes"`
}

// Alone is the condition of one buyer.
func Alone() Condition { return Condition{Buyers: 1, Processes: 1} }

// Conditions lists those that are measured.
func Conditions() []Condition {
	return []Condition{Alone(), {16, 1}, {200, 1}, {16, 3}, {200, 3}}
}

// Measured returns what bench has measured.
func Measured() Figures {
	var f Figures
	if err := json.Unmarshal(measured, &f); err != nil {
		panic(err) // bench wrote it
	}
	return f
}

// Write writes the figures as JSON, a cell a line.
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

// Number is which number of a cell is meant.
type Number string

// The numbers.
const (
	Share    Number = "share"
	Commands Number = "commands"
	Wait     Number = "wait"
)

// Point is a number under a condition.
type Point struct {
	Number
	Condition
}

// Points lists what is shown of each lock: all shares; the commands where polls are the most, and the waits where a line shows best.
func Points() (all []Point) {
	for _, at := range Conditions() {
		all = append(all, Point{Share, at})
	}
	return append(all, Point{Commands, Condition{200, 3}}, Point{Wait, Condition{16, 1}}, Point{Wait, Condition{16, 3}})
}

// Of returns a number of a lock, rounded as it is shown; "" if it was not measured.
func (f Figures) Of(lock string, at Point) string {
	i := slices.IndexFunc(f.Cells, func(c Cell) bool { return c.Lock == lock && c.Condition == at.Condition })
	if i < 0 {
		return ""
	}
	switch c := f.Cells[i]; at.Number {
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

// Rounded is a value as the JSON has it.
func Rounded(value float64) float64 { return math.Round(value*1000) / 1000 }

// In says the condition.
func (c Condition) In(in language.Language) string {
	switch {
	case c == Alone():
		return in.Say("one buyer", "单个买家")
	case c.Processes == 1:
		return in.Say("%d buyers in one process", "同一进程里 %d 个买家", c.Buyers)
	}
	return in.Say("%d buyers in %d processes", "%[2]d 个进程、%[1]d 个买家", c.Buyers, c.Processes)
}

// phrase puts a value into the words of the number.
func (n Number) phrase(value string, in language.Language) string {
	switch n {
	case Share:
		return in.Say("%s of the limit", "达到上限的 %s", value)
	case Commands:
		return in.Say("%s commands a sale", "每单 %s 条命令", value)
	case Wait:
		return in.Say("longest wait %s times the mean", "最长等待是平均的 %s 倍", value)
	}
	return value
}

// Change says what a number becomes from a lock to another: "one buyer: 0.47 → 0.95 of the limit"; "" if it was not measured of the
// other. Of the first it need not be: v0 sells wrong.
func (f Figures) Change(from, to string, at Point, in language.Language) string {
	before, after := f.Of(from, at), f.Of(to, at)
	if after == "" {
		return ""
	}
	if before != "" {
		after = before + " → " + after
	}
	return at.In(in) + in.Say(": ", "：") + at.phrase(after, in)
}

// Where says what the figures were measured on.
func (f Figures) Where(in language.Language) string {
	return in.Say("%s, round trips of %g ms, %s", "%s，往返延迟 %g 毫秒，%s", f.Redis, f.RoundTripMillis, f.Date)
}
