package load

import (
	"context"
	"net"
)

// dialer dials within the program: net/http would have the browser ask its network.
func dialer() func(ctx context.Context, network, addr string) (net.Conn, error) {
	return (&net.Dialer{}).DialContext
}
