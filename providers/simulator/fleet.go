package simulator

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// Machine is a cloud's own record of an instance. A Fleet calls it without holding a lock.
type Machine interface {
	// Name returns a name that no other living instance has.
	Name() string
	// ProviderID returns the spec.providerID of the instance's node.
	ProviderID() string
	// Node returns the node that joins the cluster. With an error, such as for user data that no kubelet can start
	// with, it never joins. It is called by Launch.
	Node() (Node, error)
	// Labels returns the labels that the instance's type gives to its node.
	Labels() map[string]string
}

// copier is a Machine that can be leaked. Copy returns the same instance with a new name and without its NodeClaim.
type copier[I Machine] interface{ Copy() (I, error) }

// Entry is an instance with its state.
type Entry[I Machine] struct {
	Instance        I
	State           State
	Launched, Ended time.Time // zero before the launch, and until the instance has terminated
}

// Fleet holds a cloud's instances by name and runs their lives. It is safe for concurrent use. I is the cloud's own
// record of an instance.
type Fleet[I Machine] struct {
	base *Base

	mu       sync.Mutex
	all      []*record[I]          // by time of Prepare or Launch
	newest   map[string]*record[I] // by name
	remember time.Duration
	changed  func(I, State)
}

// record is an instance with its states so far.
type record[I Machine] struct {
	instance I
	name     string
	node     string // its name; empty before the launch
	states   []entered
	end      chan struct{} // is closed when the instance must end
}

// entered holds a state and the time when an instance entered it.
type entered struct {
	state State
	at    time.Time
}

// NewFleet returns a fleet without instances.
func NewFleet[I Machine](b *Base) *Fleet[I] {
	return &Fleet[I]{base: b, newest: map[string]*record[I]{}, changed: func(I, State) {}}
}

// Remember sets how long an instance is still found and listed after its end. The default is 0.
func (f *Fleet[I]) Remember(d time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.remember = d
}

// OnChange sets a function that is told of each state that an instance enters, but Prepared and Pending. The states of
// an instance come in order.
func (f *Fleet[I]) OnChange(do func(I, State)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.changed = do
}

// Prepare adds an instance that has not been started: it is found and listed, but has no life until Launch. A name that
// a living instance has is an error.
func (f *Fleet[I]) Prepare(i I) error {
	name := i.Name()
	f.mu.Lock()
	defer f.mu.Unlock()
	_, err := f.add(name, i, Prepared)
	return err
}

// Launch starts an instance's life. A name that a living instance has is an error, unless that one is only prepared:
// this one takes its place then.
func (f *Fleet[I]) Launch(i I) error {
	name := i.Name()
	node, failed := i.Node()
	f.mu.Lock()
	defer f.mu.Unlock()
	r := f.named(name)
	if r != nil && r.state() == Prepared {
		r.instance = i
		r.enter(Pending)
	} else {
		var err error
		if r, err = f.add(name, i, Pending); err != nil {
			return err
		}
	}
	r.node = node.Name
	go f.base.Nodes.live(f.base.Context, life{
		node: node, failed: failed, times: f.base.Times, ending: r.end, enter: func(s State) { f.enter(r, s) },
		renewed: func() bool { return f.renewed(r) },
	})
	return nil
}

// add adds an instance whose name must be free. The fleet is locked.
func (f *Fleet[I]) add(name string, i I, s State) (*record[I], error) {
	if old := f.named(name); old != nil && old.state() != Terminated {
		return nil, fmt.Errorf("there already is an instance %s: it is %s", name, old.state())
	}
	r := &record[I]{instance: i, name: name, end: make(chan struct{})}
	r.enter(s)
	f.all, f.newest[name] = append(f.all, r), r
	return r, nil
}

// Terminate ends an instance. One that is only prepared is gone at once. It returns false if there is none of that
// name.
func (f *Fleet[I]) Terminate(name string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	r := f.named(name)
	if r == nil {
		return false
	}
	switch r.state() {
	case Prepared:
		r.enter(Terminated)
		go f.changed(r.instance, Terminated) // which may call the fleet
	case Pending, Running:
		r.enter(ShuttingDown)
		close(r.end)
	case ShuttingDown, Terminated: // it ends already
	}
	return true
}

// Get returns the instance of a name and its state. ok is false if there is none.
func (f *Fleet[I]) Get(name string) (i I, s State, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if r := f.named(name); r != nil {
		return r.instance, r.state(), true
	}
	return i, "", false
}

// Living returns the instances that have not terminated, the oldest first.
func (f *Fleet[I]) Living() []Entry[I] {
	return slices.DeleteFunc(f.at(time.Now()), func(e Entry[I]) bool { return e.State == Terminated })
}

// Listed returns the instances as the cloud's lists show them, the oldest first: as they were some time ago under the
// fault Stale, and those that have ended as long as the fleet remembers them.
func (f *Fleet[I]) Listed() []Entry[I] { return f.at(time.Now().Add(-f.base.Faults.Stale())) }

// kept is the least time that a fleet keeps ended instances, for stale lists.
const kept = time.Hour

// at returns the instances that there were at a time.
func (f *Fleet[I]) at(t time.Time) []Entry[I] {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.forget()
	entries := make([]Entry[I], 0, len(f.all))
	for _, r := range f.all {
		if e := r.asOf(t); !r.states[0].at.After(t) && (e.State != Terminated || t.Sub(e.Ended) < f.remember) {
			entries = append(entries, e)
		}
	}
	return entries
}

// forget drops instances that no list shows any more. The fleet is locked.
func (f *Fleet[I]) forget() {
	f.all = slices.DeleteFunc(f.all, func(r *record[I]) bool {
		old := r.state() == Terminated && time.Since(r.last().at) > max(f.remember, kept)
		if old && f.newest[r.name] == r {
			delete(f.newest, r.name)
		}
		return old
	})
}

// named returns the instance that was last launched with a name, or nil. The fleet is locked.
func (f *Fleet[I]) named(name string) *record[I] {
	r := f.newest[name]
	if r == nil || r.state() == Terminated && time.Since(r.last().at) >= f.remember {
		return nil
	}
	return r
}

// renewed tells whether a later instance with the name of r lives.
func (f *Fleet[I]) renewed(r *record[I]) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	latest := f.named(r.name)
	return latest != nil && latest != r && latest.state() != Terminated
}

// enter moves an instance to a state and tells of it. The request to end has entered ShuttingDown already.
func (f *Fleet[I]) enter(r *record[I], s State) {
	f.mu.Lock()
	if s == Running && r.state() != Pending {
		f.mu.Unlock()
		return // it was told to end at this moment
	}
	if r.state() != s {
		r.enter(s)
	}
	tell := f.changed
	f.mu.Unlock()
	tell(r.instance, s)
}

func (r *record[I]) last() entered { return r.states[len(r.states)-1] }
func (r *record[I]) state() State  { return r.last().state }
func (r *record[I]) enter(s State) { r.states = append(r.states, entered{s, time.Now()}) }

// asOf returns the instance as it was at a time, which is not before it came into the fleet.
func (r *record[I]) asOf(t time.Time) Entry[I] {
	e := Entry[I]{Instance: r.instance}
	for _, s := range r.states {
		if s.at.After(t) {
			break
		}
		switch e.State = s.state; s.state {
		case Pending:
			e.Launched = s.at
		case Terminated:
			e.Ended = s.at
		case Prepared, Running, ShuttingDown:
		}
	}
	return e
}

// ProviderIDs returns the provider IDs of the instances that have not terminated.
func (f *Fleet[I]) ProviderIDs() []string {
	ids := []string{}
	for _, e := range f.Living() {
		ids = append(ids, e.Instance.ProviderID())
	}
	return ids
}

// Find returns the instance of a name or provider ID. The error names instances that there are.
func (f *Fleet[I]) Find(id string) (i I, err error) {
	if i, _, ok := f.Get(id); ok {
		return i, nil
	}
	entries := f.at(time.Now())
	for _, e := range slices.Backward(entries) {
		if e.Instance.ProviderID() == id {
			return e.Instance, nil
		}
	}
	return i, fmt.Errorf("there is no instance %q; %s", id, some(f.ProviderIDs()))
}

// some says which instances there are: up to five.
func some(ids []string) string {
	const most = 5
	switch {
	case len(ids) == 0:
		return "there are none"
	case len(ids) > most:
		return fmt.Sprintf("there are %s and %d more", strings.Join(ids[:most], ", "), len(ids)-most)
	}
	return "there are " + strings.Join(ids, ", ")
}

// End ends the instance of a name or provider ID.
func (f *Fleet[I]) End(id string) error {
	i, err := f.Find(id)
	if err == nil {
		f.Terminate(i.Name())
	}
	return err
}

// NodeLabels returns the labels that an instance's type gives to its node.
func (f *Fleet[I]) NodeLabels(id string) (map[string]string, error) {
	i, err := f.Find(id)
	if err != nil {
		return nil, err
	}
	return i.Labels(), nil
}

// NodeName returns the name of an instance's node.
func (f *Fleet[I]) NodeName(id string) (string, error) {
	i, err := f.Find(id)
	if err != nil {
		return "", err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if r := f.named(i.Name()); r != nil && r.node != "" {
		return r.node, nil
	}
	return "", fmt.Errorf("instance %s has ended, or has not been started", id)
}

// Leak launches a copy of the last instance and returns its provider ID. It needs the method Copy of I.
func (f *Fleet[I]) Leak() (providerID string, err error) {
	f.mu.Lock()
	count := len(f.all)
	if count == 0 {
		f.mu.Unlock()
		return "", errors.New("there has been no instance yet to copy")
	}
	last := f.all[count-1].instance
	f.mu.Unlock()
	from, can := any(last).(copier[I])
	if !can {
		return "", fmt.Errorf("%T can't be copied: it has no method Copy", last)
	}
	leaked, err := from.Copy()
	if err != nil {
		return "", err
	}
	return leaked.ProviderID(), f.Launch(leaked)
}
