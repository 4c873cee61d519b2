package arm

import (
	"encoding/json"
	"errors"
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
	Kinds   []string
	Store   *Store
	Faults  *simulator.Faults
	Journal *simulator.Journal
}

// ServeHTTP answers a request, subject to faults.
func (s *Server) ServeHTTP(w http.ResponseWriter, h *http.Request) {
	body, err := io.ReadAll(h.Body)
	if err != nil {
		return // the client has gone
	}
	r := &Request{Request: h, ID: Parse(h.URL.Path), Body: body}
	name := h.Method + " " + r.ID.Kind
	s.Journal.CountCall(name)
	call := s.call(r)
	if call == nil {
		s.Journal.CountUnknown(name)
		s.refuse(w, name, Errorf(http.StatusNotFound, "InvalidResourceType", "The simulator does not know %s.", name))
		return
	}
	s.Faults.Call(name).Play(w, h,
		func(w http.ResponseWriter, kind simulator.Kind) { s.refuse(w, name, failure(w, kind)) },
		func(w http.ResponseWriter, _ *http.Request) {
			a, err := call(r)
			if err != nil {
				s.refuse(w, name, err)
				return
			}
			answer(w, r, a)
		})
}

// failure returns the error of a kind of fault.
func failure(w http.ResponseWriter, kind simulator.Kind) error {
	switch kind {
	case simulator.Throttle:
		w.Header().Set("Retry-After", "2") // seconds
		return Errorf(http.StatusTooManyRequests, "TooManyRequests", "The request is being throttled.")
	case simulator.Denied:
		return Errorf(http.StatusForbidden, "AuthorizationFailed", "The client does not have authorization to perform this.")
	default:
		return Errorf(http.StatusConflict, "InternalExecutionError", "An internal execution error occurred.")
	}
}

// refuse answers an error. One that is no Error is an internal one.
func (s *Server) refuse(w http.ResponseWriter, name string, err error) {
	e, is := errors.AsType[*Error](err)
	if !is {
		e = Errorf(http.StatusInternalServerError, "InternalServerError", "%v", err)
	}
	s.Journal.CountRefusal(name, e.Code)
	write(w, e.Status, Object{"error": e})
}

// answer writes an answer.
func answer(w http.ResponseWriter, r *Request, a Answer) {
	if a.Begun != "" {
		verb := operations + "/create"
		if a.Status == http.StatusAccepted {
			verb = operations + "/delete"
		}
		w.Header().Set("Azure-AsyncOperation", "https://"+r.Host+a.Begun+verb+"?api-version=2025-01-01")
	}
	if a.Status == 0 {
		a.Status = http.StatusOK
	}
	write(w, a.Status, a.Body)
}

func write(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	if body != nil {
		_ = json.NewEncoder(w).Encode(body) // the client may have gone
	}
}
