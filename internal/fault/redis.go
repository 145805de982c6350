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
var ErrNoRedis = errors.New("not installed")

// RedisVariable is the environment variable with the Redis server program for the tests.
const RedisVariable = "LOCKSTEP_TEST_REDIS"

// FindRedis returns the path of the program in RedisVariable. If that is not set, it returns the path of an installed redis-server or
// valkey-server, or ErrNoRedis.
func FindRedis() (path string, err error) {
	if named := os.Getenv(RedisVariable); named != "" {
		if path, err = exec.LookPath(named); err != nil {
			return "", fmt.Errorf("%s: %w; want the path of a redis-server or a valkey-server", RedisVariable, err)
		}
		return filepath.Abs(path) // A relative path would not stay valid: servers run in their own directories.
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
	host = "127.0.0.1" // listen address of the servers

	// first port and number of ports: the range lies below the ephemeral ports of the system, so that no other process gets a server's port
	// by chance while the server is down
	firstPort, portCount = 20_000, 12_000

	portAttempts = 5 // number of ports to try, since some may be in use

	versionTimeout = 10 * time.Second // time limit of redis-server --version
)

// RedisServer runs redis-server or valkey-server as a child process on loopback. It can be killed, and restarted with the data that it
// wrote. One goroutine at a time may use it.
type RedisServer struct {
	program string // path of the program
	port    int
	dir     string        // working directory, with the data files
	args    []string      // arguments besides address and directory
	process *os.Process   // nil: no process runs
	ended   chan struct{} // closed when the process has ended and its log is read

	temporary string // directory that Close removes; empty: none
}

// StartRedis starts program on a free port, with additional arguments, and waits until it answers. An empty program means the result of
// FindRedis; an empty dir means a temporary directory, which Close removes. The caller must call Close.
func StartRedis(ctx context.Context, program, dir string, args ...string) (s *RedisServer, err error) {
	temporary := ""
	if dir == "" {
		if temporary, err = os.MkdirTemp("", "lockstep-redis-"); err != nil {
			return nil, fmt.Errorf("creating a directory for Redis: %w; TMPDIR selects another place", err)
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

// NewRedis returns a server on the given port that does not run yet; see Run. An empty program means the result of FindRedis.
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

// versionPattern matches the output of --version: Redis server v=7.0.15 sha=00000000:0 …
var versionPattern = regexp.MustCompile(`^(\w+) server v=(\S+)`)

// checkVersion returns redisclient.ErrTooOld for a program that is too old. Such a program would not log the words by which readLog
// detects that it is ready.
func checkVersion(path string) error {
	ctx, cancel := context.WithTimeout(context.Background(), versionTimeout)
	defer cancel()
	output, err := exec.CommandContext(ctx, path, "--version").Output()
	if err != nil {
		return fmt.Errorf("%s --version: %w", path, err)
	}
	if match := versionPattern.FindStringSubmatch(string(output)); match != nil {
		if err := redisclient.CheckVersion(match[1], match[2]); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	return nil
}

// Addr returns the address at which the server listens.
func (s *RedisServer) Addr() string { return net.JoinHostPort(host, strconv.Itoa(s.port)) }

// Run starts the server, or restarts it after Kill at the same address, and waits until it is ready. If the first argument is a
// configuration file, because it does not begin with -, it stays first, as Redis requires.
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
		return fmt.Errorf("%s on %s exited at once (%s); last log line: %s", s.program, s.Addr(), command.ProcessState, last)
	case <-ctx.Done():
		s.Kill()
		return context.Cause(ctx)
	}
}

// readLog reads a server's log to its end, and returns the last line. It closes ready at the line that says that the server listens. A
// probe of the port would prove nothing: another process may have taken the port.
func readLog(log io.Reader, ready chan struct{}) (last string) {
	lines := bufio.NewScanner(log)
	for isReady := false; lines.Scan(); {
		last = lines.Text()
		if !isReady && (strings.Contains(last, "Ready to accept connections") || strings.Contains(last, "Sentinel ID is")) {
			close(ready)
			isReady = true
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

// Restart kills the server and starts it again. The server is empty then, unless it persists its data.
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
