// Package history records everything that the API server says and gives it
// back as a sequence of events that can be judged.
//
// A Recorder watches; a History is what was recorded up to a moment; a World
// is the state that the events add up to.
//
//	r, err := history.Record(ctx, cfg, "spec.jsonl", karpenter.Nodes, karpenter.Pods)
//	...
//	before := r.History().Mark()
//	err = r.Await(ctx, func(w *history.World) bool { return len(w.List(karpenter.Nodes)) == 6 })
//	h := r.History().Since(before) // what happened meanwhile
//	err = r.Stop()
//	file, err := history.Compress("spec.jsonl")
//
// # What is recorded
//
// The world at the start (History.Start of the whole; Events from before are no part
// of it), then each event as the API server told it, with the time at which it was
// received. Resources are watched one by one; events of several come in the order in
// which they happened in etcd (order.go says how that is known), so that a check may
// rely on what was first.
//
// A watch that breaks goes on from where it broke: nothing is lost, nothing comes
// twice. Where the API server no longer knows what was missed (410 Gone), the
// recorder notes a Gap, lists anew, and records the differences as events; the
// history says that it is incomplete there, and checks don't take it for more.
//
// # Files
//
// Lines of JSON, written while things happen; lines.go shows them. Load reads the
// file of a recorder that was killed too, and notes a Gap at its end. Save writes
// a part of a recording by itself; it starts with the world at its start.
//
// Histories can also be written by hand: package historytest.
//
// # Cost
//
// An event costs some 30 µs of CPU time, most of it for the connection and for
// being woken. On a busy watch (some 200 events a second) events gather for up to
// 25 ms before they are read; on others Await returns a fraction of a millisecond
// after the server has written the event. Run the benchmarks for the figures of a
// machine:
//
//	go test -run '^$' -bench . -benchtime 5s ./e2e/history
//
// client-go's dynamic watch would need 480 lines less, and 2.0 to 7.0 times the CPU
// time. Both were measured in turn on a loaded machine with two CPUs, in percent of one
// CPU, on new watches and on old ones:
//
//	events/s   this recorder   dynamic watch
//	      31       1.3,  1.4       2.6,  3.8
//	     100       2.9,  3.7       7.4, 10.5
//	   1,000       7.4,  8.3      43.9, 58.5
//
// A spec has 31 events a second in the median, and up to 66. The clusters of a run share
// their CPUs with the recorders, so that this recorder is kept.
package history
