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

// ErrNoRedis means that there is no such program on this machine.
var ErrNoRedis = errors.New("it is not installed")

// RedisVariable names the program of a Redis in the environment, for tests on a server of choice.
const RedisVariable = "LOCKSTEP_TEST_REDIS"

// FindRedis returns the path of the program that RedisVariable names, or else of a redis-server or a valkey-server that is installed. It
// fails with ErrNoRedis if none is.
func FindRedis() (path string, err error) {
	if named := os.Getenv(RedisVariable); named != "" {
		if path, err = exec.LookPath(named); err != nil {
			return "", fmt.Errorf("%s: %w; want the path of a redis-server or a valkey-server", RedisVariable, err)
		}
		return filepath.Abs(path) // servers run in directories of their own
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

	// A port is one of these: below those that systems give to whoever asks for any, so that nobody takes it by chance while the server is
	// down.
	firstPort, portCount = 20_000, 12_000

	portAttempts = 5 // ports: somebody may listen at one

	versionTimeout = 10 * time.Second // in which a program says its version
)

// RedisServer is a redis-server or a valkey-server as a process of its own, on loopback, that can be killed and started again with what it
// wrote. One goroutine at a time may use it.
type RedisServer struct {
	program string
	port    int
	dir     string
	args    []string
	process *os.Process
	ended   chan struct{} // closed when the process has ended, and its log is read

	temporary string // dir, if it goes with the server
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

// checkVersion fails with redisclient.ErrTooOld if a program is: it would not say that it is ready in the words that are waited for.
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

// Addr gives the address at which it listens.
func (s *RedisServer) Addr() string { return net.JoinHostPort(host, strconv.Itoa(s.port)) }

// Run starts it, or starts it again after Kill at the same address, and waits until it answers. A configuration file is the first argument.
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
		_ = command.Wait() // its ProcessState says how it ended
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

// readLog reads what a server says until it ends, closes ready when it says that it listens, and gives its last line. That its port answers
// is no proof: by then another process may have taken it.
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

// Kill kills the process, and waits until it has ended. Only what it has written to its files is left.
func (s *RedisServer) Kill() {
	if s.process != nil {
		_ = s.process.Kill() // it may have ended
		<-s.ended
		s.process = nil
	}
}

// Close kills it, and removes a directory of its own.
func (s *RedisServer) Close() error {
	s.Kill()
	return os.RemoveAll(s.temporary)
}

// Clear removes what it has written to its directory. It must not run.
func (s *RedisServer) Clear() error {
	return errors.Join(os.RemoveAll(s.dir), os.Mkdir(s.dir, 0o700))
}

// Restart kills it, and starts it again: empty, unless it writes down what it does.
func (s *RedisServer) Restart(ctx context.Context) error {
	s.Kill()
	return s.Run(ctx)
}

// PID gives that of the process, 0 while there is none.
func (s *RedisServer) PID() int {
	if s.process == nil {
		return 0
	}
	return s.process.Pid
}
