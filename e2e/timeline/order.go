package timeline

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// sorted ends the lanes and puts them in their order: each pool with its quantities, its
// NodeClaims, their nodes, and the pods on these; then pods without a node, other nodes, and
// what else there is.
func (l *laner) sorted(length float64) []Lane {
	s := sorter{laner: l, done: map[*lane]bool{}}
	for _, x := range l.lanes {
		if x.state != "" {
			x.Spans = append(x.Spans, Span{x.since, length, x.state})
		}
		s.all = append(s.all, x)
	}
	slices.SortFunc(s.all, func(a, b *lane) int {
		return cmp.Or(cmp.Compare(a.began, b.began), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Object, b.Object))
	})
	for _, pool := range s.of("NodePool") {
		s.add(pool, 0)
		s.quantities(pool.Name)
		for _, nodeClaim := range s.of("NodeClaim") {
			if nodeClaim.pool == pool.Name {
				s.nodeClaim(nodeClaim)
			}
		}
	}
	s.group("NodeClaims without a pool", "NodeClaim", s.nodeClaim)
	s.group("Pods without a node", "Pod", func(x *lane) {
		if x.node == "" {
			s.add(x, 1)
		}
	})
	s.group("PodDisruptionBudgets", "PodDisruptionBudget", func(x *lane) { s.add(x, 1) })
	s.group("Other nodes", "Node", s.node)
	s.group("Other pods", "Pod", func(x *lane) { s.add(x, 1) })
	return s.out
}

type sorter struct {
	*laner
	all  []*lane // by their beginning
	done map[*lane]bool
	out  []Lane
}

// of returns the lanes of a kind that aren't placed yet.
func (s *sorter) of(kind string) (some []*lane) {
	for _, x := range s.all {
		if x.Kind == kind && !s.done[x] {
			some = append(some, x)
		}
	}
	return some
}

func (s *sorter) add(x *lane, depth int) {
	x.Depth = depth
	s.done[x] = true
	s.out = append(s.out, x.Lane)
}

// quantities adds the quantities of a pool.
func (s *sorter) quantities(pool string) {
	var some []Lane
	for key, x := range s.laner.quantities {
		if key[0] == pool {
			some = append(some, *x)
		}
	}
	slices.SortFunc(some, func(a, b Lane) int { return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name)) })
	s.out = append(s.out, some...)
}

// nodeClaim adds a NodeClaim, with its node.
func (s *sorter) nodeClaim(x *lane) {
	s.add(x, 1)
	for _, node := range s.of("Node") {
		if x.node != "" && node.Name == x.node {
			s.node(node)
		}
	}
}

// node adds a node, with its pods.
func (s *sorter) node(x *lane) {
	s.add(x, 2)
	for _, pod := range s.of("Pod") {
		if pod.node == x.Name {
			s.add(pod, 3)
		}
	}
}

// group adds the rest of a kind under a heading, if there is any.
func (s *sorter) group(heading, kind string, add func(*lane)) {
	at := len(s.out)
	for _, x := range s.of(kind) {
		add(x)
	}
	if len(s.out) > at {
		s.out = slices.Insert(s.out, at, Lane{Kind: "Group", Name: heading, Object: -1})
	}
}

// limitOf returns how much of a resource a pool's NodeClaims have, and its limit.
func limitOf(w *history.World, pool, name string, limit any) (used, allowed float64) {
	text, _ := limit.(string)
	quantity, err := resource.ParseQuantity(text)
	if n, isNumber := limit.(int64); isNumber {
		quantity, err = *resource.NewQuantity(n, resource.DecimalSI), nil
	}
	if err != nil {
		return 0, -1
	}
	for _, nodeClaim := range w.List(karpenter.NodeClaims) {
		u := nodeClaim.Unstructured()
		switch {
		case karpenter.NodePoolOf(u) != pool:
		case name == "nodes":
			used++
		default:
			capacity := karpenter.Capacity(u, corev1.ResourceName(name))
			used += capacity.AsApproximateFloat64()
		}
	}
	return used, quantity.AsApproximateFloat64()
}
