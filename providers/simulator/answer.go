package simulator

import (
	"maps"
	"net/http"
)

// Answer keeps the answer to a call until it is sent, if ever.
type Answer struct {
	Status int // of HTTP; 0 is sent as 200
	Body   []byte

	header http.Header
}

// Header returns the answer's header.
func (a *Answer) Header() http.Header {
	if a.header == nil {
		a.header = http.Header{}
	}
	return a.header
}

// Write appends to the body.
func (a *Answer) Write(b []byte) (int, error) {
	a.Body = append(a.Body, b...)
	return len(b), nil
}

// WriteHeader sets the status.
func (a *Answer) WriteHeader(status int) { a.Status = status }

// Send gives the client the answer.
func (a *Answer) Send(w http.ResponseWriter) {
	maps.Copy(w.Header(), a.header)
	if a.Status != 0 {
		w.WriteHeader(a.Status)
	}
	_, _ = w.Write(a.Body) // the client may have gone
}
