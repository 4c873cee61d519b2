package faults

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// ofCall begins the kinds of calls to a cloud; see Request.Kind.
const ofCall = "call"

// OnCall selects the controller's calls to its simulated cloud by their name, such as ec2:CreateFleet.
func OnCall(name string) Requests { return Requests{call: name} }

// KindOfCall returns a call's kind, as Request.Kind of requests to the API server.
func KindOfCall(name string) string { return ofCall + " " + name }

// OfCloud reports whether the fault strikes calls to the simulated cloud.
func (f Fault) OfCloud() bool { return f.on.call != "" }

// Cloud asks a simulator about its faults: POST begins the one of the query, GET lists all, DELETE ends all. See
// package simulator of the providers.
type Cloud func(ctx context.Context, method string, query url.Values) ([]byte, error)

// watchedEvery is how often a simulator is asked whether a fault has struck.
const watchedEvery = 50 * time.Millisecond

// Begin begins a fault of calls. It returns what is wrong with a fault that can't be, and begins nothing then. When
// the fault ends, all faults of the simulator do.
func (c Cloud) Begin(ctx context.Context, f Fault, strike Strike) (*Active, error) {
	if err := f.Check(); err != nil {
		return nil, err
	}
	if _, err := c(ctx, http.MethodPost, f.query()); err != nil {
		return nil, fmt.Errorf("%s: %w", f, err)
	}
	all, err := c.list(ctx)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f, err)
	}
	look := func(ctx context.Context) (int, Request, error) {
		now, err := c.list(ctx)
		if err != nil || len(now) < len(all) {
			return 0, Request{}, err
		}
		return now[len(all)-1].Struck, Request{Verb: ofCall, Resource: f.on.call}, nil
	}
	return follow(ctx, f, strike, watchedEvery, look, func(ctx context.Context) {
		_, _ = c(ctx, http.MethodDelete, nil) // a simulator that is gone has no faults
	}), nil
}

// struck is a fault as simulators list it.
type struck struct {
	Struck int `json:"struck"`
}

func (c Cloud) list(ctx context.Context) (all []struck, err error) {
	answer, err := c(ctx, http.MethodGet, nil)
	if err != nil {
		return nil, err
	}
	return all, json.Unmarshal(answer, &all)
}

// kindsOfCloud holds the simulator's words for faults that take no status.
var kindsOfCloud = map[kind]string{
	crashBefore: "silent", crashAfter: "held", loseAnswer: "lost", delayAnswer: "slow",
}

// refusalsOfCloud holds the simulator's words for refusals, by the status of HTTP.
var refusalsOfCloud = map[int32]string{
	http.StatusForbidden: "denied", http.StatusTooManyRequests: "throttle", http.StatusInternalServerError: "failed",
}

// kindOfCloud returns the simulator's word for the fault, or "" if it has none.
func (f Fault) kindOfCloud() string {
	if f.kind == refuse && f.refusal != nil {
		return refusalsOfCloud[f.refusal.ErrStatus.Code]
	}
	return kindsOfCloud[f.kind]
}

// query returns the fault as parameters of the simulator's.
func (f Fault) query() url.Values {
	q := url.Values{"kind": {f.kindOfCloud()}, "call": {f.on.call}}
	if f.on.first > 1 {
		q.Set("skip", strconv.Itoa(f.on.first-1))
	}
	if f.times > 0 {
		q.Set("count", strconv.Itoa(f.times))
	}
	if f.after > 0 {
		q.Set("by", f.after.String())
	}
	return q
}

// checkOfCloud returns what is wrong with a fault of calls.
func (f Fault) checkOfCloud() (wrong []string) {
	if f.kindOfCloud() == "" {
		wrong = append(wrong, "a simulated cloud can't do that; it can lose an answer, be late, or refuse with 403, 429 or "+
			"500, and the controller can be killed before and after a call")
	}
	if other := f.on; len(other.verbs) > 0 || !other.resource.Empty() || other.name != "" || other.field != "" {
		wrong = append(wrong, "a call has a name, and neither verb nor resource")
	}
	return wrong
}

// callOf returns the calls of a kind, if it is one of calls.
func callOf(kind string) (on Requests, is bool) {
	name, is := strings.CutPrefix(kind, ofCall+" ")
	return OnCall(name), is && name != ""
}
