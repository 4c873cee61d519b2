// Package history records what the API server reports and returns it as a sequence of events
// that checks can judge.
//
// A Recorder watches. A History is a recording up to a moment. A World is the state of the
// cluster after some of its events.
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
// A recording starts with the world at that time (History.Start), without older Events (v1).
// Then it has each event and the time at which the recorder received it. Each resource has a
// watch of its own. The events of all watches are in the order in which they happened in etcd
// (see order.go), so a check may rely on that order.
//
// A broken watch resumes where it broke: no event is lost or recorded twice. If the API server
// no longer has the missed events (410 Gone), the recorder notes a Gap, lists again and
// records the differences as events. Checks treat such a history as incomplete.
//
// A Stream records for any length of time: it writes what it sees, and keeps only the present world.
//
// # Files
//
// A file has lines of JSON (see lines.go), written while events come. Load also reads the file
// of a killed recorder, and notes a Gap at its end. Save writes a part of a recording as a
// file of its own, which begins with the world at the start of that part.
//
// Package historytest makes histories by hand.
//
// # Cost
//
// An event costs about 30 µs of CPU time, most of it for the connection and the wake-up. On a
// busy watch (over 200 events a second) events gather for up to 25 ms before they are read.
// On other watches Await returns a fraction of a millisecond after the server has written the
// event. Benchmarks measure this:
//
//	go test -run '^$' -bench . -benchtime 5s ./e2e/history
//
// A Stream keeps the present objects in memory: of 11,000 objects of 5 kB, 155 MB after 30,000 events, and 167 MB after
// 120,000. An event costs it 100 µs.
//
// client-go's dynamic watch would need 480 lines less, and 2.0 to 7.0 times the CPU time. Both
// were measured in turn on a loaded machine with two CPUs, in percent of one CPU, on new
// watches and on old ones:
//
//	events/s   this recorder   dynamic watch
//	      31       1.3,  1.4       2.6,  3.8
//	     100       2.9,  3.7       7.4, 10.5
//	   1,000       7.4,  8.3      43.9, 58.5
//
// A spec has a median of 31 events a second, and up to 66. The clusters of a run share their
// CPUs with the recorders, so this recorder is kept.
package history
