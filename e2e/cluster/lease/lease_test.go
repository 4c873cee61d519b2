package lease

import (
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestWhoHoldsTheCluster(t *testing.T) {
	g := NewWithT(t)
	now := time.Now()
	lease := func(who string, renewed time.Duration) *coordinationv1.Lease {
		return &coordinationv1.Lease{Spec: coordinationv1.LeaseSpec{
			HolderIdentity: &who,
			RenewTime:      &metav1.MicroTime{Time: now.Add(-renewed)},
		}}
	}
	gone := exec.CommandContext(t.Context(), "true")
	g.Expect(gone.Run()).To(Succeed())
	host, _, _ := strings.Cut(identity(), "/")

	g.Expect(liveHolder(lease(identity(), time.Second), now)).To(HavePrefix("process "), "this one lives")
	g.Expect(liveHolder(lease("elsewhere/1", time.Second), now)).To(Equal("process 1 on elsewhere"))
	g.Expect(liveHolder(lease("elsewhere/1", time.Minute), now)).To(BeEmpty(), "it is over")
	g.Expect(liveHolder(lease(host+"/"+strconv.Itoa(gone.Process.Pid), time.Second), now)).
		To(BeEmpty(), "its process is gone")
	g.Expect(liveHolder(lease("", time.Second), now)).To(BeEmpty(), "it was given back")
	g.Expect(liveHolder(&coordinationv1.Lease{}, now)).To(BeEmpty())
}
