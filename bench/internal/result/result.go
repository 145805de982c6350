// Package result has the results of a run as plain values, and computes summaries, ratios and goals from them. Begin with Run and Cell.
package result

import (
	"time"

	"lockstep/bench/internal/contestants"
)

// Run has all results of one run of bench. -json writes it.
type Run struct {
	Machine  Machine    `json:"machine"`
	Began    time.Time  `json:"began"`
	Seconds  float64    `json:"seconds"`
	Command  string     `json:"command"` // command line
	Settings Settings   `json:"settings"`
	Pings    []Ping     `json:"pings"`
	Cells    []Cell     `json:"cells"`
	Costs    []SaleCost `json:"costs,omitempty"`
}

// SaleCost is the cost of a sale over HTTP.
type SaleCost struct {
	Lock         string  `json:"lock"`
	Sales        int     `json:"sales"`
	ServerMicros float64 `json:"server_us_per_sale"` // CPU time of the server
	RedisMicros  float64 `json:"redis_us_per_sale"`
	Commands     float64 `json:"calls_per_sale"` // Redis commands, including those of scripts and heartbeats
}

// Machine describes the machine of a run.
type Machine struct {
	CPU    string `json:"cpu"`
	Cores  int    `json:"cores"`
	Kernel string `json:"kernel"`
	Go     string `json:"go"`
	Redis  string `json:"redis"` // name and version
}

// Settings configures all contestants.
type Settings struct {
	RetryMillis float64 `json:"retry_ms"` // pause between two attempts
	TTLMillis   float64 `json:"ttl_ms"`
	WaitMillis  float64 `json:"wait_ms"` // longest wait for the lock
	RestMillis  float64 `json:"rest_ms"` // pause of a buyer after a sale
	Pool        int     `json:"pool"`    // largest number of connections of a go-redis client
	Repeat      int     `json:"repeat"`
}

// Ping is a measured round trip.
type Ping struct {
	AddedMillis  float64 `json:"added_ms"`  // requested delay of each round trip
	MedianMillis float64 `json:"median_ms"` // median round trip of PING, over all processes of all cells
}

// Condition is a load under which contestants are compared.
type Condition struct {
	AddedMillis float64 `json:"added_ms"` // delay added to each round trip
	Processes   int     `json:"processes"`
	Buyers      int     `json:"buyers"`
}

// Status is the outcome of a cell.
type Status string

// Outcomes of a cell.
const (
	OK     Status = "ok"
	Hung   Status = "hung"   // the contestant stopped selling, or did not end and was killed
	Broken Status = "broken" // the stock did not fall by the number of sales
	Failed Status = "failed" // the contestant could not be measured
)

// Cell is the result of a contestant under a condition in one repetition. If its Status is not OK, numbers may be missing.
type Cell struct {
	Contestant string           `json:"contestant"`
	Kind       contestants.Kind `json:"kind"`
	Condition
	Repetition int    `json:"repetition"` // 1-based number of the repetition
	Status     Status `json:"status"`
	Note       string `json:"note,omitempty"` // reason for a Status that is not OK

	Seconds      float64   `json:"seconds"` // duration of the window
	Sales        int       `json:"sales"`   // sales within the window
	PerSecond    float64   `json:"sales_per_second"`
	Share        float64   `json:"share_of_limit"`         // share of the limit's rate under the same condition, in the same repetition
	Requests     float64   `json:"requests_per_sale"`      // requests that clients sent
	LockRequests float64   `json:"lock_requests_per_sale"` // requests of the lock sent within the window
	Publishes    float64   `json:"publishes_per_sale"`     // PUBLISH commands that the servers ran, including those of scripts
	NeverServed  int       `json:"never"`                  // buyers that were not served in the window
	Errors       int       `json:"errors"`                 // failed sales
	Wait         WaitStats `json:"wait_ms"`
}

// WaitStats summarizes the waits of buyers for the lock, in milliseconds.
type WaitStats struct {
	P50         float64 `json:"p50"`
	P99         float64 `json:"p99"`
	Max         float64 `json:"max"`
	Mean        float64 `json:"mean"`
	MaxOverMean float64 `json:"max_over_mean"`
}
