package check_test

import (
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history/historytest"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// Several checks together find what each finds alone: each follower sees the events
// of what it reads, and a breach ends only its own way.
func TestJudgedTogetherAsAlone(t *testing.T) {
	g := NewWithT(t)
	upTo := func(n int, reads ...schema.GroupVersionResource) check.Check {
		return check.Follow("at most so many events", "none came", func() func(*check.Moment) {
			seen := 0
			return func(m *check.Moment) {
				if m.Event == nil {
					return
				}
				m.Tested()
				if seen++; seen > n {
					m.Broken("one more", m.Event.Object)
				}
			}
		}, reads...)
	}
	node := historytest.Node("n").Pool("p")
	h := historytest.Begin().Add(historytest.Pool("p"), node, historytest.Pod("a", "w"), historytest.Pod("b", "w")).
		Change(node.Ready()).History()
	checks := []check.Check{
		upTo(1, karpenter.Nodes), upTo(2, karpenter.Nodes), upTo(2), upTo(5), upTo(0, karpenter.NodeClaims),
		check.Always(check.AtMost(1, check.Nodes(nil))),
	}
	want := []check.Verdict{check.Broken, check.Holds, check.Broken, check.Holds, check.Vacuous, check.Holds}
	for i, f := range check.Judge(h, checks...) {
		g.Expect(f.Verdict).To(Equal(want[i]), f.String())
		g.Expect(f).To(Equal(checks[i].Judge(h)))
	}
	g.Expect(check.Judge(h)).To(BeEmpty())
}
