package faults

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// Paths of a proxy in a pod. No API server has them.
const (
	Control = "/_faults"         // below it, the proxy is told of faults
	Ready   = "/_faults/healthz" // answers 200 as soon as the proxy serves
)

// controls answers the requests of a Remote:
//
//	GET    /_faults            how many writes there were, and what each fault has struck
//	POST   /_faults            begins the fault of the body; answers with its number
//	POST   /_faults/N/release  the controller that fault N kills is dead
//	DELETE /_faults/N          ends fault N
type controls struct {
	proxy *Proxy

	mu  sync.Mutex
	all []*controlled
}

// controlled is a fault that a Remote has begun.
type controlled struct {
	active   *Active
	released chan struct{}
	release  func()

	mu    sync.Mutex
	first *Request // what it struck first, once that may be known
}

// state answers GET.
type state struct {
	Writes map[string]int `json:"writes"`
	Faults []stateOfFault `json:"faults"`
}

type stateOfFault struct {
	Struck int     `json:"struck"`
	First  Request `json:"first"`
}

// Controls returns the handler of the requests below Control.
func (p *Proxy) Controls() http.Handler {
	c := &controls{proxy: p}
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+Control, c.tell)
	mux.HandleFunc("POST "+Control, c.begin)
	mux.HandleFunc("POST "+Control+"/{n}/release", c.one(func(f *controlled) { f.release() }))
	mux.HandleFunc("DELETE "+Control+"/{n}", c.one(func(f *controlled) {
		f.release()
		f.active.End()
	}))
	return mux
}

func (c *controls) tell(w http.ResponseWriter, _ *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := state{Faults: []stateOfFault{}}
	s.Writes, _ = c.proxy.Writes(c.proxy.life)
	for _, f := range c.all {
		s.Faults = append(s.Faults, f.state())
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(s) // the client may be gone
}

// state says nothing of a request that a fault strikes until the fault has had its effect.
func (f *controlled) state() stateOfFault {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.first == nil {
		return stateOfFault{}
	}
	return stateOfFault{f.active.Struck(), *f.first}
}

func (c *controls) begin(w http.ResponseWriter, r *http.Request) {
	var fault Fault
	if err := json.NewDecoder(r.Body).Decode(&fault); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	f := &controlled{released: make(chan struct{})}
	f.release = sync.OnceFunc(func() { close(f.released) })
	c.mu.Lock()
	defer c.mu.Unlock()
	active, err := c.proxy.Begin(r.Context(), fault, func(ctx context.Context, request Request) error {
		return f.strike(ctx, fault.Kills(), request)
	})
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	f.active = active
	c.all = append(c.all, f)
	_, _ = fmt.Fprint(w, len(c.all)-1) // the client may be gone
}

// strike notes what is struck. It waits until the controller is dead, if the fault kills it.
func (f *controlled) strike(ctx context.Context, kills bool, r Request) error {
	f.mu.Lock()
	if f.first == nil {
		f.first = &r
	}
	f.mu.Unlock()
	if !kills {
		return nil
	}
	select {
	case <-f.released:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// one returns the handler of a request about one fault.
func (c *controls) one(do func(*controlled)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		c.mu.Lock()
		n, err := strconv.Atoi(r.PathValue("n"))
		if err != nil || n < 0 || n >= len(c.all) {
			c.mu.Unlock()
			http.Error(w, fmt.Sprintf("there is no fault %s", r.PathValue("n")), http.StatusNotFound)
			return
		}
		f := c.all[n]
		c.mu.Unlock()
		do(f)
	}
}

// Remote asks a proxy in a pod; see Proxy.Controls. An answer with another status than 200 is an error.
type Remote func(ctx context.Context, method, path, body string) ([]byte, error)

// askedEvery is how often a proxy in a pod is asked what it has struck.
const askedEvery = 200 * time.Millisecond

// Begin begins a fault, as Proxy.Begin does.
func (r Remote) Begin(ctx context.Context, f Fault, strike Strike) (*Active, error) {
	if err := f.Check(); err != nil {
		return nil, err
	}
	body, err := json.Marshal(f)
	if err != nil {
		return nil, err
	}
	number, err := r(ctx, http.MethodPost, Control, string(body))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f, err)
	}
	n, err := strconv.Atoi(string(number))
	if err != nil {
		return nil, fmt.Errorf("%s: the proxy has answered %q", f, number)
	}
	path := fmt.Sprintf("%s/%d", Control, n)
	strikes := func(ctx context.Context, request Request) error {
		err := strike(ctx, request)
		if _, lost := r(ctx, http.MethodPost, path+"/release", ""); err == nil {
			err = lost
		}
		return err
	}
	look := func(ctx context.Context) (int, Request, error) {
		s, err := r.state(ctx)
		if err != nil || n >= len(s.Faults) {
			return 0, Request{}, err
		}
		return s.Faults[n].Struck, s.Faults[n].First, nil
	}
	return follow(ctx, f, strikes, askedEvery, look, func(ctx context.Context) {
		_, _ = r(ctx, http.MethodDelete, path, "") // a proxy that is gone has no faults
	}), nil
}

// Writes returns how many writes of each kind there have been, as Proxy.Writes does.
func (r Remote) Writes(ctx context.Context) (map[string]int, error) {
	s, err := r.state(ctx)
	return s.Writes, err
}

func (r Remote) state(ctx context.Context) (s state, err error) {
	answer, err := r(ctx, http.MethodGet, Control, "")
	if err != nil {
		return s, err
	}
	return s, json.Unmarshal(answer, &s)
}
