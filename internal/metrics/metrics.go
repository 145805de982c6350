// Package metrics counts sales, waits, commands and the current run for Prometheus.
package metrics

import (
	"context"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/redis/go-redis/v9"

	"lockstep/internal/dao/redisclient"
	"lockstep/internal/service"
	"lockstep/internal/service/history"
)

const (
	scrapeTimeout = 3 * time.Second // longest wait of a scrape for the tally of the run
	maxScrapes    = 4               // maximum number of scrapes at a time; more are refused
)

// Metrics counts the events of one replica. It is a service.Observer, and an http.Handler that serves them to Prometheus.
type Metrics struct {
	http.Handler

	answers   *prometheus.CounterVec   // answered sales, by outcome
	commands  *prometheus.CounterVec   // Redis commands sent, by name
	conflicts *prometheus.CounterVec   // failed attempts of optimistic sales, by lock
	waiters   *prometheus.GaugeVec     // sales waiting for their lock, by lock
	wait      *prometheus.HistogramVec // seconds that sales waited, by lock
	hold      *prometheus.HistogramVec // seconds that sales held their lock, by lock
}

// New returns the metrics of one replica. tally returns the counts of the current run. lostLines returns the number of log lines that were
// lost; it may be nil.
func New(replica string, tally func(context.Context) (history.Tally, error), lostLines func() int64) *Metrics {
	registry := prometheus.NewRegistry()
	registerer := prometheus.WrapRegistererWith(prometheus.Labels{"replica": replica}, registry)
	registerer.MustRegister(runCollector{tally}, collectors.NewGoCollector())
	factory := promauto.With(registerer)
	if lostLines != nil {
		factory.NewCounterFunc(prometheus.CounterOpts{
			Name: "lockstep_log_lines_lost_total", Help: "Log lines that were lost because they could not be written.",
		}, func() float64 { return float64(lostLines()) })
	}
	counter := func(name, help, label string) *prometheus.CounterVec {
		return factory.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, []string{label})
	}
	// From a tenth of a millisecond, for a free lock, to a minute, for a stuck one.
	buckets := prometheus.ExponentialBucketsRange(0.0001, 60, 20)
	seconds := func(name, help string) *prometheus.HistogramVec {
		return factory.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, []string{"lock"})
	}
	return &Metrics{
		Handler:  promhttp.HandlerFor(registry, promhttp.HandlerOpts{MaxRequestsInFlight: maxScrapes}),
		answers:  counter("lockstep_sales_total", "Answered sales, by outcome: sold, replayed, or the error's code.", "outcome"),
		commands: counter("lockstep_redis_commands_total", "Redis commands sent, by name.", "command"),
		conflicts: counter("lockstep_sale_conflicts_total",
			"Attempts of optimistic sales that failed because another sale had changed the stock.", "lock"),
		waiters: factory.NewGaugeVec(prometheus.GaugeOpts{
			Name: "lockstep_lock_waiters", Help: "Sales that are waiting for their lock.",
		}, []string{"lock"}),
		wait: seconds("lockstep_lock_wait_seconds", "How long sales waited until they held their lock."),
		hold: seconds("lockstep_lock_hold_seconds", "How long sales held their lock."),
	}
}

// Answered implements api.Metrics: it counts an answer to a sale, "sold", "replayed", or the error's code.
func (m *Metrics) Answered(outcome string) { m.answers.WithLabelValues(outcome).Inc() }

// Follow implements service.Observer.
func (m *Metrics) Follow(ctx context.Context, _, _ string) context.Context { return ctx }

// Observe implements service.Observer. It ignores nested calls, which are a part of the time for which their sale holds its lock.
func (m *Metrics) Observe(_ context.Context, event service.SaleEvent) {
	if event.Nested > 0 {
		return
	}
	switch event.Moment {
	case service.Asks:
		m.waiters.WithLabelValues(event.Lock).Inc()
	case service.Misses:
		m.waiters.WithLabelValues(event.Lock).Dec()
	case service.Obtains:
		m.waiters.WithLabelValues(event.Lock).Dec()
		m.wait.WithLabelValues(event.Lock).Observe(event.Took.Seconds())
	case service.Released:
		m.hold.WithLabelValues(event.Lock).Observe(event.Took.Seconds())
	case service.Conflicts:
		m.conflicts.WithLabelValues(event.Lock).Inc()
	default:
	}
}

// Hook returns a hook that counts the commands of a client.
func (m *Metrics) Hook() redis.Hook {
	return redisclient.Around(func(ctx context.Context, commands []redis.Cmder, send func(context.Context) error) error {
		for _, command := range commands {
			m.commands.WithLabelValues(command.Name()).Inc()
		}
		return send(ctx)
	})
}

// runCollector is a prometheus.Collector for the tally of the current run.
type runCollector struct {
	tally func(context.Context) (history.Tally, error)
}

// runGauges lists the gauges of the current run.
var runGauges = []struct {
	desc  *prometheus.Desc
	value func(history.Tally) int64
}{
	{runDesc("remaining", "Stock."), func(t history.Tally) int64 { return t.Remaining }},
	{runDesc("sold", "Orders in the ledger."), func(t history.Tally) int64 { return t.Sold }},
	{runDesc("lost", "Sold pieces by which the stock did not fall."), func(t history.Tally) int64 { return t.Lost() }},
	{runDesc("oversold", "Sales beyond the initial stock."), func(t history.Tally) int64 { return t.Oversold() }},
	{runDesc("in_flight", "Sales in flight, in all replicas."), func(t history.Tally) int64 { return t.InFlight }},
}

// runDesc returns the description of a gauge of the current run.
func runDesc(name, help string) *prometheus.Desc {
	return prometheus.NewDesc("lockstep_run_"+name, help+" Of the current run.", []string{"lock"}, nil)
}

// Describe implements prometheus.Collector.
func (r runCollector) Describe(to chan<- *prometheus.Desc) {
	for _, gauge := range runGauges {
		to <- gauge.desc
	}
}

// Collect implements prometheus.Collector. If Redis does not answer, it leaves out the run, because the other metrics are still useful.
func (r runCollector) Collect(to chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), scrapeTimeout)
	defer cancel()
	tally, err := r.tally(ctx)
	if err != nil {
		return
	}
	for _, gauge := range runGauges {
		to <- prometheus.MustNewConstMetric(gauge.desc, prometheus.GaugeValue, float64(gauge.value(tally)), tally.Lock)
	}
}
