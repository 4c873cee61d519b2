package session

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e/cluster"
	"github.com/plumbline-e2e/plumbline/e2e/env"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/invariant"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/e2e/placement"
)

// missedAfter is how long Karpenter may take to launch a node for a pod that fits, after
// whatever made it fit. It tries again at least every ten seconds (Karpenter:
// pkg/controllers/provisioning/controller.go).
const missedAfter = time.Minute

// startedWithin limits the wait for nodes that are starting. The clean-up would wait as long.
const startedWithin = 15 * time.Second

// askAboutWaiting asks the scheduler whether the pods that wait at the end of a spec would run on
// a node that Karpenter could launch. It records the answers as Events, which an invariant
// judges. If pods wait and the scheduler can't be asked, it returns why.
//
// Without waiting pods it does nothing. The clock runs at speed 1 while the scheduler works.
func (s *Session) askAboutWaiting(ctx context.Context, e *env.Env, recorder *history.Recorder) (notAsked string) {
	ctx, stop := s.whileAlive(ctx)
	defer stop()
	recorded := recorder.History()
	s.shapes.Learn(recorded)
	if len(s.waiting(recorded.End(), placement.Settled)) == 0 {
		return ""
	}
	_ = awaitFor(ctx, recorder, startedWithin, func(w *history.World) bool { return placement.Starting(w) == nil })
	recorded = recorder.History()
	waiting := s.waiting(recorded.End(), placement.Settled)
	if len(waiting) == 0 {
		return ""
	}
	s.shapes.Learn(recorded)
	fit, err := s.fitting(ctx, e, recorded.End(), waiting)
	if err == nil && len(fit) > 0 {
		fit, err = s.stillFitting(ctx, recorder, fit)
	}
	if err == nil {
		err = reportFits(ctx, e, waiting, fit)
	}
	if err != nil {
		return fmt.Sprintf("not asked whether %s would fit on a new node: %v", waiting[0], err)
	}
	return ""
}

func (s *Session) waiting(w *history.World, since time.Duration) []*history.Object {
	return placement.Waiting(w, s.Namespace, time.Now(), since)
}

// awaitFor waits for something that need not come.
func awaitFor(ctx context.Context, r *history.Recorder, d time.Duration, pred func(*history.World) bool) (came bool) {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	return r.Await(ctx, pred) == nil
}

// fitting returns the new nodes on which pods would run, by the pods' names.
func (s *Session) fitting(ctx context.Context, e *env.Env, w *history.World, waiting []*history.Object) (fits, error) {
	nodes, unforeseen := s.shapes.NewNodes(w, waiting)
	starting := placement.Starting(w)
	switch overlays := w.List(karpenter.NodeOverlays); {
	case env.Hooked(e):
		return nil, errors.New("the spec has changed the cloud")
	case starting != nil:
		return nil, fmt.Errorf("NodeClaim %s is not initialized, and Karpenter may mean the pod for it", starting)
	case len(overlays) > 0:
		return nil, fmt.Errorf("NodeOverlay %s changes what instance types have", overlays[0])
	case len(nodes) == 0 && len(unforeseen) > 0:
		return nil, errors.New(strings.Join(unforeseen, ", "))
	case len(nodes) == 0:
		return nil, errors.New("no NodePool may launch a node")
	}
	return s.ask(ctx, waiting, nodes)
}

// fits holds the new nodes on which pods would run, by the pods' namespaces and names.
type fits map[string]placement.NewNode

// ask asks the scheduler about new nodes.
func (s *Session) ask(ctx context.Context, waiting []*history.Object, nodes []placement.NewNode) (fits, error) {
	scheduling, can := s.Cluster.(cluster.Scheduling)
	if !can {
		return nil, fmt.Errorf("the backend %s has no scheduler to ask", s.setup.Backend.Name)
	}
	if s.Clock != nil {
		defer s.Clock.Hold()()
	}
	answers, err := placement.Ask(ctx, scheduling.RunScheduler,
		placement.Question{Config: s.Cluster.Config(), Pods: waiting, Nodes: nodes})
	fit := fits{}
	for pod, a := range answers {
		if a.On != nil {
			fit[pod] = *a.On
		}
	}
	return fit, err
}

// stillFitting returns those pods that wait and would run on the same node after missedAfter,
// if that is the only new one. Karpenter may have been about to launch it, and with several
// new nodes a topology has more domains.
func (s *Session) stillFitting(ctx context.Context, recorder *history.Recorder, fit fits) (fits, error) {
	if awaitFor(ctx, recorder, missedAfter, func(w *history.World) bool { return !anyWaits(w, fit) }) {
		return nil, nil //nolint:nilnil // they have been placed
	}
	w, still := recorder.History().End(), fits{}
	for _, pod := range s.waiting(w, missedAfter) {
		node, had := fit[pod.String()]
		if !had || placement.Starting(w) != nil {
			continue
		}
		nodes, _ := s.shapes.NewNodes(w, []*history.Object{pod})
		nodes = slices.DeleteFunc(nodes, func(n placement.NewNode) bool {
			return n.Pool != node.Pool || n.Shape != node.Shape
		})
		alone, err := s.ask(ctx, []*history.Object{pod}, nodes)
		if err != nil {
			return nil, err
		}
		maps.Copy(still, alone)
	}
	return still, nil
}

// anyWaits reports whether one of the pods is bound to no node.
func anyWaits(w *history.World, fit fits) bool {
	return slices.ContainsFunc(w.List(karpenter.Pods), func(pod *history.Object) bool {
		_, had := fit[pod.String()]
		return had && karpenter.PodNode(pod.Unstructured()) == ""
	})
}

// reportFits records for each pod whether it would run on a new node.
func reportFits(ctx context.Context, e *env.Env, waiting []*history.Object, fit fits) error {
	for _, pod := range waiting {
		reason, message := invariant.ReasonFitsNowhere, "the scheduler would place it on no node that could be launched"
		if node, fits := fit[pod.String()]; fits {
			reason = invariant.ReasonFits
			message = fmt.Sprintf("the scheduler would place it on a new node of NodePool %s (%s)", node.Pool, node.Shape)
		}
		if err := env.Report(ctx, e, "Pod", pod, reason, message); err != nil {
			return err
		}
	}
	return nil
}
