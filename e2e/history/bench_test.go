package history

import (
	"bufio"
	"bytes"
	"context"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
)

// The benchmarks stream from an API server in a process of its own (this test
// binary, started again), over TLS and HTTP/1.1 as the recorder does with a real
// one, each event in a write of its own. What they count is the CPU time of the
// whole process that records (user and system, garbage collection and the
// writing of the file included), and of nothing else.

const (
	streamerEvents = "PLUMBLINE_BENCH_EVENTS" // set in the process that streams: how many events
	benchObjects   = 400                      // how many objects the events are about
	streamerRate   = "PLUMBLINE_BENCH_RATE"   // events per second, in all watches together
	streamerState  = "PLUMBLINE_BENCH_STATE"  // fresh or settled: which of the objects under testdata
)

func TestMain(m *testing.M) {
	if os.Getenv(streamerEvents) != "" {
		stream()
		return
	}
	os.Exit(m.Run())
}

// BenchmarkRecorder records events at a steady rate; one op is one event. The
// events are of real pods and nodes: fresh ones, as they are when they appear, of
// 2.4 kB, and settled ones with everything that they gather, of 5 kB.
func BenchmarkRecorder(b *testing.B) {
	for _, rate := range []int{1000, 5000} {
		for _, state := range []string{"fresh", "settled"} {
			b.Run(fmt.Sprintf("%d-events-per-s/%s", rate, state), func(b *testing.B) {
				recordStream(b, b.N, rate, state, b.ReportMetric)
			})
		}
	}
}

// BenchmarkAwait measures the time from the moment at which the server writes an
// event to that at which Await returns, for each of 100 events per second.
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

// No event is lost at five times the rate that the recorder must bear lightly.
func TestNoEventIsLostAt5000PerSecond(t *testing.T) {
	if testing.Short() {
		t.Skip("takes two seconds")
	}
	recordStream(t, 10_000, 5000, "settled", func(value float64, unit string) { t.Logf("%.2f %s", value, unit) })
}

// recordStream records n events at a rate and verifies that all are there, in
// order, in memory and in the file.
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
	// As a spec does, something waits all the while.
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

// startStreamer starts this binary again, as the server.
func startStreamer(t testing.TB, n, rate int, state string) *rest.Config {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), streamerEvents+"="+strconv.Itoa(n), streamerRate+"="+strconv.Itoa(rate), streamerState+"="+state)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	in, err := cmd.StdinPipe() // closed with this process, and the server ends
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		err := in.Close()
		// The context of the test is done by now and has ended the server.
		if waited := cmd.Wait(); waited != nil && t.Context().Err() == nil {
			err = errorsJoin(err, waited)
		}
		if err != nil {
			t.Error(err)
		}
	})
	lines := bufio.NewScanner(out)
	var url string
	var ca []byte
	for lines.Scan() && lines.Text() != "" {
		if url == "" {
			url = lines.Text()
		} else {
			ca = append(append(ca, lines.Bytes()...), '\n')
		}
	}
	return &rest.Config{Host: url, TLSClientConfig: rest.TLSClientConfig{CAData: ca, ServerName: "example.com"}}
}

// resourceOf is the watch in which the event with this number comes.
func resourceOf(n int) schema.GroupVersionResource {
	return []schema.GroupVersionResource{pods, nodes}[n%2]
}

// nameOf is the object that an event is about: each comes again and again.
func nameOf(n int) string { return fmt.Sprintf("object-%d", n%benchObjects) }

// hasCome says that an event was the last about its object.
func hasCome(w *World, n int) bool {
	o := w.Get(resourceOf(n), "", nameOf(n))
	return o != nil && o.ResourceVersion == strconv.Itoa(n)
}

// stream is the server: a list without items, and watches that send events 1 to
// n, the odd ones of nodes, the even ones of pods.
func stream() {
	n, _ := strconv.Atoi(os.Getenv(streamerEvents))
	rate, _ := strconv.Atoi(os.Getenv(streamerRate))
	var open atomic.Int32
	both := make(chan struct{})
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		resource := resourceIn(r)
		if r.URL.Query().Get("watch") == "" {
			fmt.Fprint(w, `{"kind":"List","apiVersion":"v1","metadata":{"resourceVersion":"0"},"items":[]}`)
			return
		}
		w.(http.Flusher).Flush()
		if open.Add(1) == 2 {
			close(both)
		}
		<-both
		sendAll(r.Context(), w, resource, n, rate)
		<-r.Context().Done()
	}))
	fmt.Fprintln(os.Stdout, server.URL)
	if err := pem.Encode(os.Stdout, &pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}); err != nil {
		panic(err)
	}
	fmt.Fprintln(os.Stdout)
	_, _ = os.Stdin.Read(make([]byte, 1))
}

// sendAll sends a watch's share of the events, each at its time.
func sendAll(ctx context.Context, w http.ResponseWriter, resource string, n, rate int) {
	head, rest := template(resource)
	began := time.Now()
	for i := 1; i <= n; i++ {
		if resourceOf(i).Resource != resource {
			continue
		}
		due := began.Add(time.Duration(i) * time.Second / time.Duration(rate))
		pause(ctx, time.Until(due))
		fmt.Fprintf(w, `%s"name":"%s","uid":"%d","resourceVersion":"%d",%s`, head, nameOf(i), time.Now().UnixNano(), i, rest)
		w.(http.Flusher).Flush()
	}
}

// template is a real object as a line of a watch, cut open where its identity
// goes.
func template(resource string) (head, rest string) {
	raw, err := os.ReadFile("testdata/" + strings.TrimSuffix(resource, "s") + "-" + os.Getenv(streamerState) + ".json")
	if err != nil {
		panic(err)
	}
	o, err := NewObject(raw)
	if err != nil {
		panic(err)
	}
	u := o.raw
	for field, value := range map[string]string{"name": o.Name, "namespace": o.Namespace, "uid": o.UID, "resourceVersion": o.ResourceVersion} {
		u = bytes.Replace(u, fmt.Appendf(nil, "%q:%q,", field, value), nil, 1)
	}
	before, after, _ := strings.Cut(string(u), `"metadata":{`)
	return `{"type":"MODIFIED","object":` + before + `"metadata":{`, after + "}\n"
}
