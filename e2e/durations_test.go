package e2e

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/e2e/report"
)

func TestDurationsAreRemembered(t *testing.T) {
	g := NewWithT(t)
	folder := t.TempDir()
	suite := NewSuite("drift")
	quick := suite.Add(Spec{Name: "is quick", Row: "quick", Run: nothing, Within: time.Hour})
	unknown := suite.Add(Spec{Name: "is new", Row: "new", Run: nothing, Within: time.Minute})
	d := readDurations(folder)
	g.Expect(d.expected("kwok", quick)).To(Equal(time.Hour), "as long as it may")

	d.learn([]report.Outcome{
		{Provider: "kwok", ID: quick.ID(), Verdict: report.Passed, Took: time.Minute, Real: 3 * time.Second},
		{Provider: "kwok", ID: unknown.ID(), Verdict: report.Skipped, Took: time.Millisecond},
	})
	g.Expect(d.write(folder)).To(Succeed())
	g.Expect(d.write(folder)).To(Succeed(), "again")
	d = readDurations(folder)
	g.Expect(d.expected("kwok", quick)).To(Equal(3 * time.Second))
	g.Expect(d.expected("kwok", unknown)).To(Equal(time.Minute), "it wasn't run")
	g.Expect(os.ReadDir(folder)).To(HaveLen(1))

	g.Expect(os.WriteFile(filepath.Join(folder, durationsFile), []byte("{"), 0o600)).To(Succeed())
	g.Expect(readDurations(folder)).To(BeEmpty())
}
