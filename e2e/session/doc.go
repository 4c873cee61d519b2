// Package session runs specs one after another on a cluster with a provider.
//
//	// builds all
//	plan, err := session.Prepare(ctx, session.Setup{Backend: local.Backend(), Adapter: adapter, ...})
//	// starts a cluster with the provider on it
//	s, err := plan.Start(ctx, "worker-1", logs)
//	// for each spec
//	outcome, clean := s.Run(ctx, session.Work{Run: spec.Run, Within: 2 * time.Minute, ...})
//	err = s.Close(ctx)
//
// [Session.Run] records, runs the spec, cleans up and judges. If the session isn't clean
// afterwards, run no other spec in it.
package session
