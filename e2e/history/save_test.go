package history

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/watch"
)

func load(t testing.TB, file string) *History {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	h, err := Load(f)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// object returns an object made by hand.
func object(t *testing.T, name, revision string) *Object {
	t.Helper()
	o, err := NewObject([]byte(`{"kind":"Pod", "apiVersion":"v1",
		"metadata":{"name":"` + name + `","namespace":"ns","uid":"u","resourceVersion":"` + revision + `"}}`))
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func at(seconds int) time.Time {
	return time.Date(2026, 1, 2, 3, 4, seconds, 123456789, time.UTC)
}

// same compares everything that a reader of a history can see.
func same(g Gomega, got, want *History) {
	g.Expect(told(got)).To(Equal(told(want)))
	for i, e := range got.Events() {
		w := want.Events()[i]
		g.Expect(e.Time).To(Equal(w.Time))
		g.Expect(e.Resource).To(Equal(w.Resource))
		g.Expect(e.Object.Raw()).To(Equal(w.Object.Raw()))
		g.Expect(e.Object.UID).To(Equal(w.Object.UID))
	}
	g.Expect(got.Taken()).To(Equal(want.Taken()))
	for i, world := range []*World{got.Start(), got.End()} {
		w := []*World{want.Start(), want.End()}[i]
		g.Expect(world.Time()).To(Equal(w.Time()))
		g.Expect(world.Resources()).To(Equal(w.Resources()))
		for _, r := range w.Resources() {
			g.Expect(world.List(r)).To(HaveLen(len(w.List(r))))
			for i, o := range world.List(r) {
				g.Expect(o.Raw()).To(Equal(w.List(r)[i].Raw()))
			}
		}
	}
	g.Expect(got.Gaps()).To(HaveLen(len(want.Gaps())))
	for i, gap := range got.Gaps() {
		w := want.Gaps()[i]
		g.Expect(gap.Time).To(Equal(w.Time))
		g.Expect(gap.Resource).To(Equal(w.Resource))
		g.Expect(gap.Reason).To(Equal(w.Reason))
		g.Expect(gap.at-got.from).To(Equal(w.at-want.from), "after as many events")
	}
}

func TestSaveAndLoadRoundTrip(t *testing.T) {
	events := []Event{
		{Time: at(1), Type: watch.Added, Resource: pods, Object: object(t, "b", "1")},
		{Time: at(2), Type: watch.Added, Resource: pools, Object: object(t, "a", "2")},
		{Time: at(3), Type: watch.Modified, Resource: pods, Object: object(t, "b", "3"), revision: 9},
		{Time: at(3), Type: watch.Added, Resource: pools, Object: object(t, "c", "8"), revision: 8},
		{Time: at(5), Type: watch.Deleted, Resource: pods, Object: object(t, "b", "4")},
	}
	gaps := []Gap{
		{Time: at(3), Resource: pods, Reason: "a \"gap\"\nof two lines"},
		{Time: at(9), Reason: "at the end"},
	}
	for name, h := range map[string]*History{
		"hand-written":              New(events, gaps),
		"empty":                     New(nil, nil),
		"with a world at the start": New(events, gaps).From(2),
		"the end only":              New(events, gaps).From(5),
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			var file bytes.Buffer
			g.Expect(Save(&file, h)).To(Succeed())
			got, err := Load(bytes.NewReader(file.Bytes()))
			g.Expect(err).NotTo(HaveOccurred())
			same(g, got, h)

			var again bytes.Buffer
			g.Expect(Save(&again, got)).To(Succeed())
			g.Expect(again.Bytes()).To(Equal(file.Bytes()))
		})
	}
}

func TestRecordedFileIsTheHistory(t *testing.T) {
	g := NewWithT(t)
	f := newFakeAPI(t)
	f.say("ADDED", "nodes", "n1")
	f.say("ADDED", "pods", "z")
	r, file := record(t, f, pods, nodes)
	for range 50 {
		f.say("MODIFIED", "nodes", "n1")
		f.say("MODIFIED", "pods", "z")
	}
	await(t, r, pods, "z", f.say("MODIFIED", "pods", "z"))
	await(t, r, nodes, "n1", f.revision-2)
	g.Expect(r.Stop()).To(Succeed())
	same(g, load(t, file), r.History())

	compressed, err := Compress(file)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(compressed).To(Equal(file + ".gz"))
	g.Expect(file).NotTo(BeAnExistingFile())
	same(g, load(t, compressed), r.History())
}

// Lines are in the file soon after their events, not only at the end.
func TestFileIsWrittenAsThingsHappen(t *testing.T) {
	g := NewWithT(t)
	f := newFakeAPI(t)
	r, file := record(t, f, pods)
	await(t, r, pods, "a", f.say("ADDED", "pods", "a"))
	g.Eventually(func() ([]byte, error) { return os.ReadFile(file) }, 2*time.Second, 5*time.Millisecond).
		Should(ContainSubstring(`"type":"ADDED","resource":"v1/pods"`))
	g.Expect(load(t, file).Gaps()).To(HaveLen(1), "it isn't complete yet")
}

func TestLoadOfAFileThatACrashCutOff(t *testing.T) {
	whole := `{"history":2,"start":"2026-01-02T03:04:05Z"}
{"at":"2026-01-02T03:04:06Z","type":"ADDED","resource":"v1/pods","object":{"metadata":{"name":"a"}}}
{"at":"2026-01-02T03:04:07Z","type":"ADDED","resource":"v1/pods","object":{"metadata":{"name":"b"}}}
`
	for name, c := range map[string]struct {
		cut, reason string
		events      int
	}{
		"within a line":  {whole[:len(whole)-20], "line 3, the last, is cut off", 1},
		"before a break": {whole[:len(whole)-1], "line 3, the last, is cut off", 1},
		"after a line":   {whole, "the file is incomplete: it has no END line", 2},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			h, err := Load(strings.NewReader(c.cut))
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(h.Events()).To(HaveLen(c.events))
			g.Expect(h.Gaps()).To(HaveLen(1))
			g.Expect(h.Gaps()[0].Reason).To(ContainSubstring(c.reason))
			g.Expect(h.From(c.events).Gaps()).To(HaveLen(1))
		})
	}
}

func TestLoadNamesTheLineThatIsWrong(t *testing.T) {
	const header = `{"history":2,"start":"2026-01-02T03:04:05Z"}` + "\n"
	for name, c := range map[string]struct{ file, problem string }{
		"nothing":         {"", "no whole line"},
		"something else":  {"hello\n", "line 1: invalid character"},
		"another JSON":    {"{}\n", `line 1: no history; it should begin with {"history":2`},
		"a later format":  {`{"history":3,"start":"2026-01-02T03:04:05Z"}` + "\n", "line 1: no history"},
		"a broken line":   {header + "{\n" + header, "line 2: unexpected end"},
		"an unknown type": {header + `{"type":"WHAT"}` + "\n", `line 2: type "WHAT"; it should be`},
		"no type":         {header + header, `line 2: type ""`},
		"an odd resource": {
			header + `{"type":"ADDED","resource":"pods"}` + "\n",
			`line 2: resource "pods"; it should be like v1/pods`,
		},
		"no object": {header + `{"type":"ADDED","resource":"v1/pods"}` + "\n", "line 2: not an API object"},
		"an object of no name": {
			header + `{"type":"ADDED","resource":"v1/pods","object":{}}` + "\n",
			"metadata.name is missing",
		},
		"START after an event": {
			header + `{"type":"ADDED","resource":"v1/pods","object":{"metadata":{"name":"a"}}}` + "\n" +
				`{"type":"START","resource":"v1/pods","object":{"metadata":{"name":"a"}}}` + "\n",
			"line 3: type START after an event",
		},
		"something after the end": {header + `{"type":"END"}` + "\n" + `{"type":"END"}` + "\n", "line 3: something follows"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			_, err := Load(strings.NewReader(c.file))
			g.Expect(err).To(MatchError(ContainSubstring(c.problem)))
		})
	}
	t.Run("a damaged compressed file", func(t *testing.T) {
		g := NewWithT(t)
		var file bytes.Buffer
		z := gzip.NewWriter(&file)
		_, err := io.WriteString(z, header+
			strings.Repeat(
				`{"at":"2026-01-02T03:04:07Z","type":"ADDED","resource":"v1/pods","object":{"metadata":{"name":"b"}}}`+"\n", 100))
		g.Expect(errors.Join(err, z.Close())).To(Succeed())
		damaged := bytes.Clone(file.Bytes())
		damaged[len(damaged)-6] ^= 1 // of the checksum
		_, err = Load(bytes.NewReader(damaged))
		g.Expect(err).To(MatchError(gzip.ErrChecksum))
		g.Expect(err).To(MatchError(ContainSubstring("line 102")))

		h, err := Load(bytes.NewReader(file.Bytes()[:file.Len()-6]))
		g.Expect(err).NotTo(HaveOccurred(), "it is cut off, as a crash leaves it")
		g.Expect(h.Events()).To(HaveLen(100))
		g.Expect(h.Gaps()).To(HaveExactElements(HaveField("Reason", ContainSubstring("cut off"))))
	})
}

func TestCompressLeavesThePlainFileWhenItFails(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "h.jsonl")
	g.Expect(os.WriteFile(file, []byte("x"), 0o600)).To(Succeed())
	g.Expect(os.Mkdir(file+".gz", 0o700)).To(Succeed())
	_, err := Compress(file)
	g.Expect(err).To(MatchError(ContainSubstring(file)))
	g.Expect(file).To(BeAnExistingFile())
	_, err = Compress(filepath.Join(dir, "absent"))
	g.Expect(err).To(MatchError(os.ErrNotExist))
}
