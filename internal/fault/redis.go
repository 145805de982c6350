package fault

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"lockstep/internal/dao/redisclient"
)

// ErrNoRedis is returned when no redis-server or valkey-server is installed on this machine.
var ErrNoRedis = errors.New("it is not installed")

// RedisVariable names the program of a Redis in the environment: it chooses the server of the tests.
const RedisVariable = "LOCKSTEP_TEST_REDIS"

// FindRedis returns the path of the program that RedisVariable names, or else of a redis-server or a valkey-server that is installed. It
// fails with ErrNoRedis if none is.
func FindRedis() (path string, err error) {
	if named := os.Getenv(RedisVariable); named != "" {
		if path, err = exec.LookPath(named); err != nil {
			return "", fmt.Errorf("%s: %w; want the path of a redis-server or a valkey-server", RedisVariable, err)
		}
		return filepath.Abs(path) // A relative path would not hold: servers run in their own directories.
	}
	programs := []string{"redis-server", "valkey-server"}
	for _, program := range programs {
		if path, err = exec.LookPath(program); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("%s: %w", strings.Join(programs, ", "), ErrNoRedis)
}

const (
	host = "127.0.0.1"

	// The range of ports lies below the ephemeral ports of the system, so that no other process gets a server's port by chance while the
	// server is down.
	firstPort, portCount = 20_000, 12_000

	portAttempts = 5 // number of ports to try, since some may be in use

	versionTimeout = 10 * time.Second // time limit of redis-server --version
)

// RedisServer is a redis-server or a valkey-server as a process of its own, on loopback, that can be killed and started again with what it
// wrote. One goroutine at a time may use it.
type RedisServer struct {
	program string
	port    int
	dir     string
	args    []string
	process *os.Process
	ended   chan struct{} // closed when the process has ended and its log is read

	temporary string // directory that Close removes; empty: none
}

// StartRedis starts the program, "" for the one that FindRedis finds, on a free port, with further arguments, in a directory where it keeps
// its files, "" for one that goes with it. It waits until it answers. The caller must Close it.
func StartRedis(ctx context.Context, program, dir string, args ...string) (s *RedisServer, err error) {
	temporary := ""
	if dir == "" {
		if temporary, err = os.MkdirTemp("", "lockstep-redis-"); err != nil {
			return nil, fmt.Errorf("a directory for the files of a Redis: %w; TMPDIR says where", err)
		}
		dir = temporary
	}
	for range portAttempts {
		if s, err = NewRedis(program, firstPort+rand.IntN(portCount), dir, args...); err != nil {
			break
		}
		if err = s.Run(ctx); err == nil {
			s.temporary = temporary
			return s, nil
		}
		if ctx.Err() != nil {
			break
		}
	}
	return nil, errors.Join(err, os.RemoveAll(temporary))
}

// NewRedis returns a server as StartRedis does, on a port of choice, that runs once Run is called.
func NewRedis(program string, port int, dir string, args ...string) (*RedisServer, error) {
	path, err := FindRedis()
	if program != "" {
		if path, err = exec.LookPath(program); err != nil {
			err = fmt.Errorf("%s: %w: %w", program, ErrNoRedis, err)
		}
	}
	if err == nil {
		err = checkVersion(path)
	}
	return &RedisServer{program: path, port: port, dir: dir, args: args}, err
}

// version matches what a program says with --version: Redis server v=7.0.15 sha=00000000:0 …
var version = regexp.MustCompile(`^(\w+) server v=(\S+)`)

// checkVersion returns redisclient.ErrTooOld for a program that is too old: it would not log the words by which readLog detects readiness.
func checkVersion(path string) error {
	ctx, cancel := context.WithTimeout(context.Background(), versionTimeout)
	defer cancel()
	said, err := exec.CommandContext(ctx, path, "--version").Output()
	if err != nil {
		return fmt.Errorf("%s --version: %w", path, err)
	}
	if match := version.FindStringSubmatch(string(said)); match != nil {
		if err := redisclient.CheckVersion(match[1], match[2]); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	return nil
}

// Addr returns the address at which the server listens.
func (s *RedisServer) Addr() string { return net.JoinHostPort(host, strconv.Itoa(s.port)) }

// Run starts the server, or restarts it after Kill at the same address, and waits until it is ready. If the server's first argument does
// not begin with -, it is a configuration file, which Redis wants first.
func (s *RedisServer) Run(ctx context.Context) error {
	file := 0
	if len(s.args) > 0 && !strings.HasPrefix(s.args[0], "-") {
		file = 1
	}
	settings := []string{"--bind", host, "--port", strconv.Itoa(s.port), "--dir", s.dir}
	command := exec.Command(s.program, slices.Concat(s.args[:file], settings, s.args[file:])...)
	command.Dir = s.dir
	stdout, err := command.StdoutPipe()
	if err != nil {
		return err
	}
	if err := command.Start(); err != nil {
		return fmt.Errorf("starting %s: %w", s.program, err)
	}
	ready, ended := make(chan struct{}), make(chan struct{})
	s.process, s.ended = command.Process, ended
	var last string
	go func() {
		defer close(ended)
		last = readLog(stdout, ready)
		_ = command.Wait() // The ProcessState says how the process ended.
	}()
	select {
	case <-ready:
		return nil
	case <-ended:
		s.process = nil
		return fmt.Errorf("%s on %s ended at once, %s; its last word: %s", s.program, s.Addr(), command.ProcessState, last)
	case <-ctx.Done():
		s.Kill()
		return context.Cause(ctx)
	}
}

// readLog reads a server's log to its end, closes ready at the line that says that the server listens, and returns the last line. A probe
// of the port would prove nothing: another process may have taken it.
func readLog(log io.Reader, ready chan struct{}) (last string) {
	lines := bufio.NewScanner(log)
	for said := false; lines.Scan(); {
		last = lines.Text()
		if !said && (strings.Contains(last, "Ready to accept connections") || strings.Contains(last, "Sentinel ID is")) {
			close(ready)
			said = true
		}
	}
	return last
}

// Kill kills the process, and waits until it has ended. Only the data in its files survive.
func (s *RedisServer) Kill() {
	if s.process != nil {
		_ = s.process.Kill() // The process may have ended already.
		<-s.ended
		s.process = nil
	}
}

// Close kills the server and removes its temporary directory, if it has one.
func (s *RedisServer) Close() error {
	s.Kill()
	return os.RemoveAll(s.temporary)
}

// Clear empties the server's directory. The server must not be running.
func (s *RedisServer) Clear() error {
	return errors.Join(os.RemoveAll(s.dir), os.Mkdir(s.dir, 0o700))
}

// Restart kills the server and starts it again. It is empty then, unless it persists its data.
func (s *RedisServer) Restart(ctx context.Context) error {
	s.Kill()
	return s.Run(ctx)
}

// PID returns the process id, or 0 while no process runs.
func (s *RedisServer) PID() int {
	if s.process == nil {
		return 0
	}
	return s.process.Pid
}
