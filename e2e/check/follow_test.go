package check

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/e2e/history/historytest"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// once is a check that no taint of a node that was there before comes back: a
// follower with a memory, which counts each taint as a test.
func once(report func(m *Moment, reason string)) Check {
	return Follow("a node is disrupted once", "no node was disrupted", func() func(*Moment) {
		tainted := map[string]bool{}
		return func(m *Moment) {
			if m.Event == nil || !karpenter.HasTaint(m.Event.Object.Unstructured(), karpenter.DisruptedTaint) ||
				m.Before == nil || karpenter.HasTaint(m.Before.Unstructured(), karpenter.DisruptedTaint) {
				return
			}
			m.Tested()
			if tainted[m.Event.Object.Name] {
				report(m, "it was before")
			}
			tainted[m.Event.Object.Name] = true
		}
	}, karpenter.Nodes)
}

func TestFollow(t *testing.T) {
	broken := func(m *Moment, reason string) { m.Broken(reason, m.Event.Object) }
	suspect := func(m *Moment, reason string) { m.Suspect(reason, m.Event.Object) }
	tell := func(gap bool) *historytest.Story {
		s, a, b, _ := inPool()
		if gap {
			s.Gap(karpenter.Nodes, "the watch broke")
		}
		s.After(time.Second).Change(a.Taint(karpenter.DisruptedTaint)).Change(b.Taint(karpenter.DisruptedTaint))
		return s.Change(b).Change(a.Untaint(karpenter.DisruptedTaint))
	}
	again := func(gap bool) *historytest.Story {
		return tell(gap).Add(historytest.Pod("p", "w")).Change(historytest.Node("a").Pool("p").Taint(karpenter.DisruptedTaint))
	}
	for name, c := range map[string]struct {
		check  Check
		story  *historytest.Story
		want   Verdict
		tested int
	}{
		"holds":                    {once(broken), tell(false), Holds, 2},
		"never exercised":          {once(broken), historytest.Begin().Add(historytest.Node("a")), Vacuous, 0},
		"breaks":                   {once(broken), again(false), Broken, 3},
		"a gap leaves it open":     {once(broken), tell(true), Unknown, 0},
		"proven in spite of a gap": {once(broken), again(true), Broken, 3},
		"suspect after a gap":      {once(suspect), again(true), Unknown, 0},
		"suspect without a gap":    {once(suspect), again(false), Broken, 3},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			f := c.check.Judge(c.story.History())
			g.Expect(f.Verdict).To(Equal(c.want), f.String())
			g.Expect(f.Tested).To(Equal(c.tested))
			if f.Verdict == Broken {
				g.Expect(f.Reason).To(Equal("it was before"))
				g.Expect(f.Standing).To(HavePrefix("Node a: "))
				g.Expect(f.Change).To(ContainSubstring("karpenter.sh/disrupted:NoSchedule added"))
			}
		})
	}
}

func TestFollowSeesStartAndEnd(t *testing.T) {
	g := NewWithT(t)
	s, _, _, _ := inPool()
	var starts, ends, nodes int
	c := Follow("", "", func() func(*Moment) {
		return func(m *Moment) {
			switch {
			case m.End:
				ends++
			case m.Event == nil:
				starts++
				nodes = len(m.World.List(karpenter.Nodes)) + 100*len(m.World.List(karpenter.NodePools))
			}
		}
	}, karpenter.Nodes)
	c.Judge(s.After(time.Second).Add(historytest.Pool("q")).History())
	g.Expect([]int{starts, nodes, ends}).To(Equal([]int{1, 3, 1}), "one start with the nodes and no pools, one end")
}
