package live_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"lockstep/internal/lock/verdict"
	"lockstep/internal/watch/live"
	"lockstep/internal/watch/witness"
)

// answer is that of GET /live/file.
type answer struct {
	code   int
	header http.Header
	text   string
}

// saved is GET /live/file, and the data in it.
func saved(t *testing.T, url, lang string) (answer, content) {
	t.Helper()
	response, err := http.Get(url + "/live/file?lang=" + lang) //nolint:noctx // a test
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(text), `id="data">`)
	data, _, _ := strings.Cut(after, "</script>")
	var has content
	if err := json.Unmarshal([]byte(data), &has); err != nil && response.StatusCode == http.StatusOK {
		t.Fatalf("%v: %s", err, data)
	}
	return answer{response.StatusCode, response.Header, string(text)}, has
}

// content is what a test reads of a file's data.
type content struct {
	Frames []struct {
		Name string
		Data json.RawMessage
	}
	Pairs map[string]struct{ Steps []struct{ Says string } }
}

// The run is saved as one file in the reader's language, with what two sales did, also when nobody was watching before.
func TestTheRunAsAFile(t *testing.T) {
	t.Parallel()
	for lang, wants := range map[string][]string{
		"en": {"A removed B's lock", "A and B were inside together for 2.0 s", "2 sold, but the stock fell by 1 only"},
		"zh": {"A 删除了 B 的锁", "卖出 2 件，库存只减了 1 件：丢失了 1 次扣减"},
	} {
		shop := newStage("v2")
		_, url := show(t, shop)
		shop.set(func(look *live.Look) {
			look.Report.Sold, look.Report.Remaining, look.Report.Lost, look.Report.Verdict = 2, 199, 1, verdict.Oversold
		})
		shop.play(foreignDelete()...)
		got, has := saved(t, url, lang)
		header, text := got.header, got.text
		if header.Get("Content-Type") != "text/html; charset=utf-8" || header.Get("X-Content-Type-Options") != "nosniff" ||
			header.Get("Content-Disposition") != `attachment; filename="lockstep-shop-v2.html"` {
			t.Errorf("%s: the header is %v", lang, header)
		}
		for _, want := range append(wants, `<html lang="`+lang+`">`, "default-src 'none'") {
			if !strings.Contains(text, want) {
				t.Errorf("%s: it does not say %s", lang, want)
			}
		}
		for _, wrong := range []string{`src=`, `href="/`, `url(`, `@import`, "\nimport "} {
			if strings.Contains(text, wrong) {
				t.Errorf("%s: it has %q", lang, wrong)
			}
		}
		for _, name := range []string{"run", "tally", "lanes", "sections", "stock", "finding", "story"} {
			if names := has.names(); names[name] == 0 {
				t.Errorf("%s: its frames are %v; want %s", lang, names, name)
			}
		}
		if said := has.said("A B"); !strings.Contains(said, wants[0]) {
			t.Errorf("%s: the two sales are drawn as %q", lang, said)
		}
	}
}

func (c content) names() map[string]int {
	names := map[string]int{}
	for _, f := range c.Frames {
		names[f.Name]++
	}
	return names
}

// said is what the steps of two sales say.
func (c content) said(pair string) (all string) {
	for _, step := range c.Pairs[pair].Steps {
		all += step.Says + "\n"
	}
	return all
}

// A shop that cannot be asked is an error, and no empty file.
func TestNoFileOfNothing(t *testing.T) {
	t.Parallel()
	hub, url := show(t, mute{})
	for _, want := range []struct {
		lang, says string
		code       int
	}{{"en", "redis_unavailable", http.StatusServiceUnavailable}, {"fr", "bad_request", http.StatusBadRequest}} {
		if got, _ := saved(t, url, want.lang); got.code != want.code || !strings.Contains(got.text, want.says) {
			t.Errorf("%s: %d %s", want.lang, got.code, got.text)
		}
	}
	hub.Close()
	if got, _ := saved(t, url, "en"); got.code != http.StatusServiceUnavailable || !strings.Contains(got.text, "ending") {
		t.Errorf("when the hub is closed: %d %s", got.code, got.text)
	}
}

// mute is a shop whose Redis is gone.
type mute struct{}

func (mute) Follow(ctx context.Context, _ func(...witness.Event)) { <-ctx.Done() }

func (mute) Look(context.Context) (live.Look, error) { return live.Look{}, errors.New("no Redis") }
