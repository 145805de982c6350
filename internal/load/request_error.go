package load

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"unicode/utf8"
)

// RequestError is returned for a request without a complete answer. Its text quotes what the server sent, and shows no password.
type RequestError struct {
	Err error

	proxy *url.URL // proxy that the request went through; nil: none
}

// Error implements error.
func (e *RequestError) Error() string { return describeError(e.Err) + describeProxy(e.proxy) }

// Unwrap returns the error of net/http.
func (e *RequestError) Unwrap() error { return e.Err }

// isRefused reports whether the server itself, not a proxy, refused the connection.
func (e *RequestError) isRefused() bool { return e.proxy == nil && isRefused(e.Err) }

// windowsConnRefused is WSAECONNREFUSED, the ECONNREFUSED of Windows.
const windowsConnRefused = syscall.Errno(10061)

// isRefused reports whether an error means that a connection was refused.
func isRefused(err error) bool {
	return errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, windowsConnRefused)
}

// proxyError is returned when a proxy refused to connect to a server. status is the HTTP status of the refusal.
type proxyError struct{ status int }

// Error implements error.
func (e proxyError) Error() string { return fmt.Sprintf("%d %s", e.status, http.StatusText(e.status)) }

// proxyRefusal is the OnProxyConnectResponse callback of a client. It returns a proxyError for a status other than 200.
func proxyRefusal(_ context.Context, _ *url.URL, _ *http.Request, response *http.Response) error {
	if response.StatusCode != http.StatusOK {
		return proxyError{response.StatusCode}
	}
	return nil
}

// describeError returns a sentence about why a request failed.
func describeError(err error) string {
	var dns *net.DNSError
	var certificate *tls.CertificateVerificationError
	var plainText tls.RecordHeaderError
	var alert tls.AlertError
	var proxy proxyError
	var dial *net.OpError
	switch {
	case errors.Is(err, errInvalidProxy), errors.Is(err, errTooLong):
		return err.Error()
	case errors.As(err, &proxy):
		return "the proxy refuses to connect: " + proxy.Error()
	case errors.As(err, &dns) && dns.IsNotFound:
		return "no such host: " + Quote(dns.Name)
	case errors.As(err, &dns):
		return "cannot resolve the name " + Quote(dns.Name) + ": " + Quote(dns.Err)
	case errors.As(err, &certificate):
		return "the server's certificate is not trusted: " + Quote(certificate.Err.Error())
	case errors.Is(err, http.ErrSchemeMismatch), errors.As(err, &plainText):
		return "the server does not use TLS: try http://"
	case errors.As(err, &alert):
		return "the server refused the TLS connection: " + alert.Error()
	case errors.Is(err, context.Canceled):
		return context.Canceled.Error()
	case isRefused(err):
		return "connection refused"
	case isTimeout(err):
		return "no answer in time"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET):
		return "the server closed the connection before its answer was complete"
	case errors.As(err, &dial): // for example, no route to the host
		return Quote(innermost(err).Error())
	default:
		return "the answer is not HTTP: " + Quote(innermost(err).Error())
	}
}

// isTimeout reports whether an error means that a connection or an answer did not come in time.
func isTimeout(err error) bool {
	var late net.Error
	return errors.Is(err, context.DeadlineExceeded) || errors.As(err, &late) && late.Timeout()
}

// innermost returns the innermost error that err wraps.
func innermost(err error) error {
	for unwrapped := err; unwrapped != nil; unwrapped = errors.Unwrap(unwrapped) {
		err = unwrapped
	}
	return err
}

// proxyOf returns the proxy through which a client sends a request; nil if there is none.
func proxyOf(client *http.Client, request *http.Request) (*url.URL, error) {
	transport, ok := client.Transport.(*http.Transport)
	if !ok || transport.Proxy == nil {
		return nil, nil //nolint:nilnil // http.Transport.Proxy returns nil, too, for no proxy
	}
	return transport.Proxy(request)
}

// errInvalidProxy is returned if an environment variable is not the URL of a proxy. The value is not shown: it may contain a password.
var errInvalidProxy = errors.New("HTTP_PROXY or HTTPS_PROXY is not the URL of a proxy")

// describeProxy returns the end of an error's sentence that names the proxy of the request; empty if there is none.
func describeProxy(proxy *url.URL) string {
	if proxy == nil {
		return ""
	}
	return ", through the proxy " + proxy.Scheme + "://" + proxy.Host +
		" (set by HTTP_PROXY or HTTPS_PROXY; hosts in NO_PROXY bypass it)"
}

// maxQuoted is the number of characters that Quote shows.
const maxQuoted = 200

// Quote returns a server's text in quotes, shortened and escaped, so that the text cannot control a terminal.
func Quote(text string) string {
	if utf8.RuneCountInString(text) > maxQuoted {
		text = string([]rune(text)[:maxQuoted]) + "…"
	}
	return strconv.Quote(strings.TrimSpace(text))
}

// DisplayURL returns a URL without user and password.
func DisplayURL(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "an invalid URL"
	}
	u.User = nil
	return u.String()
}
