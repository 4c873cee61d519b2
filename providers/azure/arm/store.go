package arm

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// Object is a JSON object. Resources are objects that never change: they are replaced.
type Object = map[string]any

// Store holds resources.
type Store struct {
	mu        sync.Mutex
	resources map[string]*resource // by ID.Key
	ended     []*resource
}

type resource struct {
	id             ID
	shown          Object
	created, ended time.Time
}

// NewStore returns an empty store.
func NewStore() *Store { return &Store{resources: map[string]*resource{}} }

// Put creates or replaces a resource, and tells whether it is new. If it has no state, it is
// provisioned. Put returns the resource as it is shown.
func (s *Store) Put(id ID, o Object) (shown Object, created bool) {
	shown = Merge(o, Object{
		"id": id.Path, "name": id.Name(), "type": strings.TrimSuffix(id.Kind, "/*"),
		"properties": Merge(Object{"provisioningState": "Succeeded"}, Properties(o)),
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	if r, there := s.resources[id.Key()]; there {
		r.shown = shown
		return shown, false
	}
	s.resources[id.Key()] = &resource{id: id, shown: shown, created: time.Now()}
	return shown, true
}

// Patch replaces fields of a resource, such as its tags, and properties. It returns false if there
// is no such resource.
func (s *Store) Patch(id ID, change Object) (shown Object, ok bool) {
	o, there := s.Get(id)
	if !there {
		return nil, false
	}
	shown, _ = s.Put(id, Merge(o, change, Object{"properties": Merge(Properties(o), Properties(change))}))
	return shown, true
}

// Get returns a resource.
func (s *Store) Get(id ID) (shown Object, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r, there := s.resources[id.Key()]; there {
		return r.shown, true
	}
	return nil, false
}

// Delete deletes a resource and all below it. It returns false if there is none.
func (s *Store) Delete(id ID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, there := s.resources[id.Key()]
	for key, r := range s.resources {
		if key == id.Key() || strings.HasPrefix(key, id.Key()+"/") {
			r.ended = time.Now()
			s.ended = append(s.ended, r)
			delete(s.resources, key)
		}
	}
	return there
}

// remembered is how long ended resources are known, for lists that are older.
const remembered = time.Hour

// List returns the resources of a kind without /*, oldest first, as they were some time ago. The
// path that theirs begin with may be empty.
func (s *Store) List(kind, below string, age time.Duration) []Object {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = slices.DeleteFunc(s.ended, func(r *resource) bool { return time.Since(r.ended) > remembered })
	at := time.Now().Add(-age)
	found := slices.DeleteFunc(slices.AppendSeq(slices.Clone(s.ended), maps.Values(s.resources)), func(r *resource) bool {
		return r.id.Kind != kind+"/*" || !strings.HasPrefix(r.id.Key(), strings.ToLower(below)) ||
			r.created.After(at) || !r.ended.IsZero() && !r.ended.After(at)
	})
	slices.SortFunc(found, func(a, b *resource) int {
		return cmp.Or(a.created.Compare(b.created), strings.Compare(a.id.Path, b.id.Path))
	})
	all := make([]Object, len(found))
	for n, r := range found {
		all[n] = r.shown
	}
	return all
}

// Merge returns the fields of all objects. Later ones win.
func Merge(objects ...Object) Object {
	all := Object{}
	for _, o := range objects {
		maps.Copy(all, o)
	}
	return all
}

// Properties returns the properties of a resource.
func Properties(o Object) Object {
	p, _ := o["properties"].(Object)
	return p
}
