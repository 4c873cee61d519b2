package install

import (
	"testing"

	. "github.com/onsi/gomega"
)

func TestValueOfAMetric(t *testing.T) {
	g := NewWithT(t)
	page := []byte(`# HELP karpenter_cluster_state_synced Returns 1 if cluster state is synced and 0 otherwise.
# TYPE karpenter_cluster_state_synced gauge
karpenter_cluster_state_synced 1
# TYPE karpenter_cluster_state_synced_seconds histogram
karpenter_cluster_state_synced_seconds_bucket{le="+Inf"} 7
karpenter_cluster_state_synced_seconds_sum 3.5
# TYPE karpenter_pods_state gauge
karpenter_pods_state{name="karpenter_cluster_state_synced",node=""} 5
# TYPE go_threads gauge
go_threads 9
`)
	g.Expect(value("karpenter_cluster_state_synced", page)).To(BeEquivalentTo(1))
	g.Expect(value("go_threads", page)).To(BeEquivalentTo(9))
	_, err := value("karpenter_cluster_state", page)
	g.Expect(err).To(MatchError(ErrNoMetric))
	_, err = value("go_threads", []byte("go_threads nine\n"))
	g.Expect(err).To(MatchError(ContainSubstring("the controller's metrics: ")))
}
