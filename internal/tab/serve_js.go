package tab

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"strings"
	"syscall/js"
)

// Serve answers the messages to this worker with a handler, and never returns. A request is a message {method, path, body} with a port for
// the response: {status, headers}, then the body in parts, then null. Any message from the page on that port cancels the request. A message
// {dial} opens a connection from another worker; its port carries the data.
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

// serve answers one request.
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
	w.buffer = bufio.NewWriter(portWriter(port))
	defer w.end()
	request, err := http.NewRequestWithContext(ctx, message.Get("method").String(),
		"http://localhost"+message.Get("path").String(), body(message))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	handler.ServeHTTP(w, request)
}

// body returns the body of a request.
func body(message js.Value) io.Reader {
	if text := message.Get("body"); text.Type() == js.TypeString {
		return strings.NewReader(text.String())
	}
	return http.NoBody
}

// writer is an http.ResponseWriter that sends the response through a port. It implements http.Flusher.
type writer struct {
	port   js.Value
	header http.Header
	sent   bool          // true: status and headers were sent
	buffer *bufio.Writer // buffer of the body
}

// Header implements http.ResponseWriter.
func (w *writer) Header() http.Header { return w.header }

// WriteHeader implements http.ResponseWriter.
func (w *writer) WriteHeader(status int) {
	if w.sent || status < http.StatusOK {
		return
	}
	w.sent = true
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
	_ = w.buffer.Flush() // Writing to a port cannot fail.
}

// end ends the response. After a panic with http.ErrAbortHandler it tells the page that the response was aborted.
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

// portWriter sends what is written to it through a port.
type portWriter js.Value

// Write implements io.Writer.
func (p portWriter) Write(data []byte) (int, error) {
	array := js.Global().Get("Uint8Array").New(len(data))
	js.CopyBytesToJS(array, data)
	js.Value(p).Call("postMessage", array, []any{array.Get("buffer")})
	return len(data), nil
}
