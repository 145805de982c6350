package live

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"lockstep/internal/language"
	"lockstep/internal/lock"
	"lockstep/internal/shop/api"
	"lockstep/internal/shop/load"
	"lockstep/internal/web"
)

const (
	mostFiles = 2               // that are made and sent at a time; others wait
	newsTime  = 2 * time.Second // for what is known of the shop to come, if nobody was watching it
	drawTime  = 2 * time.Second // for drawing pairs of sales: when hundreds are inside together, each takes long
)

var errNothingSeen = lock.WithCode("redis_unavailable", "nothing is seen of the shop: does Redis answer?")

// files gives the run that is shown as one file, which shows it without a server.
type files struct {
	hub  *Hub
	room chan struct{} // has a place for each file that may be made at a time
}

// answer answers GET /live/file.
func (f files) answer(w http.ResponseWriter, r *http.Request) error {
	in, err := api.Language(r)
	if err != nil {
		return err
	}
	select {
	case f.room <- struct{}{}:
		defer func() { <-f.room }()
	case <-r.Context().Done():
		return nil
	}
	done, leave, err := f.hub.watch()
	if err != nil {
		return err
	}
	defer leave()
	frames := f.hub.whole(r.Context(), done)
	frames = slices.DeleteFunc(frames, func(f *frame) bool { return f.name == "trouble" }) // it is of the moment
	if len(frames) == 0 {
		return errNothingSeen
	}
	return f.write(r.Context(), w, frames, in)
}

// write sends the file that is made of frames.
func (f files) write(ctx context.Context, w http.ResponseWriter, frames []*frame, in language.Language) error {
	var run struct{ Lock string }
	if err := json.Unmarshal(frames[0].data[in], &run); err != nil { // it says which run it is
		return err
	}
	seen := make([]load.Frame, 0, len(frames))
	for _, frame := range frames {
		seen = append(seen, load.Frame{Name: frame.name, Data: frame.data[in]})
	}
	ctx, cancel := context.WithTimeout(ctx, drawTime)
	defer cancel()
	pairs := load.Pairs(seen, func(a, b string) json.RawMessage { return f.hub.drawn(ctx, in, a, b) })
	document, err := web.Document(web.KindRun, "lockstep: "+run.Lock, web.Run{
		At: f.hub.Now(), Watched: web.Watched{Frames: seen, Pairs: pairs},
	}, in)
	if err == nil {
		web.Save(w, "lockstep-shop-"+run.Lock+".html", document)
	}
	return err
}

// whole gives all frames of the run. It waits for those of the sales that the ledger counts, but not for long: if somebody watches already,
// they are there.
func (h *Hub) whole(ctx context.Context, done <-chan struct{}) []*frame {
	late, cancel := context.WithTimeout(ctx, newsTime)
	defer cancel()
	for {
		_, frames, news := h.framesAfter(0)
		if h.isComplete() {
			_, frames, _ = h.framesAfter(0)
			return frames
		}
		select {
		case <-news:
		case <-done:
			return frames
		case <-late.Done():
			return frames
		}
	}
}

// isComplete reports whether the frames tell of each sale that the tally counts.
func (h *Hub) isComplete() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.scene != nil && h.scene.stock.sold() >= h.scene.last.Report.Sold
}

// drawn is what two sales did, as GET /live/pair tells it; nil if it is not known any more, or ctx has ended.
func (h *Hub) drawn(ctx context.Context, in language.Language, a, b string) json.RawMessage {
	if ctx.Err() != nil {
		return nil
	}
	drawn, err := h.pair(in, a, b)
	if err != nil {
		return nil
	}
	text, err := json.Marshal(drawn)
	if err != nil {
		return nil
	}
	return text
}
