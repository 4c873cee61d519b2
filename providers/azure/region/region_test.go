package region_test

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/providers/azure/region"
)

func TestQuotas(t *testing.T) {
	g, r := NewWithT(t), region.New("southcentralus")
	g.Expect(r.Limit("nonsense", 1)).To(MatchError(And(ContainSubstring("nonsense"), ContainSubstring(region.SpotCores))))
	g.Expect(r.Limit(region.Cores, 8)).To(Succeed())
	g.Expect(r.Limits()).To(HaveKeyWithValue(region.Cores, 8))
	r.Reset()
	g.Expect(r.Limits()).NotTo(HaveKeyWithValue(region.Cores, 8))
}

func TestReleases(t *testing.T) {
	g, r := NewWithT(t), region.New("southcentralus")
	for range 40 {
		r.Publish()
	}
	all := r.Releases()
	g.Expect(all).To(HaveLen(41))
	g.Expect(region.Version(all[0])).To(Equal("202606.01.0"))
	g.Expect(region.Version(all[40])).To(Equal("202607.11.0"))
}

func TestSizes(t *testing.T) {
	g, r := NewWithT(t), region.New("southcentralus")
	g.Expect(r.Size("Standard_Z1")).To(BeNil())
	g.Expect(r.Size("Standard_E20s_v5").Labels()).To(And(
		HaveKeyWithValue("karpenter.azure.com/sku-cpu", "20"), HaveKeyWithValue("karpenter.azure.com/sku-memory", "163840"),
	))
}
