package chaos

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	patience    = 30 * time.Second // for the shop to start, to end, and to have all its replicas up
	lookAgain   = 50 * time.Millisecond
	askPatience = 5 * time.Second // for one answer to a question about the replicas
)

// shop is a lockstep cluster in processes of its own.
type shop struct {
	url     string
	client  *http.Client
	process *exec.Cmd
	ended   chan error
}

// openShop starts the program as a cluster with a lock, on the Redis at that address. What it says to people goes to said.
func openShop(program, lock, redisAddr, dir string, said io.Writer) (*shop, error) {
	command := exec.Command(program, "cluster", "--replicas", strconv.Itoa(replicas), "--lock", lock,
		"--server.addr", "127.0.0.1:0", "--redis.addrs", redisAddr, "--log.level", "error",
		"--lock.ttl", Expiry.String(), "--lock.wait_timeout", waitTimeout.String(),
		"--sale.think_time", thinkTime.String(), "--inventory.initial", strconv.Itoa(initialStock),
		"--inventory.max_orders", strconv.Itoa(maxOrders))
	command.Dir, command.Stderr = dir, said
	command.Env = slices.DeleteFunc(os.Environ(), func(variable string) bool { return strings.HasPrefix(variable, "LOCKSTEP_") })
	stdout, err := command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := command.Start(); err != nil {
		return nil, fmt.Errorf("starting the shop: %w", err)
	}
	s := &shop{client: &http.Client{Transport: &http.Transport{}}, process: command, ended: make(chan error, 1)}
	lines := bufio.NewReader(stdout)
	line, err := lines.ReadString('\n')
	go func() {
		_, _ = io.Copy(io.Discard, lines)
		s.ended <- command.Wait()
	}()
	address := regexp.MustCompile(`^lockstep: (http://\S+)`).FindStringSubmatch(line)
	if err != nil || address == nil {
		return nil, fmt.Errorf("the shop did not start; it said %q: %w", line, errors.Join(err, s.close()))
	}
	s.url = address[1]
	return s, nil
}

// close ends the shop, after its sales in flight.
func (s *shop) close() error {
	s.client.CloseIdleConnections()
	_ = s.process.Process.Signal(os.Interrupt) // it may have ended
	select {
	case err := <-s.ended:
		return err
	case <-time.After(patience):
		_ = s.process.Process.Kill() // it may have ended
		return fmt.Errorf("it did not end within %v, and was killed: %w", patience, <-s.ended)
	}
}

// replica is what the shop says of one.
type replica struct {
	Name  string `json:"name"`
	PID   int    `json:"pid"`
	State string `json:"state"`
}

// settled waits until every replica is up, and gives them.
func (s *shop) settled(ctx context.Context) ([]replica, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("the replicas are not all up after %v", patience))
	defer cancel()
	for {
		all, err := s.replicas(ctx)
		if err == nil && len(all) == replicas && !slices.ContainsFunc(all, func(r replica) bool { return r.State != "up" || r.PID == 0 }) {
			return all, nil
		}
		if wait(ctx, lookAgain) != nil {
			return nil, fmt.Errorf("%w: %v: %w", context.Cause(ctx), all, err)
		}
	}
}

func (s *shop) replicas(ctx context.Context) (all []replica, err error) {
	text, err := s.must(ctx, askPatience, http.MethodGet, "/replicas", "")
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	return all, err
}

// newRun asks for a new run, until there is one; it gives when it asked for the last time.
func (s *shop) newRun(ctx context.Context) (asked time.Time, err error) {
	for began := time.Now(); time.Since(began) < patience; {
		asked = time.Now()
		if _, err = s.must(ctx, patience, http.MethodPut, "/inventory", fmt.Sprintf(`{"stock":%d}`, initialStock)); err == nil {
			return asked, nil
		}
		if wait(ctx, lookAgain) != nil {
			break
		}
	}
	return asked, fmt.Errorf("a new run: %w", err)
}

// lookUp asks whether an order is in the ledger.
func (s *shop) lookUp(ctx context.Context, id string) Doubt {
	status, text, err := s.ask(ctx, askPatience, http.MethodGet, "/orders/"+id, "")
	var answer struct{ Error struct{ Code string } }
	if err == nil {
		err = json.Unmarshal(text, &answer)
	}
	switch {
	case err != nil:
		return Doubt{OrderID: id, Error: err.Error()}
	case status == http.StatusOK:
		return Doubt{OrderID: id, Found: true}
	case status == http.StatusNotFound && answer.Error.Code == "no_order":
		return Doubt{OrderID: id}
	default:
		return Doubt{OrderID: id, Error: fmt.Sprintf("%d %s", status, answer.Error.Code)}
	}
}

// must sends a request, and wants 200.
func (s *shop) must(ctx context.Context, patience time.Duration, method, path, body string) ([]byte, error) {
	status, text, err := s.ask(ctx, patience, method, path, body)
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("%s %s: %d %.200s", method, path, status, text)
	}
	return text, err
}

func (s *shop) ask(ctx context.Context, patience time.Duration, method, path, body string) (status int, text []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, method, s.url+path, strings.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	response, err := s.client.Do(request)
	if err != nil {
		return 0, nil, err
	}
	defer response.Body.Close()
	text, err = io.ReadAll(response.Body)
	return response.StatusCode, text, err
}
