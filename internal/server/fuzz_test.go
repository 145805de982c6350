package server_test

import (
	"encoding/json"
	"testing"

	"lockstep/internal/service/history"
	"lockstep/internal/test/shoptest"
)

// Every body starts a run with the stock it names, or is refused with a reason and changes nothing.
func FuzzPutInventory(f *testing.F) {
	for _, seed := range []string{
		`{"stock":200}`, `{"stock":0}`, `{"stock":-1}`, `{"stock":1e3}`, `{"stock":null}`, `{"stock":"1"}`, `{"stock":1}x`, `{"STOCK":5}`,
		`[]`, `null`, ``, `{`, `{"stock":18446744073709551617}`, "\xff", `{"stock":1,"stock":2}`,
	} {
		f.Add([]byte(seed))
	}
	server := shoptest.Start(f)
	f.Fuzz(func(t *testing.T, body []byte) {
		s := shoptest.NewClient(t, server.Addr)
		before := s.Report()
		status, text := s.Send("PUT", "/inventory", string(body))
		after := s.Report()
		switch status {
		case 200:
			var request struct{ Stock float64 } // 1e3 is a whole number
			if err := json.Unmarshal(body, &request); err != nil || float64(after.Initial) != request.Stock || after.RunID == before.RunID {
				t.Errorf("%q: %v; the run is %+v", body, err, after)
			}
		case 400:
			var answer struct {
				Error struct{ Code, Message string }
			}
			if err := json.Unmarshal([]byte(text), &answer); err != nil || answer.Error.Message == "" || after != before {
				t.Errorf("%q: %s, %v; the run went from %+v to %+v", body, text, err, before, after)
			}
		default:
			t.Errorf("%q: %d %s", body, status, text)
		}
	})
}

// For every value of the key inventory, a report shows a run that began with it, or says what is wrong; and a sale takes one piece, or says
// why it cannot.
func FuzzStockInRedis(f *testing.F) {
	for _, seed := range []string{
		"", "abc", "-5", "0", "7", "+7", "007", " 7", "1e3", "9223372036854775808", "1000000000", "1000000001", "\x00", "☃",
	} {
		f.Add(seed, false)
	}
	f.Add("1", true)
	server := shoptest.Start(f)
	f.Fuzz(func(t *testing.T, value string, list bool) {
		s := shoptest.NewClient(t, server.Addr)
		if err := server.Outside.Del(t.Context(), "inventory").Err(); err != nil {
			t.Fatal(err)
		}
		var err error
		if list {
			err = server.Outside.RPush(t.Context(), "inventory", value).Err()
		} else {
			err = server.Outside.Set(t.Context(), "inventory", value, 0).Err()
		}
		if err != nil {
			t.Fatal(err)
		}
		var report history.Report
		status := s.Ask("GET", "/inventory", "", &report)
		saleStatus, code := s.Sell()
		switch {
		case status == 503 && saleStatus == 503 && code == "bad_stock":
		case status == 200 && !list && report.Remaining > 0 && saleStatus == 200:
		case status == 200 && !list && report.Remaining == 0 && saleStatus == 409 && code == "sold_out":
		default:
			t.Errorf("inventory %q: GET %d %+v, sale %d %s", value, status, report, saleStatus, code)
		}
	})
}
