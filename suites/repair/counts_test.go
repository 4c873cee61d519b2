package repair

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/e2e/history/historytest"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A replacement has another boot ID, too, but nobody rebooted it.
func TestOnlyNodesFromBeforeAreRebooted(t *testing.T) {
	g := NewWithT(t)
	pool := fixtures.NodePool()
	node := func(name, boot string) *historytest.Thing {
		return historytest.Node(name).Pool(pool.GetName()).Set(boot, "status", "nodeInfo", "bootID")
	}
	story := historytest.Begin().Add(node("rebooted", ""), node("same", "1")).Start()
	before := story.History().Mark()
	w := story.Change(node("rebooted", "2"), node("same", "1")).Add(node("replacement", "3")).History().End()

	g.Expect(rebooted(pool, before).Of(w)).To(ConsistOf(HaveField("Name", "rebooted")))
}
