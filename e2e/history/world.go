package history

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
)

// World is the state of the cluster at a moment: what the events up to it add
// up to. The zero value is the empty world. It belongs to one goroutine.
type World struct {
	time    time.Time
	objects map[schema.GroupVersionResource][]*Object // each sorted by byName
}

// Apply moves the world on by one event.
func (w *World) Apply(e Event) {
	if w.objects == nil {
		w.objects = map[schema.GroupVersionResource][]*Object{}
	}
	if e.Time.After(w.time) {
		w.time = e.Time
	}
	all := w.objects[e.Resource]
	i, found := slices.BinarySearchFunc(all, e.Object, byName)
	switch {
	case e.Type == watch.Deleted && found:
		w.objects[e.Resource] = slices.Delete(all, i, i+1)
	case e.Type == watch.Deleted:
	case found:
		all[i] = e.Object
	default:
		w.objects[e.Resource] = slices.Insert(all, i, e.Object)
	}
}

// List is every object of a resource, sorted by namespace and name. The slice
// is the caller's, the objects are shared.
func (w *World) List(r schema.GroupVersionResource) []*Object {
	return slices.Clone(w.objects[r])
}

// Get is one object, nil if there is none. Objects without a namespace have
// the namespace "".
func (w *World) Get(r schema.GroupVersionResource, namespace, name string) *Object {
	all := w.objects[r]
	i, found := slices.BinarySearchFunc(all, &Object{Namespace: namespace, Name: name}, byName)
	if !found {
		return nil
	}
	return all[i]
}

// Resources are those of which the world has an object, sorted.
func (w *World) Resources() []schema.GroupVersionResource {
	present := slices.Collect(maps.Keys(w.objects))
	present = slices.DeleteFunc(present, func(r schema.GroupVersionResource) bool { return len(w.objects[r]) == 0 })
	slices.SortFunc(present, func(a, b schema.GroupVersionResource) int {
		return cmp.Compare(a.String(), b.String())
	})
	return present
}

// Time is when the last event was received that this world includes, zero for
// the empty world.
func (w *World) Time() time.Time { return w.time }

// clone is a copy that can be moved on without moving this one.
func (w *World) clone() *World {
	c := &World{time: w.time, objects: make(map[schema.GroupVersionResource][]*Object, len(w.objects))}
	for r, all := range w.objects {
		c.objects[r] = slices.Clone(all)
	}
	return c
}

func byName(a, b *Object) int {
	if c := cmp.Compare(a.Namespace, b.Namespace); c != 0 {
		return c
	}
	return cmp.Compare(a.Name, b.Name)
}
