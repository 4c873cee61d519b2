package check

import (
	"fmt"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/e2e/history/historytest"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// once returns a check that no node gets its taint back. Each new taint is a test.
func once(report func(m *Moment, reason string)) Check {
	return Follow("a node is disrupted once", "no node was disrupted", func() Monitor {
		return &taintedOnce{report, map[string]bool{}}
	}, karpenter.Nodes)
}

type taintedOnce struct {
	report  func(m *Moment, reason string)
	tainted map[string]bool
}

func (o *taintedOnce) Observe(m *Moment) {
	if m.Event == nil || !karpenter.HasTaint(m.Event.Object.Unstructured(), karpenter.DisruptedTaint) ||
		m.Before == nil || karpenter.HasTaint(m.Before.Unstructured(), karpenter.DisruptedTaint) {
		return
	}
	m.Tested()
	if o.tainted[m.Event.Object.Name] {
		o.report(m, "it was before")
	}
	o.tainted[m.Event.Object.Name] = true
}

func TestFollow(t *testing.T) {
	broken := func(m *Moment, reason string) { m.Broken("%s", reason).Beside(m.Event.Object) }
	suspect := func(m *Moment, reason string) { m.Suspect("%s", reason).Beside(m.Event.Object) }
	tell := func(gap bool) *historytest.Story {
		s, a, b, _ := inPool()
		if gap {
			s.Gap(karpenter.Nodes, "the watch broke")
		}
		s.After(time.Second).Change(a.Taint(karpenter.DisruptedTaint)).Change(b.Taint(karpenter.DisruptedTaint))
		return s.Change(b).Change(a.Untaint(karpenter.DisruptedTaint))
	}
	again := func(gap bool) *historytest.Story {
		return tell(gap).Add(historytest.Pod("p", "w")).
			Change(historytest.Node("a").Pool("p").Taint(karpenter.DisruptedTaint))
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

// observer is a monitor without memory.
type observer func(*Moment)

func (o observer) Observe(m *Moment) { o(m) }

func TestFollowSeesStartAndEnd(t *testing.T) {
	g := NewWithT(t)
	s, _, _, _ := inPool()
	var starts, ends, nodes int
	c := Follow("", "", func() Monitor {
		return observer(func(m *Moment) {
			switch {
			case m.End:
				ends++
			case m.Event == nil:
				starts++
				nodes = len(m.World.List(karpenter.Nodes)) + 100*len(m.World.List(karpenter.NodePools))
			}
		})
	}, karpenter.Nodes)
	c.Judge(s.After(time.Second).Add(historytest.Pool("q")).History())
	g.Expect([]int{starts, nodes, ends}).To(Equal([]int{1, 3, 1}), "one start with the nodes and no pools, one end")
}

func TestMomentTellsWhatIsNew(t *testing.T) {
	node := func() *historytest.Thing { return historytest.Node("n").UID("1") }
	another := func() *historytest.Thing { return historytest.Node("n").UID("2") }
	s := historytest.Begin().Add(node(), historytest.Node("o")).Start().After(time.Second)
	var told []string
	Follow("", "", func() Monitor {
		return observer(func(m *Moment) {
			uid := ""
			if m.Event != nil {
				uid = m.Event.Object.UID
			}
			told = append(told, fmt.Sprintf("%q deleted %t, before %t, dated %t; %d seen of %d",
				uid, m.Deleted(), m.Before != nil, !m.Since().IsZero(), len(m.Seen(karpenter.Nodes)),
				len(m.World.List(karpenter.Nodes))))
		})
	}, karpenter.Nodes).Judge(s.Change(node().Ready()).Change(another()).Delete(another()).History())
	NewWithT(t).Expect(told).To(Equal([]string{
		`"" deleted false, before false, dated false; 2 seen of 2`,
		`"1" deleted false, before true, dated true; 1 seen of 2`,
		`"1" deleted true, before true, dated true; 0 seen of 1`, // another of its name replaces it
		`"2" deleted false, before false, dated true; 1 seen of 2`,
		`"2" deleted true, before true, dated true; 0 seen of 1`,
		`"" deleted false, before false, dated false; 0 seen of 1`,
	}))
}

func TestWhatStoodIsToldOnce(t *testing.T) {
	s, _, _, _ := inPool()
	f := Follow("", "", func() Monitor {
		return observer(func(m *Moment) {
			node := m.World.Get(karpenter.Nodes, "", "a")
			m.Suspect("%s has no NodeClaim", node).Beside(m.World.Get(karpenter.NodeClaims, "", "c"), node)
		})
	}).Judge(s.History())
	NewWithT(t).Expect(f.Reason).To(Equal("a has no NodeClaim"))
	NewWithT(t).Expect(f.Standing).To(Equal("Node a: ready, pool p"))
}
