package check_test

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history/historytest"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// A disruption budget of one, and a provider that disrupts two nodes at once.
func Example() {
	pool := historytest.Pool("p")
	a, b := historytest.Node("a").Pool("p").Ready(), historytest.Node("b").Pool("p").Ready()
	h := historytest.Begin().Add(pool, a, b).Start().
		After(2*time.Second).Change(a.Taint(karpenter.DisruptedTaint)).
		After(300*time.Millisecond).Change(b.Taint(karpenter.DisruptedTaint)).
		After(5*time.Second).Delete(a, b).
		History()

	fmt.Println(check.Always(check.AtMost(1, check.DisruptedNodes(pool))).Judge(h))
	fmt.Println(check.LeadsTo(check.AtLeast(1, check.DisruptedNodes(pool)), check.None(check.Nodes(pool))).Judge(h))
	fmt.Println(check.Always(check.AtMost(1, check.DriftedNodeClaims(pool))).Judge(h))
	// Output:
	// broken: always at most 1 node of pool p that is disrupted
	//   at +2.3s, event 4: MODIFIED Node b (taint karpenter.sh/disrupted:NoSchedule added)
	//   want: at most 1 node of pool p that is disrupted
	//   got: 2 nodes of pool p that are disrupted
	//       Node a: ready, pool p, tainted karpenter.sh/disrupted:NoSchedule
	//       Node b: ready, pool p, tainted karpenter.sh/disrupted:NoSchedule
	// holds: at least 1 node of pool p that is disrupted leads to no nodes of pool p
	// vacuous: always at most 1 NodeClaim of pool p that has drifted
	//   never put to the test: at no moment could anything have broken it
}

// No pod is bound to a node that is being disrupted.
func ExampleWhenever() {
	node := historytest.Node("a").Pool("p").Ready().Taint(karpenter.DisruptedTaint)
	app := historytest.Pod("app-1", "app")
	h := historytest.Begin().Add(node, app).Start().
		After(time.Second).Change(app.On("a")).
		History()

	keptOff := check.Whenever(check.Enters(check.BoundPods(historytest.Pod("app", ""))), "its node is not disrupted",
		func(pod *unstructured.Unstructured) check.Claim {
			return check.None(check.Node(karpenter.PodNode(pod)).
				With("that are disrupted", check.Tainted(karpenter.DisruptedTaint)))
		})
	fmt.Println(keptOff.Judge(h))
	// Output:
	// broken: whenever one comes to the pods of app that are bound, its node is not disrupted
	//   at +1s, event 2: MODIFIED Pod default/app-1 (spec.nodeName set to "a")
	//   want: no nodes called a that are disrupted, for Pod default/app-1
	//   got: 1 node called a that is disrupted
	//       Node a: ready, pool p, tainted karpenter.sh/disrupted:NoSchedule
}
