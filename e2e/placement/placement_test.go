package placement

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"

	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/history/historytest"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// began is the time of stories.
var began = time.Date(2026, time.January, 2, 15, 4, 5, 0, time.UTC) //nolint:gochecknoglobals // it is a constant

func waitingPod() *historytest.Thing {
	return historytest.Pod("a", "w").False("PodScheduled").Set([]any{map[string]any{
		"type": "PodScheduled", "status": "False", "reason": "Unschedulable",
		"lastTransitionTime": began.Format(time.RFC3339),
	}}, "status", "conditions")
}

func TestWaiting(t *testing.T) {
	for name, c := range map[string]struct {
		pod   *historytest.Thing
		waits bool
	}{
		"unschedulable":         {waitingPod(), true},
		"not looked at":         {historytest.Pod("a", "w"), false},
		"bound":                 {waitingPod().On("n"), false},
		"being deleted":         {waitingPod().Deleting(), false},
		"with a gate":           {waitingPod().Set([]any{map[string]any{"name": "g"}}, "spec", "schedulingGates"), false},
		"of another scheduler":  {waitingPod().Set("other", "spec", "schedulerName"), false},
		"of the default one":    {waitingPod().Set("default-scheduler", "spec", "schedulerName"), true},
		"with a ResourceClaim":  {waitingPod().Set([]any{map[string]any{"name": "r"}}, "spec", "resourceClaims"), false},
		"with a node made free": {waitingPod().Set("n", "status", "nominatedNodeName"), false},
		"of a DaemonSet": {
			waitingPod().Set([]any{map[string]any{"kind": "DaemonSet"}}, "metadata", "ownerReferences"), false,
		},
		"in another namespace":    {waitingPod().Set("other", "metadata", "namespace"), false},
		"whose priority is lower": {waitingPod().Set(int64(-1), "spec", "priority"), true},
	} {
		t.Run(name, func(t *testing.T) {
			w := historytest.Begin().Add(c.pod).History().End()
			g := NewWithT(t)
			g.Expect(Waiting(w, "default", began.Add(time.Minute), Settled)).To(HaveLen(map[bool]int{true: 1}[c.waits]))
			g.Expect(Waiting(w, "default", began.Add(time.Second), Settled)).To(BeEmpty())
		})
	}
}

func TestStarting(t *testing.T) {
	g, nodeClaim := NewWithT(t), historytest.NodeClaim("c")
	story := historytest.Begin().Add(nodeClaim)
	g.Expect(Starting(story.History().End())).NotTo(BeNil())
	g.Expect(Starting(story.Change(nodeClaim.True(karpenter.Initialized)).History().End())).To(BeNil())
	g.Expect(Starting(historytest.Begin().Add(historytest.NodeClaim("c").Deleting()).History().End())).To(BeNil())
}

// labelled sets the labels of a type in a zone, and others.
func labelled(t *historytest.Thing) *historytest.Thing {
	return t.Pool("p").Label(corev1.LabelInstanceTypeStable, "c-4x").Label(corev1.LabelTopologyZone, "z").
		Label(karpenter.CapacityTypeLabel, "spot").
		Label(corev1.LabelArchStable, "amd64").Label(corev1.LabelOSStable, "linux").
		Label("example.com/team", "a").Label(corev1.LabelHostname, "n").Label("karpenter.example.com/family", "c").
		Capacity("cpu", "4").Set("3", "status", "allocatable", "cpu")
}

// seen returns a story of a node of NodePool p.
func seen() *historytest.Story {
	node := labelled(historytest.Node("n").Ready()).Set("1", "status", "allocatable", "example.com/device")
	nodeClaim := labelled(historytest.NodeClaim("c")).On("n").True(karpenter.Initialized).
		Set("3900m", "status", "allocatable", "cpu")
	return historytest.Begin().Add(pool1(), node, nodeClaim)
}

func pool1(requirements ...any) *historytest.Thing {
	if requirements == nil {
		requirements = []any{}
	}
	return historytest.Pool("p").Ready().Set(requirements, "spec", "template", "spec", "requirements").
		Set("b", "spec", "template", "metadata", "labels", "example.com/team")
}

func require(key, operator string, values ...any) map[string]any {
	return map[string]any{"key": key, "operator": operator, "values": append([]any{}, values...)}
}

func newNodes(known *history.History, things ...*historytest.Thing) ([]NewNode, []string) {
	shapes := &Shapes{}
	shapes.Learn(known)
	return shapes.NewNodes(historytest.Begin().Add(things...).History().End(), nil)
}

func TestANewNodeIsOfItsShapeAndPool(t *testing.T) {
	g := NewWithT(t)
	nodes, unforeseen := newNodes(seen().History(), pool1().Set([]any{
		map[string]any{"key": "k", "effect": "NoSchedule"}, map[string]any{"key": "soft", "effect": "PreferNoSchedule"},
	}, "spec", "template", "spec", "taints"))
	g.Expect(unforeseen).To(BeEmpty())
	g.Expect(nodes).To(HaveLen(1))
	node := nodes[0].Node
	g.Expect(nodes[0].Shape).To(Equal("c-4x z spot"))
	g.Expect(node.Labels).To(And(HaveKeyWithValue("example.com/team", "b"),
		HaveKeyWithValue("karpenter.example.com/family", "c"),
		HaveKeyWithValue(corev1.LabelHostname, node.Name), HaveKeyWithValue(karpenter.NodePoolLabel, "p")))
	g.Expect(node.Spec.Taints).To(HaveLen(1))
	g.Expect(node.Status.Allocatable.Cpu().String()).To(Equal("3")) // the less of node and NodeClaim
	g.Expect(node.Status.Allocatable).NotTo(HaveKey(corev1.ResourceName("example.com/device")))
}

func TestPoolsLaunchWhatTheyMay(t *testing.T) {
	const size = "example.com/size"
	for name, c := range map[string]struct {
		pool       *historytest.Thing
		nodes      int
		unforeseen string
	}{
		"anything":        {pool1(), 1, ""},
		"another zone":    {pool1(require(corev1.LabelTopologyZone, "In", "y")), 0, "no type that this run has seen"},
		"this zone":       {pool1(require(corev1.LabelTopologyZone, "NotIn", "y")), 1, ""},
		"either of two":   {pool1(require(size, "In", "1", "2")), 2, ""},
		"any value":       {pool1(require(size, "Exists")), 1, ""},
		"over a value":    {pool1(require(size, "Gt", "4")), 1, ""},
		"no value":        {pool1(require(size, "DoesNotExist")), 1, ""},
		"too many values": {pool1(require(size, "In", "1", "2", "3", "4", "5", "6", "7", "8", "9")), 0, "too many labels"},
		"several types": {
			pool1(map[string]any{"key": size, "operator": "Exists", "minValues": int64(2)}), 0, "several types",
		},
		"not ready":         {pool1().False(karpenter.Ready), 0, ""},
		"being deleted":     {pool1().Deleting(), 0, ""},
		"static":            {pool1().Set(int64(1), "spec", "replicas"), 0, ""},
		"a limit with room": {pool1().Set("4", "spec", "limits", "cpu"), 1, ""},
		"a limit too low":   {pool1().Set("3", "spec", "limits", "cpu"), 0, ""},
		"a limit that is used up": {
			pool1().Set("7", "spec", "limits", "cpu").Set("4", "status", "resources", "cpu"), 0, "",
		},
		"a limit of nodes": {pool1().Set("1", "spec", "limits", "nodes"), 1, ""},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			nodes, unforeseen := newNodes(seen().History(), c.pool)
			g.Expect(nodes).To(HaveLen(c.nodes))
			if c.unforeseen == "" {
				g.Expect(unforeseen).To(BeEmpty())
			} else {
				g.Expect(unforeseen).To(ConsistOf(ContainSubstring(c.unforeseen)))
			}
		})
	}
}

func TestWhatNodesUseCountsAgainstLimits(t *testing.T) {
	limited := pool1().Set("1", "spec", "limits", "nodes")
	nodes, _ := newNodes(seen().History(), limited, historytest.NodeClaim("c").Pool("p"))
	NewWithT(t).Expect(nodes).To(BeEmpty())
}

// Some providers say of a node's capacity what its pods request. It is at least what is allocatable.
func TestCapacityIsAtLeastWhatIsAllocatable(t *testing.T) {
	small := func(t *historytest.Thing) *historytest.Thing { return labelled(t).Capacity("cpu", "1") }
	known := historytest.Begin().Add(pool1(), small(historytest.Node("n").Ready()),
		small(historytest.NodeClaim("c")).On("n").True(karpenter.Initialized))
	nodes, _ := newNodes(known.History(), pool1().Set("2", "spec", "limits", "cpu"))
	NewWithT(t).Expect(nodes).To(BeEmpty())
}

func TestNoShapesAreLearntBesideOverlays(t *testing.T) {
	overlay := historytest.Other(karpenter.NodeOverlays, "NodeOverlay", "", "o")
	nodes, _ := newNodes(historytest.Begin().Add(overlay).History(), pool1())
	NewWithT(t).Expect(nodes).To(BeEmpty())
	nodes, _ = newNodes(seen().Add(overlay).History(), pool1())
	NewWithT(t).Expect(nodes).To(BeEmpty())
}

func TestARefusalSaysWhy(t *testing.T) {
	g := NewWithT(t)
	why, refused := refusal([]byte(`{"status":{"conditions":[{"type":"PodScheduled","status":"False","message":"no room"}]}}`))
	g.Expect(refused).To(BeTrue())
	g.Expect(why).To(Equal("no room"))
	_, refused = refusal([]byte(`{"status":{"nominatedNodeName":"n"}}`))
	g.Expect(refused).To(BeFalse())
}
