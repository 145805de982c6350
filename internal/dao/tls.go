package dao

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// tlsConfig returns the TLS configuration of the clients; nil without TLS. Its errors name settings but not their values, because someone
// may have put a password there.
func tlsConfig(cfg Config) (*tls.Config, error) {
	if !cfg.TLS {
		return nil, nil //nolint:nilnil // nil means no TLS in go-redis
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if cfg.TLSCA != "" {
		pem, err := readPEM("redis.tls_ca", cfg.TLSCA)
		if err != nil {
			return nil, err
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(pem) {
			return nil, errors.New("redis.tls_ca: the file has no PEM certificate")
		}
	}
	if cfg.TLSCert+cfg.TLSKey == "" {
		return config, nil
	}
	certificate, err := readPEM("redis.tls_cert", cfg.TLSCert)
	if err != nil {
		return nil, err
	}
	key, err := readPEM("redis.tls_key", cfg.TLSKey)
	if err != nil {
		return nil, err
	}
	pair, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		return nil, fmt.Errorf("redis.tls_cert and redis.tls_key: not a PEM certificate and its private key: %w", err)
	}
	config.Certificates = []tls.Certificate{pair}
	return config, nil
}

// readPEM reads the file named by a setting. Its errors name the setting, not the file.
func readPEM(key, file string) ([]byte, error) {
	pem, err := os.ReadFile(file)
	var path *fs.PathError
	if errors.As(err, &path) {
		return nil, fmt.Errorf("%s: the file cannot be read: %w", key, path.Err)
	}
	return pem, err
}
