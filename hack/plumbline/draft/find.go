package draft

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// findings is what was found about a chart.
type findings struct {
	required map[string]any   // values without which the chart doesn't render
	values   map[string]any   // of the adapter, mostly templates, by the paths of the chart's
	ports    map[string]int64 // of the container, by the names of the adapter
	movable  map[string]bool  // the ports that a value changes
	filled   map[string]bool  // the variables that the adapter's values set
	rendered *rendered
}

// sample stands for a text that somebody must choose. Other values replace a value to see what changes.
const (
	sample      = "plumbline"
	otherText   = "plumbline-other"
	otherNumber = int64(29)
)

// find renders the chart with other values, one at a time, and notes which of them change what.
func (c *Chart) find(ctx context.Context) (*findings, error) {
	f := &findings{
		values: map[string]any{}, ports: map[string]int64{}, movable: map[string]bool{}, filled: map[string]bool{},
	}
	var err error
	if f.required, f.rendered, err = c.require(ctx); err != nil {
		return nil, err
	}
	for name, port := range map[string]string{"METRICS_PORT": "metrics", "HEALTH_PROBE_PORT": "health"} {
		f.ports[port] = number(f.rendered.env()[name])
	}
	for _, p := range f.rendered.container.Ports {
		if !slices.Contains(slices.Collect(maps.Values(f.ports)), int64(p.ContainerPort)) {
			f.ports[identifier(p.Name)] = int64(p.ContainerPort)
		}
	}
	maps.DeleteFunc(f.ports, func(_ string, n int64) bool { return n == 0 })
	for _, l := range c.leaves() {
		if err := f.try(ctx, c, l); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// require finds the values that the chart refuses to be without. It sets empty texts, one by one, as long as
// that changes what the chart complains of.
func (c *Chart) require(ctx context.Context) (map[string]any, *rendered, error) {
	required := map[string]any{}
	r, complaint := c.render(ctx, required)
	for complaint != nil {
		before := len(required)
		for _, l := range c.leaves() {
			if _, set := required[l.path]; set || l.value != nil && l.value != "" {
				continue
			}
			with := maps.Clone(required)
			with[l.path] = sample
			next, err := c.render(ctx, with)
			if err != nil && err.Error() == complaint.Error() {
				continue
			}
			if required, r, complaint = with, next, err; err == nil {
				return required, r, nil
			}
		}
		if len(required) == before {
			return nil, nil, fmt.Errorf("it does not render, and no text in place of an empty one helps: %w", complaint)
		}
	}
	return required, r, nil
}

// interesting matches texts that may be what the harness has to set. Charts have a hundred texts, and a few numbers.
var interesting = regexp.MustCompile(`(?i)cluster.?name|endpoint|repo|tag|digest`)

// try renders the chart with another value and notes which template of the adapter belongs there.
func (f *findings) try(ctx context.Context, c *Chart, l leaf) error {
	var other any = otherText
	if number(l.value) > 0 {
		other = otherNumber
	} else if _, is := l.value.(bool); is || !interesting.MatchString(l.path) {
		return nil
	}
	with := maps.Clone(f.required)
	with[l.path] = other
	r, err := c.render(ctx, with)
	if err != nil {
		return ctx.Err() // without one, the chart only refuses this value
	}
	before := f.rendered
	for _, name := range slices.Sorted(maps.Keys(f.ports)) {
		if f.changes(name, before, r) {
			f.values[l.path], f.movable[name] = fmt.Sprintf("{{.Ports.%s}}", name), true
		}
	}
	for name, value := range r.env() {
		if value != otherText || before.env()[name] == value {
			continue
		}
		switch {
		case strings.Contains(name, "CLUSTER_NAME"):
			f.values[l.path], f.filled[name] = "{{.ClusterName}}", true
		case strings.Contains(name, "CLUSTER_ENDPOINT"):
			f.values[l.path], f.filled[name] = "{{.Endpoint}}", true
		}
	}
	if r.replicas == otherNumber && before.replicas != otherNumber {
		f.values[l.path] = int64(1)
	}
	if r.container.Image != before.container.Image {
		switch name := strings.ToLower(l.path[strings.LastIndex(l.path, ".")+1:]); {
		case strings.Contains(name, "repo"):
			f.values[l.path] = "{{.Image.Repository}}"
		case strings.Contains(name, "tag"):
			f.values[l.path] = "{{.Image.Tag}}"
		case strings.Contains(name, "digest"):
			f.values[l.path] = "{{.Image.Digest}}"
		}
	}
	return nil
}

// changes tells whether the value moved this port to the other number.
func (f *findings) changes(name string, before, after *rendered) bool {
	for _, p := range before.container.Ports {
		if int64(p.ContainerPort) == f.ports[name] && after.port(p.Name) == otherNumber {
			return true
		}
	}
	for variable, value := range before.env() {
		if number(value) == f.ports[name] && number(after.env()[variable]) == otherNumber {
			return true
		}
	}
	return false
}

// number returns a whole number, or 0.
func number(v any) int64 {
	switch v := v.(type) {
	case float64:
		return int64(v)
	case int64:
		return v
	case string:
		var n int64
		if _, err := fmt.Sscanf(v, "%d", &n); err == nil && fmt.Sprint(n) == v {
			return n
		}
	}
	return 0
}

var notWord = regexp.MustCompile(`[^A-Za-z0-9]+(.?)`)

// identifier turns a name such as webhook-metrics into one that templates can use: webhookMetrics.
func identifier(name string) string {
	return notWord.ReplaceAllStringFunc(name, func(s string) string { return strings.ToUpper(s[len(s)-1:]) })
}
