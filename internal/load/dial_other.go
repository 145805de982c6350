//go:build !js

package load

import (
	"context"
	"net"
)

// Dialer returns nil, which means the default of net/http.
func Dialer() func(ctx context.Context, network, addr string) (net.Conn, error) { return nil }
