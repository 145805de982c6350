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
	errSentinel = errors.New("it is a Sentinel")
	errNode     = errors.New("it is a node of a Cluster")
	errNoMaster = errors.New("the Sentinels watch no master of the name in redis.master_name")
)

// target is one Redis as it is configured.
type target struct {
	key    string // of the setting
	addrs  string // for people
	client redisclient.Config
}

// cause is why a Redis that answers is of no use, and what mends it: KEY is the setting with its address. Some causes have another cure
// where the Redis is a node for Redlock.
type cause struct {
	is         func(error) bool
	mend, node string
}

// causes returns the table. The first that fits counts.
func causes() []cause {
	const (
		another  = "name an independent master there"
		password = "set redis.password (LOCKSTEP_REDIS_PASSWORD), and redis.username unless the user is called default"
	)
	return []cause{
		{prefixed("WRONGPASS"), "set redis.username and redis.password (LOCKSTEP_REDIS_PASSWORD) to those of a user that it has", ""},
		{prefixed("NOAUTH"), password + "; Sentinels must take commands without one", password},
		{redis.IsPermissionError, "give the user of redis.username this right, by ACL SETUSER there", ""},
		{redis.IsLoadingError, "start lockstep again when it has read its data", ""},
		{prefixed("BUSY"), "a script runs there: start lockstep again when it has ended, or end it by SCRIPT KILL", ""},
		{redis.IsMasterDownError, "it is a replica that has lost its master: name a master in KEY", ""},
		{redis.IsReadOnlyError, "it is a replica: name a master in KEY", ""},
		{is(errTooManyClients), "raise its maxclients, or end some of its clients", ""},
		{is(errProtected), "give it a password, and set redis.password to it; or set protected-mode no there", ""},
		{isMoved, "set redis.cluster: true", another},
		{is(errNode), "set redis.cluster: true", another},
		{prefixed("SELECT is not allowed in cluster mode"), "set redis.cluster: true, and leave the database out of KEY", another},
		{redis.IsClusterDownError, "its Cluster is not complete: CLUSTER INFO there says why", another},
		{prefixed("This instance has cluster support disabled"), "leave redis.cluster false", ""},
		{prefixed("DB index is out of range"), "write a database into KEY that it has; CONFIG GET databases there tells their number", ""},
		{prefixed("unknown command 'sentinel'", "unknown command `sentinel`"),
			"it is no Sentinel: name the Sentinels in KEY, or leave redis.master_name empty", ""},
		{is(redisclient.ErrTooOld), "start a newer one, and name it in KEY", ""},
		{is(errSentinel), "set redis.master_name to the name of the master, one of those that it watches:", another},
		{is(errNoMaster), "set redis.master_name to one of the masters that the Sentinels watch:", ""},
	}
}

func prefixed(prefixes ...string) func(error) bool {
	return func(err error) bool {
		return slices.ContainsFunc(prefixes, func(prefix string) bool { return redis.HasErrorPrefix(err, prefix) })
	}
}

func is(target error) func(error) bool {
	return func(err error) bool { return errors.Is(err, target) }
}

func isMoved(err error) bool {
	_, moved := redis.IsMovedError(err)
	return moved
}

// refusal is the error of a Redis that is of no use. What it says holds no secret, as the error in it may.
type refusal struct {
	says string
	err  error
}

func (r *refusal) Error() string { return r.says }
func (r *refusal) Unwrap() error { return r.err }

// explain says in the words of an error why a Redis is of no use, and what mends that.
func (t target) explain(ctx context.Context, err error) error {
	if err == nil || ctx.Err() != nil {
		return err
	}
	if errors.Is(err, redis.Nil) { // it is the Sentinels' answer about a master that they do not know
		err = errNoMaster
	}
	if cure, known := t.cure(ctx, err); known {
		return &refusal{says: fmt.Sprintf("Redis at %s refuses: %s%s", t.addrs, t.redacted(replyIn(err)), cure), err: err}
	}
	return &refusal{says: fmt.Sprintf("no Redis answers at %s: %s; %s", t.addrs, t.redacted(err.Error()), t.mendConnection(err)), err: err}
}

// replyIn returns the words of Redis in an error; all of them if there are none.
func replyIn(err error) string {
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
func (t target) cure(ctx context.Context, err error) (cure string, refused bool) {
	for _, c := range causes() {
		if !c.is(err) {
			continue
		}
		cure = c.mend
		if t.key != "redis.addrs" {
			cure = cmp.Or(c.node, cure)
		}
		if strings.HasSuffix(cure, ":") {
			cure += " " + t.masters(ctx)
		}
		return "; " + strings.ReplaceAll(cure, "KEY", t.key), true
	}
	return "", rediserr.IsAnswer(err)
}

// mendConnection says what mends a connection that failed before Redis answered.
func (t target) mendConnection(err error) string {
	var notTLS tls.RecordHeaderError
	var untrusted *tls.CertificateVerificationError
	var alert tls.AlertError
	var network *net.OpError
	switch isDial := errors.As(err, &network) && network.Op == "dial"; {
	case errors.As(err, &notTLS):
		return "it speaks no TLS: leave redis.tls false, or write redis:// for rediss:// in " + t.key
	case errors.As(err, &untrusted):
		return mendTrust(err)
	case t.client.TLS != nil && !isDial && isLate(err):
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

func isLate(err error) bool {
	var network net.Error
	return errors.As(err, &network) && network.Timeout()
}

// mendTrust says what mends an error in the verification of a certificate.
func mendTrust(err error) string {
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
func (t target) masters(ctx context.Context) string {
	cfg := t.client
	cfg.MasterName, cfg.Username, cfg.Password, cfg.DB = "", "", "", 0
	sentinel := redis.NewSentinelClient(redisclient.Options(cfg).Simple())
	defer func() { _ = sentinel.Close() }() // it only read
	watched, err := sentinel.Masters(ctx).Result()
	if err != nil {
		return "SENTINEL MASTERS there names them"
	}
	var names []string
	for _, master := range watched {
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
const longestWords = 200

// redacted returns what can be shown of another's words: one line, of bounded length, without the password that a server may repeat.
func (t target) redacted(words string) string {
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
	if len(shown) > longestWords {
		return string(shown[:longestWords]) + "…"
	}
	return string(shown)
}
