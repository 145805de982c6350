package live

import (
	"lockstep/internal/service/history"
	"lockstep/internal/watch/witness"
)

// mostPoints is how many points of the stock a frame has.
const mostPoints = 20

// stock is the two lines that part when updates are lost.
type stock struct {
	before int64 // sold before what was counted
	wrote  int64 // writes that were counted
	points []StockPoint
	last   StockPoint
}

func (s *stock) sold() int64 { return s.before + s.wrote }

// settle takes the ledger's count and the stock while no sale goes on: the sales that were counted here are a part of it, and the reply
// that came last may be that of an earlier write. It reports whether the lines have another end now.
func (s *stock) settle(report history.Report) (changed bool) {
	if s.wrote == 0 || report.Sold < s.wrote {
		return false
	}
	s.before = report.Sold - s.wrote
	if s.last.Stock == report.Remaining && s.last.Sold == report.Sold {
		return false
	}
	s.add(StockPoint{At: s.last.At + 1, Stock: report.Remaining, Sold: report.Sold})
	return true
}

func (s *stock) add(point StockPoint) {
	s.points = append(s.points, point)
	s.last = point
}

func (s *stock) see(scene *scene, event witness.Event) {
	c := event.Command
	if c == nil || c.Verb != witness.Writes || c.Outcome != witness.Done {
		return
	}
	if s.wrote == 0 { // if the run had begun before, its stock says how far it was, as long as no update was lost
		s.before = max(0, scene.last.Report.Initial-1-c.Stock)
		s.add(StockPoint{Stock: c.Stock + 1, Sold: s.before})
	}
	s.wrote++
	s.add(StockPoint{At: scene.at(event.Replied), Stock: c.Stock, Sold: s.sold()})
}

// newPoints gives the points since it was asked last: so few that they can be drawn, and always the last.
func (s *scene) newPoints() StockFrame {
	points := s.stock.points
	s.stock.points = nil
	if len(points) <= mostPoints {
		return points
	}
	var few StockFrame
	for i := 1; i <= mostPoints; i++ {
		few = append(few, points[i*len(points)/mostPoints-1])
	}
	return few
}
