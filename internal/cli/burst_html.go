package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"lockstep/internal/language"
	"lockstep/internal/load"
	"lockstep/internal/web"
)

// burstPage writes the page of --html.
type burstPage struct {
	file     *web.File   // output file; nil: no page was asked for
	watch    *load.Watch // recording of what the server shows; nil: the server cannot be watched
	language language.Language
}

// openBurstPage opens the file of --html and starts to record what the first target shows.
func openBurstPage(cmd *cobra.Command, f burstFlags) (p burstPage, err error) {
	p.language = f.lang
	if p.file, err = web.OpenFile(f.html); err != nil || p.file == nil {
		return p, err
	}
	p.watch, err = load.StartWatch(cmd.Context(), f.Targets[0], string(f.lang))
	if errors.Is(err, load.ErrUnwatched) {
		fmt.Fprint(cmd.ErrOrStderr(), f.lang.Say("burst: %s: %s will contain only the result\n", "burst：%s：%s 里只有结果\n",
			language.TextOf(err, f.lang), f.html))
		return p, nil
	}
	if err != nil {
		err = errors.Join(err, p.file.Close())
	}
	return p, err
}

// write writes the page of a result, if one was asked for.
func (p burstPage) write(ctx context.Context, result load.Result) error {
	if p.file == nil {
		return nil
	}
	data := web.Burst{Result: result, Says: result.Sentence(p.language)}
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

// close ends the recording and closes the file.
func (p burstPage) close() error {
	if p.watch != nil {
		p.watch.Close()
	}
	return p.file.Close()
}
