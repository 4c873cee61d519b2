package cluster

import (
	"context"
	"testing"

	. "github.com/onsi/gomega"
)

func TestOnlyTheFirstDeathOfALifeIsToldOf(t *testing.T) {
	g := NewWithT(t)
	life, end := context.WithCancel(t.Context())
	var told []Death
	tell := func(d Death) { told = append(told, d) }
	report, late := First(life, tell), First(life, tell)
	report(Death{Component: "etcd"})
	report(Death{Component: "kube-apiserver"})
	g.Expect(told).To(ConsistOf(Death{Component: "etcd"}))
	end()
	late(Death{Component: "etcd"})
	g.Expect(told).To(HaveLen(1), "the end is no death")
	First(t.Context(), nil)(Death{}) // without onDeath
}
