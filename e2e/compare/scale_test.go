package compare_test

import (
	"bytes"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/e2e/compare"
)

func TestSizesBecomeCurves(t *testing.T) {
	g := NewWithT(t)
	s := compare.Scale{Machine: "a machine"}
	for i, nodes := range []int{100, 500} {
		steps := []compare.Step{{
			Name: "all pods run", Took: float64(10 * (i + 1)), Real: 10,
			Processes: []compare.Process{{Name: "etcd", CPU: 1, Memory: 50}, {Name: "Karpenter", CPU: 3, Memory: 100}},
		}}
		s.Sizes = append(s.Sizes, compare.Size{Nodes: nodes, Pods: 10 * nodes, Steps: steps})
	}
	s.Sizes[1].Steps = append(s.Sizes[1].Steps, compare.Step{Name: "all nodes drift", Left: "7 drifted"})
	step := s.Sizes[0].Steps[0]
	g.Expect(step.Share(step.Processes[1])).To(BeNumerically("~", 0.75))
	g.Expect(step.Cores(step.Processes[1])).To(BeNumerically("~", 0.3))

	var b bytes.Buffer
	g.Expect(s.WritePage(&b)).To(Succeed())
	text := b.String()
	g.Expect(strings.Count(text, "<svg ")).To(Equal(3), "time, CPU and memory")
	g.Expect(strings.Count(text, "<path ")).To(Equal(5), "one step, and two processes twice")
	g.Expect(strings.Count(text, "<h2>")).To(Equal(3), "curves, and a table for each size")
	g.Expect(text).To(ContainSubstring("all nodes drift: not yet (7 drifted)"))
	g.Expect(text).NotTo(ContainSubstring("NaN"))
}
