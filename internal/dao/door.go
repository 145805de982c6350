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

// knockTime bounds looking at what listens at an address.
const knockTime = time.Second

// door is what listens at an address, as PING finds it, with TLS and without.
type door struct {
	plain bool   // a Redis answers without TLS
	tls   bool   // something speaks TLS
	asks  bool   // it asks for a client's certificate
	said  string // the first line of the answer, with TLS if there is none without
}

// answers reports whether a Redis answers, be it with an error.
func (d door) answers() bool { return d.reply() != nil || strings.HasPrefix(d.said, "+") }

// isForeign reports whether something answers that is no Redis.
func (d door) isForeign() bool { return d.said != "" && !d.answers() }

// reply returns the error with which a Redis answered; nil if it did not.
func (d door) reply() redis.Error {
	if text, isError := strings.CutPrefix(d.said, "-"); isError {
		return replied(text)
	}
	return nil
}

// replied is the text of an error of Redis.
type replied string

func (r replied) Error() string { return string(r) }
func (replied) RedisError()     {}

// knock looks at what listens at the first address of a configuration.
func knock(ctx context.Context, cfg redisclient.Config) (d door) {
	ctx, cancel := context.WithTimeout(ctx, knockTime)
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
			d.asks = true
			if cfg.TLS != nil && len(cfg.TLS.Certificates) > 0 {
				return &cfg.TLS.Certificates[0], nil
			}
			return new(tls.Certificate), nil
		}
		own.VerifyConnection = func(tls.ConnectionState) error {
			d.tls = true
			return nil
		}
		secure = ping(greeting, &tls.Dialer{Config: own}, kind, addr)
	})
	both.Wait()
	if isTLS(plain) {
		d.tls, plain = true, ""
	}
	d.said = cmp.Or(plain, secure)
	d.plain = door{said: plain}.answers()
	return d
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
	if _, err := conn.Write([]byte("PING\r\n")); err != nil && !errors.Is(err, net.ErrClosed) {
		return ""
	}
	answer := make([]byte, 512)
	n, _ := conn.Read(answer) // the bytes say what there is
	line, _, _ := strings.Cut(string(answer[:n]), "\r\n")
	return line
}

// hesitation is how long a Redis may take to answer before its door is looked at. A wrong door may never answer.
const hesitation = 500 * time.Millisecond

// place is one Redis as it is configured.
type place struct {
	key    string // of the setting
	addrs  string // for people
	client redisclient.Config
}

// try calls ask, which asks the Redis, and explains its error. It does not wait for an answer that cannot come.
func (p place) try(ctx context.Context, ask func() error) error {
	asked := make(chan error, 1)
	go func() { asked <- ask() }()
	late := time.NewTimer(hesitation)
	defer late.Stop()
	var there door
	select {
	case err := <-asked:
		if err == nil {
			return nil
		}
		return p.explain(ctx, err, knock(ctx, p.client))
	case <-late.C:
		there = knock(ctx, p.client)
	}
	if there.isForeign() || there.tls != (p.client.TLS != nil) && (there.tls || there.plain) {
		return p.explain(ctx, context.DeadlineExceeded, there)
	}
	if err := <-asked; err != nil {
		return p.explain(ctx, err, there)
	}
	return nil
}
