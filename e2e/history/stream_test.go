package history

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// startStream starts a Stream of pods and returns it with a function that waits for a revision.
func startStream(t *testing.T, f *fakeAPI, folder string, o StreamOptions) (*Stream, func(revision int)) {
	t.Helper()
	s, err := RecordParts(t.Context(), f.config(), folder, o, pods)
	if err != nil {
		t.Fatal(err)
	}
	return s, func(revision int) {
		t.Helper()
		NewWithT(t).Eventually(func() uint64 {
			s.recorder.mu.Lock()
			defer s.recorder.mu.Unlock()
			return s.recorder.told[pods]
		}).WithTimeout(10 * time.Second).Should(BeNumerically(">=", revision))
	}
}

// flushed waits until nothing is left to be written.
func flushed(t *testing.T, s *Stream) {
	t.Helper()
	j := s.recorder.journal
	NewWithT(t).Eventually(func() bool {
		j.mu.Lock()
		defer j.mu.Unlock()
		return j.pending.start == nil && len(j.pending.before)+len(j.pending.after) == 0
	}).WithTimeout(10 * time.Second).Should(BeTrue())
}

// namesOf returns type and revision of each event, in order.
func namesOf(h *History) []string {
	var all []string
	for _, e := range h.Events() {
		all = append(all, fmt.Sprint(e.Type, " ", e.Object.Name, " ", e.Object.ResourceVersion))
	}
	return all
}

func TestPartsAreOneRecording(t *testing.T) {
	g := NewWithT(t)
	f, folder := newFakeAPI(t), filepath.Join(t.TempDir(), "new")
	f.say("ADDED", "pods", "old")
	s, await := startStream(t, f, folder, StreamOptions{PartSize: 400}) // two or three events
	var want []string
	for i := range 20 {
		kind := []string{"ADDED", "MODIFIED", "DELETED"}[i%3]
		revision := f.say(kind, "pods", "a")
		want = append(want, fmt.Sprint(kind, " a ", revision))
		await(revision)
		flushed(t, s) // so that parts begin in between
	}
	g.Expect(s.recorder.received).To(BeEmpty(), "nothing is kept in memory")
	progress := s.Progress()
	g.Expect(progress).To(And(HaveField("Events", 20), HaveField("Gaps", BeEmpty()), HaveField("Trouble", BeEmpty())))
	g.Expect(s.Stop()).To(Succeed())
	g.Expect(s.Failed()).To(BeClosed())

	files, err := partsIn(folder)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(len(files)).To(BeNumerically(">", 3))
	h, err := LoadParts(folder)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(h.Gaps()).To(BeEmpty())
	g.Expect(namesOf(h)).To(Equal(want))
	g.Expect(h.Start().List(pods)).To(HaveExactElements(HaveField("Name", "old")))
	g.Expect(h.End().List(pods)).To(HaveLen(2))

	for _, file := range files {
		part, err := LoadFile(file)
		g.Expect(err).NotTo(HaveOccurred(), "each can be read alone")
		g.Expect(part.Start().Get(pods, "", "old")).NotTo(BeNil())
		info, err := os.Stat(file)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(info.Mode().Perm()).To(Equal(os.FileMode(0o600)))
	}
}

func TestPartsHaveAsManyEventsAsTheirStart(t *testing.T) {
	g := NewWithT(t)
	f, folder := newFakeAPI(t), t.TempDir()
	for i := range 10 {
		f.say("ADDED", "pods", fmt.Sprint("old-", i))
	}
	s, await := startStream(t, f, folder, StreamOptions{PartSize: 1})
	for range 24 {
		await(f.say("MODIFIED", "pods", "old-0"))
		flushed(t, s)
	}
	g.Expect(s.Progress().Parts).To(And(BeNumerically(">", 1), BeNumerically("<=", 6)))
	g.Expect(s.Stop()).To(Succeed())
	h, err := LoadParts(folder)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(h.Events()).To(HaveLen(24))
}

func TestAGapIsWhereNothingWasRecorded(t *testing.T) {
	g := NewWithT(t)
	f, folder := newFakeAPI(t), t.TempDir()
	f.say("ADDED", "pods", "a")
	f.say("ADDED", "pods", "b")
	s, _ := startStream(t, f, folder, StreamOptions{})
	g.Expect(s.Stop()).To(Succeed())
	f.say("DELETED", "pods", "a")
	f.say("ADDED", "pods", "c")
	s, await := startStream(t, f, folder, StreamOptions{})
	await(f.say("DELETED", "pods", "b"))
	g.Expect(s.Stop()).To(Succeed())

	h, err := LoadParts(folder)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(h.Gaps()).To(HaveExactElements(HaveField("Reason", HavePrefix("nothing was recorded for "))))
	g.Expect(namesOf(h)).To(HaveExactElements("DELETED a 101", "ADDED c 104", "DELETED b 105"))
	g.Expect(h.End().List(pods)).To(HaveExactElements(HaveField("Name", "c")))

	stretches := h.Stretches()
	g.Expect(stretches).To(HaveLen(1), "before the gap, nothing happened")
	g.Expect(namesOf(stretches[0])).To(HaveExactElements("DELETED b 105"))
	g.Expect(stretches[0].Gaps()).To(BeEmpty())
	g.Expect(stretches[0].Start().List(pods)).To(HaveLen(2), "the world after the gap")
	g.Expect(namesOf(h.Between(h.Gaps()[0].Time, time.Time{}))).To(HaveLen(3))
	g.Expect(namesOf(h.Between(time.Time{}, h.Events()[1].Time))).To(HaveLen(2))
	g.Expect(namesOf(h.Between(h.Taken().Add(time.Second), time.Time{}))).To(BeEmpty())
}

func TestAStretchEndsWithItsLastEvent(t *testing.T) {
	g := NewWithT(t)
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	o, err := NewObject([]byte(`{"metadata":{"name":"a"}}`))
	g.Expect(err).NotTo(HaveOccurred())
	seen := func(after time.Duration) Event {
		return Event{Time: at.Add(after), Type: modified, Resource: pods, Object: o}
	}
	h := New([]Event{seen(0), seen(time.Second), seen(time.Hour + time.Second)}, []Gap{{Time: at.Add(time.Hour)}})
	stretches := h.Stretches()
	g.Expect(stretches).To(HaveLen(2))
	g.Expect(stretches[0].Events()).To(HaveLen(2))
	g.Expect(stretches[0].Taken()).To(Equal(at.Add(time.Second)), "nobody knows what the hour brought")
	g.Expect(stretches[1].Events()).To(HaveLen(1))
}

func TestAKilledStreamLosesOnlyItsLastMoment(t *testing.T) {
	g := NewWithT(t)
	f, folder := newFakeAPI(t), t.TempDir()
	s, await := startStream(t, f, folder, StreamOptions{})
	await(f.say("ADDED", "pods", "a"))
	g.Eventually(func() ([]string, error) { // what a crash would leave at this moment
		h, err := LoadParts(folder)
		if err != nil {
			return nil, err
		}
		g.Expect(h.Gaps()).To(HaveLen(1))
		return namesOf(h), nil
	}).Should(Equal([]string{"ADDED a 101"}))
	g.Expect(s.Stop()).To(Succeed())
}

func TestOldPartsAreRemoved(t *testing.T) {
	g := NewWithT(t)
	f, folder := newFakeAPI(t), t.TempDir()
	other := filepath.Join(folder, "notes.jsonl.gz")
	g.Expect(os.WriteFile(other, bytes.Repeat([]byte("x"), 5000), 0o600)).To(Succeed())
	s, await := startStream(t, f, folder, StreamOptions{PartSize: 1, Keep: 600})
	for range 20 {
		await(f.say("MODIFIED", "pods", "a"))
		flushed(t, s)
	}
	g.Expect(s.Stop()).To(Succeed())
	p := s.Progress()
	g.Expect(p.Removed).To(BeNumerically(">", 3))
	files, err := partsIn(folder)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(files).To(HaveLen(p.Parts - p.Removed))
	g.Expect(other).To(BeAnExistingFile(), "only parts are removed")
	h, err := LoadParts(folder)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(h.Gaps()).To(BeEmpty())
	g.Expect(h.Start().List(pods)).To(HaveLen(1), "the rest begins with the world at its start")
	g.Expect(p.String()).To(ContainSubstring("old ones removed"))
}

func TestObjectsAreRewrittenBeforeTheyAreWritten(t *testing.T) {
	g := NewWithT(t)
	f, folder := newFakeAPI(t), t.TempDir()
	f.say("ADDED", "pods", "secret")
	hide := func(_ schema.GroupVersionResource, raw []byte) ([]byte, error) {
		return bytes.ReplaceAll(raw, []byte(`"secret`), []byte(`"hidden`)), nil
	}
	s, await := startStream(t, f, folder, StreamOptions{Rewrite: hide})
	await(f.say("ADDED", "pods", "secret-too"))
	g.Expect(s.Stop()).To(Succeed())
	h, err := LoadParts(folder)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(h.End().List(pods)).To(HaveExactElements(HaveField("Name", "hidden"), HaveField("Name", "hidden-too")))
	raw, err := json.Marshal(h.End().List(pods)[0].Raw())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(raw)).NotTo(ContainSubstring(`"secret`))
}

func TestAFolderThatCannotBeWrittenIsAnError(t *testing.T) {
	g := NewWithT(t)
	file := filepath.Join(t.TempDir(), "file")
	g.Expect(os.WriteFile(file, nil, 0o600)).To(Succeed())
	_, err := RecordParts(t.Context(), newFakeAPI(t).config(), file, StreamOptions{}, pods)
	g.Expect(err).To(MatchError(ContainSubstring("not a directory")))

	_, err = LoadParts(t.TempDir())
	g.Expect(err).To(MatchError(ContainSubstring("it has no part")))
}

func TestAStreamEndsWithItsFolder(t *testing.T) {
	g := NewWithT(t)
	f, folder := newFakeAPI(t), filepath.Join(t.TempDir(), "gone")
	s, await := startStream(t, f, folder, StreamOptions{PartSize: 1})
	g.Eventually(folder).Should(BeADirectory())
	flushed(t, s)
	g.Expect(os.RemoveAll(folder)).To(Succeed())
	await(f.say("ADDED", "pods", strconv.Itoa(1)))
	g.Eventually(s.Failed()).Should(BeClosed())
	g.Expect(s.Stop()).To(MatchError(os.ErrNotExist))
}
