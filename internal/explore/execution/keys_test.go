package execution

import (
	"errors"
	"strings"
	"testing"

	"github.com/alicebob/miniredis/v2/proto"

	"lockstep/internal/explore/simredis"
)

// A lock's keys have its name or its tag; other keys are refused, with a name that would do.
func TestKeys(t *testing.T) {
	m, err := simredis.NewMemory("a run")
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	for sent, says := range map[string]string{
		"SET distributedLock A":                 "",
		"SET {distributedLock}:fence 1":         "",
		"SET {distributedLock}fence 1":          "call it {distributedLock}:{distributedLock}fence",
		"SET my-lock A":                         "my-lock is none of them: call it {distributedLock}:my-lock",
		"HSET distributedLock:count A 1":        "call it {distributedLock}:count",
		"SET {inventory}:lock A":                "call it {distributedLock}:lock",
		"SET inventory 99":                      "",
		"HSET {inventory}:ledger:run:older 1 1": "",
		"RENAME inventory distributedLock":      "one command has distributedLock and inventory",
	} {
		cluster := m.NewCluster(m.WithStock(100), 0)
		command := cluster.Command([]byte(proto.Strings(strings.Fields(sent)...)))
		answer, err := cluster.Would(cluster.Servers()[0], 0, command)
		if err != nil {
			t.Fatal(err)
		}
		switch err := itsKeys(command, answer.Then); {
		case says == "" && err != nil:
			t.Errorf("%s: %v", sent, err)
		case says != "" && (!errors.Is(err, ErrKey) || !strings.Contains(err.Error(), says)):
			t.Errorf("%s: %v; want %q", sent, err, says)
		}
	}
}
