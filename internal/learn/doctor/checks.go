package doctor

import (
	"context"
	"errors"
	"fmt"
	"net"
	"regexp"
	"strconv"
	"strings"
	"syscall"

	"lockstep/internal/language"
	"lockstep/internal/learn/workshop"
)

const (
	leastGo     = 26      // of Go 1
	leastBytes  = 2 << 30 // a first build writes about a gigabyte
	leastFiles  = 2200    // a thousand buyers and their server, in one process
	leastRedis  = 7       // the major version
	leastValkey = 8
)

func checks() []check {
	return []check{
		{"Go", both("builds and runs lockstep", "编译和运行 lockstep"), findGo},
		{"sources", both("go run . builds them; the exercises are among them", "go run . 编译它们，练习也在其中"), findSources},
		{"modules", both("without them, the first go run . downloads them", "没有它们，第一次 go run . 会去下载"), findModules},
		{"disk", both("the first build takes about a gigabyte", "第一次编译约占 1 GB"), findDisk},
		{"open files", both("a thousand buyers at once: burst -c 1000", "一千个买家同时到来：burst -c 1000"), findFiles},
		{"server port", both("the page, and the server that burst asks", "页面，以及 burst 请求的服务"),
			func(ctx context.Context, m Machine) result { return findPort(ctx, m, m.Server, "--server.addr") }},
		{"Redis port", both("the embedded Redis, for redis-cli", "内嵌的 Redis，供 redis-cli 连接"),
			func(ctx context.Context, m Machine) result { return findPort(ctx, m, m.Redis, "--redis.embedded_addr") }},
		{"eviction", both("a Redis that is out of memory should keep locks", "Redis 内存不足时不应淘汰锁"), findEviction},
		{"git", both("clones the repository", "克隆仓库"),
			optional(func(m Machine) language.Text {
				return m.on("apt install git", "xcode-select --install", "winget install Git.Git")
			}, "git")},
		{"browser", both("the page, with the scheduler's seat", "页面，以及其中的调度席"), findBrowser},
		{"redis-cli", both("a look into Redis while sales go on", "在下单时查看 Redis"), optional(getRedis, "redis-cli", "valkey-cli")},
		{"redis-server", both("the labs failover, older-snapshot and eviction, and --redis real",
			"实验 failover、older-snapshot、eviction，以及 --redis real"), findRedis},
		{"JDK", both("JMeter's load, beside burst", "JMeter 压测（burst 之外的选择）"), findJDK},
		{"Maven", both("starts JMeter: mvn -f jmeter verify", "启动 JMeter：mvn -f jmeter verify"), optional(func(m Machine) language.Text {
			return m.on("apt install maven", "brew install maven", "https://maven.apache.org/download.cgi")
		}, "mvn")},
	}
}

func getRedis(m Machine) language.Text {
	return m.on("apt install redis", "brew install redis", "https://redis.io/docs/latest/operate/oss_and_stack/install/ (WSL)")
}

var redisVersion = regexp.MustCompile(`^(Redis|Valkey) server v=((\d+)\S*)`)

// findRedis looks for a real Redis or Valkey, and at its version.
func findRedis(ctx context.Context, m Machine) result {
	least := map[string]int{"Redis": leastRedis, "Valkey": leastValkey}
	for _, program := range []string{"redis-server", "valkey-server"} {
		path, err := m.LookPath(program)
		if err != nil {
			continue
		}
		says, _ := m.Output(ctx, nil, program, "--version") // if it fails, it does not say a version
		parts := redisVersion.FindStringSubmatch(says)
		if parts == nil {
			return result{Unknown, same(path), getRedis(m)}
		}
		name, found := parts[1], parts[1]+" "+parts[2]
		if major, _ := strconv.Atoi(parts[3]); major < least[name] {
			return result{Optional, both(fmt.Sprintf("%s: too old, %d is needed", found, least[name]),
				fmt.Sprintf("%s：太旧，需要 %d", found, least[name])), getRedis(m)}
		}
		return result{state: Fine, found: same(found + ", " + path)}
	}
	return result{Optional, both("not found", "没有找到"), getRedis(m)}
}

// findEviction asks the configured Redis whether it evicts keys.
func findEviction(ctx context.Context, m Machine) result {
	get := same("redis-cli CONFIG SET maxmemory-policy noeviction")
	policy, err := m.Eviction(ctx)
	switch {
	case err != nil:
		return result{Unknown, same(strings.ReplaceAll(err.Error(), "\n", "; ")), same("--redis.addrs")}
	case policy != "":
		return result{Optional, both("maxmemory-policy "+policy+": Redis may evict a lock that is held",
			"maxmemory-policy "+policy+"：Redis 可能淘汰正在持有的锁"), get}
	default:
		return result{state: Fine, found: both("none is known", "未发现")}
	}
}

// optional looks for one of several programs.
func optional(get func(Machine) language.Text, programs ...string) func(context.Context, Machine) result {
	return func(_ context.Context, m Machine) result {
		for _, program := range programs {
			if path, err := m.LookPath(program); err == nil {
				return result{state: Fine, found: same(path)}
			}
		}
		return result{Optional, both("not found", "没有找到"), get(m)}
	}
}

// findJDK asks the compiler for its version: macOS has a javac that only says that there is none.
func findJDK(ctx context.Context, m Machine) result {
	version, err := m.Output(ctx, nil, "javac", "-version")
	if version = strings.TrimSpace(version); err != nil || !strings.HasPrefix(version, "javac ") {
		return result{
			Optional, both("not found", "没有找到"),
			m.on("apt install default-jdk", "brew install openjdk", "winget install EclipseAdoptium.Temurin.21.JDK"),
		}
	}
	return result{state: Fine, found: same(version)}
}

var goVersion = regexp.MustCompile(`^go1\.(\d+)`)

func findGo(ctx context.Context, m Machine) result {
	get := both("https://go.dev/dl/", "https://go.dev/dl/ 或 https://golang.google.cn/dl/")
	version, err := m.Output(ctx, nil, "go", "env", "GOVERSION")
	if err != nil {
		return result{Missing, both("not found", "没有找到"), get}
	}
	version = strings.TrimSpace(version)
	parts := goVersion.FindStringSubmatch(version)
	if parts == nil {
		return result{Unknown, same(version), get}
	}
	if minor, _ := strconv.Atoi(parts[1]); minor < leastGo {
		return result{Missing, both(version+": too old, 1.26 is needed", version+"：太旧，需要 1.26"), get}
	}
	return result{state: Fine, found: same(version)}
}

func findSources(_ context.Context, m Machine) result {
	if root, err := workshop.FindRoot(m.Dir); err == nil && root == m.Dir {
		return result{state: Fine, found: same(m.Dir)}
	}
	return result{
		Missing, both("not in "+m.Dir, "不在 "+m.Dir),
		both("clone the repository, and run this in its directory", "克隆仓库，并在仓库目录里运行"),
	}
}

// findModules asks Go to list what it needs without a network: from the cache, or from vendor.
func findModules(ctx context.Context, m Machine) result {
	if r := findSources(ctx, m); r.state != Fine {
		return result{Unknown, both("there are no sources to ask", "没有源码，无法判断"), same("go mod download")}
	}
	proxy, _ := m.Output(ctx, nil, "go", "env", "GOPROXY") // for people
	proxy = strings.TrimSpace(proxy)
	if _, err := m.Output(ctx, []string{"GOPROXY=off"}, "go", "list", "-deps", "."); err == nil {
		return result{state: Fine, found: both("all are here: no network is needed", "都在本机，不需要网络")}
	}
	return result{
		Missing, both("some are not here; GOPROXY is "+proxy, "本机不全；GOPROXY 是 "+proxy),
		both("go mod download; where the proxy cannot be reached: go env -w GOPROXY=https://goproxy.cn,direct",
			"go mod download；连不上代理时：go env -w GOPROXY=https://goproxy.cn,direct"),
	}
}

func findDisk(_ context.Context, m Machine) result {
	get := both("free some space, or set GOCACHE and GOMODCACHE to another disk", "清理一些空间，或用 GOCACHE 和 GOMODCACHE 换一个磁盘")
	free, err := m.FreeBytes(m.Cache)
	if err != nil {
		return result{Unknown, same(err.Error()), get}
	}
	says := fmt.Sprintf("%.1f GB", float64(free)/(1<<30))
	if free < leastBytes {
		return result{Missing, both(says+" free", "剩余 "+says), get}
	}
	return result{state: Fine, found: both(says+" free", "剩余 "+says)}
}

func findFiles(_ context.Context, m Machine) result {
	limit, limited := m.OpenFiles()
	found := func() language.Text {
		return language.Both(fmt.Sprintf("%d: a server takes %d buyers at once", limit, m.Buyers(limit)),
			fmt.Sprintf("%d：一个服务同时可接待 %d 个买家", limit, m.Buyers(limit)))
	}
	switch {
	case !limited:
		return result{state: Fine, found: both("no limit", "没有限制")}
	case limit < leastFiles:
		get := fmt.Sprintf("ulimit -n %d", leastFiles)
		return result{Optional, found(), both(get+", or fewer buyers: burst -c 200", get+"，或减少买家：burst -c 200")}
	default:
		return result{state: Fine, found: found()}
	}
}

func findBrowser(ctx context.Context, m Machine) result {
	if m.OS == "darwin" || m.OS == "windows" {
		return result{state: Fine, found: both("comes with the system", "系统自带")}
	}
	return optional(func(Machine) language.Text {
		return both("apt install firefox; or open the page from another machine, see README, admin.token",
			"apt install firefox；或从另一台机器打开页面，见 README 的 admin.token")
	}, "firefox", "google-chrome", "chromium", "chromium-browser", "xdg-open", "wslview")(ctx, m)
}

// findPort says who has a port: nobody, a lockstep, or another program.
func findPort(ctx context.Context, m Machine, addr, flag string) result {
	get := fmt.Sprintf("go run . %s 127.0.0.1:0", flag)
	switch err := m.Listen(addr); {
	case err == nil:
		return result{state: Fine, found: both(addr+" is free", addr+" 空闲")}
	case !isTaken(err):
		return result{
			Missing, both(fmt.Sprintf("%s cannot be listened at: %v", addr, err), fmt.Sprintf("%s 无法监听：%v", addr, err)),
			both("choose another address: "+get, "换一个地址："+get),
		}
	}
	why := m.Probe(ctx, "http://"+m.Server)
	if why == nil {
		return result{state: Fine, found: both(addr+": a lockstep runs already", addr+"：已有 lockstep 在运行")}
	}
	who := m.listener(ctx, addr)
	if addr == m.Server {
		who += ": " + why.Error()
	}
	return result{
		Missing, both(addr+" is taken"+who, addr+" 被占用"+who),
		both("end that program, or choose another port: "+get, "结束那个程序，或换一个端口："+get),
	}
}

// addrInUse is EADDRINUSE of Windows.
const addrInUse = syscall.Errno(10048)

func isTaken(err error) bool { return errors.Is(err, syscall.EADDRINUSE) || errors.Is(err, addrInUse) }

// listener names the program that listens, as far as the system's own tools say so.
func (m Machine) listener(ctx context.Context, addr string) string {
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		return ""
	}
	program, args := "lsof", []string{"-nP", "-iTCP:" + port, "-sTCP:LISTEN", "-Fcp"}
	if m.OS == "windows" {
		program, args = "netstat", []string{"-ano", "-p", "TCP"}
	}
	output, err := m.Output(ctx, nil, program, args...)
	if err != nil {
		return ""
	}
	if m.OS == "windows" {
		return pidOf(output, port)
	}
	var pid, name string
	for line := range strings.Lines(output) {
		switch line = strings.TrimSpace(line); {
		case strings.HasPrefix(line, "p"):
			pid = line[1:]
		case strings.HasPrefix(line, "c") && name == "":
			name = line[1:]
		}
	}
	if name == "" {
		return ""
	}
	return fmt.Sprintf(" (%s, pid %s)", name, pid)
}

// pidOf finds the process that listens on a port in the table that netstat prints.
func pidOf(table, port string) string {
	for line := range strings.Lines(table) {
		fields := strings.Fields(line) // TCP 127.0.0.1:8080 0.0.0.0:0 LISTENING 4711
		if len(fields) == 5 && strings.HasSuffix(fields[1], ":"+port) && strings.HasSuffix(fields[2], ":0") {
			return fmt.Sprintf(" (pid %s)", fields[4])
		}
	}
	return ""
}
