package history

import (
	"bytes"
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// list holds every object of a resource at a moment.
type list struct {
	resourceVersion string
	objects         []*Object
}

// list retries until it has all objects, the error is final, or ctx is done.
func (w *watcher) list(ctx context.Context) (list, error) {
	delay := newBackoff()
	var before error
	for {
		l, err := w.listOnce(ctx)
		switch {
		case err == nil:
			return l, nil
		case ctx.Err() != nil && before != nil:
			return list{}, fmt.Errorf("list %s: %w; before that: %w", name(w.resource), err, before)
		case ctx.Err() != nil || isFinal(err):
			return list{}, fmt.Errorf("list %s: %w", name(w.resource), err)
		}
		before = err
		w.recorder.setTrouble(w.resource, err)
		pause(ctx, max(delay.Step(), retryAfter(err)))
	}
}

func (w *watcher) listOnce(ctx context.Context) (list, error) {
	ask := w.api.list
	if isEvents(w.resource) && w.since == 0 {
		ask = w.api.listOne
	}
	body, err := ask(ctx, w.resource)
	if err != nil {
		return list{}, err
	}
	return w.read(body)
}

// read reads the answer to a list.
func (w *watcher) read(body io.ReadCloser) (list, error) {
	var answer struct {
		metav1.TypeMeta `json:",inline"`
		Metadata        metav1.ListMeta   `json:"metadata"`
		Items           []json.RawMessage `json:"items"`
	}
	if err := readAll(body, &answer); err != nil {
		return list{}, fmt.Errorf("read the list: %w", err)
	}
	l := list{resourceVersion: answer.Metadata.ResourceVersion}
	if w.since == 0 {
		w.since = revisionOf(l.resourceVersion)
	}
	for _, item := range answer.Items {
		o, err := w.object(withKind(item, answer.APIVersion, strings.TrimSuffix(answer.Kind, "List")), false)
		if err != nil {
			return list{}, err
		}
		if isEvents(w.resource) && revisionOf(o.ResourceVersion) <= w.since {
			continue
		}
		l.objects = append(l.objects, o)
	}
	return l, nil
}

// isEvents reports whether a resource is Events. They are not state, so a recording leaves out
// those from before its start. An old cluster has thousands.
func isEvents(r schema.GroupVersionResource) bool { return r.Resource == "events" }

// withKind adds the kind to an item of a list. Lists of Kubernetes' own kinds leave it out.
func withKind(item []byte, apiVersion, kind string) []byte {
	item = bytes.TrimSpace(item)
	var present metav1.TypeMeta
	if json.Unmarshal(item, &present) != nil || present.Kind != "" || len(item) < 2 {
		return item
	}
	full := fmt.Appendf(nil, `{"kind":%q,"apiVersion":%q,`, kind, apiVersion)
	return append(full, item[1:]...)
}

// beginAnew relists after a gap. After an interruption it retries even final errors, because a
// starting API server refuses requests that it allows later.
func (w *watcher) beginAnew(ctx context.Context, cause error) error {
	for {
		err := w.relist(ctx, cause)
		if err == nil || ctx.Err() != nil || !w.recorder.interrupted(w.resource) {
			return err
		}
		w.recorder.setTrouble(w.resource, err)
		pause(ctx, newBackoff().Cap)
	}
}

func (w *watcher) relist(ctx context.Context, cause error) error {
	l, err := w.list(ctx)
	if err != nil {
		return err
	}
	reason := fmt.Sprintf("the API server no longer knew the events after %s: %v", w.position, cause)
	states, complete := []list{l}, false
	if w.recorder.closes(w.resource) {
		since, err := w.states(ctx, list{w.position, w.recorder.objects(w.resource)}, l)
		if complete = err == nil; complete {
			states = since
		}
	}
	w.recorder.reconcile(w.resource, states, complete, reason)
	w.position = l.resourceVersion
	return nil
}

// states returns the states of the resource after one that is recorded, up to another one, and each that differs from
// the one before. It asks for the state between two, and for those on both sides of it, until there is none between.
func (w *watcher) states(ctx context.Context, from, to list) ([]list, error) {
	first, last := revisionOf(from.resourceVersion), revisionOf(to.resourceVersion)
	if last <= first+1 || len(differences(sorted(from.objects), to.objects)) == 0 {
		return []list{to}, nil
	}
	middle := first + (last-first)/2
	body, err := w.api.listAt(ctx, w.resource, middle)
	if err != nil {
		return nil, err
	}
	between, err := w.read(body)
	if err != nil {
		return nil, err
	}
	between.resourceVersion = strconv.FormatUint(middle, 10)
	early, err := w.states(ctx, from, between)
	if err != nil {
		return nil, err
	}
	late, err := w.states(ctx, between, to)
	return append(early, late...), err
}

func sorted(objects []*Object) []*Object { return slices.SortedFunc(slices.Values(objects), byName) }

// differences returns the events that lead from known (sorted) to now. An object with a new
// UID was deleted and created again.
func differences(known, now []*Object) []Event {
	now = sorted(now)
	var events []Event
	for _, o := range known {
		i, found := slices.BinarySearchFunc(now, o, byName)
		if !found || now[i].UID != o.UID {
			events = append(events, Event{Type: deleted, Object: o})
		}
	}
	for _, o := range now {
		i, found := slices.BinarySearchFunc(known, o, byName)
		switch {
		case !found || known[i].UID != o.UID:
			events = append(events, Event{Type: added, Object: o})
		case known[i].ResourceVersion != o.ResourceVersion:
			events = append(events, Event{Type: modified, Object: o})
		}
	}
	return events
}

// forEach calls f for 0 to n-1 in parallel and joins the errors.
func forEach(n int, f func(int) error) error {
	errs := make([]error, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { errs[i] = f(i) })
	}
	all.Wait()
	return errors.Join(errs...)
}

// isTrust reports whether the verification of the server's certificate failed.
func isTrust(err error) bool {
	var unknown x509.UnknownAuthorityError
	var host x509.HostnameError
	return errors.As(err, &unknown) || errors.As(err, &host)
}

// name returns a resource's usual name, such as nodeclaims.karpenter.sh.
func name(r schema.GroupVersionResource) string { return r.GroupResource().String() }
