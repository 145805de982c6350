package tab

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"strings"
	"syscall/js"
)

// Serve answers what comes to this worker, and never returns. A message is {method, path, body} with a port for the answer: first
// {status, headers}, then the body's pieces, then null. Whatever comes by the port from the page aborts the request. With {dial}
// instead, the port is a connection from another worker.
func Serve(handler http.Handler) {
	js.Global().Set("onmessage", js.FuncOf(func(_ js.Value, args []js.Value) any {
		message, port := args[0].Get("data"), args[0].Get("ports").Index(0)
		if addr := message.Get("dial"); addr.Truthy() {
			go acceptFromWorker(addr.String(), port)
		} else {
			go serve(handler, message, port)
		}
		return nil
	}))
	js.Global().Call("postMessage", "ready")
	select {}
}

func serve(handler http.Handler, message, port js.Value) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	abort := js.FuncOf(func(js.Value, []js.Value) any {
		cancel()
		return nil
	})
	defer abort.Release()
	port.Set("onmessage", abort)
	w := &writer{port: port, header: http.Header{}}
	w.buffer = bufio.NewWriter(pieces(port))
	defer w.end()
	request, err := http.NewRequestWithContext(ctx, message.Get("method").String(),
		"http://localhost"+message.Get("path").String(), body(message))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	handler.ServeHTTP(w, request)
}

func body(message js.Value) io.Reader {
	if text := message.Get("body"); text.Type() == js.TypeString {
		return strings.NewReader(text.String())
	}
	return http.NoBody
}

// writer is an http.ResponseWriter, and an http.Flusher.
type writer struct {
	port   js.Value
	header http.Header
	begun  bool
	buffer *bufio.Writer
}

// Header implements http.ResponseWriter.
func (w *writer) Header() http.Header { return w.header }

// WriteHeader implements http.ResponseWriter.
func (w *writer) WriteHeader(status int) {
	if w.begun || status < http.StatusOK {
		return
	}
	w.begun = true
	headers := map[string]any{}
	for name := range w.header {
		headers[name] = w.header.Get(name)
	}
	w.port.Call("postMessage", map[string]any{"status": status, "headers": headers})
}

// Write implements http.ResponseWriter.
func (w *writer) Write(text []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.buffer.Write(text)
}

// Flush implements http.Flusher.
func (w *writer) Flush() {
	w.WriteHeader(http.StatusOK)
	_ = w.buffer.Flush() // a port takes everything
}

// end ends the answer. One that its handler gave up, by a panic with http.ErrAbortHandler, is none.
func (w *writer) end() {
	if reason := recover(); reason == http.ErrAbortHandler { //nolint:errorlint // a panic's value
		w.port.Call("postMessage", "aborted")
		return
	} else if reason != nil {
		panic(reason)
	}
	w.Flush()
	w.port.Call("postMessage", nil)
}

// pieces sends each piece of a body by a port.
type pieces js.Value

// Write implements io.Writer.
func (p pieces) Write(text []byte) (int, error) {
	piece := js.Global().Get("Uint8Array").New(len(text))
	js.CopyBytesToJS(piece, text)
	js.Value(p).Call("postMessage", piece, []any{piece.Get("buffer")})
	return len(text), nil
}
