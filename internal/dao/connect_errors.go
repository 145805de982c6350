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

// What a server is that is not the Redis we look for, and what it does not have.
var (
	errIsSentinel    = errors.New("it is a Sentinel")
	errIsClusterNode = errors.New("it is a node of a Cluster")
	errNoMaster      = errors.New("the Sentinels watch no master of the name in redis.master_name")
)

// target is one Redis as it is configured.
type endpoint struct {
	key    string // of the setting
	addrs  string // for people
	client redisclient.Config
}

// cause is why a Redis that answers is of no use, and what mends it: KEY is the setting with its address. Some causes have another cure
// where the Redis is a node for Redlock.
type connectCause struct {
	matches            func(error) bool
	remedy, nodeRemedy string
}

// causes returns the table. The first that fits counts.
func connectCauses() []connectCause {
	const (
		otherMaster = "name an independent master there"
		password    = "set redis.password (LOCKSTEP_REDIS_PASSWORD), and redis.username unless the user is called default"
	)
	return []connectCause{
		{hasPrefix("WRONGPASS"), "set redis.username and redis.password (LOCKSTEP_REDIS_PASSWORD) to those of a user that it has", ""},
		{hasPrefix("NOAUTH"), password + "; Sentinels must take commands without one", password},
		{redis.IsPermissionError, "give the user of redis.username this right, by ACL SETUSER there", ""},
		{redis.IsLoadingError, "start lockstep again when it has read its data", ""},
		{hasPrefix("BUSY"), "a script runs there: start lockstep again when it has ended, or end it by SCRIPT KILL", ""},
		{redis.IsMasterDownError, "it is a replica that has lost its master: name a master in KEY", ""},
		{redis.IsReadOnlyError, "it is a replica: name a master in KEY", ""},
		{isError(errTooManyClients), "raise its maxclients, or end some of its clients", ""},
		{isError(errProtected), "give it a password, and set redis.password to it; or set protected-mode no there", ""},
		{isMoved, "set redis.cluster: true", otherMaster},
		{isError(errIsClusterNode), "set redis.cluster: true", otherMaster},
		{hasPrefix("SELECT is not allowed in cluster mode"), "set redis.cluster: true, and leave the database out of KEY", otherMaster},
		{redis.IsClusterDownError, "its Cluster is not complete: CLUSTER INFO there says why", otherMaster},
		{hasPrefix("This instance has cluster support disabled"), "leave redis.cluster false", ""},
		{hasPrefix("DB index is out of range"), "write a database into KEY that it has; CONFIG GET databases there tells their number", ""},
		{hasPrefix("unknown command 'sentinel'", "unknown command `sentinel`"),
			"it is no Sentinel: name the Sentinels in KEY, or leave redis.master_name empty", ""},
		{isError(redisclient.ErrTooOld), "start a newer one, and name it in KEY", ""},
		{isError(errIsSentinel), "set redis.master_name to the name of the master, one of those that it watches:", otherMaster},
		{isError(errNoMaster), "set redis.master_name to one of the masters that the Sentinels watch:", ""},
	}
}

func hasPrefix(prefixes ...string) func(error) bool {
	return func(err error) bool {
		return slices.ContainsFunc(prefixes, func(prefix string) bool { return redis.HasErrorPrefix(err, prefix) })
	}
}

func isError(target error) func(error) bool {
	return func(err error) bool { return errors.Is(err, target) }
}

func isMoved(err error) bool {
	_, moved := redis.IsMovedError(err)
	return moved
}

// refusal is the error of a Redis that is of no use. What it says holds no secret, as the error in it may.
type connectError struct {
	text string
	err  error
}

func (r *connectError) Error() string { return r.text }
func (r *connectError) Unwrap() error { return r.err }

// explain says in the words of an error why a Redis is of no use, and what mends that.
func (t endpoint) explain(ctx context.Context, err error) error {
	if err == nil || ctx.Err() != nil {
		return err
	}
	if errors.Is(err, redis.Nil) { // it is the Sentinels' answer about a master that they do not know
		err = errNoMaster
	}
	if remedy, isRefusal := t.remedy(ctx, err); isRefusal {
		return &connectError{text: fmt.Sprintf("Redis at %s refuses: %s%s", t.addrs, t.redacted(redisReply(err)), remedy), err: err}
	}
	return &connectError{text: fmt.Sprintf("no Redis answers at %s: %s; %s", t.addrs, t.redacted(err.Error()), t.connectionRemedy(err)), err: err}
}

// replyIn returns the words of Redis in an error; all of them if there are none.
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

// cure returns what mends a refusal, after a semicolon; "" if nobody knows. It reports whether err is a refusal at all.
func (t endpoint) remedy(ctx context.Context, err error) (remedy string, refused bool) {
	for _, c := range connectCauses() {
		if !c.matches(err) {
			continue
		}
		remedy = c.remedy
		if t.key != "redis.addrs" {
			remedy = cmp.Or(c.nodeRemedy, remedy)
		}
		if strings.HasSuffix(remedy, ":") {
			remedy += " " + t.watchedMasters(ctx)
		}
		return "; " + strings.ReplaceAll(remedy, "KEY", t.key), true
	}
	return "", rediserr.IsAnswer(err)
}

// mendConnection says what mends a connection that failed before Redis answered.
func (t endpoint) connectionRemedy(err error) string {
	var notTLS tls.RecordHeaderError
	var untrusted *tls.CertificateVerificationError
	var alert tls.AlertError
	var network *net.OpError
	switch isDial := errors.As(err, &network) && network.Op == "dial"; {
	case errors.As(err, &notTLS):
		return "it speaks no TLS: leave redis.tls false, or write redis:// for rediss:// in " + t.key
	case errors.As(err, &untrusted):
		return certificateRemedy(err)
	case t.client.TLS != nil && !isDial && isTimeout(err):
		return "start one there; or, if it speaks no TLS, leave redis.tls false, or write redis:// for rediss:// in " + t.key
	case t.client.TLS != nil && !isDial, errors.As(err, &alert):
		return "it may ask for another certificate: set redis.tls_cert and redis.tls_key to one that it accepts"
	case !isDial:
		return "start one there; or, if it speaks TLS alone, set redis.tls: true, or write rediss:// in " + t.key
	case t.client.Cluster || t.client.MasterName != "":
		return "every server that the Sentinels or the Cluster name must be reachable from here"
	case t.key == "redis.addrs":
		return "start one there, or leave redis.addrs empty for the embedded one"
	default:
		return "start one there"
	}
}

func isTimeout(err error) bool {
	var network net.Error
	return errors.As(err, &network) && network.Timeout()
}

// mendTrust says what mends an error in the verification of a certificate.
func certificateRemedy(err error) string {
	var name x509.HostnameError
	var invalid x509.CertificateInvalidError
	switch {
	case errors.As(err, &name):
		return "write into redis.addrs a name that its certificate has"
	case errors.As(err, &invalid):
		return "give it a certificate that is valid"
	default:
		return "set redis.tls_ca to the certificate of the authority that its own comes from"
	}
}

// masters names the masters that a Sentinel watches, for people.
func (t endpoint) watchedMasters(ctx context.Context) string {
	cfg := t.client
	cfg.MasterName, cfg.Username, cfg.Password, cfg.DB = "", "", "", 0
	sentinel := redis.NewSentinelClient(redisclient.Options(cfg).Simple())
	defer func() { _ = sentinel.Close() }() // it only read
	replies, err := sentinel.Masters(ctx).Result()
	if err != nil {
		return "SENTINEL MASTERS there names them"
	}
	var names []string
	for _, master := range replies {
		fields, _ := master.([]any)
		for i := 0; i+1 < len(fields); i += 2 {
			if fields[i] == "name" {
				names = append(names, t.redacted(fmt.Sprint(fields[i+1])))
			}
		}
	}
	return strings.Join(names, ", ")
}

// longestWords is how much of another's words is shown, in characters.
const maxReplyLength = 200

// redacted returns what can be shown of another's words: one line, of bounded length, without the password that a server may repeat.
func (t endpoint) redacted(words string) string {
	words, _, _ = strings.Cut(words, ", with args beginning with")
	if t.client.Password != "" {
		words = strings.ReplaceAll(words, t.client.Password, "…")
	}
	shown := []rune(strings.TrimSpace(strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, words)))
	if len(shown) > maxReplyLength {
		return string(shown[:maxReplyLength]) + "…"
	}
	return string(shown)
}
