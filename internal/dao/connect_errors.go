package dao

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"unicode"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/dao/redisclient"
	"lockstep/internal/lock/rediserr"
)

// Reasons why a server that answers is not the configured Redis.
var (
	errIsSentinel    = errors.New("it is a Sentinel")
	errIsClusterNode = errors.New("it is a node of a Cluster")
	errNoMaster      = errors.New("the Sentinels watch no master with the name in redis.master_name")
)

// endpoint is one configured Redis: its setting, and the configuration of its client.
type endpoint struct {
	key    string // name of the setting with the address, such as redis.addrs
	addrs  string // addresses as configured, for messages
	client redisclient.Config
}

// connectCause is a reason why a Redis that answers is unusable, with its remedy. In a remedy, KEY stands for the name of the endpoint's
// setting, and the names of the Sentinels' masters are appended to a colon at the end.
type connectCause struct {
	matches    func(error) bool // reports whether an error has this cause
	remedy     string           // instruction to the user
	nodeRemedy string           // remedy for a Redlock node; empty: the same as remedy
}

// connectCauses returns all causes in order of precedence: the first that matches an error applies.
func connectCauses() []connectCause {
	const (
		otherMaster = "set KEY to independent masters"
		password    = "set redis.password (LOCKSTEP_REDIS_PASSWORD), and redis.username unless the user is called default"
	)
	return []connectCause{
		{hasPrefix("WRONGPASS"), "set redis.username and redis.password (LOCKSTEP_REDIS_PASSWORD) to those of an existing user", ""},
		{hasPrefix("NOAUTH"), password + "; Sentinels must accept commands without a password", password},
		{redis.IsPermissionError, "grant the user of redis.username this right by ACL SETUSER", ""},
		{redis.IsLoadingError, "start lockstep again when it has loaded its data", ""},
		{hasPrefix("BUSY"), "it is running a script: start lockstep again when the script has ended, or end it by SCRIPT KILL", ""},
		{redis.IsMasterDownError, "it is a replica that has lost its master: set KEY to a master", ""},
		{redis.IsReadOnlyError, "it is a replica: set KEY to a master", ""},
		{isError(errTooManyClients), "raise its maxclients, or close some of its connections", ""},
		{isError(errProtected), "set a password on the server and in redis.password, or protected-mode no on the server", ""},
		{isMoved, "set redis.cluster: true", otherMaster},
		{isError(errIsClusterNode), "set redis.cluster: true", otherMaster},
		{hasPrefix("SELECT is not allowed in cluster mode"), "set redis.cluster: true, and leave the database out of KEY", otherMaster},
		{redis.IsClusterDownError, "its Cluster is incomplete: CLUSTER INFO gives the reason", otherMaster},
		{hasPrefix("This instance has cluster support disabled"), "leave redis.cluster false", ""},
		{hasPrefix("DB index is out of range"), "use an existing database in KEY; CONFIG GET databases returns their number", ""},
		{hasPrefix("unknown command 'sentinel'", "unknown command `sentinel`"),
			"it is not a Sentinel: set KEY to the Sentinels, or leave redis.master_name empty", ""},
		{isError(redisclient.ErrTooOld), "start a newer one, and set KEY to it", ""},
		{isError(errIsSentinel), "set redis.master_name to one of the masters that it watches:", otherMaster},
		{isError(errNoMaster), "set redis.master_name to one of the masters that the Sentinels watch:", ""},
	}
}

// hasPrefix returns a predicate for Redis errors that begin with one of prefixes.
func hasPrefix(prefixes ...string) func(error) bool {
	return func(err error) bool {
		return slices.ContainsFunc(prefixes, func(prefix string) bool { return redis.HasErrorPrefix(err, prefix) })
	}
}

// isError returns a predicate for errors that wrap target.
func isError(target error) func(error) bool {
	return func(err error) bool { return errors.Is(err, target) }
}

// isMoved reports whether err is a MOVED redirection of a Cluster node.
func isMoved(err error) bool {
	_, moved := redis.IsMovedError(err)
	return moved
}

// connectError is the error of an unusable Redis. Its text contains no secret; the wrapped error may contain one.
type connectError struct {
	text string
	err  error
}

func (e *connectError) Error() string { return e.text }
func (e *connectError) Unwrap() error { return e.err }

// explain wraps err, which made a Redis unusable, in a connectError with the cause and the remedy. It returns nil, and errors after the end
// of ctx, unchanged.
func (e endpoint) explain(ctx context.Context, err error) error {
	if err == nil || ctx.Err() != nil {
		return err
	}
	if errors.Is(err, redis.Nil) { // Sentinels answer nil for an unknown master.
		err = errNoMaster
	}
	if remedy, isRefusal := e.remedy(ctx, err); isRefusal {
		return &connectError{text: fmt.Sprintf("Redis at %s refuses: %s%s", e.addrs, e.redacted(redisReply(err)), remedy), err: err}
	}
	text := fmt.Sprintf("no Redis answers at %s: %s; %s", e.addrs, e.redacted(err.Error()), e.connectionRemedy(err))
	return &connectError{text: text, err: err}
}

// redisReply returns the reply of Redis within err, or the whole text of err if it contains none.
func redisReply(err error) string {
	var reply redis.Error
	var refused *refusedConnection
	switch {
	case errors.As(err, &refused):
		return refused.reply
	case errors.As(err, &reply):
		return reply.Error()
	default:
		return err.Error()
	}
}

// remedy returns the remedy for a refusal, with "; " before it, or "" if none is known. isRefusal reports whether Redis answered err at
// all.
func (e endpoint) remedy(ctx context.Context, err error) (remedy string, isRefusal bool) {
	for _, c := range connectCauses() {
		if !c.matches(err) {
			continue
		}
		remedy = c.remedy
		if e.key != "redis.addrs" {
			remedy = cmp.Or(c.nodeRemedy, remedy)
		}
		if strings.HasSuffix(remedy, ":") {
			remedy += " " + e.watchedMasters(ctx)
		}
		return "; " + strings.ReplaceAll(remedy, "KEY", e.key), true
	}
	return "", rediserr.IsAnswer(err)
}

// connectionRemedy returns the remedy for a connection that failed before Redis answered.
func (e endpoint) connectionRemedy(err error) string {
	var notTLS tls.RecordHeaderError
	var untrusted *tls.CertificateVerificationError
	var alert tls.AlertError
	var network *net.OpError
	switch isDial := errors.As(err, &network) && network.Op == "dial"; {
	case errors.As(err, &notTLS):
		return "it does not use TLS: leave redis.tls false, or write redis:// instead of rediss:// in " + e.key
	case errors.As(err, &untrusted):
		return certificateRemedy(err)
	case e.client.TLS != nil && !isDial && isTimeout(err):
		return "start one there; or, if it does not use TLS, leave redis.tls false, or write redis:// instead of rediss:// in " + e.key
	case e.client.TLS != nil && !isDial, errors.As(err, &alert):
		return "it may require another client certificate: set redis.tls_cert and redis.tls_key to one that it accepts"
	case !isDial:
		return "start one there; or, if it requires TLS, set redis.tls: true, or write rediss:// in " + e.key
	case e.client.Cluster || e.client.MasterName != "":
		return "every server that the Sentinels or the Cluster name must be reachable from this machine"
	case e.key == "redis.addrs":
		return "start one there, or leave redis.addrs empty for the embedded one"
	default:
		return "start one there"
	}
}

// isTimeout reports whether err is a network timeout.
func isTimeout(err error) bool {
	var network net.Error
	return errors.As(err, &network) && network.Timeout()
}

// certificateRemedy returns the remedy for a server certificate that failed verification.
func certificateRemedy(err error) string {
	var name x509.HostnameError
	var invalid x509.CertificateInvalidError
	switch {
	case errors.As(err, &name):
		return "set redis.addrs to a name in its certificate"
	case errors.As(err, &invalid):
		return "give it a valid certificate"
	default:
		return "set redis.tls_ca to the certificate of the authority that issued its certificate"
	}
}

// watchedMasters lists the names of the masters that a Sentinel watches, or says how to find them.
func (e endpoint) watchedMasters(ctx context.Context) string {
	cfg := e.client
	cfg.MasterName, cfg.Username, cfg.Password, cfg.DB = "", "", "", 0
	sentinel := redis.NewSentinelClient(redisclient.Options(cfg).Simple())
	defer func() { _ = sentinel.Close() }() // A client that only read has nothing to lose on Close.
	replies, err := sentinel.Masters(ctx).Result()
	if err != nil {
		return "SENTINEL MASTERS lists them"
	}
	var names []string
	for _, master := range replies {
		fields, _ := master.([]any)
		for i := 0; i+1 < len(fields); i += 2 {
			if fields[i] == "name" {
				names = append(names, e.redacted(fmt.Sprint(fields[i+1])))
			}
		}
	}
	return strings.Join(names, ", ")
}

// maxReplyLength bounds the part of a server's text shown in an error, in characters: long enough for every error of Redis, short enough
// for a log line.
const maxReplyLength = 200

// redacted returns a server's text in a form that is safe to show: one line of bounded length, without the password, which a server may
// repeat.
func (e endpoint) redacted(text string) string {
	text, _, _ = strings.Cut(text, ", with args beginning with")
	if e.client.Password != "" {
		text = strings.ReplaceAll(text, e.client.Password, "…")
	}
	shown := []rune(strings.TrimSpace(strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, text)))
	if len(shown) > maxReplyLength {
		return string(shown[:maxReplyLength]) + "…"
	}
	return string(shown)
}
