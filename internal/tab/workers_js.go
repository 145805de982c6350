package tab

import (
	"context"
	"errors"
	"fmt"
	"net"
	"syscall/js"
)

// Workers are replicas, each a worker of its own, which the page starts and ends. Their network leads to this one's, and this one's to
// theirs.
type Workers struct {
	roads []net.Listener
	names []string
}

var (
	errNotStarted = errors.New("its worker did not start")
	errNoSignals  = errors.New("a worker cannot be stopped")
)

// Start starts so many: each is a program with what command gives for its name as its arguments, then its name and its address.
func (w *Workers) Start(ctx context.Context, n int, command func(name string) []string) (map[string]string, error) {
	addresses := map[string]string{}
	for i := range n { // one after the other: the first begins the run, the others join it
		name, addr := fmt.Sprintf("r%d", i+1), fmt.Sprintf("127.0.0.1:%d", 8081+i)
		road, err := ForwardToWorker(addr, &Gate{})
		if err != nil {
			return nil, err
		}
		w.roads, w.names, addresses[name] = append(w.roads, road), append(w.names, name), addr
		var arguments []any
		for _, argument := range append(command(name), "--server.replica="+name, "--server.addr="+addr) {
			arguments = append(arguments, argument)
		}
		if err := request(ctx, map[string]any{"start": name, "args": arguments}); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return addresses, nil
}

// request has the page do something, and waits until it is done.
func request(ctx context.Context, what map[string]any) error {
	channel, done := js.Global().Get("MessageChannel").New(), make(chan bool, 1)
	port := channel.Get("port1")
	take := js.FuncOf(func(_ js.Value, args []js.Value) any {
		done <- args[0].Get("data").Bool()
		return nil
	})
	defer take.Release()
	defer port.Call("close")
	port.Set("onmessage", take)
	js.Global().Call("postMessage", what, []any{channel.Get("port2")})
	select {
	case well := <-done:
		if !well {
			return errNotStarted
		}
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Kill ends a worker in the middle of whatever it does.
func (*Workers) Kill(name string) error {
	return request(context.Background(), map[string]any{"kill": name})
}

// Stop fails: a worker cannot be stopped.
func (*Workers) Stop(string) error { return errNoSignals }

// Resume fails, as Stop does.
func (*Workers) Resume(string) error { return errNoSignals }

// End ends all of them.
func (w *Workers) End() (err error) {
	for _, road := range w.roads {
		err = errors.Join(err, road.Close())
	}
	for _, name := range w.names {
		err = errors.Join(err, w.Kill(name))
	}
	return err
}
