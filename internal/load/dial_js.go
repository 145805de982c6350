package load

import (
	"context"
	"net"
)

// Dialer returns a function that dials within the program. Without it, net/http would send requests through the browser.
func Dialer() func(ctx context.Context, network, addr string) (net.Conn, error) {
	return (&net.Dialer{}).DialContext
}
