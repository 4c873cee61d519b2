package e2e

import (
	"runtime"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/e2e/clock"
	"github.com/plumbline-e2e/plumbline/e2e/cluster"
)

func TestSpeed(t *testing.T) {
	for _, c := range []struct {
		value string
		bends bool
		want  clock.Speed
		err   string
	}{
		{"1", true, clock.Speed{Limit: 1}, ""},
		{"1", false, clock.Speed{Limit: 1}, ""},
		{"", true, clock.Speed{Limit: fastest, Auto: true}, ""},
		{"auto", true, clock.Speed{Limit: fastest, Auto: true}, ""},
		{"", false, clock.Speed{Limit: 1}, ""},
		{"auto", false, clock.Speed{}, "SPEED=auto: clocks of stiff clusters on"},
		{"30", false, clock.Speed{}, "SPEED=30: clocks of stiff clusters on"},
		{"0.5", true, clock.Speed{}, "SPEED=0.5: neither auto nor a number from 1 to 1000"},
		{"NaN", true, clock.Speed{}, "SPEED=NaN: neither auto nor"},
	} {
		g := NewWithT(t)
		t.Setenv("SPEED", c.value)
		got, err := speed("SPEED", cluster.Backend{Name: "stiff", Bends: c.bends})
		if c.err != "" {
			g.Expect(err).To(MatchError(ContainSubstring(c.err)))
			continue
		}
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(got).To(Equal(c.want))
	}
	g := NewWithT(t)
	g.Expect(clock.Speed{Limit: 60, Auto: true}.String()).To(Equal("auto"))
	g.Expect(clock.Speed{Limit: 1.5}.String()).To(Equal("1.5"))
}

func TestWorkersFitTheMachine(t *testing.T) {
	g := NewWithT(t)
	local, kind, existing := cluster.Backend{}, cluster.Backend{Containers: true}, cluster.Backend{Guest: &cluster.Guest{}}
	bent, unbent := clock.Speed{Limit: fastest, Auto: true}, clock.Speed{Limit: 1}
	g.Expect(procs(local, bent, 2, 0)).To(Equal(3), "one more than there are CPUs")
	g.Expect(procs(local, unbent, 2, 0)).To(Equal(6), "they wait most of the time")
	g.Expect(procs(local, unbent, 64, 0)).To(Equal(8))
	g.Expect(procs(kind, unbent, 2, 0)).To(Equal(2), "a node each")
	g.Expect(procs(existing, unbent, 2, 0)).To(Equal(1), "there is but one")
	g.Expect(procs(local, unbent, 4, 7<<30)).To(Equal(7), "a GiB each")
	g.Expect(procs(local, unbent, 4, 100<<20)).To(Equal(1))
	if runtime.GOOS == "linux" {
		g.Expect(availableMemory()).To(BeNumerically(">", 16<<20))
	}
}
