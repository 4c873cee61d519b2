package history

import (
	"errors"
	"testing"

	. "github.com/onsi/gomega"
)

// fullDisk accepts room bytes.
type fullDisk struct{ room int }

var errNoSpace = errors.New("no space left on device")

func (d *fullDisk) Write(b []byte) (int, error) {
	n := min(d.room, len(b))
	d.room -= n
	if n < len(b) {
		return n, errNoSpace
	}
	return n, nil
}

func (d *fullDisk) Close() error { return nil }

func TestFullDiskIsToldAndRecordingGoesOn(t *testing.T) {
	g := NewWithT(t)
	f := newFakeAPI(t)
	r, err := recordTo(t.Context(), f.config(), &fullDisk{room: 300}, kindsOf(pods))
	g.Expect(err).NotTo(HaveOccurred())
	revision := 0
	for range 10 {
		revision = f.say("ADDED", "pods", "a")
	}
	await(t, r, pods, "a", revision)
	g.Eventually(func() []Gap { return r.History().Gaps() }).Should(HaveLen(1))
	g.Expect(r.History().Gaps()[0].Reason).To(ContainSubstring("no space left"))
	await(t, r, pods, "b", f.say("ADDED", "pods", "b"))
	g.Expect(r.Stop()).To(MatchError(errNoSpace))
	g.Expect(r.Stop()).To(MatchError(errNoSpace))
	g.Expect(r.History().Events()).To(HaveLen(11))
}
