package arm

import (
	"cmp"
	"encoding/json"
	"io"
	"net/http"

	"github.com/plumbline-e2e/plumbline/providers/simulator"
)

// Request is a call of a client.
type Request struct {
	*http.Request
	ID   ID
	Body []byte
}

// Decode reads the body into a value.
func (r *Request) Decode(into any) error {
	if err := json.Unmarshal(r.Body, into); err != nil {
		return Errorf(http.StatusBadRequest, "InvalidRequestContent", "The request content was invalid: %v.", err)
	}
	return nil
}

// Answer is the answer to a call that succeeds.
type Answer struct {
	Status int // 200 if zero
	Body   any
	// Begun is the path of a resource that the call has begun to create or, with status 202, to
	// delete. Clients follow it. Empty: it is done.
	Begun string
}

// List returns the answer with a collection's resources, on one page.
func List[T any](items []T) Answer { return Answer{Body: Object{"value": items}} }

// Call carries out a request. Errors that aren't an *Error are answered as internal ones.
type Call func(*Request) (Answer, error)

// Server answers calls.
type Server struct {
	// Calls holds the calls that are special, by method and kind:
	// "PUT microsoft.compute/virtualmachines/*".
	Calls map[string]Call
	// Kinds lists the kinds, without /*, of resources that are created, read, changed and deleted as
	// all others. Calls wins.
	Kinds []string
	Store *Store
	Base  *simulator.Base
}

// refusals holds the errors of faults.
var refusals = map[simulator.Kind]*Error{
	simulator.Throttle:      Errorf(http.StatusTooManyRequests, "TooManyRequests", "The request is being throttled."),
	simulator.Denied:        Errorf(http.StatusForbidden, "AuthorizationFailed", "The client may not do this."),
	simulator.FailedYetDone: Errorf(http.StatusConflict, "InternalExecutionError", "An internal error occurred."),
}

// ServeHTTP answers a request, subject to faults.
func (s *Server) ServeHTTP(w http.ResponseWriter, h *http.Request) {
	body, err := io.ReadAll(h.Body)
	if err != nil {
		return // the client has gone
	}
	r := &Request{Request: h, ID: Parse(h.URL.Path), Body: body}
	var do simulator.Call
	if call := s.call(r); call != nil {
		do = func(*http.Request) (any, error) { return call(r) }
	}
	api := &simulator.API{
		Base: s.Base, Write: write, Refusals: refusals,
		Unknown: Error{Status: http.StatusNotFound, Code: "InvalidResourceType"},
	}
	api.Serve(w, h, h.Method+" "+r.ID.Kind, do)
}

// write writes an answer or an error.
func write(w http.ResponseWriter, r *http.Request, answer any, e *Error) {
	if e != nil {
		if e.Status == http.StatusTooManyRequests {
			w.Header().Set("Retry-After", "2") // seconds
		}
		e = Errorf(e.Status, cmp.Or(e.Code, "InternalServerError"), "%s", e.Message)
		simulator.WriteJSON(w, e.Status, Object{"error": e})
		return
	}
	a, _ := answer.(Answer)
	if a.Begun != "" {
		verb := operations + "/create"
		if a.Status == http.StatusAccepted {
			verb = operations + "/delete"
		}
		w.Header().Set("Azure-AsyncOperation", "https://"+r.Host+a.Begun+verb+"?api-version=2025-01-01")
	}
	simulator.WriteJSON(w, cmp.Or(a.Status, http.StatusOK), a.Body)
}
