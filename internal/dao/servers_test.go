package dao_test

import (
	"strings"
	"testing"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"

	"lockstep/internal/dao"
)

// DetectServers tries each command to find out which one a server has. An error that says nothing about the command is not taken for an
// answer.
func TestDetectServers(t *testing.T) {
	const unknown = "ERR unknown command"
	for name, c := range map[string]struct {
		fails map[string]string // what the server says to a command
		want  string            // its command
		err   string
	}{
		"Redis":         {fails: map[string]string{"DELIFEQ": unknown}, want: "DELEX"},
		"Valkey":        {fails: map[string]string{"DELEX": unknown}, want: "DELIFEQ"},
		"older":         {fails: map[string]string{"DELEX": unknown, "DELIFEQ": unknown}},
		"not permitted": {fails: map[string]string{"DELEX": "NOPERM no", "DELIFEQ": unknown}, want: "DELEX"},
		"loading":       {fails: map[string]string{"DELEX": "LOADING wait"}, err: "refuses: LOADING wait; start lockstep again"},
	} {
		t.Run(name, func(t *testing.T) {
			m := miniredis.RunT(t)
			m.Server().SetPreHook(func(peer *server.Peer, command string, _ ...string) bool {
				switch {
				case command == "HELLO":
					peer.WriteStrings([]string{"server", "valkey", "version", "9.1.2"})
				case c.fails[command] != "":
					peer.WriteError(c.fails[command])
				case command == "DELIFEQ": // which miniredis does not have
					peer.WriteInt(0)
				default:
					return false
				}
				return true
			})
			r, err := dao.Open(t.Context(), dao.Config{Addrs: []string{m.Addr()}})
			switch {
			case c.err != "":
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Errorf("%v; want %s", err, c.err)
				}
			case err != nil:
				t.Error(err)
			default:
				if r.Servers.CompareAndDelete != c.want || r.Servers.Redis != "Valkey 9.1.2" {
					t.Errorf("%+v; want Valkey 9.1.2 with %q", r.Servers, c.want)
				}
				r.Close()
			}
		})
	}
}
