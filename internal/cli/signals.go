package cli

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// oneWish is how soon a second SIGINT belongs to the first: timeout(1) sends it to its child, and then to the whole group.
const oneWish = 500 * time.Millisecond

// exitInterrupted is the exit code of a command that a second ctrl-C has ended at once, as a shell reports it.
const exitInterrupted = 128 + int(syscall.SIGINT)

// untilSignal returns a context that SIGINT, SIGTERM or a closed terminal ends. The same wish again changes nothing, whatever the signal:
// the command is ending. Only a person who presses ctrl-C a second time ends the process at once. Until stop is called, writing to a pipe
// that nobody reads is an error, and does not end the process.
func (p Program) untilSignal(ctx context.Context, stderr io.Writer) (ending context.Context, stop func()) {
	ending, end := context.WithCancel(ctx)
	signals, pipes, stopped := make(chan os.Signal, 8), make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(signals, endings()...)
	signal.Notify(pipes, syscall.SIGPIPE) // nobody looks: unlike an ignored signal, this one is not inherited
	person := isTerminal(stderr) || p.In == nil && isTerminal(os.Stdin)
	go func() {
		var first time.Time
		for {
			select {
			case <-stopped:
				return
			case received := <-signals:
				again := !first.IsZero() && time.Since(first) > oneWish
				if again && person && received == os.Interrupt {
					tell(stderr, "lockstep: ended at once by a second ctrl-C: what was going on may leave a lock or a file behind")
					os.Exit(exitInterrupted)
				}
				if first.IsZero() {
					first = time.Now()
				}
				end()
			}
		}
	}()
	return ending, func() {
		signal.Stop(signals)
		signal.Stop(pipes)
		close(stopped)
		end()
	}
}

// endings returns the signals that end a command. Whoever started it so that it outlives its terminal (nohup) has its way.
func endings() []os.Signal {
	all := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		all = append(all, syscall.SIGHUP)
	}
	return all
}
