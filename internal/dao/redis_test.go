package dao_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/dao"
	"lockstep/internal/test/redistest"
	"lockstep/internal/test/suite"
)

func TestPasswordAndTLS(t *testing.T) {
	suite.Needs(t, "redis-server")
	certificate, key := selfSigned(t)
	server := redistest.Start(t, "--requirepass", "s3cret", "--port", "0", "--tls-port", "PORT",
		"--tls-cert-file", certificate, "--tls-key-file", key, "--tls-auth-clients", "no")
	for _, c := range []struct {
		what string
		cfg  dao.Config
		says string
	}{
		{"all is right", dao.Config{Password: "s3cret", TLS: true, TLSCA: certificate}, ""},
		{"user and password", dao.Config{Username: "default", Password: "s3cret", TLS: true, TLSCA: certificate}, ""},
		{"no password", dao.Config{TLS: true, TLSCA: certificate}, "NOAUTH"},
		{"wrong password", dao.Config{Password: "guess", TLS: true, TLSCA: certificate}, "WRONGPASS"},
		{"unknown authority", dao.Config{Password: "s3cret", TLS: true}, "unknown authority"},
		{"no TLS", dao.Config{Password: "s3cret"}, "no Redis answers"},
		{"no such file", dao.Config{TLS: true, TLSCA: "nowhere.pem"}, "redis.tls_ca: open nowhere.pem"},
		{"not a certificate", dao.Config{TLS: true, TLSCA: key}, "holds no certificate"},
	} {
		c.cfg.Addrs = []string{server.Addr}
		r, err := dao.Open(t.Context(), c.cfg)
		if err == nil {
			r.Close()
		}
		if c.says == "" && err != nil || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%s: %v; want %q", c.what, err, c.says)
		}
		if err != nil && c.cfg.Password != "" && strings.Contains(err.Error(), c.cfg.Password) {
			t.Errorf("%s: the error tells the password: %v", c.what, err)
		}
	}
}

// selfSigned writes a certificate for 127.0.0.1 and its key.
func selfSigned(t *testing.T) (certificate, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	privateDER, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write := func(name, kind string, bytes []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: bytes}), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	return write("cert.pem", "CERTIFICATE", der), write("key.pem", "PRIVATE KEY", privateDER)
}

// An embedded Redis is asked by few waiters at once, also from other processes; a real one by as many as go-redis's pool allows.
func TestConnectionsToAnEmbeddedRedis(t *testing.T) {
	embedded := open(t, dao.Config{EmbeddedAddr: "127.0.0.1:0"})
	joined := open(t, dao.Config{EmbeddedAddr: embedded.Addr, Addrs: []string{embedded.Addr}})
	other := open(t, dao.Config{EmbeddedAddr: "127.0.0.1:1", Addrs: []string{embedded.Addr}})
	if own, few, many := poolSize(t, embedded), poolSize(t, joined), poolSize(t, other); own != 2 || few != 2 || many < 10 {
		t.Errorf("the locks have %d, %d and %d connections; want 2, 2 and ten a core", own, few, many)
	}
}

func open(t *testing.T, cfg dao.Config) *dao.Redis {
	t.Helper()
	r, err := dao.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	return r
}

func poolSize(t *testing.T, r *dao.Redis) int {
	t.Helper()
	client, single := r.Lock.(*redis.Client)
	if !single {
		t.Fatalf("%T", r.Lock)
	}
	return client.Options().PoolSize
}
