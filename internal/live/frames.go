package live

import (
	"lockstep/internal/api"
	"lockstep/internal/service/history"
)

// Frames are the messages to a watcher: server-sent events with an id. The comment on each type has the event's name in parentheses. All
// times are in milliseconds since the first known event of the run.

// RunFrame (run) describes the run that is shown.
type RunFrame struct {
	Fresh    bool         `json:"fresh"`   // true: all earlier frames are void; false: only the fields of this frame have changed
	RunID    string       `json:"run_id"`  // id of the run
	Lock     string       `json:"lock"`    // name of the lock
	Title    string       `json:"title"`   // title of the lock
	Initial  int64        `json:"initial"` // initial stock
	Settings api.Settings `json:"settings"`
	Replicas []string     `json:"replicas"` // displayed names r1, r2, …, each in its place for the whole run
	Controls Controls     `json:"can"`

	Hosts map[string]string `json:"hosts"` // host names by displayed name

	Kinds map[string]FindingKindInfo `json:"kinds"` // kinds of findings and of faults, by name
}

// Controls lists the controls that the page may offer.
type Controls struct {
	Administer string   `json:"administer"` // who may change things: "open": everybody; "token": clients with the token; "no": nobody
	Replicas   []string `json:"replicas"`   // actions of POST /replicas/{name}; null: there is no such route
	Nodes      bool     `json:"nodes"`      // GET /nodes and POST /nodes/{i} exist
}

// LanesFrame (lanes) has the latest sales. Each frame replaces the one before. There are at most ten frames a second.
type LanesFrame struct {
	Now   int64         `json:"now_ms"` // time of the frame
	Sales []Lane        `json:"sales"`  // lanes, in the order in which the sales asked for the lock
	More  int           `json:"more"`   // number of active sales without a lane
	Rail  []RailHolding `json:"rail"`   // true holders of the lock, in the order of time
	Queue []Waiter      `json:"queue"`  // waiting sales, in the order in which they asked
}

// Lane shows one sale.
type Lane struct {
	Name    string     `json:"name"` // A, B, C …, in the order in which the run's sales asked
	Replica string     `json:"replica"`
	Spans   []Span     `json:"spans"` // spans in the order of time, without gaps
	End     string     `json:"ended"` // "sold", "died" or an error code; empty while the sale goes on
	Marks   []LaneMark `json:"marks"` // latest findings about the sale
}

// Span is a period of a lane in which the sale does one thing.
type Span struct {
	Kind SpanKind `json:"kind"`
	From int64    `json:"from"`
	To   *int64   `json:"to"` // end of the span; null: it has not ended
}

// SpanKind is what a sale does in a span.
type SpanKind string

// The kinds of spans.
const (
	SpanWaiting  SpanKind = "waits"  // waiting for the lock
	SpanCritical SpanKind = "inside" // critical section, while the sale holds the lock
	SpanLate     SpanKind = "late"   // critical section, although the lock is no longer the sale's
	SpanPaused   SpanKind = "paused" // stopped with its replica
)

// LaneMark is a finding about the sale of a lane.
type LaneMark struct {
	At       int64  `json:"at"` // time of the finding
	Sentence string `json:"says"`
	Bad      bool   `json:"bad"` // the finding is a flaw
}

// RailHolding is a period in which one holder truly had the lock; see witness.Holding.
type RailHolding struct {
	Holder  string `json:"holder"` // sale or replica
	Replica string `json:"replica"`
	Segment int    `json:"segment,omitempty"` // 1-based stock segment that the lock guards; 0: the whole stock
	From    int64  `json:"from"`
	To      *int64 `json:"to"`      // end of the holding; null: it has not ended
	End     string `json:"end"`     // see witness.HoldingEnd; empty while the holding lasts
	EndedBy string `json:"by"`      // sale or Redis that ended the holding; empty: none
	Expires *int64 `json:"expires"` // time at which the lock expires unless it is renewed; null: never
}

// Waiter is a sale that waits for the lock.
type Waiter struct {
	Sale    string `json:"sale"`
	Replica string `json:"replica"`
}

// SectionsFrame (sections) has the visits to the critical section that have ended since the previous frame.
type SectionsFrame []CriticalSection

// CriticalSection is a visit to the critical section: the time in which a sale believed that it held the lock.
type CriticalSection struct {
	Sale         string   `json:"sale"`
	Replica      string   `json:"replica"`
	From         int64    `json:"from"`
	To           int64    `json:"to"`
	Overlaps     []string `json:"overlaps"` // sales that were in the critical section at the same time, at most three; null: none
	OverlapCount int      `json:"with"`     // number of all sales that were in the critical section at the same time
}

// FindingFrame (finding) is a finding of the witness. It replaces an earlier frame with the same id.
type FindingFrame struct {
	ID          string   `json:"id"`
	At          int64    `json:"at"`   // time of the finding
	Kind        string   `json:"kind"` // kind, a key of RunFrame.Kinds
	Sentence    string   `json:"says"`
	Explanation string   `json:"why"`   // explanation for readers who do not know about locks; empty: the sentence is enough
	Sales       []string `json:"sales"` // sales that the finding concerns; if they are two, GET /live/pair draws them
	Bad         bool     `json:"bad"`   // the finding is a flaw
}

// StoryFrame (story) is the whole story of the first faults; see witness.Account.Story. Each frame replaces the one before.
type StoryFrame struct {
	Moments []StoryMoment `json:"turns"`   // moments, in the order of time
	Picture LanesFrame    `json:"picture"` // lanes of the sales in the story, even if they are not among the latest
}

// StoryMoment is one moment of a story.
type StoryMoment struct {
	At       int64    `json:"at"`   // time of the moment
	Kind     string   `json:"kind"` // kind, a key of RunFrame.Kinds
	Sentence string   `json:"says"`
	Sales    []string `json:"sales"` // sales that the moment concerns, beginning with the sale to which it happened
	Causes   []int    `json:"after"` // 1-based positions of the moments that led to this moment; null: none
	Bad      bool     `json:"bad"`   // the moment is a flaw
}

// TroubleFrame (trouble) has warnings about the shop itself, as sentences; empty: there are none.
type TroubleFrame []string

// StockFrame (stock) has points of the stock chart.
type StockFrame []StockPoint

// StockPoint is a point of both lines of the stock chart, which diverge when updates are lost.
type StockPoint struct {
	At    int64 `json:"at"`    // time of the write, in milliseconds since the first known event of the run
	Stock int64 `json:"stock"` // stock in Redis
	Sold  int64 `json:"sold"`  // number of orders of the run so far
}

// TallyFrame (tally) has the report of GET /inventory, and a sentence about the verdict.
type TallyFrame struct {
	history.Report
	Sentence      string         `json:"says"`
	FindingCounts map[string]int `json:"found"` // number of findings of the run so far, by kind; only some of them are sent
}
