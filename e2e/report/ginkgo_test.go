package report

import (
	"encoding/json"
	"encoding/xml"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/onsi/ginkgo/v2/reporters"
	"github.com/onsi/ginkgo/v2/types"
	. "github.com/onsi/gomega"
)

// A spec of 30 days of cluster time that took 20 s, as a worker writes it.
func TestGinkgosReportsAreInRealTime(t *testing.T) {
	g := NewWithT(t)
	const month = 30 * 24 * time.Hour
	began := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	at := func(seconds int) time.Time { return began.Add(time.Duration(seconds) * time.Second) }
	event := func(t time.Time, took time.Duration) types.SpecEvent {
		return types.SpecEvent{TimelineLocation: types.TimelineLocation{Time: t}, Duration: took}
	}
	spec := types.SpecReport{
		LeafNodeType: types.NodeTypeIt, LeafNodeText: "lives for a month", State: types.SpecStateFailed,
		StartTime: at(10), EndTime: at(10).Add(month), RunTime: month,
		Failure: types.Failure{Message: "it died", TimelineLocation: types.TimelineLocation{Time: at(10).Add(month / 2)}},
		ReportEntries: types.ReportEntries{
			{Name: SpanEntry, Value: types.WrapEntryValue(Span{at(10), at(30)}), Time: at(10).Add(month)},
		},
		SpecEvents: types.SpecEvents{event(at(10), 0), event(at(10).Add(month), month)},
	}
	killed := types.SpecReport{
		LeafNodeType: types.NodeTypeIt, LeafNodeText: "hangs", State: types.SpecStateInterrupted,
		StartTime: at(30), EndTime: at(30).Add(month), RunTime: month,
	}
	skipped := types.SpecReport{
		LeafNodeType: types.NodeTypeIt, LeafNodeText: "comes after Ctrl-C", State: types.SpecStateSkipped,
		StartTime: at(30).Add(month),
	}
	notRun := types.SpecReport{LeafNodeType: types.NodeTypeIt, LeafNodeText: "is filtered", State: types.SpecStateSkipped}
	folder := t.TempDir()
	file, junit := filepath.Join(folder, "report.json"), filepath.Join(folder, "junit.xml")
	g.Expect(reporters.GenerateJSONReport(types.Report{
		StartTime: began, EndTime: began.Add(2 * month), RunTime: 2 * month,
		SpecReports: types.SpecReports{spec, killed, skipped, notRun},
	}, file)).To(Succeed())

	g.Expect(WriteInRealTime(file, junit, Span{began, at(42)})).To(Succeed())

	data, err := os.ReadFile(file)
	g.Expect(err).NotTo(HaveOccurred())
	var reports []types.Report
	g.Expect(json.Unmarshal(data, &reports)).To(Succeed())
	r := reports[0]
	g.Expect([]any{r.StartTime, r.EndTime, r.RunTime}).To(Equal([]any{began, at(42), 42 * time.Second}))
	spec = r.SpecReports[0]
	g.Expect([]any{spec.StartTime, spec.EndTime, spec.RunTime}).To(Equal([]any{at(10), at(30), 20 * time.Second}))
	g.Expect(spec.Failure.TimelineLocation.Time).To(Equal(at(20)))
	g.Expect(spec.ReportEntries[0].Time).To(Equal(at(30)))
	g.Expect(spec.SpecEvents).To(Equal(types.SpecEvents{event(at(10), 0), event(at(30), 20*time.Second)}))
	killed = r.SpecReports[1]
	g.Expect([]any{killed.StartTime, killed.EndTime, killed.RunTime}).To(Equal([]any{at(30), at(42), 12 * time.Second}))
	skipped = r.SpecReports[2]
	g.Expect([]any{skipped.StartTime, skipped.EndTime, skipped.RunTime}).To(Equal([]any{at(42), at(42), time.Duration(0)}))
	notRun = r.SpecReports[3]
	g.Expect([]any{notRun.StartTime, notRun.RunTime}).To(Equal([]any{time.Time{}, time.Duration(0)}))

	data, err = os.ReadFile(junit)
	g.Expect(err).NotTo(HaveOccurred())
	var suites reporters.JUnitTestSuites
	g.Expect(xml.Unmarshal(data, &suites)).To(Succeed())
	g.Expect(suites.Time).To(Equal(42.0))
	g.Expect(suites.TestSuites[0].Timestamp).To(Equal("2026-01-01T12:00:00"))
	g.Expect(suites.TestSuites[0].TestCases[0].Time).To(Equal(20.0))
	g.Expect(suites.TestSuites[0].TestCases[0].Properties.WithName("cluster time in seconds")).To(Equal("2592000"))
}

func TestAReportThatIsNotGinkgosIsAnError(t *testing.T) {
	g := NewWithT(t)
	file := filepath.Join(t.TempDir(), "report.json")
	g.Expect(WriteInRealTime(file, "", Span{})).To(MatchError(os.ErrNotExist))
	g.Expect(os.WriteFile(file, []byte("[]"), 0o600)).To(Succeed())
	g.Expect(WriteInRealTime(file, "", Span{})).To(MatchError(ContainSubstring("want one run, got 0")))
	g.Expect(os.WriteFile(file, []byte("{"), 0o600)).To(Succeed())
	g.Expect(WriteInRealTime(file, "", Span{})).To(MatchError(ContainSubstring("the report by Ginkgo, " + file)))
}
