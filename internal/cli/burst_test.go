package cli

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"
	"time"

	"lockstep/internal/language"
	"lockstep/internal/lock/evolution"
	"lockstep/internal/service/history"
	"lockstep/internal/shop/load"
	"lockstep/internal/test/redistest"
	"lockstep/internal/test/suite"
)

// Of v0, TestReadmeCommands has a thousand buyers.
func TestBurstShowsWhichLocksHold(t *testing.T) {
	crowd, queue := 200, 30
	if suite.Long {
		crowd, queue = 1000, 100
	}
	holding := locks
	if testing.Short() {
		holding = []string{"v1", "v6", "v9", "redlock", "local", "atomic"} // others have the same goroutines
	}
	eachRedis(t, func(t *testing.T, redis []string) {
		burst := func(buyers int, lock string) (int, load.Result) {
			n := strconv.Itoa(buyers)
			code, stdout, stderr := command(t, append(redis, "burst", "--server.addr", unusedAddr(t), "-n", n, "-c", n, "--lock", lock, "--json")...)
			var result load.Result
			if err := json.Unmarshal([]byte(stdout), &result); err != nil {
				t.Fatalf("burst --lock %s: exit code %d, %s%s: %v", lock, code, stdout, stderr, err)
			}
			if !strings.HasPrefix(stderr, "burst: no lockstep at http://") || !strings.Contains(stderr, "this process is the buyers and the shop") {
				t.Errorf("the first line does not say whom it asks: %s", stderr)
			}
			return code, result
		}
		// what late-commit loses is left to chance here: the explorer has it, and so has the lab commit-after-unlock
		code, r := burst(crowd, "v0")
		if code != 1 || r.Verdict != history.Oversold || r.Lost == 0 || r.OK != crowd || r.Sold != int64(crowd) {
			t.Errorf("v0: exit code %d, %+v; want lost updates", code, r)
		}
		for _, lock := range holding {
			code, r := burst(queue, lock)
			all := r.OK == queue && r.Sold == int64(queue) && r.Remaining == 0 && r.Failed == 0
			if code != 0 || r.Verdict != history.Pass || !all || r.Lock != lock {
				t.Errorf("%s: exit code %d, %+v; want a PASS", lock, code, r)
			}
		}
	})
}

func TestBurstAgainstARunningServer(t *testing.T) {
	s := start(t, "--redis.embedded_addr", anyPort, "--lock.version", "v5")
	code, stdout, stderr := command(t, "burst", "--server.addr", s.addr, "-n", "30", "-c", "10", "--stock", "20")
	if code != 0 {
		t.Errorf("exit code %d", code)
	}
	if !strings.Contains(stderr, "burst: asking the server at http://"+s.addr) {
		t.Errorf("it did not ask the running server: %s", stderr)
	}
	for _, says := range []string{
		"30 in", "20 sold", "10 sold out, 0 failed, 0 unknown", "20 at first, 0 left", "PASS: stock and orders agree", "v5",
	} {
		if !strings.Contains(stdout, says) {
			t.Errorf("the table does not say %q:\n%s", says, stdout)
		}
	}
	code, stdout, stderr = command(t, "burst", "--target", s.url()+"/,"+s.url(), "-n", "1", "-c", "1")
	if code != 2 || !strings.Contains(stdout, "UNKNOWN: no two requests were in flight at once, so") {
		t.Errorf("one lonely buyer: exit code %d\n%s%s", code, stdout, stderr)
	}
}

func TestBurstRefusesSettingsOfARunningServer(t *testing.T) {
	s := start(t, "--redis.embedded_addr", anyPort)
	code, _, stderr := command(t, "burst", "--target", s.url(), "--sale.think_time", "1s", "-n", "1", "-c", "1")
	if code != 2 || !strings.Contains(stderr, "--sale.think_time is not allowed: it is for a server of the burst's own") {
		t.Errorf("exit code %d, %s", code, stderr)
	}
}

func TestBurstCountsFailuresByTheirCode(t *testing.T) {
	s := start(t, "--redis.embedded_addr", anyPort, "--lock.version", "v1", "--lock.wait_timeout", "10ms")
	if err := s.outside.Set(t.Context(), "distributedLock", 1, 0).Err(); err != nil {
		t.Fatal(err)
	}
	code, stdout, _ := command(t, "burst", "--target", s.url(), "-n", "5", "-c", "5", "--json")
	var result load.Result
	if err := json.Unmarshal([]byte(stdout), &result); err != nil {
		t.Fatal(err)
	}
	if code != 2 || result.Failed != 5 || result.Failures["lock_timeout"] != 5 || result.Verdict != history.Unknown {
		t.Errorf("exit code %d, %+v; want five lock_timeout", code, result)
	}
}

// Most are not answered: what little was sold is not enough for a PASS, unless that is asked for.
func TestBurstThatWasHardlyAnswered(t *testing.T) {
	s := start(t, "--redis.embedded_addr", anyPort, "--lock.version", "v4", "--sale.think_time", "100ms", "--lock.wait_timeout", "250ms")
	code, stdout, _ := command(t, "burst", "--target", s.url(), "-n", "20", "-c", "20")
	if code != 2 || !strings.Contains(stdout, "UNKNOWN: only ") || !strings.Contains(stdout, "is less than 99 %") {
		t.Errorf("exit code %d; want 2\n%s", code, stdout)
	}
	code, stdout, _ = command(t, "burst", "--target", s.url(), "-n", "20", "-c", "20", "--min-answered", "0", "--json")
	var result load.Result
	if err := json.Unmarshal([]byte(stdout), &result); err != nil {
		t.Fatal(err)
	}
	if code != 0 || result.Verdict != history.Pass || result.Failed == 0 || result.Answered >= 0.99 ||
		!strings.Contains(result.Reason, "; but ") {
		t.Errorf("asked otherwise: exit code %d, %+v", code, result)
	}
}

// The ledger is compared with what the buyers were told.
func TestOrdersAndAnswersAreCompared(t *testing.T) {
	for says, r := range map[string]load.Result{
		"100 in the ledger\n": {OK: 100, Unknown: 5},
		"100 in the ledger: of the 5 requests whose outcome is unknown, 3 were sold\n":                              {OK: 97, Unknown: 5},
		"100 in the ledger, but 90 buyers were told that they bought: others bought meanwhile\n":                    {OK: 90, Unknown: 5},
		"100 in the ledger, but 110 buyers were told that they bought: Redis lost the others, or a new run began\n": {OK: 110, Unknown: 5},
	} {
		var shown strings.Builder
		r.Sold, r.Unknowns = 100, map[string]int{"outcome_unknown": 3, "bad_gateway": 2}
		if err := printResult(&shown, r, language.English); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(shown.String(), says) || !strings.Contains(shown.String(), "3 × outcome_unknown\n  unknown  2 × bad_gateway\n") {
			t.Errorf("%d answered, %d unknown: want %q in\n%s", r.OK, r.Unknown, says, shown.String())
		}
	}
}

// What cannot be known is not said, in either language.
func TestBurstSaysOnlyWhatIsTrue(t *testing.T) {
	report := history.Report{Verdict: history.Pass, Initial: 200, Sold: 200, MaxInFlight: 9}
	empty := load.Result{Report: report, Requests: 5000, OK: 4923, Answered: 1}
	empty.Judge(0.99)
	unread := load.Result{
		Report: history.Report{Verdict: history.Unknown, Initial: 200}, Unread: "503", Reason: "the ledger could not be read: 503",
		Requests: 200, OK: 200,
	}
	few := load.Result{Report: history.Report{Verdict: history.Pass, Initial: 9, Sold: 9, MaxInFlight: 9}, Requests: 20, OK: 9, Answered: 0.45}
	few.Judge(0.99)
	for _, c := range []struct {
		result   load.Result
		in       language.Language
		has, not []string
	}{
		{empty, language.English, []string{"lost      not known", "UNKNOWN: 4723 buyers were told"}, []string{"nothing", "agree"}},
		{empty, language.Chinese, []string{"lost      未知", "UNKNOWN：4723 个买家被告知买到了"}, []string{"没有：", "每一件都扣了库存"}},
		{unread, language.English, []string{"200 sold", "lost      not known", "UNKNOWN: the ledger could not be read: 503"},
			[]string{"stock  ", "orders", "nothing"}},
		{unread, language.Chinese, []string{"卖出 200", "lost      未知", "UNKNOWN：读不到账本：503"}, []string{"stock  ", "orders", "没有"}},
		{few, language.Chinese, []string{"lost      没有", "UNKNOWN：20 个请求中，只有 9 个得到了"}, []string{"什么也没有验证"}},
	} {
		var shown strings.Builder
		if err := printResult(&shown, c.result, c.in); err != nil {
			t.Fatal(err)
		}
		inOrder(t, shown.String(), c.has...)
		for _, word := range c.not {
			if strings.Contains(shown.String(), word) {
				t.Errorf("nobody knows whether %q:\n%s", word, shown.String())
			}
		}
	}
}

// In Chinese every row is Chinese, but for its name, and says why a PASS is none.
func TestBurstInChinese(t *testing.T) {
	report := history.Report{
		Lock: "v0", Initial: 200, Remaining: 169, Sold: 200, Lost: 169, MaxInFlight: 200, Verdict: history.Oversold,
	}
	var shown strings.Builder
	result := load.Result{Report: report, Reason: "in English", Requests: 203, OK: 201, Unknown: 2}
	if err := printResult(&shown, result, language.Chinese); err != nil {
		t.Fatal(err)
	}
	inOrder(t, shown.String(), "requests  203 个", "售罄 0", "stock     开始时 200，剩下 169\n", "账本里有 200 个，但有 201 个买家", "lost      169 次扣减",
		"verdict   OVERSOLD：卖出 200 件，库存只减了 31 件：丢失了 169 次扣减；但 1 个买家被告知买到了", "；但 203 个请求中有 2 个没有得到应有的响应\n")
	for _, english := range []string{" sold", "in English"} {
		if strings.Contains(shown.String(), english) {
			t.Errorf("%q is English:\n%s", english, shown.String())
		}
	}
}

// The bar is gone when it is finished, and what the terminal wrote beside it.
func TestProgressLeavesAnEmptyLine(t *testing.T) {
	var terminal strings.Builder
	step, finish := drawProgress(&terminal, 10, time.Time{})
	step(4)
	drawn := terminal.String()
	terminal.WriteString("^C")
	finish()
	if !strings.Contains(drawn, "4/10") || !strings.HasSuffix(terminal.String(), "\r\033[K") {
		t.Errorf("drawn: %q; in the end: %q", drawn, terminal.String())
	}
}

func TestBurstRefusals(t *testing.T) {
	silent := "http://" + unusedAddr(t)
	for args, says := range map[string]string{
		"-n 0":                    "-n 0 is not allowed: want from 1",
		"-n x":                    "invalid argument",
		"-c -1":                   "-c -1 is not allowed",
		"--stock -1":              "--stock -1 is not allowed: want from 0 to 1000000000",
		"--lock v42":              `"v42"; there are ` + strings.Join(evolution.Names(), ", "),
		"--timeout 0s":            "--timeout 0s is not allowed",
		"--min-answered 99":       "--min-answered 99 is not allowed: want from 0 (any share will do) to 1 (every request)",
		"--min-answered nan":      "--min-answered NaN is not allowed",
		"--target nowhere":        `--target "nowhere" is not allowed: want a URL such as http://`,
		"--target " + silent:      silent + ": no lockstep answers there",
		"--nonsense":              "unknown flag",
		"extra":                   "unknown command",
		"--redis.addrs 127.0.0.1": "want host:port",
	} {
		code, stdout, stderr := command(t, append([]string{"burst"}, strings.Fields(args)...)...)
		if code != 2 || !strings.Contains(stderr, says) || stdout != "" {
			t.Errorf("burst %s: exit code %d, %s%s; want 2 and %q", args, code, stdout, stderr, says)
		}
	}
}

// unusedAddr is an address nobody listens at.
func unusedAddr(t *testing.T) string {
	t.Helper()
	return "127.0.0.1:" + redistest.FreePort(t)
}
