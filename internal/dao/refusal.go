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
)

// What a server is that is not the Redis we look for, and what it does not have.
var (
	errSentinel         = errors.New("it is a Sentinel")
	errNode             = errors.New("it is a node of a Cluster")
	errSentinelPassword = errors.New("the Sentinels ask for a password")
	errNoMaster         = errors.New("the Sentinels watch no master of the name in redis.master_name")
)

// cause is why a Redis that answers is of no use, and what mends it: KEY is the setting with its address. Some causes have another cure
// where the Redis is a node for Redlock.
type cause struct {
	is         func(error) bool
	mend, node string
}

// causes returns the table. The first that fits counts.
func causes() []cause {
	const another = "name an independent master there"
	return []cause{
		{is(errSentinelPassword), "let them take commands without one: lockstep has none for them", ""},
		{prefixed("WRONGPASS"), "set redis.username and redis.password (LOCKSTEP_REDIS_PASSWORD) to those of a user that it has", ""},
		{prefixed("NOAUTH"), "set redis.password (LOCKSTEP_REDIS_PASSWORD), and redis.username unless the user is called default", ""},
		{redis.IsPermissionError, "give the user of redis.username this right, by ACL SETUSER there", ""},
		{redis.IsLoadingError, "start lockstep again when it has read its data", ""},
		{prefixed("BUSY"), "a script runs there: start lockstep again when it has ended, or end it by SCRIPT KILL", ""},
		{redis.IsMasterDownError, "it is a replica that has lost its master: name a master in KEY", ""},
		{redis.IsReadOnlyError, "it is a replica: name a master in KEY", ""},
		{redis.IsMaxClientsError, "raise its maxclients, or end some of its clients", ""},
		{prefixed("DENIED"), "give it a password, and set redis.password to it; or set protected-mode no there", ""},
		{isMoved, "set redis.cluster: true", another},
		{is(errNode), "set redis.cluster: true", another},
		{prefixed("SELECT is not allowed in cluster mode"), "set redis.cluster: true, and leave the database out of KEY", another},
		{redis.IsClusterDownError, "its Cluster is not complete: CLUSTER INFO there says why", another},
		{prefixed("This instance has cluster support disabled"), "leave redis.cluster false", ""},
		{prefixed("DB index is out of range"), "write a database into KEY that it has; CONFIG GET databases there tells their number", ""},
		{prefixed("unknown command 'sentinel'", "unknown command `sentinel`"),
			"it is no Sentinel: name the Sentinels in KEY, or leave redis.master_name empty", ""},
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

// explain says why err came from a Redis, and what mends it; there is what was found at the first of its addresses.
func (t target) explain(ctx context.Context, err error, there endpoint) error {
	if ctx.Err() != nil {
		return err
	}
	says := func(format string, args ...any) error {
		format = strings.ReplaceAll(format, "KEY", t.key)
		return &refusal{says: fmt.Sprintf(format, append([]any{t.addrs}, args...)...), err: err}
	}
	secured, several := t.client.TLS != nil, t.client.Cluster || t.client.MasterName != ""
	var untrusted *tls.CertificateVerificationError
	var network *net.OpError
	isNetwork := errors.As(err, &network)
	words := t.redacted(err.Error())
	reply := t.replyTo(there, err)
	switch {
	case there.isForeign():
		return says("no Redis answers at %s: something else does, and says %.60q; start one there, or name its address in KEY", there.line)
	case !secured && there.tls:
		return says("Redis at %s refuses: it speaks TLS alone; set redis.tls: true, or write rediss:// in KEY")
	case secured && there.plain:
		return says("Redis at %s refuses: it speaks no TLS; leave redis.tls false, or write redis:// for rediss:// in KEY")
	case errors.As(err, &untrusted):
		return says("Redis at %s is not trusted: %s; %s", words, mendTrust(err))
	case isNetwork && network.Op == "remote error",
		secured && there.wantsCertificate && !there.answers() && !isLate(err): // its alert may be lost
		return says("Redis at %s refuses: %s; %s", words, t.mendCertificate(there))
	case reply != nil:
		err = errors.Join(err, reply)
		return says("Redis at %s refuses: %s", t.mend(ctx, reply))
	case several && there.answers() && isNetwork && network.Op == "dial":
		return says("Redis at %s answers, and names another server that does not: %s; its address must be reachable from here", words)
	case there.answers():
		return says("Redis at %s answers PING, and no more: %s", words)
	case t.key == "redis.addrs":
		return says("no Redis answers at %s: %s; start one there, or leave KEY empty for the embedded one", words)
	default:
		return says("no Redis answers at %s: %s; start one there", words)
	}
}

// replyTo returns why Redis refuses, by its own words if it said any; nil if it said nothing.
func (t target) replyTo(there endpoint, err error) error {
	var reply redis.Error
	switch {
	case t.client.MasterName != "" && prefixed("NOAUTH")(there.reply()):
		return fmt.Errorf("%w: %w", errSentinelPassword, there.reply())
	case is(errSentinel)(err), is(errNode)(err):
		return err
	case errors.Is(err, redis.Nil):
		return errNoMaster
	case errors.As(err, &reply):
		return reply
	case there.reply() != nil && (t.client.Password == "" || !prefixed("NOAUTH")(there.reply())):
		return there.reply() // a client reads on, and gets no reply, after such an error
	default:
		return nil
	}
}

// mend returns what Redis said, and what mends that.
func (t target) mend(ctx context.Context, reply error) string {
	words := t.redacted(reply.Error())
	for _, c := range causes() {
		if !c.is(reply) {
			continue
		}
		cure := c.mend
		if t.key != "redis.addrs" {
			cure = cmp.Or(c.node, cure)
		}
		if strings.HasSuffix(cure, ":") {
			cure += " " + t.masters(ctx)
		}
		return words + "; " + strings.ReplaceAll(cure, "KEY", t.key)
	}
	return words
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

// mendCertificate says what mends a TLS handshake that the Redis has ended.
func (t target) mendCertificate(there endpoint) string {
	switch {
	case !there.wantsCertificate:
		return "its TLS settings and lockstep's have nothing in common"
	case len(t.client.TLS.Certificates) == 0:
		return "it asks for a certificate: set redis.tls_cert and redis.tls_key"
	default:
		return "set redis.tls_cert and redis.tls_key to a certificate that it accepts"
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
