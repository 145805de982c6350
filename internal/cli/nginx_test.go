package cli

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"lockstep/internal/api"
	"lockstep/internal/lock"
	"lockstep/internal/test/shoptest"
	"lockstep/internal/test/suite"
)

// needsNginx skips the test if no nginx is installed that resolves names again at run time; in CI the test fails instead.
func needsNginx(t *testing.T) {
	t.Helper()
	suite.Needs(t, "nginx", "sh")
	refuse := t.Skip
	if os.Getenv("CI") != "" {
		refuse = t.Fatal
	}
	version, err := exec.Command("nginx", "-v").CombinedOutput() // nginx version: nginx/1.30.0
	if err != nil {
		t.Fatalf("nginx -v: %v\n%s", err, version)
	}
	var major, minor, patch int
	_, text, _ := strings.Cut(string(version), "/")
	if _, err := fmt.Sscanf(text, "%d.%d.%d", &major, &minor, &patch); err != nil {
		t.Fatalf("%s: %v", version, err)
	}
	if cmp.Or(cmp.Compare(major, 1), cmp.Compare(minor, 27), cmp.Compare(patch, 4)) < 0 {
		refuse("nginx is older than 1.27.4, and does not know resolve or keepalive_min_timeout: ", text)
	}
}

// testNginx is a running nginx in front of servers.
type testNginx struct {
	shoptest.Client
	command *exec.Cmd
	run     string       // temporary directory of the script
	end     func() error // waits until it has ended
}

// startNginx starts nginx with the configuration of the containers, except for the addresses of the shops. The caller has called
// needsNginx.
func startNginx(t *testing.T, shops ...string) *testNginx {
	t.Helper()
	var addresses []string
	for i, shop := range shops {
		addresses = append(addresses, fmt.Sprintf("shop%d:8080", i+1), shop)
	}
	return startNginxWith(t, addresses...)
}

// startNginxWith starts nginx with the configuration of the containers, in which each first text of a pair is replaced by the second.
func startNginxWith(t *testing.T, addresses ...string) *testNginx {
	t.Helper()
	dir, addr, streams := t.TempDir(), shoptest.UnusedAddr(t), shoptest.UnusedAddr(t)
	replace := strings.NewReplacer(append(addresses, "listen 80;", "listen "+addr+";", "127.0.0.1:81", streams)...)
	files, err := filepath.Glob("../../deploy/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(file)), []byte(replace.Replace(string(text))), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run := t.TempDir()
	command := exec.Command("sh", filepath.Join(dir, "front.sh"))
	command.Env = append(os.Environ(), "TMPDIR="+run)
	var log bytes.Buffer
	command.Stderr = &log
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	end := sync.OnceValue(command.Wait)
	t.Cleanup(func() {
		_ = command.Process.Signal(syscall.SIGTERM) // it may have ended already
		_ = end()
		if t.Failed() {
			t.Log(log.String())
		}
	})
	for _, addr := range []string{addr, streams} {
		suite.Eventually(t, "nginx listens", func() bool {
			conn, err := net.Dial("tcp", addr)
			if err == nil {
				conn.Close()
			}
			return err == nil
		})
	}
	return &testNginx{Client: shoptest.NewClient(t, addr), command: command, run: run, end: end}
}

// After SIGQUIT, nginx closes the streams, answers the sales in flight, and ends.
func TestNginxQuitAnswersSalesAndClosesStreams(t *testing.T) {
	needsNginx(t)
	t.Parallel()
	shop := shoptest.Start(t, "--lock.version", "v4", "--admin.open")
	if err := shop.Outside.Set(t.Context(), lock.Key, "another", 0).Err(); err != nil { // the sale waits for its lock
		t.Fatal(err)
	}
	front := startNginx(t, shop.Addr, shop.Addr, shop.Addr)
	client := &http.Client{Transport: &http.Transport{}}
	t.Cleanup(client.CloseIdleConnections)
	streams := make(chan struct{}, 3)
	for _, path := range []string{"/events", "/live", "/seat/table?anew"} {
		answer, err := client.Get(front.URL() + path) //nolint:bodyclose // closed by the goroutine
		if err != nil || answer.StatusCode != http.StatusOK {
			t.Fatalf("%s: %v, %v", path, answer, err)
		}
		go func() {
			defer answer.Body.Close()
			_, _ = io.Copy(io.Discard, answer.Body) // until nginx closes it, with or without an error
			streams <- struct{}{}
		}()
	}
	sold := make(chan int, 1)
	go func() { status, _ := front.Send("POST", "/inventory/sale", ""); sold <- status }()
	suite.Eventually(t, "a sale is in flight", func() bool { return shop.Report().InFlight == 1 })
	if err := front.command.Process.Signal(syscall.SIGQUIT); err != nil {
		t.Fatal(err)
	}
	for range cap(streams) {
		select {
		case <-streams:
		case status := <-sold:
			t.Fatalf("the sale was answered %d before the lock was free", status)
		case <-time.After(suite.Patience):
			t.Fatal("a stream goes on")
		}
	}
	if err := shop.Outside.Del(t.Context(), lock.Key).Err(); err != nil {
		t.Fatal(err)
	}
	if status := <-sold; status != http.StatusOK {
		t.Errorf("the sale was answered %d", status)
	}
	if err := front.end(); err != nil {
		t.Errorf("nginx: %v", err)
	}
}

// The container runs two nginx processes. If either ends by itself, so does the other, and with it the container.
func TestNginxEndsWhenEitherProcessEnds(t *testing.T) {
	needsNginx(t)
	t.Parallel()
	for _, half := range []string{"front", "streams"} {
		t.Run(half, func(t *testing.T) {
			t.Parallel()
			front := startNginx(t, shoptest.UnusedAddr(t), shoptest.UnusedAddr(t), shoptest.UnusedAddr(t))
			var pid int
			suite.Eventually(t, "its process is known", func() bool {
				files, err := filepath.Glob(filepath.Join(front.run, "*", half+".pid"))
				if err != nil || len(files) != 1 {
					return false
				}
				text, err := os.ReadFile(files[0])
				if err != nil {
					return false
				}
				pid, err = strconv.Atoi(strings.TrimSpace(string(text)))
				return err == nil
			})
			process, err := os.FindProcess(pid)
			if err == nil {
				err = process.Signal(syscall.SIGTERM)
			}
			if err != nil {
				t.Fatal(err)
			}
			ended := make(chan error, 1)
			go func() { ended <- front.end() }()
			select {
			case err := <-ended:
				if err == nil {
					t.Error("it ended as if told to")
				}
			case <-time.After(suite.Patience):
				t.Error("the other half goes on")
			}
		})
	}
}

// If two of three servers are down, the third gets each change. If all are down, the answer says that nothing was sent.
func TestNginxReportsUnsentRequests(t *testing.T) {
	needsNginx(t)
	t.Parallel()
	shop := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(shop.Close)
	front := startNginx(t, shoptest.UnusedAddr(t), shoptest.UnusedAddr(t), shop.Listener.Addr().String())
	for range 10 {
		for _, method := range []string{"PUT", "POST", "DELETE", "GET"} {
			if status, text := front.Send(method, "/lock", "{}"); status != 200 {
				t.Errorf("one of three shops is there: %s: %d %s; want 200", method, status, text)
			}
		}
	}
	shop.Close()
	for _, request := range []string{"PUT /lock", "POST /inventory/sale", "DELETE /lock", "GET /inventory", "GET /live"} {
		method, path, _ := strings.Cut(request, " ")
		var answer api.ErrorAnswer
		if status := front.Ask(method, path, "{}", &answer); status != 503 || answer.Error.Code != "no_replica" {
			t.Errorf("no shop is there: %s: %d %+v; want 503 no_replica", request, status, answer)
		}
	}
}

// A server behind nginx that ends leaves no sale unanswered.
func TestServerEndingBehindNginxLosesNoSale(t *testing.T) {
	needsNginx(t)
	t.Parallel()
	first := shoptest.Start(t, "--inventory.initial", "1000000", "--lock.version", "atomic", "--admin.open")
	addrs := []string{first.Addr}
	var ends []func() int
	for range 2 {
		addr := shoptest.UnusedAddr(t)
		_, end := serve(t, "--server.addr", addr, "--redis.addrs", first.Own.Redis.Addr, "--log.level", "error")
		t.Cleanup(func() { end() })
		addrs, ends = append(addrs, addr), append(ends, end)
	}
	front := startNginx(t, addrs...)
	buyers := shoptest.Gather(t, front.Client, 20)
	for _, end := range ends {
		sold := buyers.Answers(200)
		suite.Eventually(t, "all buy", func() bool { return buyers.Answers(200) > sold+200 })
		if code := end(); code != 0 {
			t.Errorf("exit code %d", code)
		}
	}
	sold := buyers.Answers(200)
	suite.Eventually(t, "they still buy", func() bool { return buyers.Answers(200) > sold+200 })
	for status, n := range buyers.Leave() {
		if status != 200 {
			t.Errorf("%d requests were answered %d", n, status)
		}
	}
}

// A restarted server has a new address, and another host has its former one. nginx finds the server.
func TestNginxFindsServerAtNewAddress(t *testing.T) {
	needsNginx(t)
	t.Parallel()
	moving := listenAt(t, "127.0.0.2:0")
	_, port, err := net.SplitHostPort(moving.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	names := &nameServer{}
	names.set("shop1.", [4]byte{127, 0, 0, 2})
	names.set("shop2.", [4]byte{127, 0, 0, 3})
	names.set("shop3.", [4]byte{127, 0, 0, 4})
	leave := serveName(t, moving, "shop1")
	serveName(t, listenAt(t, "127.0.0.3:"+port), "shop2")
	serveName(t, listenAt(t, "127.0.0.4:"+port), "shop3")
	front := startNginxWith(t, ":8080", ":"+port, "resolver 127.0.0.11", "resolver "+names.start(t))
	answered := func() map[string]int {
		who := map[string]int{}
		for range 30 {
			_, text := front.Send("GET", "/healthz", "")
			who[text]++
		}
		return who
	}
	all := func() bool {
		who := answered()
		return who["shop1"] > 0 && who["shop1"]+who["shop2"]+who["shop3"] == 30
	}
	suite.Eventually(t, "all shops answer", all)
	leave()
	serveName(t, listenAt(t, "127.0.0.2:"+port), "a stranger")
	serveName(t, listenAt(t, "127.0.0.5:"+port), "shop1")
	names.set("shop1.", [4]byte{127, 0, 0, 5})
	suite.Eventually(t, "the shop answers at its new address, and the stranger does not", all)
}

func listenAt(t *testing.T, addr string) net.Listener {
	t.Helper()
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	return listener
}

// serveName answers every request with a name, until leave is called or the test ends.
func serveName(t *testing.T, listener net.Listener, name string) (leave func()) {
	t.Helper()
	shop := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, name) })}
	ended := make(chan struct{})
	go func() { defer close(ended); _ = shop.Serve(listener) }()
	leave = func() { _ = shop.Close(); <-ended }
	t.Cleanup(leave)
	return leave
}

// nameServer is a DNS server that answers as docker's does.
type nameServer struct{ hosts sync.Map }

func (s *nameServer) set(host string, address [4]byte) { s.hosts.Store(host, address) }

// start serves until the test ends, and returns the address.
func (s *nameServer) start(t *testing.T) string {
	t.Helper()
	conn, err := net.ListenPacket("udp", shoptest.AnyPort)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for packet := make([]byte, 512); ; {
			n, client, err := conn.ReadFrom(packet)
			if err != nil {
				return
			}
			if reply, err := s.answer(packet[:n]); err == nil {
				_, _ = conn.WriteTo(reply, client)
			}
		}
	}()
	t.Cleanup(func() { conn.Close(); <-ended })
	return conn.LocalAddr().String()
}

// answer answers one question, with docker's time to live.
func (s *nameServer) answer(question []byte) ([]byte, error) {
	var message dnsmessage.Message
	if err := message.Unpack(question); err != nil || len(message.Questions) != 1 {
		return nil, fmt.Errorf("a question that is none: %w", err)
	}
	message.Response, message.Additionals = true, nil
	asked := message.Questions[0]
	host, known := s.hosts.Load(asked.Name.String())
	if !known {
		message.RCode = dnsmessage.RCodeNameError
	} else if asked.Type == dnsmessage.TypeA {
		message.Answers = []dnsmessage.Resource{{
			Header: dnsmessage.ResourceHeader{Name: asked.Name, Class: asked.Class, TTL: 600},
			Body:   &dnsmessage.AResource{A: host.([4]byte)},
		}}
	}
	return message.Pack()
}
