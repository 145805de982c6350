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

	"lockstep/internal/dao"
	"lockstep/internal/test/redisserver"
	"lockstep/internal/test/suite"
)

func TestPasswordAndTLSErrorsNameRemedy(t *testing.T) {
	suite.Needs(t, "redis-server")
	certificate, key := selfSigned(t)
	server := redisserver.Start(t, "--requirepass", "s3cret", "--port", "0", "--tls-port", "PORT",
		"--tls-cert-file", certificate, "--tls-key-file", key, "--tls-auth-clients", "no")
	for _, c := range []struct {
		name string
		cfg  dao.Config
		says string
	}{
		{name: "all is right", cfg: dao.Config{Password: "s3cret", TLS: true, TLSCA: certificate}},
		{name: "user and password", cfg: dao.Config{Username: "default", Password: "s3cret", TLS: true, TLSCA: certificate}},
		{
			name: "no password", cfg: dao.Config{TLS: true, TLSCA: certificate},
			says: "refuses: NOAUTH Authentication required.; set redis.password",
		},
		{
			name: "wrong password", cfg: dao.Config{Password: "guess", TLS: true, TLSCA: certificate},
			says: "refuses: WRONGPASS invalid username-password pair or user is disabled.; set redis.username and redis.password",
		},
		{
			name: "unknown authority", cfg: dao.Config{Password: "s3cret", TLS: true},
			says: "tls: failed to verify certificate: x509: certificate signed by unknown authority; set redis.tls_ca",
		},
		{name: "no TLS", cfg: dao.Config{Password: "s3cret"}, says: "if it requires TLS, set redis.tls: true"},
		{name: "no such file", cfg: dao.Config{TLS: true, TLSCA: "s3cret"}, says: "redis.tls_ca: the file cannot be read: no such file"},
		{name: "not a certificate", cfg: dao.Config{TLS: true, TLSCA: key}, says: "has no PEM certificate"},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.cfg.Addrs = []string{server.Addr}
			r, err := dao.Open(t.Context(), c.cfg)
			if err == nil {
				r.Close()
			}
			if c.says == "" && err != nil || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
				t.Errorf("got %v, want %q", err, c.says)
			}
			for _, secret := range []string{"s3cret", "guess"} {
				if err != nil && strings.Contains(err.Error(), secret) {
					t.Errorf("the error tells a secret: %v", err)
				}
			}
		})
	}
}

// A Redis that requires a client certificate gets the configured one. Without a suitable one, the error names the settings.
func TestClientCertificateErrorsNameSettings(t *testing.T) {
	suite.Needs(t, "redis-server")
	server, serverKey := selfSigned(t)
	own, ownKey := selfSigned(t)
	foreign, foreignKey := selfSigned(t)
	authorities := filepath.Join(t.TempDir(), "authorities.pem")
	text, err := os.ReadFile(own)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(authorities, text, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, versions := range []string{"TLSv1.2", "TLSv1.3"} {
		redis := redisserver.Start(t, "--port", "0", "--tls-port", "PORT", "--tls-cert-file", server, "--tls-key-file", serverKey,
			"--tls-ca-cert-file", authorities, "--tls-auth-clients", "yes", "--tls-protocols", versions)
		for name, c := range map[string]struct{ certificate, key, says string }{
			"its own": {certificate: own, key: ownKey},
			"none":    {says: "; it may require another client certificate: set redis.tls_cert and redis.tls_key"},
			"another's": {
				certificate: foreign, key: foreignKey, says: "; it may require another client certificate: set redis.tls_cert and redis.tls_key",
			},
			"no pair": {
				certificate: own, key: foreignKey, says: "redis.tls_cert and redis.tls_key: not a PEM certificate and its private key",
			},
			"no file":          {certificate: "s3cret", key: ownKey, says: "redis.tls_cert: the file cannot be read: no such file or directory"},
			"a directory":      {certificate: own, key: t.TempDir(), says: "redis.tls_key: the file cannot be read: is a directory"},
			"the other's file": {certificate: ownKey, key: own, says: "redis.tls_cert and redis.tls_key: not a PEM certificate"},
		} {
			t.Run(versions+", "+name, func(t *testing.T) {
				for _, cfg := range []dao.Config{
					{Addrs: []string{redis.Addr}},
					{EmbeddedAddr: "127.0.0.1:0", RedlockAddrs: []string{redis.Addr}},
				} {
					cfg.TLS, cfg.TLSCA, cfg.TLSCert, cfg.TLSKey = true, server, c.certificate, c.key
					r, err := dao.Open(t.Context(), cfg)
					if err == nil {
						r.Close()
					}
					if c.says == "" && err != nil || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
						t.Errorf("got %v; want %q", err, c.says)
					}
					if err != nil && strings.Contains(err.Error(), "s3cret") {
						t.Errorf("%v repeats a value", err)
					}
				}
			})
		}
		r, err := dao.Open(t.Context(), dao.Config{Addrs: []string{redis.Addr}})
		if err == nil || !strings.Contains(err.Error(), "if it requires TLS") {
			t.Errorf("%s, without TLS: %v, %v", versions, r, err)
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
