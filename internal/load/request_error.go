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

// RequestError says why a request has no answer, or only a part of one. It never shows what a server sent as it is, nor a URL's password.
type RequestError struct {
	Err error

	proxy *url.URL // by way of which it was asked; nil: of none
}

// Error implements error.
func (e *RequestError) Error() string { return describeError(e.Err) + describeProxy(e.proxy) }

// Unwrap returns what net/http says.
func (e *RequestError) Unwrap() error { return e.Err }

// isRefused reports whether the server itself refuses connections.
func (e *RequestError) isRefused() bool { return e.proxy == nil && isRefused(e.Err) }

// windowsConnRefused is ECONNREFUSED of Windows.
const windowsConnRefused = syscall.Errno(10061)

func isRefused(err error) bool {
	return errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, windowsConnRefused)
}

// proxyError is a proxy's refusal to connect to a server.
type proxyError struct{ status int }

// Error implements error.
func (e proxyError) Error() string { return fmt.Sprintf("%d %s", e.status, http.StatusText(e.status)) }

func proxyRefusal(_ context.Context, _ *url.URL, _ *http.Request, response *http.Response) error {
	if response.StatusCode != http.StatusOK {
		return proxyError{response.StatusCode}
	}
	return nil
}

// describeError says in words why a request failed.
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
		return "there is no host " + Quote(dns.Name)
	case errors.As(err, &dns):
		return "the name " + Quote(dns.Name) + " cannot be looked up: " + Quote(dns.Err)
	case errors.As(err, &certificate):
		return "its certificate is not trusted: " + Quote(certificate.Err.Error())
	case errors.Is(err, http.ErrSchemeMismatch), errors.As(err, &plainText):
		return "it does not speak TLS: try http://"
	case errors.As(err, &alert):
		return "it refuses TLS: " + alert.Error()
	case errors.Is(err, context.Canceled):
		return context.Canceled.Error()
	case isRefused(err):
		return "connection refused"
	case isTimeout(err):
		return "no answer in time"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET):
		return "it closed the connection before the end of an answer"
	case errors.As(err, &dial): // such as no route to the host
		return Quote(innermost(err).Error())
	default:
		return "what it says is not HTTP: " + Quote(innermost(err).Error())
	}
}

// isTimeout reports whether an answer, or a connection, did not come in time.
func isTimeout(err error) bool {
	var late net.Error
	return errors.Is(err, context.DeadlineExceeded) || errors.As(err, &late) && late.Timeout()
}

func innermost(err error) error {
	for unwrapped := err; unwrapped != nil; unwrapped = errors.Unwrap(unwrapped) {
		err = unwrapped
	}
	return err
}

// proxyOf returns the proxy by way of which a client sends a request; nil: none.
func proxyOf(client *http.Client, request *http.Request) (*url.URL, error) {
	transport, ok := client.Transport.(*http.Transport)
	if !ok || transport.Proxy == nil {
		return nil, nil //nolint:nilnil // as net/http has it
	}
	return transport.Proxy(request)
}

// errInvalidProxy means that a variable is wrong. Its value is not shown: it may have a password.
var errInvalidProxy = errors.New("HTTP_PROXY or HTTPS_PROXY is no URL of a proxy")

// describeProxy says which proxy was in between.
func describeProxy(proxy *url.URL) string {
	if proxy == nil {
		return ""
	}
	return ", by way of the proxy " + proxy.Scheme + "://" + proxy.Host +
		" (of HTTP_PROXY or HTTPS_PROXY; hosts in NO_PROXY are asked without it)"
}

// maxQuoted is how much is shown of what a server says, in characters.
const maxQuoted = 200

// Quote returns what a server says in quotes, as far as it is not too long. No character of it does anything to a terminal.
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
		return "a URL that cannot be read"
	}
	u.User = nil
	return u.String()
}
