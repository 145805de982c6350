package dao

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/dao/redisclient"
)

// probeTime bounds looking at what listens at an address.
const probeTime = time.Second

// endpoint is what listens at an address, as PING finds it, with TLS and without.
type endpoint struct {
	plain            bool   // a Redis answers without TLS
	tls              bool   // something speaks TLS
	wantsCertificate bool   // it asks for a client's certificate
	line             string // the first line of the answer, with TLS if there is none without
}

// answers reports whether a Redis answers, be it with an error.
func (e endpoint) answers() bool { return e.reply() != nil || strings.HasPrefix(e.line, "+") }

// isForeign reports whether something answers that is no Redis.
func (e endpoint) isForeign() bool { return e.line != "" && !e.answers() }

// reply returns the error with which a Redis answered; nil if it did not.
func (e endpoint) reply() redis.Error {
	if text, isError := strings.CutPrefix(e.line, "-"); isError {
		return replied(text)
	}
	return nil
}

// replied is the text of an error of Redis.
type replied string

func (r replied) Error() string { return string(r) }
func (replied) RedisError()     {}

// probe looks at what listens at the first address of a configuration.
func probe(ctx context.Context, cfg redisclient.Config) (e endpoint) {
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	addr, kind := cfg.Addrs[0], "tcp"
	if strings.HasPrefix(addr, "/") {
		kind = "unix"
	}
	var plain, secure string
	var both sync.WaitGroup
	greeting, hangUp := context.WithCancel(ctx) // who speaks without TLS may not answer the greeting of TLS
	defer hangUp()
	both.Go(func() {
		if plain = ping(ctx, new(net.Dialer), kind, addr); plain != "" && !isTLS(plain) {
			hangUp()
		}
	})
	both.Go(func() {
		own := &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: true} //nolint:gosec // it is looked at, and told nothing
		own.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			e.wantsCertificate = true
			if cfg.TLS != nil && len(cfg.TLS.Certificates) > 0 {
				return &cfg.TLS.Certificates[0], nil
			}
			return new(tls.Certificate), nil
		}
		own.VerifyConnection = func(tls.ConnectionState) error {
			e.tls = true
			return nil
		}
		secure = ping(greeting, &tls.Dialer{Config: own}, kind, addr)
	})
	both.Wait()
	if isTLS(plain) {
		e.tls, plain = true, ""
	}
	e.line = cmp.Or(plain, secure)
	e.plain = endpoint{line: plain}.answers()
	return e
}

// isTLS reports whether an answer is a record of TLS: an alert, or a handshake.
func isTLS(answer string) bool {
	return strings.HasPrefix(answer, "\x15") || strings.HasPrefix(answer, "\x16")
}

// ping sends PING, and returns the first line of the answer; "" if there is none.
func ping(ctx context.Context, dialer interface {
	DialContext(ctx context.Context, network, addr string) (net.Conn, error)
}, network, addr string,
) string {
	conn, err := dialer.DialContext(ctx, network, addr)
	if err != nil {
		return ""
	}
	defer func() { _ = conn.Close() }() // what it had to say is read
	if deadline, bounded := ctx.Deadline(); bounded {
		if err := conn.SetDeadline(deadline); err != nil {
			return ""
		}
	}
	if _, err := conn.Write([]byte("*1\r\n$4\r\nPING\r\n")); err != nil && !errors.Is(err, net.ErrClosed) {
		return ""
	}
	answer := make([]byte, 512)
	n, _ := conn.Read(answer) // the bytes say what there is
	line, _, _ := strings.Cut(string(answer[:n]), "\r\n")
	return line
}

// probeDelay is how long a Redis may take to answer before its endpoint is probed. A wrong one may never answer.
const probeDelay = 500 * time.Millisecond

// target is one Redis as it is configured.
type target struct {
	key    string // of the setting
	addrs  string // for people
	client redisclient.Config
}

// try calls ask, which asks the Redis, and explains its error. It does not wait for an answer that cannot come.
func (t target) try(ctx context.Context, ask func() error) error {
	asked := make(chan error, 1)
	go func() { asked <- ask() }()
	late := time.NewTimer(probeDelay)
	defer late.Stop()
	var there endpoint
	select {
	case err := <-asked:
		if err == nil {
			return nil
		}
		return t.explain(ctx, err, probe(ctx, t.client))
	case <-late.C:
		there = probe(ctx, t.client)
	}
	if there.isForeign() || there.tls != (t.client.TLS != nil) && (there.tls || there.plain) {
		return t.explain(ctx, context.DeadlineExceeded, there)
	}
	if err := <-asked; err != nil {
		return t.explain(ctx, err, there)
	}
	return nil
}
