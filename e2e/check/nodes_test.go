package check

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/e2e/history/historytest"
)

func TestNodesThatJoinWithoutTheirPoolsLabel(t *testing.T) {
	pool := historytest.Pool("p")
	node := func(id string) *historytest.Thing {
		return historytest.Node("n"+id).Set("cloud://"+id, "spec", "providerID")
	}
	for name, c := range map[string]struct {
		things []*historytest.Thing
		count  int
	}{
		"named by a NodeClaim": {[]*historytest.Thing{
			node("1"), historytest.NodeClaim("c").Pool("p").Set("cloud://1", "status", "providerID"),
		}, 1},
		"labeled before its NodeClaim says so": {[]*historytest.Thing{
			node("1").Pool("p"), historytest.NodeClaim("c").Pool("p"),
		}, 1},
		"of another pool": {[]*historytest.Thing{
			node("1"), historytest.NodeClaim("c").Pool("q").Set("cloud://1", "status", "providerID"),
		}, 0},
		"of nobody": {[]*historytest.Thing{historytest.Node("n"), historytest.NodeClaim("c").Pool("p")}, 0},
	} {
		h := historytest.Begin().Add(pool).Add(c.things...).History()
		NewWithT(t).Expect(Finally(Exactly(c.count, JoinedNodes(pool))).Judge(h).Verdict).To(Equal(Holds), name)
	}
}
