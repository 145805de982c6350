package cli

import (
	"encoding/json"
	"net"
	"strings"
	"testing"

	"lockstep/internal/learn/doctor"
	"lockstep/internal/test/shoptest"
)

// A port that another program has is found, and by its flag another one is taken.
func TestDoctorFindsATakenPort(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	taken := listener.Addr().String()
	code, stdout, stderr := command(t, "doctor", "--lang", "en", "--server.addr", taken, "--redis.embedded_addr", shoptest.AnyPort)
	if code != exitBroken || !strings.Contains(stdout, "✗ server port   "+taken+" is taken") || !strings.Contains(stdout, "Not ready") {
		t.Errorf("exit code %d\n%s%s", code, stdout, stderr)
	}
	_, stdout, _ = command(t, "doctor", "--json", "--server.addr", shoptest.AnyPort, "--redis.embedded_addr", shoptest.AnyPort)
	var findings []doctor.Finding
	if err := json.Unmarshal([]byte(stdout), &findings); err != nil {
		t.Fatal(err)
	}
	for _, f := range findings {
		if strings.HasSuffix(f.Name, "port") && f.State != doctor.Fine || f.Name == "Go" && f.State != doctor.Fine {
			t.Errorf("%+v", f)
		}
	}
}
