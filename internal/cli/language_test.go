package cli

import (
	"strings"
	"testing"

	"lockstep/internal/test/suite"
)

// Each kind of wrong command line is explained in the language of the command.
func TestErrorsAreInTheLanguageOfTheCommand(t *testing.T) {
	here := t.TempDir() // outside a clone, and not empty
	clone := "../.."
	for _, c := range []struct{ dir, line, want string }{
		{here, "explore", "请指定一种锁：v0、"},
		{here, "explore v99", "没有“v99”这种锁；可选：v0、"},
		{here, "explore v0 --against v99", "没有“v99”这种锁；可选："},
		{here, "explore v99", "。是不是 v9？"},
		{here, "diff v1 v99", "没有“v99”这种锁；"},
		{here, "diff v1 v9", "没有“v1-v9”这一版；可选："},
		{here, "diff --html x", "请指定是哪一版"},
		{here, "burst --lock v99", "没有“v99”这种锁；"},
		{here, "burst -n 0", "-n 不能是 0：取值 1 到 10000000 个请求"},
		{here, "burst --target x", `--target 不能是 "x"：要写成`},
		{here, "burst --target http://" + suite.UnusedAddr(t), "那里没有 lockstep 响应；先启动：lockstep serve"},
		{here, "lab nope", "没有“nope”这个实验；可选："},
		{here, "lab --lock v99", "没有“v99”这种锁；"},
		{here, "lab foreign-delete --lock v99", "没有“v99”这种锁；"},
		{here, "lab --redis x", "--redis 不能是“x”"},
		{here, "check", "check 要编译练习：这里和上级目录都没有 lockstep 的源码"},
		{here, "new mylock", "这里和上级目录都没有 lockstep 的源码"},
		{here, "course 99", "没有“99”这一课；可选：1 到 16"},
		{here, "matrix --beside 0", "--beside 不能是 0：至少是 1"},
		{here, "explore v2 --faults foo=1", "没有“foo”这种故障；可选："},
		{here, "explore v2 --faults expiry", "故障“expiry”写法不对；写法是 名字=次数，如 expiry=1,crash=1"},
		{here, "explore v2 --anomaly xx", "没有“xx”这种异常；可选："},
		{here, "explore atomic --anomaly two-holders", "atomic 不承诺避免 two-holders：它在 Redis 里没有锁；"},
		{here, "explore v2 --actors 99", "actors 不能是 99：取值 1 到 26"},
		{here, "explore v2 --nodes 3", "v2 不用多个节点；"},
		{here, "explore v2 --replay x", "第 1 步 x：不是一步；写法有："},
		{here, "explore --all v2", "--all 会探索每一种锁：请去掉“v2”"},
		{here, "explore v2 --each --anomaly two-holders", "--each 在所有时序里找全部异常："},
		{here, "explore v2 --lock.ttl 5s", "--lock.ttl：explore 不用这些设置"},
		{clone, "check 99", "没有“99”这个练习；可选：01 到 19"},
		{clone, "check --hint --solution", "--hint 和 --solution 不能同用"},
		{clone, "new internal", "目录里已有内容："},
	} {
		t.Run(c.line, func(t *testing.T) {
			t.Chdir(c.dir)
			for _, locale := range []string{"C", "zh_CN.UTF-8"} {
				t.Setenv("LC_ALL", locale)
				for _, flag := range []string{"", " --lang en", " --lang zh"} {
					inChinese := flag == " --lang zh" || flag == "" && locale != "C"
					code, _, stderr := command(t, strings.Split(c.line+flag, " ")...)
					if code != exitTrouble || strings.Contains(stderr, c.want) != inChinese {
						t.Errorf("%s%s: exit code %d, stderr %q; want %d, and %q: %t", locale, flag, code, stderr, exitTrouble, c.want, inChinese)
					}
				}
			}
		})
	}
}
