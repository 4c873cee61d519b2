package draw

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plumbline-e2e/plumbline/e2e/explore"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// zonesLearnt is how many zones Learn can find.
const zonesLearnt = 4

// Learn returns a sequence that shows DomainOf the provider's zones and instance types, and the requests that its
// controller makes. Its pods demand zones of their own, one of them much CPU. Then a node drifts, a budget lets it be
// replaced, and all go.
func Learn() explore.Sequence {
	pool := fixtures.NodePool().Called("pool1")
	app := fixtures.Deployment(zonesLearnt).Called("app1").On(pool).OnePodPerNode().
		Spread(fixtures.TopologySpread(corev1.LabelTopologyZone).Of(fixtures.WorkloadLabel, "app1"))
	large := fixtures.Deployment(1).Called("app2").On(pool).CPU("7")
	minute := metav1.Duration{Duration: time.Minute}
	return explore.Sequence{Name: "learn", Actions: []explore.Action{
		{Do: explore.Apply, Object: pool.Unstructured().Object},
		{Do: explore.Apply, Object: large.Unstructured().Object},
		{Do: explore.Apply, Object: app.Unstructured().Object, Then: minute},
		{Do: explore.Apply, Object: pool.Budget("1").NewTemplate().Unstructured().Object, Then: minute},
		{Do: explore.Delete, Object: identity(large)},
		{Do: explore.Delete, Object: identity(app), Then: minute},
		{Do: explore.DeleteNode, Then: minute},
	}}
}
