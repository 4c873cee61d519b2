//go:build e2e

package e2e_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
	"github.com/plumbline-e2e/plumbline/providers"
)

// short returns a suite with one promise, which real clusters keep within seconds.
func short(name string) *e2e.Suite {
	suite := e2e.NewSuite(name)
	suite.Add(e2e.Spec{
		Name: "gives a pod a node",
		Run: func(ctx context.Context, env *e2e.Env) {
			pool := fixtures.NodePool()
			app := fixtures.Deployment(1).On(pool)
			before := env.Mark()
			env.Create(ctx, pool, app)
			env.Await(ctx, 1, check.RunningPods(app))
			env.Expect(env.Since(before), check.Always(check.AtMost(1, check.Nodes(pool))))
		},
	})
	return suite
}

// A test binary may call Run several times, beside its own Ginkgo tree.
func TestRunTwice(t *testing.T) {
	t.Run("first", func(t *testing.T) { e2e.Run(t, providers.Named("kwok"), short("the first run")) })
	t.Run("second", func(t *testing.T) { e2e.Run(t, providers.Named("kwok"), short("the second run")) })
}

// Register may be called several times in the user's own Ginkgo tree, at the top level and
// inside a container, beside the user's specs.
func TestRegisterTwice(t *testing.T) {
	var top, inside *e2e.Registration
	top = e2e.Register(providers.Named("kwok"), short("the tree"))
	ginkgo.Describe("somebody's own container", func() {
		inside = e2e.Register(providers.Named("kwok"), short("the branch"))
		ginkgo.It("has specs of its own", func() {})
	})
	ginkgo.AfterSuite(func(ctx ginkgo.SpecContext) {
		NewWithT(t).Expect(errors.Join(top.Close(ctx), inside.Close(ctx))).To(Succeed())
	}, ginkgo.NodeTimeout(time.Minute))

	var states []string
	ginkgo.ReportAfterSuite("counts", func(r ginkgo.Report) {
		for _, s := range r.SpecReports {
			if s.LeafNodeType.String() == "It" {
				states = append(states, s.State.String()+" "+s.FullText())
			}
		}
	})
	if !ginkgo.RunSpecs(t, "somebody's own tree") {
		t.Fatal("the tree failed")
	}
	NewWithT(t).Expect(states).To(ConsistOf(
		"passed kwok: the tree gives a pod a node",
		"passed somebody's own container kwok: the branch gives a pod a node",
		"passed somebody's own container has specs of its own",
	))
}
