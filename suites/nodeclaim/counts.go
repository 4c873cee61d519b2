package nodeclaim

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// newNodes counts all nodes that appear from now on. A zero is evidence only while one of
// the NodeClaims exists.
func newNodes(env *e2e.Env, first check.Object, more ...check.Object) check.Count {
	all := check.Where("nodes", karpenter.Nodes, func(*unstructured.Unstructured) bool { return true })
	return all.New(env.Mark()).AmongObjects(check.The(first, more...)).Named("nodes since NodeClaim " + first.GetName())
}
