package explore

import (
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plumbline-e2e/plumbline/providers"
)

func TestWhatASequenceDeletesAndTouchesAsCommands(t *testing.T) {
	g := NewWithT(t)
	pool := map[string]any{
		"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": map[string]any{"name": "a"},
	}
	script, err := Sequence{Actions: []Action{
		{Do: Delete, Object: pool, Then: metav1.Duration{Duration: 3 * time.Second}},
		{Do: DeleteInForeground, Object: pool},
		{Do: DeleteNode, Node: 2},
		{Do: TaintNode},
		{Do: ProtectNode},
		{Do: KillController},
	}}.Commands(providers.Named("kwok"))
	g.Expect(err).NotTo(HaveOccurred())
	node := func(nth string) string {
		return `"$(kubectl get nodes -l karpenter.sh/nodepool --sort-by=.metadata.creationTimestamp -o name | sed -n ` + nth + `p)"`
	}
	_, actions, _ := strings.Cut(script, "\nEND\n") // the NodeClass
	g.Expect(actions).To(Equal(`
# delete NodePool a then 3s
kubectl delete --ignore-not-found --wait=false nodepool/a
sleep 3

# delete-in-foreground NodePool a
kubectl delete --ignore-not-found --wait=false --cascade=foreground nodepool/a

# delete-node node 2
kubectl delete --wait=false ` + node("3") + `

# taint-node node 0
kubectl taint ` + node("1") + ` plumbline.test/tainted:NoSchedule

# protect-node node 0
kubectl annotate ` + node("1") + ` karpenter.sh/do-not-disrupt=true

# kill-controller
`))
}
