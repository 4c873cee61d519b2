// Package e2e runs suites of specs against a Karpenter provider and judges
// what the API server said meanwhile.
//
// A provider's whole test is
//
//	func TestConformance(t *testing.T) {
//		e2e.Run(t, providers.Load("plumbline.yaml"), suites.All()...)
//	}
//
// Run has the cluster, the provider and the specs' verdicts looked after; with
// Register the specs become part of a Ginkgo tree of your own.
//
// A Spec is one promise. Its function gets an Env: it arranges (Create),
// changes (Change, Delete, Patch), waits for a counted, named thing (Await)
// and judges a recording (Expect):
//
//	Run: func(ctx context.Context, env *e2e.Env) {
//		pool := fixtures.NodePool().Budget("2")
//		app := fixtures.Deployment(6).OnePodPerNode().On(pool)
//		env.Create(ctx, pool, app)
//		env.Await(ctx, 6, check.ReadyNodes(pool))
//
//		before := env.Mark()
//		env.Change(ctx, pool.NewTemplate())
//		env.Await(ctx, 6, check.ReplacedNodes(pool, before))
//
//		env.Expect(env.Since(before), check.Always(check.AtMost(2, check.DisruptedNodes(pool))))
//	},
//
// After each spec the harness deletes what the spec created, checks that
// nothing is left and that the controller did not crash, and saves the
// recording.
package e2e
