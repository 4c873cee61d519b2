package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/plumbline-e2e/plumbline/providers/aws/cloud"
	"github.com/plumbline-e2e/plumbline/providers/aws/wire"
)

// hook carries out a request. Its answer becomes JSON.
type hook func(c *cloud.Cloud, r *http.Request) (answer any, err error)

// hooks returns the harness's hooks by pattern. They take an instance's ID or provider ID.
func hooks() map[string]hook {
	return map[string]hook{
		"GET /_sim/instances": listInstances,
		"DELETE /_sim/instances": instanceHook(func(c *cloud.Cloud, id string) error {
			_,
				err := c.Terminate(id)
			return err
		}),
		"GET /_sim/labels":          listLabels,
		"POST /_sim/instances/leak": leakInstance,
		"POST /_sim/interrupt":      instanceHook((*cloud.Cloud).Interrupt),
		"POST /_sim/rebalance":      instanceHook((*cloud.Cloud).Rebalance),
		"POST /_sim/maintenance":    instanceHook((*cloud.Cloud).Maintain),
		"POST /_sim/faults":         injectFault,
		"DELETE /_sim/faults":       func(c *cloud.Cloud, _ *http.Request) (any, error) { c.Clear(); return nil, nil },
		"POST /_sim/reset":          func(c *cloud.Cloud, _ *http.Request) (any, error) { c.Reset(); return nil, nil },
		"POST /_sim/images":         func(c *cloud.Cloud, _ *http.Request) (any, error) { c.Release(); return nil, nil },
		"PUT /_sim/subnets":         setSubnets,
		"PUT /_sim/security-groups": setGroups,
		"PUT /_sim/instance-profiles": func(c *cloud.Cloud, r *http.Request) (any, error) {
			c.SetRoles(r.FormValue("role"))
			return nil, nil
		},
	}
}

// handleHooks serves the hooks, the journal's counts and a health check.
func handleHooks(mux *http.ServeMux, c *cloud.Cloud, journal *wire.Journal) {
	mux.HandleFunc("GET /_sim/healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok") })
	mux.HandleFunc("GET /_sim/calls", func(w http.ResponseWriter, _ *http.Request) { answer(w, journal.Report()) })
	mux.HandleFunc("GET /_sim/unknown", func(w http.ResponseWriter, _ *http.Request) { answer(w, journal.Unknown()) })
	mux.HandleFunc("/_sim/", func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, "there is no hook "+r.Method+" "+r.URL.Path, http.StatusNotFound)
	})
	for pattern, do := range hooks() {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			a, err := do(c, r)
			var refusal *cloud.Error
			switch {
			case errors.As(err, &refusal):
				http.Error(w, refusal.Message, refusal.Status)
			case err != nil:
				http.Error(w, err.Error(), http.StatusBadRequest)
			default:
				slog.Info("hook", "hook", r.Method+" "+r.URL.RequestURI())
				answer(w, a)
			}
		})
	}
}

func answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // the client may have gone
}

// instanceHook returns a hook for the instance ?id=.
func instanceHook(do func(c *cloud.Cloud, id string) error) hook {
	return func(c *cloud.Cloud, r *http.Request) (any, error) {
		id := r.FormValue("id")
		if id == "" {
			return nil, errors.New("parameter ?id=i-... is missing")
		}
		return nil, do(c, id)
	}
}

// listInstances answers with the provider IDs of the instances that have not terminated.
func listInstances(c *cloud.Cloud, _ *http.Request) (any, error) {
	ids := []string{}
	for _, i := range c.Living() {
		ids = append(ids, i.ProviderID())
	}
	return ids, nil
}

func leakInstance(c *cloud.Cloud, _ *http.Request) (any, error) {
	i, err := c.Leak()
	if err != nil {
		return nil, err
	}
	return i.ProviderID(), nil
}

// zoneLetters holds the letters of the region's zones.
const zoneLetters = "abc"

// setSubnets sets subnets in some zones, such as ?zones=ab, or in all zones but one, such as
// ?without=us-east-1c.
func setSubnets(c *cloud.Cloud, r *http.Request) (any, error) {
	letters := r.FormValue("zones")
	if zone := r.FormValue("without"); zone != "" {
		letters = strings.ReplaceAll(zoneLetters, zone[len(zone)-1:], "")
	}
	c.SetSubnets(letters)
	return letters, nil
}

func setGroups(c *cloud.Cloud, r *http.Request) (any, error) {
	count, err := strconv.Atoi(r.FormValue("count"))
	if err != nil || count < 0 {
		return nil, fmt.Errorf("?count=%s: how many security groups there are must be an integer of at least 0",
			r.FormValue("count"))
	}
	c.SetGroups(count)
	return nil, nil
}

// injectFault injects the query's fault: kind, action, type, zone, capacity, by, count, rate.
func injectFault(c *cloud.Cloud, r *http.Request) (any, error) {
	f := cloud.Fault{
		Kind: cloud.FaultKind(r.FormValue("kind")), Action: r.FormValue("action"),
		Type: r.FormValue("type"), Zone: r.FormValue("zone"), Capacity: r.FormValue("capacity"),
	}
	var wrong []error
	read := func(name string, parse func(string) error) {
		if text := r.FormValue(name); text != "" {
			if err := parse(text); err != nil {
				wrong = append(wrong, fmt.Errorf("?%s=%s: %w", name, text, err))
			}
		}
	}
	read("by", func(s string) (err error) { f.By, err = time.ParseDuration(s); return err })
	read("count", func(s string) (err error) { f.Count, err = strconv.Atoi(s); return err })
	read("rate", func(s string) (err error) { f.Rate, err = strconv.ParseFloat(s, 64); return err })
	if err := errors.Join(wrong...); err != nil {
		return nil, err
	}
	return f.String(), c.Inject(f)
}
