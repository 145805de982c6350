package cli

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"testing"

	"lockstep/internal/test/redistest"
	"lockstep/internal/test/shoptest"
	"lockstep/internal/test/suite"
	"lockstep/internal/watch/live"
)

const manyWatchers = 20

// Twenty who watch are shown the same sales, each of the burst's: behind a front, and at servers that know each other.
func TestManyWatchersSeeTheSame(t *testing.T) {
	suite.LongOnly(t, "TestPeers has two watchers, and TestSettingsReachEveryReplica has one behind a front")
	suite.Needs(t, "redis-server")
	c := startCluster(t, "--replicas", "2", "--lock", "v10")
	redis, first, second := redistest.Start(t).Addr, shoptest.UnusedAddr(t), shoptest.UnusedAddr(t)
	common := []string{"--redis.addrs", redis, "--lock.version", "v10"}
	one := shoptest.Start(t, append(common, "--server.addr", first, "--server.peers", second, "--server.replica", "one")...)
	two := shoptest.Start(t, append(common, "--server.addr", second, "--server.peers", first, "--server.replica", "two")...)
	for name, shops := range map[string][]shoptest.Client{"front": {c.Client}, "peers": {one.Client, two.Client}} {
		const sales = 100
		var watchers []*shoptest.Watcher
		for i := range manyWatchers {
			watcher := shops[i%len(shops)].Watch()
			watcher.Until("event: run")
			watchers = append(watchers, watcher)
		}
		var burst live.BurstAnswer
		if status := shops[0].Ask(http.MethodPost, "/bursts", fmt.Sprintf(`{"n":%d,"c":20}`, sales), &burst); status != http.StatusAccepted {
			t.Fatalf("%s: POST /bursts: %d", name, status)
		}
		for i, watcher := range watchers {
			suite.Eventually(t, fmt.Sprintf("%s: watcher %d is shown each sale", name, i), func() bool {
				return len(sectionsIn(watcher.String())) >= sales
			})
		}
		want := sectionsIn(watchers[0].String())
		if len(want) != sales {
			t.Errorf("%s: %d sales are shown; want %d", name, len(want), sales)
		}
		replicas := map[string]bool{}
		for _, section := range sectionShown.FindAllStringSubmatch(watchers[0].String(), -1) {
			replicas[section[2]] = true
		}
		if len(replicas) != 2 {
			t.Errorf("%s: those of %v are shown; want two replicas", name, replicas)
		}
		for i, watcher := range watchers {
			if got := sectionsIn(watcher.String()); !slices.Equal(got, want) {
				t.Errorf("%s: watcher %d is shown\n%v\nand the first\n%v", name, i, got, want)
			}
		}
	}
}

var sectionShown = regexp.MustCompile(`"sale":"([^"]+)","replica":"([^"]+)","from":`)

// sectionsIn are the sales that were shown to have been inside.
func sectionsIn(sent string) (sales []string) {
	for _, match := range sectionShown.FindAllStringSubmatch(sent, -1) {
		sales = append(sales, match[1])
	}
	slices.Sort(sales)
	return slices.Compact(sales)
}
