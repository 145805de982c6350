package live

import (
	"lockstep/internal/api"
	"lockstep/internal/service/history"
)

// Frames are what a watcher is sent, as server-sent events with an id; the event's name is the one beside the type. All times are in
// milliseconds since the beginning of what is shown, which is the run's first event that is known.

// RunFrame (run) says which run is shown.
type RunFrame struct {
	Fresh    bool         `json:"fresh"` // forget all that was shown before; otherwise only this frame's fields have changed
	RunID    string       `json:"run_id"`
	Lock     string       `json:"lock"`
	Title    string       `json:"title"`
	Initial  int64        `json:"initial"`
	Settings api.Settings `json:"settings"`
	Replicas []string     `json:"replicas"` // r1, r2, …, each in its place, whatever happens
	Controls Controls     `json:"can"`

	Hosts map[string]string `json:"hosts"` // replicas' own names

	Kinds map[string]FindingKindInfo `json:"kinds"` // of findings
}

// Can is what this server has buttons for.
type Controls struct {
	Administer string   `json:"administer"` // "open": everybody may; "token": who has it; "no": nobody
	Replicas   []string `json:"replicas"`   // what POST /replicas/{name} does; null: there is none
	Nodes      bool     `json:"nodes"`      // GET /nodes, POST /nodes/{i}
}

// LanesFrame (lanes) is the latest sales, all of them each time; at most ten frames a second.
type LanesFrame struct {
	Now   int64         `json:"now_ms"`
	Sales []Lane        `json:"sales"` // in the order in which they asked for the lock
	More  int           `json:"more"`  // sales going on that have no lane
	Rail  []RailHolding `json:"rail"`  // whose the lock was in truth, in order
	Queue []Waiter      `json:"queue"` // who waits, in the order in which they asked
}

// Lane is a sale's.
type Lane struct {
	Name    string     `json:"name"` // A, B, C …, in the order in which the run's sales asked
	Replica string     `json:"replica"`
	Spans   []Span     `json:"spans"` // one after the other
	End     string     `json:"ended"` // "sold", or an error's code, or "died"; "" while it goes on
	Marks   []LaneMark `json:"marks"`
}

// Span is a stretch of a lane.
type Span struct {
	Kind SpanKind `json:"kind"`
	From int64    `json:"from"`
	To   *int64   `json:"to"` // null: it goes on
}

// SpanKind is what a sale does in a span.
type SpanKind string

// The kinds.
const (
	SpanWaiting  SpanKind = "waits"  // for the lock
	SpanCritical SpanKind = "inside" // it believes that it holds the lock, and does
	SpanLate     SpanKind = "late"   // it still believes so, and the lock is its own no more
	SpanPaused   SpanKind = "paused" // its replica is stopped
)

// Mark is a moment of a lane that is worth a sentence.
type LaneMark struct {
	At       int64  `json:"at"`
	Sentence string `json:"says"`
	Bad      bool   `json:"bad"`
}

// Stay is a time in which the lock was one holder's in truth.
type RailHolding struct {
	Holder  string `json:"holder"` // a sale, or a replica
	Replica string `json:"replica"`
	Segment int    `json:"segment,omitempty"` // whose lock it is, from 1 on
	From    int64  `json:"from"`
	To      *int64 `json:"to"`      // null: it goes on
	End     string `json:"end"`     // see witness.End; "" while it goes on
	EndedBy string `json:"by"`      // who ended it, if it was somebody
	Expires *int64 `json:"expires"` // when the lock expires, if it is not renewed; null: never
}

// Waiter is a place in the queue.
type Waiter struct {
	Sale    string `json:"sale"`
	Replica string `json:"replica"`
}

// SectionsFrame (sections) are critical sections that have ended since the frame before.
type SectionsFrame []CriticalSection

// Section is the time in which a sale believed that it held the lock.
type CriticalSection struct {
	Sale         string   `json:"sale"`
	Replica      string   `json:"replica"`
	From         int64    `json:"from"`
	To           int64    `json:"to"`
	Overlaps     []string `json:"overlaps"` // who was inside meanwhile: at most three of them; null: nobody
	OverlapCount int      `json:"with"`     // how many were
}

// FindingFrame (finding) is what the witness found. A frame with the id of an earlier one takes its place: it says more.
type FindingFrame struct {
	ID          string   `json:"id"`
	At          int64    `json:"at"`
	Kind        string   `json:"kind"` // see RunFrame.Kinds
	Sentence    string   `json:"says"`
	Explanation string   `json:"why"`   // what that means, for who has not read anything; "" if the sentence says it
	Sales       []string `json:"sales"` // whom it concerns: with two of them, GET /live/pair draws it
	Bad         bool     `json:"bad"`
}

// StoryFrame (story) is what went wrong first, all of it each time.
type StoryFrame struct {
	Moments []StoryMoment `json:"turns"`   // in the order of time
	Picture LanesFrame    `json:"picture"` // of those whom it concerns, also when the latest sales are others
}

// StoryTurn is a step of it.
type StoryMoment struct {
	At       int64    `json:"at"`
	Kind     string   `json:"kind"`
	Sentence string   `json:"says"`
	Sales    []string `json:"sales"` // whom it concerns: it happened to the first
	Causes   []int    `json:"after"` // the turns that it follows from, from 1 on; null: none
	Bad      bool     `json:"bad"`
}

// TroubleFrame (trouble) is what is wrong with the shop itself, in sentences; empty: nothing is any more.
type TroubleFrame []string

// StockFrame (stock) are points of the two lines that part when updates are lost.
type StockFrame []StockPoint

// StockPoint is one of both.
type StockPoint struct {
	At    int64 `json:"at"`
	Stock int64 `json:"stock"` // what is in Redis
	Sold  int64 `json:"sold"`  // orders of the run so far
}

// TallyFrame (tally) is what GET /inventory says, and the verdict in words.
type TallyFrame struct {
	history.Report
	Sentence      string         `json:"says"`
	FindingCounts map[string]int `json:"found"` // findings of the run so far, by kind; of many alike only some are sent
}
