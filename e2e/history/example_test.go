package history_test

import (
	"bytes"
	"fmt"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/history/historytest"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

func Example() {
	node := historytest.Node("n1")
	recorded := historytest.Begin().Add(node).Start().
		After(3 * time.Second).Change(node.Ready()).
		After(time.Second).Delete(node).
		History()

	var file bytes.Buffer
	if err := history.Save(&file, recorded); err != nil {
		fmt.Println(err)
		return
	}
	h, err := history.Load(&file)
	if err != nil {
		fmt.Println(err)
		return
	}
	world := h.Start()
	fmt.Println(len(world.List(karpenter.Nodes)), "node at the start")
	for _, e := range h.Events() {
		fmt.Println(e.Time.Sub(h.Start().Time()), e.Type, e.Object.Name)
		world.Apply(e)
	}
	fmt.Println(len(world.List(karpenter.Nodes)), "nodes at the end")
	// Output:
	// 1 node at the start
	// 3s MODIFIED n1
	// 4s DELETED n1
	// 0 nodes at the end
}
