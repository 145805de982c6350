package suite

import (
	"net"
	"testing"
)

// UnusedAddr returns an address of this machine that refuses connections. Nobody else can listen at this address before the test ends,
// because its port is the local port of a client's open connection.
func UnusedAddr(t testing.TB) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	client, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client.LocalAddr().String()
}
