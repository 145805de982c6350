package api

import (
	_ "embed" // the page
	"fmt"
	"html"
	"net/http"
	"os"
	"strings"

	"github.com/gin-gonic/gin"

	"lockstep/internal/evolution"
)

// The page and its parts, with ${name} where a value goes. They are no templates of html/template: it calls methods by
// names that it reads, so the linker would keep every method of every type, and the program would be half as big again.
var (
	//go:embed page.html
	pageSource string
	//go:embed page_run.html
	runSource string
)

const (
	rowSource     = "<tr${class}><td>${name}<td>${title}<td>${adds}<td>${broken}</tr>\n"
	troubleSource = `<p class="trouble">${trouble}</p>` + "\n"
)

// markup is HTML as it is.
type markup string

// page is for somebody who opened the address in a browser.
func (a *API) page(c *gin.Context) {
	run, on, err := a.pageOfRun(c)
	if err != nil {
		run = fill(troubleSource, map[string]any{"trouble": err})
	}
	page := fill(pageSource, map[string]any{"run": run, "host": c.Request.Host, "rows": rows(on)})
	c.Header("Cache-Control", "no-store")
	c.Data(http.StatusOK, "text/html; charset=utf-8", []byte(page))
}

// pageOfRun shows the run that is on, and names its lock.
func (a *API) pageOfRun(c *gin.Context) (shown markup, on string, err error) {
	tally, err := a.Shop.Tally(c.Request.Context())
	if err != nil {
		return "", "", err
	}
	_, key, err := a.Shop.LockState(c.Request.Context())
	if err != nil {
		return "", "", err
	}
	strategy, err := evolution.Find(tally.Lock)
	if err != nil {
		return "", "", err
	}
	expires := "never expires"
	if key.TTLMillis >= 0 {
		expires = fmt.Sprintf("expires in %d ms", key.TTLMillis)
	}
	held := fill("${type}, held by <code>${holder}</code>, ${expires}",
		map[string]any{"type": key.Type, "holder": key.Holder, "expires": expires})
	if key.Type == "none" {
		held = "nobody holds it"
	}
	report := tally.Report()
	return fill(runSource, map[string]any{
		"verdict": report.Verdict, "lock": report.Lock, "title": strategy.Title,
		"remaining": report.Remaining, "initial": report.Initial, "sold": report.Sold,
		"lost": report.Lost, "oversold": report.Oversold, "most": report.MaxInFlight,
		"redis": a.Redis, "key": key.Name, "held": held,
	}), report.Lock, nil
}

// rows shows every lock, and marks the one that is on.
func rows(on string) markup {
	var all strings.Builder
	for _, s := range evolution.Table() {
		class := markup("")
		if s.Name == on {
			class = ` class="on"`
		}
		all.WriteString(string(fill(rowSource, map[string]any{
			"class": class, "name": s.Name, "title": s.Title, "adds": s.Adds, "broken": s.StillBroken,
		})))
	}
	return markup(all.String())
}

// fill puts the values where their names are: text escaped, markup as it is.
func fill(source string, values map[string]any) markup {
	return markup(os.Expand(source, func(name string) string {
		if as, is := values[name].(markup); is {
			return string(as)
		}
		return html.EscapeString(fmt.Sprint(values[name]))
	}))
}
