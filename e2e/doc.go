// Package e2e runs suites of specs against a Karpenter provider. It judges a recording of what
// the API server reported meanwhile.
//
// A provider's whole test is
//
//	func TestConformance(t *testing.T) {
//		e2e.Run(t, providers.Load("plumbline.yaml"), suites.All()...)
//	}
//
// Run manages the cluster, the provider and the verdicts. Register adds the specs to your own
// Ginkgo tree instead.
//
// A Spec is one promise. Its function gets an Env. It arranges (Create), changes (Change,
// Delete, Patch), waits for a number of things (Await), and judges a recording (Expect):
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
// After each spec the harness deletes what the spec created. It checks that nothing is left
// and that the controller did not crash. It saves the recording.
package e2e
