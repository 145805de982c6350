package load

import (
	"context"
	"net"
)

// Dialer dials within the program: net/http would have the browser ask its network.
func Dialer() func(ctx context.Context, network, addr string) (net.Conn, error) {
	return (&net.Dialer{}).DialContext
}
