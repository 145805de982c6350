package main

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lockstep/internal/suite"
)

// mutant is a small breakage of a lock, with a command that must find it, and must find nothing in the code as it is.
type mutant struct {
	name, file, old, new string
	explore              string
	finds                string
}

var mutants = []mutant{
	{
		"NX dropped", "internal/lockv1/lock.go", `Mode: "NX"`, `Mode: ""`,
		"v1", "two-holders",
	},
	{
		"NX dropped, with an expiry", "internal/lockv2/lock.go", `Mode: "NX", `, ``,
		"v2", "two-holders",
	},
	{
		"expiry dropped", "internal/lockv2/lock.go", `, TTL: l.opts.TTL`, ``,
		"v2 --faults crash=1", "left-behind",
	},
	{
		"unlock forgotten", "internal/lockv1/unlock.go", `l.client.Del(ctx, l.opts.Key)`, `l.client.Exists(ctx, l.opts.Key)`,
		"v1", "left-behind",
	},
	{
		"a key for each owner", "internal/lockv4/lock.go", `SetArgs(ctx, l.opts.Key, owner`, `SetArgs(ctx, l.opts.Key+owner, owner`,
		"v4", "two-holders",
	},
	{
		"compare dropped in Go", "internal/lockv3/unlock.go", `case holder != owner`, `case holder == ""`,
		"v3 --work 15s --anomaly foreign-release", "foreign-release",
	},
	{
		"compare dropped in Lua", "util/lua/compareAndDelete.lua", `if holder == ARGV[1] then`, `if holder then`,
		"v4 --faults expiry=1 --anomaly foreign-release", "foreign-release",
	},
	{
		"owners compared by order", "util/lua/compareAndDelete.lua", `if holder == ARGV[1] then`, `if holder and holder <= ARGV[1] then`,
		"v4 --faults expiry=1 --anomaly foreign-release", "foreign-release",
	},
	{
		"lock taken whoever has it", "util/lua/lock.lua", `redis.call('EXISTS', KEYS[1]) == 0 or`, `true or`,
		"v5", "two-holders",
	},
	{
		"not reentrant", "util/lua/lock.lua", `or redis.pcall('HEXISTS', KEYS[1], ARGV[1]) == 1`, ``,
		"v5 --nested 1", "stuck",
	},
	{
		"reentrant lock without an expiry", "util/lua/lock.lua", `redis.call('PEXPIRE', KEYS[1], ARGV[2])`, ``,
		"v5 --faults crash=1", "left-behind",
	},
	{
		"unlock without the count", "util/lua/unlock.lua", `if tonumber(count) > 1 then`, `if false then`,
		"v5 --nested 1 --anomaly two-holders", "two-holders",
	},
	{
		"unlock without the owner", "util/lua/unlock.lua", `if type(count) ~= 'string' then`, `count = '1' if false then`,
		"v5 --faults expiry=1 --anomaly foreign-release", "foreign-release",
	},
	{
		"renewal without the owner", "util/lua/updateExpireTime.lua", `if redis.pcall('HEXISTS', KEYS[1], ARGV[1]) == 1 then`, `if true then`,
		"v6 --faults expiry=1,slow=1 --anomaly foreign-release", "foreign-release",
	},
	{
		"renewal not stopped", "internal/lockv6/renew.go", `t.renewal.Stop() // waits`, `// waits`,
		"v6", "goroutine-leak",
	},
	{
		"renewal not waited for", "internal/lock/renew.go", `	_ = r.opts.Clock.Wait(context.Background(), r.done)`, ``,
		"v6 --work 25s --faults slow=1", "goroutine-leak",
	},
	{
		"local deadline too late", "internal/lock/renew.go", `	r.expireAt(sent.Add(opts.TTL))`, `	r.expireAt(sent.Add(2 * opts.TTL))`,
		"v6 --faults expiry=1 --anomaly two-holders", "two-holders",
	},
	{
		"deadline counted from the reply", "internal/lock/renew.go",
		`	r.expireAt(sent.Add(opts.TTL))`, `	r.expireAt(opts.Clock.Now().Add(opts.TTL))`,
		"v6 --faults pause=1 --anomaly untold", "untold",
	},
	{
		"loss not told", "internal/lock/renew.go", `		(*cancel)(ErrLost)`, `		_ = cancel`,
		"v6 --faults expiry=1 --anomaly untold", "untold",
	},
	{
		"unlock under a cancelled context", "internal/lock/lock.go", `context.WithoutCancel(ctx)`, `ctx`,
		"v1 --faults cancel=1", "left-behind",
	},
	{
		"minority accepted", "internal/lockv9/quorum.go", `len(l.nodes)/2 + 1`, `len(l.nodes) / 2`,
		"v9 --try 2", "two-holders",
	},
	{
		"set whoever has the node", "internal/lockv9/contend.go", `Mode: "NX", `, ``,
		"v9 --try 2", "foreign-release",
	},
	{
		"nodes released without the owner", "util/lua/compareAndDelete.lua", `if holder == ARGV[1] then`, `if holder then`,
		"v9 --try 2", "foreign-release",
	},
	{
		"stock not watched", "internal/dao/watch.go", `}, InventoryKey)`, `}, RunKey)`,
		"optimistic", "lost-update",
	},
	{
		"hand-over without the owner", "util/lua/release.lua", `if redis.pcall('HGET', KEYS[1], ARGV[1]) ~= ARGV[2] then`, `if false then`,
		"v7 --faults expiry=1 --anomaly foreign-release", "foreign-release",
	},
	{
		"next in line not called", "internal/lockv7/line.go", `	if l.call() {
		return true
	}
`, ``,
		"v7 --replicas 1 --faults cancel=1", "stuck",
	},
	{
		"lock passed to nobody", "internal/lockv7/unlock.go", `		if l.callNext() {
			return nil
		}`, `		l.callNext()
		return nil`,
		"v7 --replicas 1 --faults cancel=1,slow=1", "goroutine-leak",
	},
	{
		"only hints wake", "internal/lockv7/contend.go", `l.opts.TTL/4, errRefresh`, `1000*time.Hour, errRefresh`,
		"v7 --faults lost-wake=1", "stuck",
	},
	{
		"another claim's lock taken", "internal/lockv7/contend.go", `l.heard != l.claim || `, ``,
		"v7 --actors 4 --replicas 2", "two-holders",
	},
	{
		"queue overtaken", "util/lua/acquire.lua", `and (not head or head == ARGV[1]) then`, `or true then`,
		"v7", "two-holders",
	},
	{
		"nested call not recognised", "internal/lockv7/renew.go", `|| l.tenure.owner != owner {`, `|| true {`,
		"v7 --nested 1", "stuck",
	},
	{
		"stale write accepted", "util/lua/write.lua",
		`if tonumber(ARGV[2]) < tonumber(redis.call('GET', KEYS[5]) or 0) then`, `if false then`,
		"v8 --faults pause=1 --anomaly lost-update", "lost-update",
	},
	{
		"token of a read not seen", "util/lua/readFenced.lua", `redis.call('SET', KEYS[3], ARGV[1])`, ``,
		"v8 --faults expiry=1 --anomaly lost-update", "lost-update",
	},
	{
		"token that does not grow", "util/lua/acquireFenced.lua", `return redis.call('INCRBY', KEYS[3], ARGV[5]) - ARGV[5] + 1`, `return 1`,
		"v8 --faults pause=1 --anomaly lost-update", "lost-update",
	},
	{
		"turn not handed back", "internal/contrast/local.go", `		l.turn <- struct{}{}
		return nil`, `		return nil`,
		"local --replicas 1", "stuck",
	},
	{
		"a second turn", "internal/contrast/local.go", `make(chan struct{}, 1)}
	l.turn <- struct{}{}`, `make(chan struct{}, 2)}
	l.turn <- struct{}{}
	l.turn <- struct{}{}`,
		"local --replicas 1", "two-holders",
	},
}

// quickMutants are those of the quick suite: each takes a build of its own, so there is one of each kind.
var quickMutants = []string{
	"NX dropped", "compare dropped in Lua", "renewal not stopped", "queue overtaken", "stale write accepted", "stock not watched",
}

func TestTheExplorerFindsEveryMutant(t *testing.T) {
	for _, name := range quickMutants {
		if !slices.ContainsFunc(mutants, func(m mutant) bool { return m.name == name }) {
			t.Errorf("there is no mutant %q", name)
		}
	}
	whole := build(t, "")
	for _, m := range mutants {
		t.Run(m.name, func(t *testing.T) {
			if !slices.Contains(quickMutants, m.name) {
				suite.LongOnly(t, "others of its kind are found in the quick suite")
			}
			t.Parallel()
			if verdict, _ := exploreWith(t, whole, m.explore); verdict != "holds" {
				t.Fatalf("explore %s: %s without any breakage", m.explore, verdict)
			}
			source, err := os.ReadFile(m.file)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Count(string(source), m.old) != 1 {
				t.Fatalf("%s does not have %q once: the mutant has to follow the code", m.file, m.old)
			}
			broken := overlays(t, map[string]string{m.file: strings.Replace(string(source), m.old, m.new, 1)})
			verdict, found := exploreWith(t, build(t, broken), m.explore)
			if verdict != "broken" || found != m.finds {
				t.Errorf("explore %s: %s %s; want it to find %s", m.explore, verdict, found, m.finds)
			}
		})
	}
}

// build builds lockstep as the README says; it links faster without what debuggers want.
func build(t *testing.T, overlay string) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "lockstep.exe")
	arguments := append(buildLine(t), "-o", program)
	if overlay != "" {
		arguments = append(arguments, "-overlay", overlay)
	}
	if output, err := exec.Command("go", append(arguments, ".")...).CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, output)
	}
	return program
}

// exploreWith runs explore, and gives its verdict and the anomaly that it found.
func exploreWith(t *testing.T, program, arguments string) (verdict, anomaly string) {
	t.Helper()
	command := exec.Command(program, append([]string{"explore", "--json"}, strings.Fields(arguments)...)...)
	output, err := command.Output()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	var found struct {
		Verdict        string `json:"verdict"`
		Counterexample struct {
			Anomaly string `json:"anomaly"`
		} `json:"counterexample"`
	}
	if err := json.Unmarshal(output, &found); err != nil {
		t.Fatalf("explore %s: %v: %s", arguments, err, output)
	}
	return found.Verdict, found.Counterexample.Anomaly
}
