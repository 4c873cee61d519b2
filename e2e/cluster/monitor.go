package cluster

import (
	"context"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/plumbline-e2e/plumbline/e2e/clock"
)

// Component is a part of a cluster whose answers can be monitored.
type Component struct {
	Name string // such as kube-apiserver
	// Ask returns when the component has answered. An error is an answer too: a component that
	// refuses does not hang.
	Ask func(ctx context.Context) error
	// Log returns the end of the component's log.
	Log func(ctx context.Context) []string
}

// Monitored is a cluster that lists its components.
type Monitored interface {
	// Components lists the components that should answer now, dependencies first.
	Components() []Component
}

// APIServer returns the API server as a component. Ask reads an object that is in etcd.
func APIServer(client kubernetes.Interface) Component {
	return Component{
		Name: "kube-apiserver",
		Ask: func(ctx context.Context) error {
			path := "/api/v1/namespaces/" + metav1.NamespaceDefault
			return client.CoreV1().RESTClient().Get().AbsPath(path).MaxRetries(0).Do(ctx).Error()
		},
		Log: func(context.Context) []string { return nil },
	}
}

// A component hangs if it does not answer for hungAfter seconds. Only this process's ticks
// count as seconds, so a stall of the machine or a clock jump counts as one at most.
const (
	askEvery  = time.Second // of real time: a fast clock does not make it more frequent
	holdAfter = 2           // seconds; then the clock is held, so that no other timeouts expire
	sayAfter  = 4           // seconds; then Progress reports it
	hungAfter = 7           // seconds; Karpenter must renew its lease within 10
)

// Monitor is a periodic check that components answer.
type Monitor struct {
	Components func() []Component // called again while an answer is missing
	Clock      *clock.Clock       // optional: this process's clock; else the machine's
	Progress   func(string)       // receives the name of a slow component, before it counts as hung
}

// Run asks all components once a second. It returns the first that hangs; nil if ctx ends.
func (m *Monitor) Run(ctx context.Context) *Death {
	tick := time.NewTicker(askEvery)
	defer tick.Stop()
	for asked := time.Duration(0); ; {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		if m.Clock != nil && m.Clock.Real()-asked < askEvery {
			continue
		}
		if hung := m.Ask(ctx); hung != nil {
			return hung
		}
		if m.Clock != nil {
			asked = m.Clock.Real()
		}
	}
}

// question is one pending Ask.
type question struct {
	Component
	answered chan struct{} // closed by the answer
}

// Ask asks all components once. It returns the first that hangs; nil if all answer or ctx
// ends.
func (m *Monitor) Ask(ctx context.Context) *Death {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var open []question
	for _, c := range m.Components() {
		q := question{c, make(chan struct{})}
		go func() { defer close(q.answered); _ = c.Ask(ctx) }()
		open = append(open, q)
	}
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	told := ""
	for seconds := 0; len(open) > 0; {
		select {
		case <-ctx.Done():
			return nil
		case <-open[0].answered:
			open = open[1:]
			continue
		case <-tick.C:
		}
		if open = m.stillOpen(open); len(open) == 0 {
			break
		}
		switch seconds++; seconds {
		case holdAfter:
			if m.Clock != nil {
				defer m.Clock.Hold()()
			}
		case sayAfter:
			told = open[0].Name
			m.Progress(Death{Component: told, Silent: sayAfter * time.Second}.Error())
		case hungAfter:
			return &Death{Component: open[0].Name, Silent: hungAfter * time.Second, LastLines: open[0].Log(ctx)}
		}
	}
	if told != "" {
		m.Progress(told + " answers again")
	}
	return nil
}

// stillOpen returns the unanswered questions to components that must still answer.
func (m *Monitor) stillOpen(open []question) []question {
	expected := m.Components()
	return slices.DeleteFunc(open, func(q question) bool {
		select {
		case <-q.answered:
			return true
		default:
			return !slices.ContainsFunc(expected, func(c Component) bool { return c.Name == q.Name })
		}
	})
}
