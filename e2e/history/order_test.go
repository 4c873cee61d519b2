package history

import (
	"fmt"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func kindsOf(kinds ...schema.GroupVersionResource) []schema.GroupVersionResource { return kinds }

func TestEventsComeInTheOrderInWhichTheyHappened(t *testing.T) {
	events := schema.GroupVersionResource{Version: "v1", Resource: "events"}
	type in struct {
		resource schema.GroupVersionResource
		revision uint64
		ms       int
	}
	for name, c := range map[string]struct {
		received []in
		want     []uint64
	}{
		"one resource is left alone": {[]in{{pods, 2, 0}, {pods, 1, 0}}, []uint64{2, 1}},
		"a late one goes back":       {[]in{{nodes, 2, 0}, {nodes, 3, 1}, {pods, 1, 2}}, []uint64{1, 2, 3}},
		"but not before its own": {
			[]in{{nodes, 5, 0}, {pods, 1, 0}, {nodes, 7, 1}, {pods, 6, 2}},
			[]uint64{1, 5, 6, 7},
		},
		"past events, which stay":               {[]in{{nodes, 2, 0}, {events, 9000, 1}, {pods, 1, 2}}, []uint64{1, 2, 9000}},
		"events of another etcd don't move":     {[]in{{nodes, 2, 0}, {events, 1, 1}}, []uint64{2, 1}},
		"after seconds it is no race":           {[]in{{nodes, 2, 0}, {pods, 1, 3000}}, []uint64{2, 1}},
		"what is written by hand stays":         {[]in{{nodes, 0, 0}, {pods, 0, 0}}, []uint64{0, 0}},
		"and hides nothing from what is before": {[]in{{nodes, 2, 0}, {pools, 0, 0}, {pods, 1, 0}}, []uint64{1, 2, 0}},
		"many": {[]in{
			{nodes, 4, 0},
			{pods, 3, 0},
			{nodes, 6, 0},
			{pods, 5, 0},
			{pools, 2, 0},
		}, []uint64{2, 3, 4, 5, 6}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			var received []Event
			for _, e := range c.received {
				received = append(received, Event{
					Time: at(0).Add(time.Duration(e.ms) * time.Millisecond), Type: added, Resource: e.resource, revision: e.revision,
					Object: &Object{Name: fmt.Sprint(e.revision)},
				})
			}
			var got []uint64
			for _, e := range New(received, nil).Events() {
				got = append(got, e.revision)
			}
			g.Expect(got).To(Equal(c.want))
			for i, e := range received {
				g.Expect(e.revision).To(Equal(c.received[i].revision), "the given slice is left as it is")
			}
		})
	}
}
