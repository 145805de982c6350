package report

import (
	"fmt"
	"image/color"
	"io"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"

	"lockstep/bench/internal/contestants"
	"lockstep/bench/internal/result"
)

// panel is a diagram of the plot: a number by the number of buyers, with a line for each contestant.
type panel struct {
	title         string
	number        result.Metric
	needsWaiters  bool // omits the limit and single buyers, who do not wait
	isLogarithmic bool // the axis of the number is logarithmic
}

// SVG writes a plot of the share of the limit and of fairness by the number of buyers, for the longest added round trip. The background is
// white, so that it can be read on light and dark pages. Contestants without a lock are left out: beside their rates, the lines of the
// others would coincide.
func SVG(w io.Writer, run result.Run, all []contestants.Contestant) error {
	all = pageContestants(all)
	list, buyers := tableSettings(run)
	var columns []tableSetting
	for _, s := range list {
		if s.added == list[0].added {
			columns = append(columns, s)
		}
	}
	rows := []panel{
		{title: "share of the limit", number: result.Share},
		{title: "longest wait over mean", number: result.MaxOverMean, needsWaiters: true, isLogarithmic: true},
		{title: "share of the buyers that never got in", number: neverServedShare, needsWaiters: true},
	}
	var plots [][]*plot.Plot
	names := plot.NewLegend()
	names.Top, names.Left = true, true
	for i, p := range rows {
		var row []*plot.Plot
		for j, s := range columns {
			legend := &names
			if i > 0 || j > 0 {
				legend = nil
			}
			drawn, err := p.draw(run, all, s, buyers[s], legend)
			if err != nil {
				return fmt.Errorf("writing SVG: %w", err)
			}
			row = append(row, drawn)
		}
		plots = append(plots, row)
	}
	const margin = vg.Centimeter / 2
	width, height := vg.Length(len(columns))*14*vg.Centimeter, vg.Length(len(rows))*9*vg.Centimeter
	canvas := vgsvg.New(width+5*vg.Centimeter, height)
	page := draw.New(canvas)
	page.SetColor(color.White)
	page.Fill(page.Path())
	tiles := draw.Tiles{Rows: len(rows), Cols: len(columns), PadX: margin, PadY: margin,
		PadTop: margin, PadBottom: margin, PadLeft: margin, PadRight: margin}
	for i, row := range plot.Align(plots, tiles, draw.Crop(page, 0, -5*vg.Centimeter, 0, 0)) {
		for j, tile := range row {
			plots[i][j].Draw(tile)
		}
	}
	names.Draw(draw.Crop(page, width, 0, 0, -2*margin))
	if _, err := canvas.WriteTo(w); err != nil {
		return fmt.Errorf("writing SVG: %w", err)
	}
	return nil
}

func (p panel) draw(run result.Run, all []contestants.Contestant, s tableSetting, buyers []int, legend *plot.Legend) (*plot.Plot, error) {
	drawn := plot.New()
	drawn.Title.Text = p.title + ": " + s.String()
	drawn.X.Label.Text = "buyers"
	drawn.X.Tick.Marker = ticks(buyers)
	drawn.X.Scale = plot.LogScale{}
	drawn.Y.Min = 0
	if p.isLogarithmic {
		drawn.Y.Scale, drawn.Y.Min = plot.LogScale{}, 1
		drawn.Y.Tick.Marker = ticks{1, 2, 5, 10, 20, 50, 100, 200}
	}
	drawn.Add(plotter.NewGrid())
	for i, c := range all {
		points := p.points(run, c.Name, s, buyers)
		exceedsLimit := c.Kind == contestants.Lockless || c.Kind == contestants.Segmented
		if len(points) == 0 || exceedsLimit || p.needsWaiters && c.Kind == contestants.Limit {
			continue
		}
		line, dots, err := plotter.NewLinePoints(points)
		if err != nil {
			return nil, err
		}
		styleLine(&line.LineStyle, c, i)
		dots.Color, dots.Radius = line.Color, vg.Points(2)
		dots.Shape = draw.CircleGlyph{}
		drawn.Add(line, dots)
		if legend != nil {
			legend.Add(c.Name, line)
		}
	}
	drawn.Y.Max = max(drawn.Y.Max, 1.02)
	return drawn, nil
}

func (p panel) points(run result.Run, name string, s tableSetting, buyers []int) plotter.XYs {
	var points plotter.XYs
	for _, w := range buyers {
		if p.needsWaiters && w == 1 {
			continue
		}
		got := run.Summary(name, result.Condition{AddedMillis: s.added, Processes: s.processes, Buyers: w}, p.number)
		if !math.IsNaN(got.Median) && (!p.isLogarithmic || got.Median > 0) {
			points = append(points, plotter.XY{X: float64(w), Y: got.Median})
		}
	}
	return points
}

func neverServedShare(c result.Cell) float64 { return float64(c.NeverServed) / float64(c.Buyers) }

// styleLine sets the colour and the dashes of a contestant's line: steps are solid, libraries dashed, the limit dotted.
func styleLine(line *draw.LineStyle, c contestants.Contestant, i int) {
	colours := []color.RGBA{
		{0, 0, 0, 255}, {200, 200, 200, 255}, {150, 150, 150, 255}, {110, 110, 110, 255}, {86, 180, 233, 255}, {160, 130, 190, 255},
		{0, 114, 178, 255}, {213, 94, 0, 255}, {230, 159, 0, 255}, {0, 158, 115, 255}, {204, 121, 167, 255}, {120, 80, 40, 255},
		{180, 140, 90, 255}, {60, 60, 160, 255}, {160, 60, 60, 255}, {60, 140, 60, 255},
	}
	line.Color, line.Width = colours[i%len(colours)], vg.Points(1.5)
	switch c.Kind {
	case contestants.Library:
		line.Dashes = []vg.Length{vg.Points(6), vg.Points(3)}
	case contestants.Limit:
		line.Dashes = []vg.Length{vg.Points(1), vg.Points(2)}
	}
}

// ticks has the values that are marked on an axis.
type ticks []int

// Ticks implements plot.Ticker.
func (t ticks) Ticks(low, high float64) []plot.Tick {
	var marks []plot.Tick
	for _, n := range t {
		if v := float64(n); v >= low && v <= high {
			marks = append(marks, plot.Tick{Value: v, Label: fmt.Sprint(n)})
		}
	}
	return marks
}
