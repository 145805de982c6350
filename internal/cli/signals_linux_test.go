package cli

import (
	"bufio"
	"fmt"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"lockstep/internal/dao/redisclient"
	"lockstep/internal/lock"
	"lockstep/internal/test/shoptest"
	"lockstep/internal/test/suite"
)

// openTerminal opens a pseudo-terminal, and returns the user's side and the program's side.
func openTerminal(t *testing.T) (person, side *os.File) {
	t.Helper()
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip("there are no terminals here: ", err)
	}
	t.Cleanup(func() { person.Close() })
	n, err := unix.IoctlGetInt(int(person.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(person.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		side, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	return person, side
}

// At a terminal, a second ctrl-C ends the server at once, and the server says so. A SIGTERM in between does not count.
func TestSecondInterruptEndsServerAtOnce(t *testing.T) {
	t.Parallel()
	addr, redisAddr := shoptest.UnusedAddr(t), shoptest.UnusedAddr(t)
	person, side := openTerminal(t)
	server, _ := startServer(t, side, "serve", "--server.addr", addr, "--redis.embedded_addr", redisAddr, "--lock.version", "v1",
		shoptest.PatientBuyers)
	side.Close()
	outside := redisclient.Single(redisclient.Config{Addrs: []string{redisAddr}})
	defer outside.Close()
	if err := outside.Set(t.Context(), lock.Key, "another", 0).Err(); err != nil { // so that the sale never gets its lock
		t.Fatal(err)
	}
	s, answered := shoptest.NewClient(t, addr), make(chan struct{})
	go func() {
		defer close(answered)
		if response, err := http.Post(s.URL()+"/inventory/sale", "", nil); err == nil {
			response.Body.Close()
			t.Errorf("the sale was answered %s", response.Status)
		}
	}()
	suite.Eventually(t, "the sale is in flight", func() bool { return s.Report().InFlight == 1 })
	says := make(chan string, 100)
	go func() {
		defer close(says)
		for lines := bufio.NewScanner(person); lines.Scan(); {
			says <- lines.Text()
		}
	}()
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGINT} { // the last counts as one with the first
		if err := server.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
	}
	for line := range says {
		if strings.Contains(line, "ending: waiting") {
			break
		}
	}
	began := time.Now()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = server.Wait() // ProcessState has the exit code
	}()
	suite.Eventually(t, "a ctrl-C that comes later ends it", func() bool {
		_ = server.Process.Signal(os.Interrupt)
		select {
		case <-ended:
			return true
		default:
			return false
		}
	})
	if code := server.ProcessState.ExitCode(); code != exitInterrupted || time.Since(began) > suite.Patience/2 {
		t.Errorf("exit code %d after %v; want %d", code, time.Since(began), exitInterrupted)
	}
	told := ""
	for line := range says {
		told += line
	}
	if !strings.Contains(told, "stopped at once by a second ctrl-C") {
		t.Errorf("output %q; want that it was stopped by a second ctrl-C", told)
	}
	<-answered
}
