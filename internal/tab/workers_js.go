package tab

import (
	"context"
	"errors"
	"fmt"
	"net"
	"syscall/js"
)

// Workers are replicas, each in a worker that the page starts and ends. The network of this worker reaches theirs, and theirs reaches this
// one.
type Workers struct {
	listeners []net.Listener // forward connections to the workers
	names     []string       // names of the replicas
}

var (
	errNotStarted = errors.New("the worker did not start")
	errNoSignals  = errors.New("a worker cannot be stopped")
)

// Start starts n workers and returns their addresses by name. command returns the arguments of a worker, to which its name and its address
// are added.
func (w *Workers) Start(ctx context.Context, n int, command func(name string) []string) (map[string]string, error) {
	addresses := map[string]string{}
	for i := range n { // The first worker has to begin the run before the others join it.
		name, addr := fmt.Sprintf("r%d", i+1), fmt.Sprintf("127.0.0.1:%d", 8081+i)
		listener, err := ForwardToWorker(addr, &Gate{})
		if err != nil {
			return nil, err
		}
		w.listeners = append(w.listeners, listener)
		w.names = append(w.names, name)
		addresses[name] = addr
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

// request asks the page for something, and waits until it is done.
func request(ctx context.Context, what map[string]any) error {
	channel, done := js.Global().Get("MessageChannel").New(), make(chan bool, 1)
	port := channel.Get("port1")
	receive := js.FuncOf(func(_ js.Value, args []js.Value) any {
		done <- args[0].Get("data").Bool()
		return nil
	})
	defer receive.Release()
	defer port.Call("close")
	port.Set("onmessage", receive)
	js.Global().Call("postMessage", what, []any{channel.Get("port2")})
	select {
	case ok := <-done:
		if !ok {
			return errNotStarted
		}
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Kill ends a worker at once.
func (*Workers) Kill(name string) error {
	return request(context.Background(), map[string]any{"kill": name})
}

// Pause returns an error: a worker cannot be paused.
func (*Workers) Pause(string) error { return errNoSignals }

// Resume returns an error: a worker cannot be paused.
func (*Workers) Resume(string) error { return errNoSignals }

// End ends all workers.
func (w *Workers) End() (err error) {
	for _, listener := range w.listeners {
		err = errors.Join(err, listener.Close())
	}
	for _, name := range w.names {
		err = errors.Join(err, w.Kill(name))
	}
	return err
}
