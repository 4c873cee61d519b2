package simulator

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"sync"
)

// Error is an error as a cloud answers it.
type Error struct {
	Status  int    `json:"-"`              // of HTTP
	Code    string `json:"code,omitempty"` // the cloud's word for it, if it has one
	Message string `json:"message"`
}

// Error returns the code and the message.
func (e *Error) Error() string {
	if e.Code == "" {
		return e.Message
	}
	return e.Code + ": " + e.Message
}

// Errorf returns an error with a message.
func Errorf(status int, code, format string, args ...any) *Error {
	return &Error{status, code, fmt.Sprintf(format, args...)}
}

// Call carries out a request. Another error than an *Error is answered with status 500.
type Call func(r *http.Request) (answer any, err error)

// API answers the calls of a cloud's own API. It counts and logs them, and plays the faults that strike them.
type API struct {
	Base *Base
	// Write answers a call: with e if that is not nil, or else with the call's answer. Optional: it writes the answer
	// as JSON, or {"error": e}.
	Write func(w http.ResponseWriter, r *http.Request, answer any, e *Error)
	// Refusals holds the errors of Throttle, Denied, Failed and FailedYetDone. Optional: their status is 429, 403, 500
	// or 500.
	Refusals map[Kind]*Error
	// Unknown is the error about an unknown call, usually without a message. Optional: its status is 501.
	Unknown Error
	// Spared names calls that no fault strikes, for those that a provider repeats many times in a row. Optional.
	Spared []string
	// Lock is held while a call is carried out. Optional.
	Lock sync.Locker
}

// refusals holds the default of API.Refusals.
var refusals = map[Kind]*Error{
	Throttle:      {http.StatusTooManyRequests, "TooManyRequests", "there are too many requests"},
	Denied:        {http.StatusForbidden, "Forbidden", "a permission is missing"},
	Failed:        {http.StatusInternalServerError, "InternalError", "an internal error has occurred"},
	FailedYetDone: {http.StatusInternalServerError, "InternalError", "an internal error has occurred"},
}

// Routes answers calls by their patterns, which are those of [http.ServeMux] and the calls' names: "GET /vms/{id}".
func (a *API) Routes(calls map[string]Call) http.Handler {
	a.Base.Faults.Know(slices.Collect(maps.Keys(calls))...)
	mux := http.NewServeMux()
	for pattern, do := range calls {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) { a.Serve(w, r, pattern, do) })
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { a.Serve(w, r, r.Method+" "+r.URL.Path, nil) })
	return mux
}

// Serve answers a call of that name. If do is nil, the call is unknown.
func (a *API) Serve(w http.ResponseWriter, r *http.Request, name string, do Call) {
	a.Base.Journal.CountCall(name)
	if do == nil {
		a.Base.Journal.CountUnknown(name)
		e := cmp.Or(a.Unknown, Error{Status: http.StatusNotImplemented, Code: "NotImplemented"})
		e.Message = cmp.Or(e.Message, "the simulator does not know "+name)
		a.answer(w, r, name, nil, &e)
		return
	}
	var effect Effect
	if !slices.Contains(a.Spared, name) {
		effect = a.Base.Faults.Call(name)
	}
	if effect.Silent || effect.Lost || effect.Held {
		slog.Warn(name, "answer", "none")
	}
	effect.Play(w, r,
		func(w http.ResponseWriter, k Kind) { a.answer(w, r, name, nil, cmp.Or(a.Refusals[k], refusals[k])) },
		func(w http.ResponseWriter, r *http.Request) {
			if a.Lock != nil {
				a.Lock.Lock()
				defer a.Lock.Unlock()
			}
			answer, err := do(r)
			a.answer(w, r, name, answer, err)
		})
}

// answer logs a call, counts a refusal and writes an answer.
func (a *API) answer(w http.ResponseWriter, r *http.Request, name string, answer any, err error) {
	var e *Error
	if err != nil && !errors.As(err, &e) {
		e = Errorf(http.StatusInternalServerError, "", "%v", err)
	}
	if e != nil {
		a.Base.Journal.CountRefusal(name, cmp.Or(e.Code, e.Message))
		slog.Warn(name, "status", e.Status, "code", e.Code)
	} else {
		slog.Info(name, "status", http.StatusOK)
	}
	switch {
	case a.Write != nil:
		a.Write(w, r, answer, e)
	case e != nil:
		WriteJSON(w, e.Status, map[string]any{"error": e})
	default:
		WriteJSON(w, http.StatusOK, answer)
	}
}

// WriteJSON writes an answer. Without a body, it has only a status.
func WriteJSON(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	if body != nil {
		_ = json.NewEncoder(w).Encode(body) // the client may have gone
	}
}
