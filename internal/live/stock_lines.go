package live

import (
	"lockstep/internal/service/history"
	"lockstep/internal/witness"
)

// maxPoints is the largest number of points in a stock frame: enough with ten frames a second.
const maxPoints = 20

// stockLines has the two lines of the stock chart, stock and orders, which diverge when updates are lost.
type stockLines struct {
	soldBefore int64         // orders sold before the first counted write
	writes     int64         // number of counted writes
	points     []StockPoint  // points that are not sent yet
	last       StockPoint    // latest point; zero: none yet
	remaining  map[int]int64 // remaining stock of each segment that was written
}

// sold returns the number of orders so far.
func (s *stockLines) sold() int64 { return s.soldBefore + s.writes }

// reconcile corrects the ends of the lines by a report, and reports whether the lines have changed. It is called while no sale is active. A
// correction is needed because the report also counts sales that the witness did not see, and because the last reply may belong to an
// earlier write.
func (s *stockLines) reconcile(report history.Report) (changed bool) {
	if s.writes == 0 || report.Sold < s.writes {
		return false
	}
	s.soldBefore = report.Sold - s.writes
	if s.last.Stock == report.Remaining && s.last.Sold == report.Sold {
		return false
	}
	s.add(StockPoint{At: s.last.At + 1, Stock: report.Remaining, Sold: report.Sold})
	return true
}

// add appends a point.
func (s *stockLines) add(point StockPoint) {
	s.points = append(s.points, point)
	s.last = point
}

// record adds a point for a write.
func (s *stockLines) record(scene *scene, event witness.Event) {
	c := event.Command
	if c == nil || c.Verb != witness.Writes || c.Outcome != witness.Done {
		return
	}
	if event.Segment > 0 {
		s.recordSegment(scene, event)
		return
	}
	if s.writes == 0 { // If the run had begun before, the stock shows how many were sold, as long as no update was lost.
		s.soldBefore = max(0, scene.state.Report.Initial-1-c.Stock)
		s.add(StockPoint{Stock: c.Stock + 1, Sold: s.soldBefore})
	}
	s.writes++
	s.add(StockPoint{At: scene.millis(event.Replied), Stock: c.Stock, Sold: s.sold()})
}

// recordSegment is like record, for a write in one segment. A segment's stock before its first known write is taken to be one more than
// afterwards.
func (s *stockLines) recordSegment(scene *scene, event witness.Event) {
	left := event.Command.Stock
	if s.writes == 0 {
		r := scene.state.Report
		s.soldBefore, s.remaining = max(0, r.Initial-r.Remaining), map[int]int64{}
		s.add(StockPoint{Stock: r.Remaining, Sold: s.soldBefore})
	}
	before, ok := s.remaining[event.Segment]
	if !ok {
		before = left + 1
	}
	s.remaining[event.Segment] = left
	s.writes++
	s.add(StockPoint{At: scene.millis(event.Replied), Stock: max(0, s.last.Stock-(before-left)), Sold: s.sold()})
}

// takePoints returns the points since the last call. Of more than maxPoints, it returns maxPoints evenly selected ones, including the last.
func (s *scene) takePoints() StockFrame {
	points := s.stock.points
	s.stock.points = nil
	if len(points) <= maxPoints {
		return points
	}
	var few StockFrame
	for i := 1; i <= maxPoints; i++ {
		few = append(few, points[i*len(points)/maxPoints-1])
	}
	return few
}
