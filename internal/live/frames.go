package live

import (
	"lockstep/internal/api"
	"lockstep/internal/service/history"
)

// Frames are the messages to a watcher. They are server-sent events with an id; the event's name is given in parentheses at each type. All
// times are in milliseconds since the first known event of the run.

// RunFrame (run) says which run is shown.
type RunFrame struct {
	Fresh    bool         `json:"fresh"` // true: all earlier frames are void; false: only the fields of this frame have changed
	RunID    string       `json:"run_id"`
	Lock     string       `json:"lock"`
	Title    string       `json:"title"`
	Initial  int64        `json:"initial"`
	Settings api.Settings `json:"settings"`
	Replicas []string     `json:"replicas"` // displayed names r1, r2, …, each in its place for the whole run
	Controls Controls     `json:"can"`

	Hosts map[string]string `json:"hosts"` // host names by displayed name

	Kinds map[string]FindingKindInfo `json:"kinds"` // kinds of findings and of faults, by name
}

// Controls says which controls the page may offer.
type Controls struct {
	Administer string   `json:"administer"` // "open": anybody may change things; "token": whoever has the token; "no": nobody
	Replicas   []string `json:"replicas"`   // actions of POST /replicas/{name}; null: there is no such route
	Nodes      bool     `json:"nodes"`      // GET /nodes and POST /nodes/{i} exist
}

// LanesFrame (lanes) shows the latest sales, all of them each time, at most ten times a second.
type LanesFrame struct {
	Now   int64         `json:"now_ms"`
	Sales []Lane        `json:"sales"` // lanes, in the order in which the sales asked for the lock
	More  int           `json:"more"`  // number of active sales without a lane
	Rail  []RailHolding `json:"rail"`  // true holders of the lock, in the order of time
	Queue []Waiter      `json:"queue"` // waiting sales, in the order in which they asked
}

// Lane shows one sale.
type Lane struct {
	Name    string     `json:"name"` // A, B, C …, in the order in which the run's sales asked
	Replica string     `json:"replica"`
	Spans   []Span     `json:"spans"` // consecutive spans
	End     string     `json:"ended"` // "sold", "died" or an error code; empty while the sale goes on
	Marks   []LaneMark `json:"marks"`
}

// Span is a period of a lane in which the sale does one thing.
type Span struct {
	Kind SpanKind `json:"kind"`
	From int64    `json:"from"`
	To   *int64   `json:"to"` // null: it has not ended
}

// SpanKind says what a sale does in a span.
type SpanKind string

// The kinds of spans.
const (
	SpanWaiting  SpanKind = "waits"  // waiting for the lock
	SpanCritical SpanKind = "inside" // critical section, while the sale holds the lock
	SpanLate     SpanKind = "late"   // critical section, although the lock is no longer the sale's
	SpanPaused   SpanKind = "paused" // stopped with its replica
)

// LaneMark is a moment of a lane that is worth a sentence.
type LaneMark struct {
	At       int64  `json:"at"`
	Sentence string `json:"says"`
	Bad      bool   `json:"bad"`
}

// RailHolding is a period in which one holder truly had the lock, see witness.Holding.
type RailHolding struct {
	Holder  string `json:"holder"` // sale or replica
	Replica string `json:"replica"`
	Segment int    `json:"segment,omitempty"` // 1-based stock segment that the lock guards; 0: the whole stock
	From    int64  `json:"from"`
	To      *int64 `json:"to"`      // null: it has not ended
	End     string `json:"end"`     // see witness.HoldingEnd; empty while the holding lasts
	EndedBy string `json:"by"`      // sale or Redis that ended the holding; empty: none
	Expires *int64 `json:"expires"` // time at which the lock expires unless it is renewed; null: never
}

// Waiter is a sale that waits for the lock.
type Waiter struct {
	Sale    string `json:"sale"`
	Replica string `json:"replica"`
}

// SectionsFrame (sections) has the visits to the critical section that have ended since the frame before.
type SectionsFrame []CriticalSection

// CriticalSection is a visit to the critical section: the time in which a sale believed that it held the lock.
type CriticalSection struct {
	Sale         string   `json:"sale"`
	Replica      string   `json:"replica"`
	From         int64    `json:"from"`
	To           int64    `json:"to"`
	Overlaps     []string `json:"overlaps"` // sales that were in the critical section at the same time, at most three; null: none
	OverlapCount int      `json:"with"`     // number of all those sales
}

// FindingFrame (finding) is a finding of the witness. It replaces an earlier frame with the same id.
type FindingFrame struct {
	ID          string   `json:"id"`
	At          int64    `json:"at"`
	Kind        string   `json:"kind"` // kind, a key of RunFrame.Kinds
	Sentence    string   `json:"says"`
	Explanation string   `json:"why"`   // explanation for readers who know nothing about locks; empty if the sentence says it
	Sales       []string `json:"sales"` // sales that the finding concerns; if they are two, GET /live/pair draws them
	Bad         bool     `json:"bad"`
}

// StoryFrame (story) is the story of the first faults, all of it each time: see witness.Account.Story.
type StoryFrame struct {
	Moments []StoryMoment `json:"turns"`   // moments, in the order of time
	Picture LanesFrame    `json:"picture"` // lanes of the sales in the story, even if they are not among the latest
}

// StoryMoment is one moment of a story.
type StoryMoment struct {
	At       int64    `json:"at"`
	Kind     string   `json:"kind"`
	Sentence string   `json:"says"`
	Sales    []string `json:"sales"` // sales that the moment concerns, first the one to which it happened
	Causes   []int    `json:"after"` // 1-based positions of the moments that led to this one; null: none
	Bad      bool     `json:"bad"`
}

// TroubleFrame (trouble) has the warnings about the shop itself, as sentences; empty: there are none.
type TroubleFrame []string

// StockFrame (stock) has points of the stock chart.
type StockFrame []StockPoint

// StockPoint is a point of both lines of the stock chart, which diverge when updates are lost.
type StockPoint struct {
	At    int64 `json:"at"`
	Stock int64 `json:"stock"` // stock in Redis
	Sold  int64 `json:"sold"`  // number of orders of the run so far
}

// TallyFrame (tally) has what GET /inventory says, and the verdict in words.
type TallyFrame struct {
	history.Report
	Sentence      string         `json:"says"`
	FindingCounts map[string]int `json:"found"` // number of findings of the run so far, by kind; only some of them are sent
}
