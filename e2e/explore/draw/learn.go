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

// Learn returns a sequence whose recording shows DomainOf the provider's zones and instance types. Its pods demand
// zones of their own.
func Learn() explore.Sequence {
	pool := fixtures.NodePool().Called("pool1")
	app := fixtures.Deployment(zonesLearnt).Called("app1").On(pool).OnePodPerNode().
		Spread(fixtures.TopologySpread(corev1.LabelTopologyZone).Of(fixtures.WorkloadLabel, "app1"))
	return explore.Sequence{Name: "learn", Actions: []explore.Action{
		{Do: explore.Apply, Object: pool.Unstructured().Object},
		{Do: explore.Apply, Object: app.Unstructured().Object, Then: metav1.Duration{Duration: time.Minute}},
	}}
}
