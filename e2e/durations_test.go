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
	quick := suite.Add(Spec{Name: "is quick", Run: nothing, Within: time.Hour})
	unknown := suite.Add(Spec{Name: "is new", Run: nothing, Within: time.Minute})
	d := readDurations(folder)
	g.Expect(d.of("kwok", suite, quick)).To(Equal(time.Hour), "as long as it may")

	d.learn([]report.Outcome{
		{Provider: "kwok", Suite: "drift", Spec: "is quick", Verdict: report.Passed, Took: time.Minute, Real: 3 * time.Second},
		{Provider: "kwok", Suite: "drift", Spec: "is new", Verdict: report.Skipped, Took: time.Millisecond},
	})
	g.Expect(d.write(folder)).To(Succeed())
	g.Expect(d.write(folder)).To(Succeed(), "again")
	d = readDurations(folder)
	g.Expect(d.of("kwok", suite, quick)).To(Equal(3 * time.Second))
	g.Expect(d.of("kwok", suite, unknown)).To(Equal(time.Minute), "it wasn't run")
	g.Expect(os.ReadDir(folder)).To(HaveLen(1))

	g.Expect(os.WriteFile(filepath.Join(folder, durationsFile), []byte("{"), 0o600)).To(Succeed())
	g.Expect(readDurations(folder)).To(BeEmpty())
}
