package cli

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"lockstep/internal/test/shoptest"
	"lockstep/internal/test/suite"
)

// newUnreadWriter returns a writer that blocks until the end of the test.
func newUnreadWriter(t *testing.T) io.Writer {
	t.Helper()
	reader, writer := io.Pipe()
	t.Cleanup(func() { reader.Close() })
	return writer
}

var lostLine = regexp.MustCompile(`level=WARN msg="log lines were lost because they could not be written" lines=(\d+)`)

// countLogLines reads a log to its end, and returns how many lines were written, and how many the log reports as lost.
func countLogLines(t *testing.T, log io.Reader) (written, lost int) {
	t.Helper()
	for lines := bufio.NewScanner(log); lines.Scan(); {
		if match := lostLine.FindStringSubmatch(lines.Text()); match != nil {
			n, _ := strconv.Atoi(match[1])
			lost += n
		} else {
			written++
		}
	}
	return written, lost
}

func TestUnreadLogDropsAndCountsLines(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		reader, writer := io.Pipe()
		w := newLogWriter(writer)
		w.release()
		line, n := "x\n", 3*maxQueuedWrites
		for range n {
			fmt.Fprint(w, line)
		}
		began := time.Now()
		w.close()
		if took := time.Since(began); took != flushTimeout {
			t.Errorf("the end is held up for %v; want %v", took, flushTimeout)
		}
		last := make(chan struct{})
		var written, lost int
		go func() { written, lost = countLogLines(t, reader); close(last) }()
		synctest.Wait() // now the log is read
		writer.Close()
		<-last
		if written+lost != n || int64(lost) != w.lostLines() || written < maxQueuedWrites {
			t.Errorf("%d lines written and %d reported as lost, of %d; %d counted", written, lost, n, w.lostLines())
		}
	})
}

func TestSlowlyReadLogIsComplete(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const lines = 1000
		var slow slowFile
		w := newLogWriter(&slow)
		w.release()
		for i := range lines {
			fmt.Fprintln(w, i)
		}
		w.close()
		if got := slow.lines(); len(got) != lines || got[lines-1] != strconv.Itoa(lines-1) || w.lostLines() != 0 {
			t.Errorf("%d lines came; want %d", len(got), lines)
		}
	})
}

// slowFile is a file that takes a millisecond for each line.
type slowFile struct {
	mu   sync.Mutex
	text bytes.Buffer
	full error // error of a write; nil: the line is written
}

func (f *slowFile) Write(text []byte) (int, error) {
	time.Sleep(time.Millisecond)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.full != nil {
		return 0, f.full
	}
	return f.text.Write(text)
}

func (f *slowFile) lines() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return strings.Split(strings.TrimSuffix(f.text.String(), "\n"), "\n")
}

func (f *slowFile) fail(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.full = err
}

func TestLogReportsLinesLostOnFullDisk(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var disk slowFile
		w := newLogWriter(&disk)
		w.release()
		disk.fail(syscall.ENOSPC)
		for range 3 {
			fmt.Fprintln(w, "lost")
			time.Sleep(time.Second)
		}
		if w.lostLines() != 3 {
			t.Errorf("%d lines are counted as lost; want 3", w.lostLines())
		}
		disk.fail(nil)
		fmt.Fprintln(w, "written")
		w.close()
		got := disk.lines()
		if len(got) != 2 || !strings.HasSuffix(got[0], " lines=3") || got[1] != "written" {
			t.Errorf("the log is %q", got)
		}
	})
}

func TestLogIsReleasedAfterMaxHoldback(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var file slowFile
		w := newLogWriter(&file)
		fmt.Fprintln(w, "early")
		time.Sleep(maxHoldback - time.Millisecond)
		if got := file.lines(); got[0] != "" {
			t.Errorf("it was not held back: %q", got)
		}
		time.Sleep(3 * time.Millisecond)
		if got := file.lines(); got[0] != "early" {
			t.Errorf("it is still held back after %v: %q", maxHoldback, got)
		}
		w.close()
	})
}

// A log that nobody reads delays neither the sales nor the end.
func TestServersRunWithUnreadLog(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"serve", "cluster"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stderr := newUnreadWriter(t)
			s, finish := serveTo(t, stderr, name)
			for range 3 {
				if status, code := s.Sell(); status != http.StatusOK {
					t.Errorf("a sale was answered %d %s", status, code)
				}
			}
			if code := finish(); code != exitOK {
				t.Errorf("exit code %d", code)
			}
		})
	}
}

func TestServerMetricCountsLostLogLines(t *testing.T) {
	t.Parallel()
	s, finish := serveTo(t, fullDisk{}, "serve")
	s.Sell()
	suite.Eventually(t, "the lost line of the sale is counted", func() bool {
		_, metrics := s.Send("GET", "/metrics", "")
		return regexp.MustCompile(`(?m)^lockstep_log_lines_lost_total\{.*\} [2-9]$`).MatchString(metrics) // one of the run, one of the sale
	})
	if code := finish(); code != exitOK {
		t.Errorf("exit code %d", code)
	}
}

// serveTo runs a server whose log goes to stderr.
func serveTo(t *testing.T, stderr io.Writer, args ...string) (s shoptest.Client, finish func() int) {
	t.Helper()
	addr := shoptest.UnusedAddr(t)
	args = append(args, "--server.addr", addr, "--redis.embedded_addr", shoptest.UnusedAddr(t), shoptest.PatientBuyers)
	_, finish = serveLogging(t, stderr, args...)
	return shoptest.NewClient(t, addr), finish
}
