package history

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

// The benchmarks stream from an API server in another process (this test binary, started
// again), over TLS and HTTP/1.1, with one write per event. They count only the CPU time of the
// recording process: user and system, with garbage collection and file writes.

const (
	streamerEvents  = "PLUMBLINE_BENCH_EVENTS"  // number of events; only set in the streaming process
	streamerObjects = "PLUMBLINE_BENCH_OBJECTS" // number of objects; 400 if unset
	streamerRate    = "PLUMBLINE_BENCH_RATE"    // events per second of all watches together
	streamerState   = "PLUMBLINE_BENCH_STATE"   // fresh or settled: the objects under testdata
)

func TestMain(m *testing.M) {
	if os.Getenv(streamerEvents) != "" {
		stream()
		return
	}
	os.Exit(m.Run())
}

// BenchmarkRecorder records events of real pods and nodes at a steady rate. One op is one
// event. A fresh object has 2.4 kB, a settled one 5 kB.
func BenchmarkRecorder(b *testing.B) {
	for _, rate := range []int{1000, 5000} {
		for _, state := range []string{"fresh", "settled"} {
			b.Run(fmt.Sprintf("%d-events-per-s/%s", rate, state), func(b *testing.B) {
				recordStream(b, b.N, rate, state, b.ReportMetric)
			})
		}
	}
}

// BenchmarkStream records a large cluster for long: 11,000 settled objects, such as 1,000 nodes and 10,000 pods.
// Memory is what the process has from the system at the end.
func BenchmarkStream(b *testing.B) {
	b.Setenv(streamerObjects, "11000")
	const rate = 2000
	cfg := startStreamer(b, b.N, rate, "settled")
	folder := b.TempDir()
	before, began := cpuTime(b), time.Now()
	s, err := RecordParts(b.Context(), cfg, folder, StreamOptions{}, pods, nodes)
	if err != nil {
		b.Fatal(err)
	}
	for s.Progress().Events < b.N {
		pause(b.Context(), 10*time.Millisecond)
	}
	took := time.Since(began)
	if err := s.Stop(); err != nil {
		b.Fatal(err)
	}
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	cpu, p := cpuTime(b)-before, s.Progress()
	if err := s.parts.removeOldest(); err != nil { // which counts the last part
		b.Fatal(err)
	}
	b.ReportMetric(float64(memory.Sys-memory.HeapReleased)/1e6, "MB")
	b.ReportMetric(float64(cpu.Microseconds())/float64(b.N), "cpu-µs/event")
	b.ReportMetric(float64(b.N)/took.Seconds(), "events/s")
	b.ReportMetric(float64(s.Progress().Written)/float64(b.N), "bytes/event-on-disk")
	b.ReportMetric(float64(p.Parts), "parts")
}

// BenchmarkAwait measures the time from the server's write of an event until Await returns, at
// 100 events per second.
func BenchmarkAwait(b *testing.B) {
	cfg := startStreamer(b, b.N, 100, "settled")
	r, err := Record(b.Context(), cfg, filepath.Join(b.TempDir(), "bench.jsonl"), pods, nodes)
	if err != nil {
		b.Fatal(err)
	}
	var took []time.Duration
	for i := 1; i <= b.N; i++ {
		var o *Object
		if err := r.Await(b.Context(), func(w *World) bool {
			o = w.Get(resourceOf(i), "", nameOf(i))
			return hasCome(w, i)
		}); err != nil {
			b.Fatal(err)
		}
		now := time.Now()
		sent, err := strconv.ParseInt(o.UID, 10, 64)
		if err != nil {
			b.Fatal(err)
		}
		took = append(took, now.Sub(time.Unix(0, sent)))
	}
	if err := r.Stop(); err != nil {
		b.Fatal(err)
	}
	slices.Sort(took)
	b.ReportMetric(took[len(took)/2].Seconds()*1000, "ms-median")
	b.ReportMetric(took[len(took)*99/100].Seconds()*1000, "ms-p99")
}

// This is five times the rate that must cost the recorder little.
func TestNoEventIsLostAt5000PerSecond(t *testing.T) {
	if testing.Short() {
		t.Skip("takes two seconds")
	}
	recordStream(t, 10_000, 5000, "settled", func(value float64, unit string) { t.Logf("%.2f %s", value, unit) })
}

// recordStream records n events at a rate. It verifies that memory and file have all of them,
// in order.
func recordStream(t testing.TB, n, rate int, state string, report func(value float64, unit string)) {
	t.Helper()
	g := NewWithT(t)
	cfg := startStreamer(t, n, rate, state)
	file := filepath.Join(t.TempDir(), "bench.jsonl")
	r, err := Record(t.Context(), cfg, file, pods, nodes)
	g.Expect(err).NotTo(HaveOccurred())
	before, began := cpuTime(t), time.Now() // the stream begins once both watches are open
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute+time.Duration(n/rate)*2*time.Second)
	defer cancel()
	// A spec, too, waits all the time.
	g.Expect(r.Await(ctx, func(w *World) bool { return hasCome(w, n) && (n == 1 || hasCome(w, n-1)) })).To(Succeed())
	took, cpu := time.Since(began), cpuTime(t)-before
	g.Expect(r.Stop()).To(Succeed())

	size := 0
	for _, h := range []*History{r.History(), load(t, file)} {
		g.Expect(h.Gaps()).To(BeEmpty())
		g.Expect(h.Events()).To(HaveLen(n))
		for i, e := range h.Events() {
			if e.Object.ResourceVersion != strconv.Itoa(i+1) {
				t.Fatalf("event %d has sequence number %s", i+1, e.Object.ResourceVersion)
			}
			size += len(e.Object.raw)
		}
	}
	report(100*cpu.Seconds()/took.Seconds(), "%-of-a-core")
	report(float64(cpu.Microseconds())/float64(n), "cpu-µs/event")
	report(float64(n)/took.Seconds(), "events/s")
	report(float64(size/2)/float64(n), "bytes/event")
}

func cpuTime(t testing.TB) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
