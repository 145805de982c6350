package cli

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// duplicateWindow is the time within which a second SIGINT counts as the same one: timeout(1) sends it to its child, and then to the whole
// group. Nobody presses ctrl-C again on purpose so soon.
const duplicateWindow = 500 * time.Millisecond

// exitInterrupted is the exit code after a second ctrl-C: that of a process killed by SIGINT, as a shell reports it.
const exitInterrupted = 128 + int(syscall.SIGINT)

// untilSignal returns a context that is cancelled by SIGINT, SIGTERM or, when the terminal is closed, SIGHUP. Further signals have no
// effect, as the command is ending already, except a second ctrl-C at a terminal, which exits at once. Until stop is called, a write to a
// pipe without a reader fails with EPIPE, and SIGPIPE does not kill the process.
func (p Program) untilSignal(ctx context.Context, stderr io.Writer) (done context.Context, stop func()) {
	done, end := context.WithCancel(ctx)
	signals, pipes, stopped := make(chan os.Signal, 8), make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(signals, terminationSignals()...)
	signal.Notify(pipes, syscall.SIGPIPE) // Never received: child processes would inherit an ignored signal, but not this.
	interactive := isTerminal(stderr) || p.In == nil && isTerminal(os.Stdin)
	go func() {
		var first time.Time
		for {
			select {
			case <-stopped:
				return
			case received := <-signals:
				again := !first.IsZero() && time.Since(first) > duplicateWindow
				if again && interactive && received == os.Interrupt {
					printLines(stderr, "lockstep: stopped at once by a second ctrl-C; a lock or a file may be left behind")
					os.Exit(exitInterrupted)
				}
				if first.IsZero() {
					first = time.Now()
				}
				end()
			}
		}
	}()
	return done, func() {
		signal.Stop(signals)
		signal.Stop(pipes)
		close(stopped)
		end()
	}
}

// terminationSignals returns the signals that cancel a command. SIGHUP is left out if it was ignored at the start, as by nohup.
func terminationSignals() []os.Signal {
	all := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		all = append(all, syscall.SIGHUP)
	}
	return all
}
