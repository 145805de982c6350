package api

import "net/http"

// route is one that a handler of another package serves.
type route struct{ method, path string }

func liveRoutes() []route {
	return []route{
		{http.MethodGet, "/live"},
		{http.MethodGet, "/live/pair"},
		{http.MethodGet, "/live/file"},
		{http.MethodPost, "/bursts"},
		{http.MethodGet, "/bursts/:id"},
		{http.MethodDelete, "/bursts/:id"},
	}
}

func courseRoutes() []route {
	return []route{
		{http.MethodGet, "/course"},
		{http.MethodGet, "/course/:lesson"},
		{http.MethodGet, "/room"},
		{http.MethodPost, "/room"},
		{http.MethodDelete, "/room"},
		{http.MethodGet, "/room/:lesson"},
		{http.MethodPost, answerPath},
	}
}
