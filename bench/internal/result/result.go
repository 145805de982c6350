// Package result is what a run of the benchmark measured, as plain values, and what follows from them.
package result

import (
	"time"

	"lockstep/bench/internal/contestants"
)

// Run is everything that one run of the benchmark measured. -json writes it.
type Run struct {
	Machine  Machine    `json:"machine"`
	Began    time.Time  `json:"began"`
	Seconds  float64    `json:"seconds"`
	Command  string     `json:"command"` // how it was started
	Settings Settings   `json:"settings"`
	Pings    []Ping     `json:"pings"`
	Cells    []Cell     `json:"cells"`
	Costs    []SaleCost `json:"costs,omitempty"`
}

// SaleCost is what a sale of the whole shop costs, over HTTP.
type SaleCost struct {
	Lock         string  `json:"lock"`
	Sales        int     `json:"sales"`
	ServerMicros float64 `json:"server_us_per_sale"` // time of processors
	RedisMicros  float64 `json:"redis_us_per_sale"`
	Commands     float64 `json:"calls_per_sale"` // of Redis' commands, those of scripts and heartbeats too
}

// Machine is where it ran.
type Machine struct {
	CPU    string `json:"cpu"`
	Cores  int    `json:"cores"`
	Kernel string `json:"kernel"`
	Go     string `json:"go"`
	Redis  string `json:"redis"` // its name and version
}

// Settings are the same for all contestants.
type Settings struct {
	RetryMillis float64 `json:"retry_ms"` // pause between two attempts
	TTLMillis   float64 `json:"ttl_ms"`
	WaitMillis  float64 `json:"wait_ms"` // longest wait for the lock
	RestMillis  float64 `json:"rest_ms"` // of a buyer that has bought, before it asks again
	Pool        int     `json:"pool"`    // connections of a go-redis client at most
	Repeat      int     `json:"repeat"`
}

// Ping is the round trip that clients measure.
type Ping struct {
	AddedMillis  float64 `json:"added_ms"`  // what was asked for
	MedianMillis float64 `json:"median_ms"` // of PING, over all processes of all cells
}

// Condition is what a contestant is put under.
type Condition struct {
	AddedMillis float64 `json:"added_ms"` // round trip added to every request
	Processes   int     `json:"processes"`
	Buyers      int     `json:"buyers"`
}

// Status says how a cell ended.
type Status string

// How a cell can end.
const (
	OK     Status = "ok"
	Hung   Status = "hung"   // it stopped selling, or did not come back and was ended
	Broken Status = "broken" // the stock did not fall by the number of sales
	Failed Status = "failed" // it could not be measured
)

// Cell is one contestant under one condition in one repetition. Of a cell that is not OK the numbers may be missing.
type Cell struct {
	Contestant string           `json:"contestant"`
	Kind       contestants.Kind `json:"kind"`
	Condition
	Repetition int    `json:"repetition"` // from 1
	Status     Status `json:"status"`
	Note       string `json:"note,omitempty"` // why, where it is not OK

	Seconds      float64   `json:"seconds"` // that were measured
	Sales        int       `json:"sales"`   // in them
	PerSecond    float64   `json:"sales_per_second"`
	Share        float64   `json:"share_of_limit"`         // of the limit of the same condition and repetition
	Requests     float64   `json:"requests_per_sale"`      // that clients sent
	LockRequests float64   `json:"lock_requests_per_sale"` // those of them that the lock sent
	Publishes    float64   `json:"publishes_per_sale"`     // that the servers ran, inside scripts too
	NeverServed  int       `json:"never"`                  // buyers that did not get their turn in the window
	Errors       int       `json:"errors"`                 // sales that failed
	Wait         WaitStats `json:"wait_ms"`
}

// WaitStats is how long buyers waited for their turn, in milliseconds.
type WaitStats struct {
	P50         float64 `json:"p50"`
	P99         float64 `json:"p99"`
	Max         float64 `json:"max"`
	Mean        float64 `json:"mean"`
	MaxOverMean float64 `json:"max_over_mean"`
}
