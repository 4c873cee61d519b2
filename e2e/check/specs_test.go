package check

import (
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// named is a name and nothing else.
type named string

func (n named) GetName() string { return string(n) }

// driftSpecs returns the promises for a drift of a pool of six nodes, with a budget of two and
// a pod of app on each node. Tests judge real recordings and tampered ones by them.
func driftSpecs(pool, app named, before history.Mark) map[string]Check {
	old := Nodes(pool).Old(before)
	return map[string]Check{
		"the budget is never exceeded":                               Always(AtMost(2, DisruptedNodes(pool))),
		"the budget is used":                                         AtMost(2, DisruptedNodes(pool)).Reached(),
		"the pool never has more nodes than it needs and the budget": Always(AtMost(8, Nodes(pool))),
		"the limit is never exceeded": Always(AtMostQuantity(resource.MustParse("24"),
			NodeClaimCapacity(pool, "cpu"))),
		"no pod is bound to a disrupted node": Whenever(Enters(BoundPods(app)), "its node is not disrupted",
			func(pod *unstructured.Unstructured) Claim {
				return None(Node(karpenter.PodNode(pod)).With("that are disrupted", Tainted(karpenter.DisruptedTaint)))
			}),
		"a node is unregistered when it is first seen": Whenever(Enters(Nodes(pool)), "it is tainted unregistered",
			func(node *unstructured.Unstructured) Claim {
				return Each(Node(node.GetName()), "are tainted unregistered", Tainted(karpenter.UnregisteredTaint))
			}),
		"and no longer once its claim is registered": Whenever(Enters(NodeClaims(pool).In(karpenter.Registered)),
			"its node is not tainted unregistered", func(nodeClaim *unstructured.Unstructured) Claim {
				return None(Node(karpenter.NodeClaimNode(nodeClaim)).
					With("that are unregistered", Tainted(karpenter.UnregisteredTaint)))
			}),
		"replacements are ready before old nodes go": Whenever(Leaves(old), "five nodes are ready besides",
			ForAny(AtLeast(5, ReadyNodes(pool)))),
		"the old claims drift, all": Sometimes(Exactly(6, DriftedNodeClaims(pool).Old(before))),
		"and no others":             Always(None(DriftedNodeClaims(pool).New(before))),
		"drift leads to replacement": LeadsTo(AtLeast(1, DriftedNodeClaims(pool)),
			None(NodeClaims(pool).Old(before))),
		"every new node gets ready": After(Enters(Nodes(pool).New(before)), "it is ready", nodeIsReady),
		"new nodes have the new label": Always(Each(Nodes(pool).New(before), "have the template's label",
			Labeled("plumbline", "two"))),
		"in the end all nodes are new": Finally(Exactly(6, ReplacedNodes(pool, before))),
		"and the pods run on them":     Finally(Exactly(6, RunningPods(app).On(ReplacedNodes(pool, before)))),
		"the label says so too": Finally(Exactly(6,
			RunningPods(app).On(Nodes(pool).With("of the new template", Labeled("plumbline", "two"))))),
		"the old nodes stay until they drift": Until(Exactly(6, old), AtLeast(1, DriftedNodeClaims(pool))),
		"Karpenter says what it disrupted": Sometimes(AtLeast(1,
			Reports(karpenter.ReasonDisruptionTerminating, nil).New(before))),
		"and doesn't think a pod can't be run": Always(When(AtLeast(1, PendingPods(app)),
			None(Reports(karpenter.ReasonFailedScheduling, app).New(before).AmongObjects(PodsOf(app))))),
	}
}

func nodeIsReady(node *unstructured.Unstructured) Claim {
	return AtLeast(1, Node(node.GetName()).With("that are ready", karpenter.NodeReady))
}
