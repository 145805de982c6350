package cli

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"lockstep/internal/history"
)

// The same nginx.conf as in the containers, in front of three servers here.
func TestBehindNginx(t *testing.T) {
	t.Parallel()
	program, err := exec.LookPath("nginx")
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("nginx is not installed, and in CI it has to be: ", err)
		}
		t.Skip("nginx is not installed, so deploy/nginx.conf is not tested: ", err)
	}
	first := start(t, "--redis.embedded_addr", anyPort, "--server.replica", "shop1")
	shops := []string{first.addr}
	for _, name := range []string{"shop2", "shop3"} {
		shops = append(shops, start(t, "--redis.addrs", first.redis.Addr, "--server.replica", name).addr)
	}

	dir := t.TempDir()
	site, err := os.ReadFile("../../deploy/site.conf")
	if err != nil {
		t.Fatal(err)
	}
	addr := unusedAddr(t)
	text := strings.Replace(string(site), "listen 80;", "listen "+addr+";", 1)
	for i, shop := range shops {
		text = strings.Replace(text, fmt.Sprintf("shop%d:8080", i+1), shop, 1)
	}
	conf, err := os.ReadFile("../../deploy/nginx.conf")
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{"nginx.conf": string(conf), "site.conf": text} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	command := exec.Command(program, "-p", dir, "-c", filepath.Join(dir, "nginx.conf"), "-e", filepath.Join(dir, "error.log"),
		"-g", "daemon off; pid "+filepath.Join(dir, "nginx.pid")+";")
	command.Stderr = os.Stderr
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = command.Process.Signal(os.Interrupt) // nginx ends its workers; should it have ended, so much the better
		_ = command.Wait()
	})
	front := &testServer{server: &server{addr: addr}, t: t}
	eventually(t, "nginx answers", func() bool {
		response, err := http.Get(front.url() + "/healthz")
		if err != nil {
			return false
		}
		defer response.Body.Close()
		_, err = io.Copy(io.Discard, response.Body)
		return err == nil && response.StatusCode == 200
	})

	for lock, want := range map[string]int{"v4": 0, "local": 1} {
		code, stdout, stderr := runBurst(t, front.url(), lock)
		if code != want {
			t.Errorf("%s: exit code %d; want %d: %s%s", lock, code, want, stdout, stderr)
		}
		run := front.report()
		lines, err := first.outside.HVals(t.Context(), "{inventory}:orders:"+run.RunID).Result()
		if err != nil {
			t.Fatal(err)
		}
		for _, shop := range []string{"shop1", "shop2", "shop3"} {
			if !strings.Contains(strings.Join(lines, ""), `"replica":"`+shop+`"`) {
				t.Errorf("%s: %s sold nothing", lock, shop)
			}
		}
	}
	if run := front.report(); run.Verdict == history.Unknown || run.Sold != 150 {
		t.Errorf("%+v; want each of 150 sales once", run)
	}
}

func runBurst(t *testing.T, target, lock string) (int, string, string) {
	t.Helper()
	return command(t, "burst", "--target", target, "-n", "150", "-c", "150", "--lock", lock)
}

func TestHealth(t *testing.T) {
	s := start(t, "--redis.embedded_addr", anyPort)
	if code, stdout, stderr := command(t, "health", "--server.addr", s.addr); code != 0 || !strings.Contains(stdout, "is ready") {
		t.Errorf("exit code %d: %s%s", code, stdout, stderr)
	}
	if code, _, stderr := command(t, "health", "--server.addr", unusedAddr(t)); code != 2 || !strings.Contains(stderr, "refused") {
		t.Errorf("of a server that is not there: exit code %d: %s", code, stderr)
	}
}

// What the Dockerfile and nginx promise in words.
func TestDeployedFilesKeepTheirWord(t *testing.T) {
	for file, wants := range map[string][]string{
		"../../Dockerfile":        {`CGO_ENABLED=0`, `FROM scratch`, `USER 65532`, `"/lockstep", "health"`},
		"../../deploy/nginx.conf": {`proxy_next_upstream off;`},
	} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range wants {
			if !strings.Contains(string(text), want) {
				t.Errorf("%s does not say %s", file, want)
			}
		}
	}
}
