package dao_test

import (
	"testing"

	"lockstep/internal/dao"
)

// An address survives being written: so replicas are given it.
func TestAddressFormatsAndParses(t *testing.T) {
	for text, a := range map[string]dao.Address{
		"127.0.0.1:6379":                      {Dial: "127.0.0.1:6379"},
		"redis://h:6379/2":                    {Dial: "h:6379", DB: 2},
		"redis://[::1]:6379/15":               {Dial: "[::1]:6379", DB: 15},
		"unix:///run/redis.sock":              {Dial: "/run/redis.sock"},
		"unix:///run/my%20r%2Cedis.sock?db=2": {Dial: "/run/my r,edis.sock", DB: 2},
	} {
		t.Run(text, func(t *testing.T) {
			if got := a.String(); got != text {
				t.Errorf("%+v is written %s; want %s", a, got, text)
			}
			if got, err := dao.ParseAddress(text); err != nil || got != a {
				t.Errorf("%s is read %+v, %v; want %+v", text, got, err, a)
			}
		})
	}
}
