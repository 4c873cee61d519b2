package simulator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// Hook carries out a request of the harness. Its answer becomes JSON, its error the text of an answer with status 400.
type Hook func(r *http.Request) (answer any, err error)

// Instances is what the hooks need of a cloud's instances. An ID is a name or a provider ID. An ID that there is not
// is an error that names some that there are.
type Instances interface {
	// ProviderIDs returns the provider IDs of the instances that have not terminated.
	ProviderIDs() []string
	// End ends an instance.
	End(id string) error
	// Leak launches a copy of the last instance, without its NodeClaim, and returns its provider ID.
	Leak() (providerID string, err error)
	// NodeLabels returns the labels that an instance's type gives to its node.
	NodeLabels(id string) (map[string]string, error)
	// NodeName returns the name of an instance's node.
	NodeName(id string) (string, error)
}

// Handler serves a cloud, and below /_sim/ the hooks of every cloud and its own. It is called once.
func (b *Base) Handler(c Cloud) http.Handler {
	b.Faults.launches = c.Launches
	hooks := b.hooks(c)
	maps.Copy(hooks, c.Hooks)
	mux := http.NewServeMux()
	mux.Handle("/", c.Handler)
	mux.HandleFunc("GET /_sim/healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok") })
	mux.HandleFunc("/_sim/", func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, fmt.Sprintf("there is no hook %s %s; there are:\n%s", r.Method, r.URL.Path,
			strings.Join(append(slices.Sorted(maps.Keys(hooks)), "GET /_sim/healthz"), "\n")), http.StatusNotFound)
	})
	for pattern, do := range hooks {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			answer, err := do(r)
			if err != nil {
				http.Error(w, err.Error(), http.StatusBadRequest)
				return
			}
			slog.Info("hook", "hook", r.Method+" "+r.URL.RequestURI())
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(answer) // the client may have gone
		})
	}
	return mux
}

// hooks returns the hooks of every cloud by pattern.
func (b *Base) hooks(c Cloud) map[string]Hook {
	hooks := map[string]Hook{
		"GET /_sim/calls":     func(*http.Request) (any, error) { return b.Journal.Report(), nil },
		"GET /_sim/unknown":   func(*http.Request) (any, error) { return b.Journal.Unknown(), nil },
		"GET /_sim/faults":    func(*http.Request) (any, error) { return b.Faults.Report(), nil },
		"POST /_sim/faults":   func(r *http.Request) (any, error) { return b.Faults.add(r.URL.Query()) },
		"DELETE /_sim/faults": func(*http.Request) (any, error) { b.Faults.Clear(); return nil, nil },
		"POST /_sim/reset": func(*http.Request) (any, error) {
			b.Faults.Clear()
			if c.Reset != nil {
				c.Reset()
			}
			return nil, nil
		},
	}
	if c.Instances != nil {
		maps.Copy(hooks, b.instanceHooks(c.Instances))
	}
	return hooks
}

// instanceHooks returns the hooks about instances.
func (b *Base) instanceHooks(all Instances) map[string]Hook {
	node := func(do func(ctx context.Context, node string) error) Hook {
		return About(func(r *http.Request, id string) (any, error) {
			name, err := all.NodeName(id)
			if err != nil {
				return nil, err
			}
			return nil, do(r.Context(), name)
		})
	}
	return map[string]Hook{
		"GET /_sim/instances":       func(*http.Request) (any, error) { return all.ProviderIDs(), nil },
		"DELETE /_sim/instances":    About(func(_ *http.Request, id string) (any, error) { return nil, all.End(id) }),
		"POST /_sim/instances/leak": func(*http.Request) (any, error) { return all.Leak() },
		"GET /_sim/labels":          About(func(_ *http.Request, id string) (any, error) { return all.NodeLabels(id) }),
		"POST /_sim/nodes/silence":  node(b.Nodes.Silence),
		"POST /_sim/nodes/speak":    node(b.Nodes.Speak),
	}
}

// About returns a hook about the instance ?id=, which is a name or a provider ID.
func About(do func(r *http.Request, id string) (answer any, err error)) Hook {
	return func(r *http.Request) (any, error) {
		id := r.URL.Query().Get("id")
		if id == "" {
			return nil, errors.New("parameter ?id= is missing: the name or the provider ID of an instance")
		}
		return do(r, id)
	}
}
