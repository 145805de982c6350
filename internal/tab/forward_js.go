package tab

import (
	"io"
	"net"
	"sync"
	"syscall/js"
)

// ForwardToWorker listens at addr and forwards each connection through gate to the worker that the page has registered for addr, until the
// listener is closed. A worker's own network exists only in its memory.
func ForwardToWorker(addr string, gate *Gate) (net.Listener, error) {
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, err
	}
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			channel := js.Global().Get("MessageChannel").New()
			js.Global().Call("postMessage", map[string]any{"dial": addr}, []any{channel.Get("port2")})
			go copyBothWays(conn, channel.Get("port1"), gate)
		}
	}()
	return listener, nil
}

// acceptFromWorker accepts a connection that another worker opens to an address of this one.
func acceptFromWorker(addr string, port js.Value) {
	conn, err := net.Dial("tcp", addr)
	if err != nil { // No one listens there.
		port.Call("postMessage", nil)
		return
	}
	copyBothWays(conn, port, &Gate{})
}

// copyBothWays copies between a connection and a port until one of them is closed.
func copyBothWays(conn net.Conn, port js.Value, gate *Gate) {
	defer gate.register(conn)()
	received := inbox{wake: make(chan struct{}, 1)}
	receive := js.FuncOf(func(_ js.Value, args []js.Value) any {
		var data []byte // nil: the end
		if message := args[0].Get("data"); message.Truthy() {
			data = make([]byte, message.Length())
			js.CopyBytesToGo(data, message)
		}
		received.put(data)
		return nil
	})
	defer receive.Release()
	port.Set("onmessage", receive)
	port.Set("onclose", receive)
	written := make(chan struct{})
	go func() {
		defer close(written)
		received.writeTo(conn, gate)
	}()
	_, _ = io.Copy(gate.writer(portWriter(port)), conn) // Returns once either end is closed.
	gate.wait()
	port.Set("onmessage", js.Null())
	port.Set("onclose", js.Null())
	port.Call("postMessage", nil)
	port.Call("close")
	received.put(nil)
	<-written
}

// register adds a connection that CloseAll closes. The returned function removes it.
func (g *Gate) register(conn io.Closer) (remove func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.conns == nil {
		g.conns = map[io.Closer]bool{}
	}
	g.conns[conn] = true
	return func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		delete(g.conns, conn)
	}
}

// inbox queues what a port has received, because the port's listener must not block.
type inbox struct {
	mu     sync.Mutex
	queued [][]byte      // nil at the end of the stream
	wake   chan struct{} // holds a value when something was queued
}

// put queues data; nil ends the stream.
func (i *inbox) put(data []byte) {
	i.mu.Lock()
	i.queued = append(i.queued, data)
	i.mu.Unlock()
	select {
	case i.wake <- struct{}{}:
	default:
	}
}

// writeTo writes what is received to the connection, and closes it at the end of the stream.
func (i *inbox) writeTo(conn net.Conn, gate *Gate) {
	defer func() { _ = conn.Close() }()
	for range i.wake {
		i.mu.Lock()
		queued := i.queued
		i.queued = nil
		i.mu.Unlock()
		for _, data := range queued {
			gate.wait()
			if data == nil {
				return
			}
			if _, err := conn.Write(data); err != nil {
				return
			}
		}
	}
}
