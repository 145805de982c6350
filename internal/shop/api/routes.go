package api

import "net/http"

// route is one that a handler of another package serves.
type route struct {
	method, path string
	handler      http.Handler // nil: there is no such route
}

func (a *API) elsewhere() []route {
	return []route{
		{http.MethodGet, "/metrics", a.Metrics},
		{http.MethodGet, "/events", a.Events},
		{http.MethodGet, "/live", a.Live},
		{http.MethodGet, "/live/pair", a.Live},
		{http.MethodGet, "/live/file", a.Live},
		{http.MethodPost, "/bursts", a.Live},
		{http.MethodGet, "/bursts/:id", a.Live},
		{http.MethodDelete, "/bursts/:id", a.Live},
		{http.MethodGet, "/nodes", a.NodeFaults},
		{http.MethodPost, "/nodes/:node", a.NodeFaults},
		{http.MethodGet, "/seat", a.Seat},
		{http.MethodGet, "/seat/*path", a.Seat},
		{http.MethodGet, "/labs", a.Labs},
		{http.MethodGet, "/course", a.Course},
		{http.MethodGet, "/course/:lesson", a.Course},
		{http.MethodGet, "/room", a.Course},
		{http.MethodPost, "/room", a.Course},
		{http.MethodPut, "/room", a.Course},
		{http.MethodDelete, "/room", a.Course},
		{http.MethodGet, "/room/:lesson", a.Course},
		{http.MethodGet, roomJoinPath, a.Course},
		{http.MethodGet, "/room/board", a.Course},
		{http.MethodPost, roomJoinPath, a.Course},
		{http.MethodGet, participantsPath, a.Course},
		{http.MethodDelete, participantsPath + "/:who", a.Course},
		{http.MethodPost, answerPath, a.Course},
		{http.MethodPost, solvedPath, a.Course},
		{http.MethodGet, "/join", a.Course},
	}
}
