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

// arrive takes a connection from another worker to an address of this one.
func acceptFromWorker(addr string, port js.Value) {
	conn, err := net.Dial("tcp", addr)
	if err != nil { // nobody listens
		port.Call("postMessage", nil)
		return
	}
	copyBothWays(conn, port, &Gate{})
}

// carry carries what is written at one end of a connection to the other, until one of them is closed, or its worker is gone.
func copyBothWays(conn net.Conn, port js.Value, gate *Gate) {
	defer gate.lead(conn)()
	came := inbox{news: make(chan struct{}, 1)}
	take := js.FuncOf(func(_ js.Value, args []js.Value) any {
		var piece []byte
		if data := args[0].Get("data"); data.Truthy() {
			piece = make([]byte, data.Length())
			js.CopyBytesToGo(piece, data)
		}
		came.put(piece)
		return nil
	})
	defer take.Release()
	port.Set("onmessage", take)
	port.Set("onclose", take)
	written := make(chan struct{})
	go func() {
		defer close(written)
		came.writeTo(conn, gate)
	}()
	_, _ = io.Copy(gate.through(pieces(port)), conn) // until it is closed, here or there
	gate.pass()
	port.Set("onmessage", js.Null())
	port.Set("onclose", js.Null())
	port.Call("postMessage", nil)
	port.Call("close")
	came.put(nil)
	<-written
}

// lead lets a connection lead through it, until the function that is returned is called.
func (g *Gate) lead(road io.Closer) (leave func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.roads == nil {
		g.roads = map[io.Closer]bool{}
	}
	g.roads[road] = true
	return func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		delete(g.roads, road)
	}
}

// inbox keeps what has come by a port until it is written; nil is the end. A port's listener may not wait.
type inbox struct {
	mu     sync.Mutex
	pieces [][]byte
	news   chan struct{}
}

func (i *inbox) put(piece []byte) {
	i.mu.Lock()
	i.pieces = append(i.pieces, piece)
	i.mu.Unlock()
	select {
	case i.news <- struct{}{}:
	default:
	}
}

// writeTo writes what comes, and closes the connection at the end.
func (i *inbox) writeTo(conn net.Conn, gate *Gate) {
	defer func() { _ = conn.Close() }()
	for range i.news {
		i.mu.Lock()
		pieces := i.pieces
		i.pieces = nil
		i.mu.Unlock()
		for _, piece := range pieces {
			gate.pass()
			if piece == nil {
				return
			}
			if _, err := conn.Write(piece); err != nil {
				return
			}
		}
	}
}
