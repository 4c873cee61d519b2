// Package session is a cluster with a provider on it, in which specs run one after another.
//
//	plan, err := session.Prepare(ctx, session.Setup{Backend: local.Backend(), Adapter: adapter, ...}) // builds all
//	s, err := plan.Start(ctx, "worker-1", logs)                                                       // a cluster, the provider on it
//	outcome, clean := s.Run(ctx, session.Work{Run: spec.Run, Within: 2 * time.Minute, ...})           // for each spec
//	err = s.Close(ctx)
//
// [Session.Run] records, has the spec do its work, cleans up and judges. A session that
// isn't clean afterwards can't be trusted with another spec.
package session
