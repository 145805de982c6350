package api

import (
	_ "embed" // the page
	"html/template"
	"net/http"

	"github.com/gin-gonic/gin"

	"lockstep/internal/evolution"
	"lockstep/internal/history"
	"lockstep/internal/service"
)

//go:embed page.html
var pageSource string

// page is for somebody who opened the address in a browser.
func (a *API) page(c *gin.Context) {
	tmpl, err := template.New("page").Parse(pageSource)
	if err != nil {
		a.fail(c, err)
		return
	}
	view := struct {
		Host, Redis, Trouble string
		Report               history.Report
		Strategy             evolution.Strategy
		Key                  service.KeyState
		Table                []evolution.Strategy
	}{Host: c.Request.Host, Redis: a.Redis, Table: evolution.Table()}
	tally, err := a.Shop.Tally(c.Request.Context())
	if err == nil {
		view.Report = tally.Report()
		_, view.Key, err = a.Shop.LockState(c.Request.Context())
	}
	if err == nil {
		view.Strategy, err = evolution.Find(tally.Lock)
	}
	if err != nil {
		view.Trouble = err.Error()
	}
	c.Header("Content-Type", "text/html; charset=utf-8")
	c.Header("Cache-Control", "no-store")
	c.Status(http.StatusOK)
	if err := tmpl.Execute(c.Writer, view); err != nil {
		a.Log.Warn("page", "error", err)
	}
}
