package session

import (
	"context"
	"fmt"
	"maps"
	"slices"
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

// askAboutWaiting asks the scheduler whether the pods that wait at the end of a spec would run on
// a node that Karpenter could launch. It records the answers as Events, which an invariant
// judges. If pods wait and the scheduler can't be asked, it returns why.
//
// Without waiting pods it does nothing. The clock runs at speed 1 while the scheduler works.
func (s *Session) askAboutWaiting(ctx context.Context, e *env.Env, recorder *history.Recorder) (notAsked string) {
	ctx, stop := s.whileAlive(ctx)
	defer stop()
	recorded := recorder.History()
	waiting := placement.Waiting(recorded.End(), s.Namespace, time.Now(), placement.Settled)
	s.shapes.Learn(recorded)
	if len(waiting) == 0 {
		return ""
	}
	fit, err := s.fitting(ctx, e, recorded, waiting)
	if err == nil && len(fit) > 0 {
		fit, err = s.stillFitting(ctx, e, recorder, fit)
	}
	if err == nil {
		err = reportFits(ctx, e, waiting, fit)
	}
	if err != nil {
		return fmt.Sprintf("not asked whether %s would fit on a new node: %v", waiting[0], err)
	}
	return ""
}

// fitting returns where those pods would run that would run on a new node, by their names.
func (s *Session) fitting(ctx context.Context, e *env.Env, recorded *history.History, waiting []*history.Object,
) (map[string]placement.NewNode, error) {
	world := recorded.End()
	nodes := s.shapes.NewNodes(world, waiting)
	switch why := placement.Unsettled(world); {
	case why != "":
		return nil, fmt.Errorf("%s", why)
	case env.Hooked(e):
		return nil, fmt.Errorf("the spec has changed the cloud")
	case len(nodes) == 0:
		return nil, fmt.Errorf("no ready NodePool may launch a node of a type that this run has seen")
	}
	return s.ask(ctx, waiting, nodes)
}

// ask asks the scheduler about new nodes.
func (s *Session) ask(ctx context.Context, waiting []*history.Object, nodes []placement.NewNode,
) (map[string]placement.NewNode, error) {
	scheduling, can := s.Cluster.(cluster.Scheduling)
	if !can {
		return nil, fmt.Errorf("the backend %s has no scheduler to ask", s.setup.Backend.Name)
	}
	if s.Clock != nil {
		defer s.Clock.Hold()()
	}
	answers, err := placement.Ask(ctx, scheduling.RunScheduler,
		placement.Question{Config: s.Cluster.Config(), Pods: waiting, Nodes: nodes})
	fit := map[string]placement.NewNode{}
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
func (s *Session) stillFitting(ctx context.Context, e *env.Env, recorder *history.Recorder,
	fit map[string]placement.NewNode,
) (map[string]placement.NewNode, error) {
	served := func(w *history.World) bool {
		return !slices.ContainsFunc(w.List(karpenter.Pods), func(pod *history.Object) bool {
			_, fits := fit[pod.String()]
			return fits && karpenter.PodNode(pod.Unstructured()) == ""
		})
	}
	patience, cancel := context.WithTimeout(ctx, missedAfter)
	defer cancel()
	if recorder.Await(patience, served) == nil {
		return nil, nil
	}
	recorded, err := recorder.Complete(ctx)
	if err != nil {
		return nil, err
	}
	world, still := recorded.End(), map[string]placement.NewNode{}
	for _, pod := range placement.Waiting(world, s.Namespace, time.Now(), missedAfter) {
		node, fits := fit[pod.String()]
		if !fits || placement.Unsettled(world) != "" {
			continue
		}
		nodes := slices.DeleteFunc(s.shapes.NewNodes(world, []*history.Object{pod}), func(n placement.NewNode) bool {
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

// reportFits records for each pod whether it would run on a new node.
func reportFits(ctx context.Context, e *env.Env, waiting []*history.Object, fit map[string]placement.NewNode) error {
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
