package cluster

import (
	"context"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/plumbline-e2e/plumbline/e2e/clock"
)

// Component is a part of a cluster that can be asked whether it works.
type Component struct {
	Name string // such as kube-apiserver
	// Ask returns as soon as the component has answered. An error is an answer too: a
	// component that refuses does not hang.
	Ask func(ctx context.Context) error
	// Log returns the end of the component's log.
	Log func(ctx context.Context) []string
}

// Monitored is a cluster that lists its components.
type Monitored interface {
	// Components lists what should answer now. A component comes before those that need it.
	Components() []Component
}

// APIServer returns the API server as a component. It is asked for an object that it must get
// from etcd.
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

// A component hangs when it lets a number of seconds pass without an answer. A second counts
// when this process has seen it pass: a machine that stands still costs no more than one, and
// so does a jump of the clock.
const (
	askEvery  = time.Second // of real time: a clock that runs fast is no reason to ask more often
	holdAfter = 2           // seconds after which the clock is held, so that nothing else runs out meanwhile
	sayAfter  = 4           // seconds after which people are told
	hungAfter = 7           // seconds: less than the ten within which Karpenter must renew its lease
)

// Monitor asks components whether they work.
type Monitor struct {
	Components func() []Component // called again while an answer is missing
	Clock      *clock.Clock       // optional: the clock of this process; else the machine's
	Progress   func(string)       // told of a component that doesn't answer, before it counts as one that hangs
}

// Run asks all components once a second. It returns the first that hangs, or nil when ctx ends.
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

// question is a component that was asked.
type question struct {
	Component
	answered chan struct{} // closed when it has answered
}

// Ask asks all components once. It returns the first that hangs, or nil as soon as all have
// answered, or when ctx ends.
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
		if open = m.unanswered(open); len(open) == 0 {
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

// unanswered returns the questions without an answer, but for those to components that need
// not answer any more.
func (m *Monitor) unanswered(open []question) []question {
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
