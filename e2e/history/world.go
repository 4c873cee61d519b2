package history

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
)

// World is the state of the cluster after some events. The zero value is an empty world. Only
// one goroutine may use it.
type World struct {
	time    time.Time
	objects map[schema.GroupVersionResource]*kind
}

// kind holds the objects of one resource.
type kind struct {
	named  map[key]*Object
	sorted []*Object // by namespace and name; nil until the first List, which is rare for Events
}

type key struct{ namespace, name string }

// Apply moves the world on by one event.
func (w *World) Apply(e Event) {
	if e.Time.After(w.time) {
		w.time = e.Time
	}
	k := w.objects[e.Resource]
	if k == nil {
		if w.objects == nil {
			w.objects = map[schema.GroupVersionResource]*kind{}
		}
		k = &kind{named: map[key]*Object{}}
		w.objects[e.Resource] = k
	}
	id := key{e.Object.Namespace, e.Object.Name}
	_, found := k.named[id]
	if e.Type == watch.Deleted {
		delete(k.named, id)
	} else {
		k.named[id] = e.Object
	}
	if k.sorted == nil {
		return
	}
	i, _ := slices.BinarySearchFunc(k.sorted, e.Object, byName)
	switch {
	case e.Type == watch.Deleted && found:
		k.sorted = slices.Delete(k.sorted, i, i+1)
	case e.Type == watch.Deleted:
	case found:
		k.sorted[i] = e.Object
	default:
		k.sorted = slices.Insert(k.sorted, i, e.Object)
	}
}

// List returns every object of a resource, sorted by namespace and name. The caller owns the
// slice; the objects are shared.
func (w *World) List(r schema.GroupVersionResource) []*Object {
	k := w.objects[r]
	if k == nil || len(k.named) == 0 {
		return nil
	}
	if k.sorted == nil {
		k.sorted = slices.SortedFunc(maps.Values(k.named), byName)
	}
	return slices.Clone(k.sorted)
}

// Get returns one object, or nil. Cluster-scoped objects have the namespace "".
func (w *World) Get(r schema.GroupVersionResource, namespace, name string) *Object {
	if k := w.objects[r]; k != nil {
		return k.named[key{namespace, name}]
	}
	return nil
}

// Resources returns the resources that have objects, sorted.
func (w *World) Resources() []schema.GroupVersionResource {
	present := slices.Collect(maps.Keys(w.objects))
	present = slices.DeleteFunc(present, func(r schema.GroupVersionResource) bool { return len(w.objects[r].named) == 0 })
	slices.SortFunc(present, byResource)
	return present
}

func byResource(a, b schema.GroupVersionResource) int { return cmp.Compare(a.String(), b.String()) }

// Time returns when the latest event of this world was received; zero for the empty world.
func (w *World) Time() time.Time { return w.time }

func (w *World) clone() *World {
	c := &World{time: w.time, objects: make(map[schema.GroupVersionResource]*kind, len(w.objects))}
	for r, k := range w.objects {
		c.objects[r] = &kind{named: maps.Clone(k.named), sorted: slices.Clone(k.sorted)}
	}
	return c
}

// size returns how many bytes the objects' JSON has.
func (w *World) size() (size int) {
	for _, k := range w.objects {
		for _, o := range k.named {
			size += len(o.raw)
		}
	}
	return size
}

func byName(a, b *Object) int {
	if c := cmp.Compare(a.Namespace, b.Namespace); c != 0 {
		return c
	}
	return cmp.Compare(a.Name, b.Name)
}
