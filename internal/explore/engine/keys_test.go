package engine

import (
	"errors"
	"strings"
	"testing"

	"github.com/alicebob/miniredis/v2/proto"

	"lockstep/internal/dao"
	"lockstep/internal/explore/simredis"
)

// A lock's keys have its name or its hash tag. Other keys are refused, and the error suggests a valid name.
func TestCheckKeysRefusesForeignKeys(t *testing.T) {
	m, err := simredis.NewSimulator(dao.IsKey)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	const both = "one command uses distributedLock and inventory"
	for sent, wantErr := range map[string]string{
		"SET distributedLock A":                 "",
		"SET {distributedLock}:fence 1":         "",
		"SET {distributedLock}fence 1":          "call it {distributedLock}:{distributedLock}fence",
		"SET my-lock A":                         "my-lock is none of them: call it {distributedLock}:my-lock",
		"HSET distributedLock:count A 1":        "call it {distributedLock}:count",
		"SET {inventory}:lock A":                "call it {distributedLock}:lock",
		"SET inventory 99":                      "",
		"HSET {inventory}:ledger:run:older 1 1": "",

		"HSET distributedLock inventory A":                                    "", // inventory is a field here, not a key
		"RENAME inventory distributedLock":                                    both,
		"DEL distributedLock inventory":                                       both,
		"MSET distributedLock A inventory 1":                                  both,
		"MSET distributedLock inventory":                                      "",
		"EVAL return{redis.call('INCR',KEYS[1])} 1 distributedLock inventory": "",
		"EVAL return{redis.call('INCR',KEYS[1])} 2 distributedLock inventory": both,
		"MULTI | SET distributedLock A | DECR inventory | EXEC":               both,
	} {
		cluster := m.NewCluster(m.Empty(), 0)
		var text strings.Builder
		for command := range strings.SplitSeq(sent, " | ") {
			text.WriteString(proto.Strings(strings.Fields(command)...))
		}
		command := cluster.Command([]byte(text.String()))
		answer, err := cluster.Evaluate(cluster.Servers()[0], 0, command)
		if err != nil {
			t.Fatal(err)
		}
		switch err := checkKeys(command, answer.NewState); {
		case wantErr == "" && err != nil:
			t.Errorf("%s: %v; want no error", sent, err)
		case wantErr != "" && (!errors.Is(err, ErrKey) || !strings.Contains(err.Error(), wantErr)):
			t.Errorf("%s: %v; want %q", sent, err, wantErr)
		}
	}
}
