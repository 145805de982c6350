package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"lockstep/internal/language"
	"lockstep/internal/shop/load"
	"lockstep/internal/web"
)

// burstPage is what --html writes. Nil, if the flag is not given, does nothing.
type burstPage struct {
	file     *web.File
	watch    *load.Watch // nil: the server cannot be watched
	language language.Language
}

// openBurstPage opens the file, and begins to watch the server.
func openBurstPage(cmd *cobra.Command, f burstFlags) (*burstPage, error) {
	file, err := web.OpenFile(f.html)
	if err != nil || file == nil {
		return nil, err
	}
	p := &burstPage{file: file, language: f.in}
	p.watch, err = load.Watched(cmd.Context(), f.Targets[0], string(f.in))
	if errors.Is(err, load.ErrUnwatched) {
		fmt.Fprintf(cmd.ErrOrStderr(), "burst: %v: %s will have the result alone\n", err, f.html)
		err = nil
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return p, nil
}

// write writes the document.
func (p *burstPage) write(ctx context.Context, result load.Result) error {
	if p == nil {
		return nil
	}
	data := web.Burst{Result: result, Says: result.Says(p.language)}
	if p.watch != nil {
		frames := p.watch.Frames(ctx, result)
		data.Frames, data.Pairs = frames, p.watch.Pairs(ctx, frames)
	}
	document, err := web.Document(web.KindBurst, "lockstep burst: "+result.Lock, data, p.language)
	if err != nil {
		return err
	}
	return p.file.Write(document)
}

// close ends the watch, and closes the file.
func (p *burstPage) close() error {
	if p == nil {
		return nil
	}
	if p.watch != nil {
		p.watch.Close()
	}
	return p.file.Close()
}
