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
	"lockstep/internal/history"
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
	rowSource      = "<tr${class}><td>${name}<td>${title}<td>${adds}<td>${broken}</tr>\n"
	oversoldSource = "\n" + `  <span>oversold 超出库存<b>${oversold}</b>more than there were</span>`
	troubleSource  = `<p class="trouble">${trouble}</p>` + "\n"
)

// markup is HTML as it is.
type markup string

// page answers a browser.
func (a *API) page(c *gin.Context) {
	run, on, err := a.pageOfRun(c)
	if err != nil {
		run = fill(troubleSource, map[string]any{"trouble": err})
	}
	page := fill(pageSource, map[string]any{"run": run, "host": c.Request.Host, "rows": rows(on)})
	c.Header("Cache-Control", "no-store")
	c.Data(http.StatusOK, "text/html; charset=utf-8", []byte(page))
}

// pageOfRun shows the current run, and names its lock.
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
	oversold := markup("")
	if report.Oversold > 0 {
		oversold = fill(oversoldSource, map[string]any{"oversold": report.Oversold})
	}
	return fill(runSource, map[string]any{
		"verdict": report.Verdict, "lock": report.Lock, "title": strategy.Title,
		"remaining": report.Remaining, "initial": report.Initial, "sold": report.Sold,
		"lost": report.Lost, "oversold": oversold, "most": report.MaxInFlight,
		"means": report.Means(), "meansZH": meansInChinese(report),
		"redis": a.Redis, "key": key.Name, "held": held,
	}), report.Lock, nil
}

// meansInChinese says what Report.Means says in English.
func meansInChinese(r history.Report) string {
	switch {
	case r.Lost > 0 && r.Oversold > 0:
		return fmt.Sprintf("卖出 %d 件，其中 %d 次库存扣减丢失了。", r.Sold, r.Lost)
	case r.Lost > 0:
		return fmt.Sprintf("卖出 %d 件，其中 %d 次库存扣减丢失了，这 %d 件还会再卖一次。", r.Sold, r.Lost, r.Lost)
	case r.Oversold > 0:
		return fmt.Sprintf("比原有库存多卖了 %d 件。", r.Oversold)
	case r.Lost < 0:
		return "库存减少的比卖出的多：有的件没有订单就不见了。"
	case r.Verdict == history.Pass:
		return fmt.Sprintf("库存与订单一致，最多有 %d 个请求同时在处理。", r.MaxInFlight)
	default:
		return "没有成交，或没有两个请求同时在处理，所以什么也没有验证。"
	}
}

// rows shows every lock, and marks the current one.
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

// fill replaces names by their values: text is escaped, markup is not.
func fill(source string, values map[string]any) markup {
	return markup(os.Expand(source, func(name string) string {
		if as, is := values[name].(markup); is {
			return string(as)
		}
		return html.EscapeString(fmt.Sprint(values[name]))
	}))
}
