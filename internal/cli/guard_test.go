package cli

import (
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"lockstep/internal/test/shoptest"
)

// requestAs sends a request with a Host and headers "Name: value", and returns the status and the body.
func requestAs(t *testing.T, addr, method, path, host string, headers ...string) (int, string) {
	t.Helper()
	header := http.Header{"Host": {host}}
	for _, line := range headers {
		name, value, _ := strings.Cut(line, ": ")
		header.Set(name, value)
	}
	answer := shoptest.NewClient(t, addr).Do(t.Context(), method, path, `{"version":"v1"}`, header)
	return answer.Status, answer.Text
}

// The front of a cluster and its replicas require the token from the file. No process has it in its arguments.
func TestClusterRequiresToken(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte("s3cret00\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := startCluster(t, "--replicas", "2", "--admin.token_file", file)
	addrs := []string{c.Addr}
	for _, replica := range c.replicas() {
		addrs = append(addrs, replica.Address)
		if runtime.GOOS != "linux" {
			continue
		}
		arguments, err := os.ReadFile("/proc/" + strconv.Itoa(replica.PID) + "/cmdline")
		if err != nil || !strings.Contains(string(arguments), "--server.replica") || strings.Contains(string(arguments), "s3cret") {
			t.Errorf("the arguments of %s: %q, %v; want no token", replica.Name, arguments, err)
		}
	}
	for _, addr := range addrs {
		if status, text := requestAs(t, addr, "PUT", "/lock", addr); status != 401 {
			t.Errorf("PUT without the token at %s: %d %s; want 401", addr, status, text)
		}
		if status, text := requestAs(t, addr, "PUT", "/lock", addr, "Authorization: Bearer s3cret00"); status != 200 {
			t.Errorf("PUT with the token at %s: %d %s; want 200", addr, status, text)
		}
		if status, text := requestAs(t, addr, "POST", "/inventory/sale", addr, "Origin: http://evil.com"); status != 403 {
			t.Errorf("a page of another site buys at %s: %d %s; want 403", addr, status, text)
		}
	}
	burst := []string{"burst", "--target", c.URL(), "-n", "20", "-c", "20", "--lock", "v4"}
	code, _, stderr := command(t, burst...)
	if code != 2 || !strings.Contains(stderr, "401 unauthorized") || !strings.Contains(stderr, "--admin.token") {
		t.Errorf("burst without the token: exit code %d: %s", code, stderr)
	}
	for _, token := range [][2]string{{"--admin.token", "s3cret00"}, {"--admin.token_file", file}} {
		if code, stdout, stderr := command(t, append(slices.Clone(burst), token[:]...)...); code != 0 {
			t.Errorf("burst with %s: exit code %d: %s%s", token[0], code, stdout, stderr)
		}
	}
}
