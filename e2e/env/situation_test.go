package env

import (
	"fmt"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/history/historytest"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

func isInDefault(o *history.Object) bool { return o.Namespace == "default" }

func TestAWaitThatRanOutSaysWhatStoodInTheWay(t *testing.T) {
	pending := func(name string) *historytest.Thing {
		return historytest.Pod(name, "app").Phase("Pending").Set([]any{
			map[string]any{
				"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/1 nodes are available",
			},
		}, "status", "conditions")
	}
	launching := historytest.NodeClaim("c").Pool("p").Set([]any{
		map[string]any{"type": "Launched", "status": "Unknown", "reason": "LaunchFailed", "message": "no subnets"},
	}, "status", "conditions")
	pod := pending("app-1")
	story := historytest.Begin().Add(historytest.Pool("p"), pod).Add(
		historytest.Pod("app-2", "app").Phase("Running").Ready(),
		historytest.NodeClaim("d").Pool("p").Ready(),
	).After(time.Second).Add(launching).
		Add(historytest.Report("karpenter", "Nominated", pod).Set("should schedule on c", "message")).
		Add(historytest.Report("kubelet", "Pulled", historytest.Pod("app-2", "app")).Set("pulled", "message")).
		After(2 * time.Second).
		Add(historytest.Report("karpenter", "InsufficientCapacityError", launching).Set("no subnets", "message")).
		After(3 * time.Second).Change(pod)

	NewWithT(t).Expect(situationOf(story.History(), isInDefault, []string{
		`{"level":"ERROR","message":"a"}`, `{"level":"ERROR","message":"b"}`, `{"level":"ERROR","message":"c"}`,
		`{"level":"ERROR","message":"d"}`, `{"level":"ERROR","message":"b","again":1}`,
	})).To(Equal(`
  pods that don't run:
    Pod default/app-1: Pending, not bound
      PodScheduled: Unschedulable: 0/1 nodes are available
  NodeClaims that aren't ready:
    NodeClaim c: pool p, Launched=Unknown (LaunchFailed)
      Launched: LaunchFailed: no subnets
  latest events about pods that don't run, NodeClaims and NodePools:
    5s before: Nominated on Pod app-1: should schedule on c
    3s before: InsufficientCapacityError on NodeClaim c: no subnets
  the controller's last errors:
    {"level":"ERROR","message":"c"}
    {"level":"ERROR","message":"d"}
    {"level":"ERROR","message":"b","again":1}`))
}

func TestAWaitThatRanOutNamesNodesThatNoNodeClaimHas(t *testing.T) {
	launched := func(name, id string) *historytest.Thing {
		return historytest.NodeClaim(name).Set(id, "status", "providerID").Set([]any{
			map[string]any{"type": "Registered", "status": "Unknown", "reason": "NodeNotFound", "message": "no node"},
			map[string]any{"type": "Initialized", "status": "Unknown", "reason": "NodeNotFound", "message": "no node"},
			map[string]any{"type": "Drifted", "status": "Unknown", "reason": karpenter.ReasonAwaiting, "message": "awaits"},
			map[string]any{"type": "Ready", "status": "Unknown", "reason": "ReconcilingDependents", "message": "object is"},
		}, "status", "conditions")
	}
	node := func(name, id string) *historytest.Thing {
		return historytest.Node(name).Pool("p").Set(id, "spec", "providerID").Ready()
	}
	story := historytest.Begin().Add(
		launched("c", "sim:///i-1"), node("n", "sim:///I-1").Taint(karpenter.UnregisteredTaint),
		historytest.NodeClaim("d").Set("sim:///i-2", "status", "providerID").Ready(), node("well", "sim:///i-2"),
		node("leaked", "sim:///i-3"), node("bare", ""), historytest.Node("host"),
	)
	NewWithT(t).Expect(situationOf(story.History(), isInDefault, nil)).To(Equal(`
  NodeClaims that aren't ready:
    NodeClaim c: instance sim:///i-1, Registered=Unknown (NodeNotFound), Initialized=Unknown (NodeNotFound), ` +
		`Drifted=Unknown (AwaitingReconciliation), Ready=Unknown (ReconcilingDependents)
      Registered: NodeNotFound: no node
  nodes that aren't ready, registered and of a NodeClaim:
    Node bare: ready, pool p
      it has no provider ID (spec.providerID)
    Node leaked: ready, pool p, instance sim:///i-3
      no NodeClaim has its provider ID
    Node n: ready, pool p, instance sim:///I-1, tainted karpenter.sh/unregistered:NoSchedule
      no NodeClaim has its provider ID; NodeClaim c has sim:///i-1: they differ by letter case only, and ` +
		`Karpenter compares them exactly`))
}

func TestASituationFitsOnAScreen(t *testing.T) {
	g := NewWithT(t)
	story := historytest.Begin()
	for i := range 20 {
		pod := historytest.Pod(fmt.Sprintf("app-%d", i), "app").Phase("Pending")
		story.Add(pod, historytest.Report("karpenter", "FailedScheduling", pod).Set(fmt.Sprint(i/2), "message"))
	}
	text := situationOf(story.History(), isInDefault, nil)
	g.Expect(text).To(ContainSubstring("\n    and 17 more\n"))
	g.Expect(strings.Count(text, "FailedScheduling on")).To(Equal(situationEvents))
	well := historytest.Begin().Add(historytest.NodeClaim("c").True(karpenter.Ready)).History()
	g.Expect(situationOf(well, isInDefault, nil)).To(BeEmpty())
}
