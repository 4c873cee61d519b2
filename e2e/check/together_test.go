package check_test

import (
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history/historytest"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// TestJudgedTogetherAsAlone checks that several checks find together what each finds alone.
// Each monitor observes the events that it reads, and a breach ends only its own check.
func TestJudgedTogetherAsAlone(t *testing.T) {
	g := NewWithT(t)
	checkUpTo := func(n int, reads ...schema.GroupVersionResource) check.Check {
		return check.Follow("at most so many events", "none came", func() check.Monitor { return &upTo{n: n} }, reads...)
	}
	node := historytest.Node("n").Pool("p")
	h := historytest.Begin().Add(historytest.Pool("p"), node, historytest.Pod("a", "w"), historytest.Pod("b", "w")).
		Change(node.Ready()).History()
	checks := []check.Check{
		checkUpTo(1, karpenter.Nodes), checkUpTo(2, karpenter.Nodes), checkUpTo(2), checkUpTo(5),
		checkUpTo(0, karpenter.NodeClaims),
		check.Always(check.AtMost(1, check.Nodes(nil))),
	}
	want := []check.Verdict{check.Broken, check.Holds, check.Broken, check.Holds, check.Vacuous, check.Holds}
	for i, f := range check.Judge(h, checks...) {
		g.Expect(f.Verdict).To(Equal(want[i]), f.String())
		g.Expect(f).To(Equal(checks[i].Judge(h)))
	}
	g.Expect(check.Judge(h)).To(BeEmpty())
}

// upTo is a monitor that reports a breach after n events.
type upTo struct{ n, seen int }

func (u *upTo) Observe(m *check.Moment) {
	if m.Event == nil {
		return
	}
	m.Tested()
	if u.seen++; u.seen > u.n {
		m.Broken("one more").Beside(m.Event.Object)
	}
}
