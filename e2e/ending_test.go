package e2e

import (
	"errors"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/report"
	"github.com/plumbline-e2e/plumbline/providers"
)

func TestTheWorstFindingDecides(t *testing.T) {
	vacuous := check.Finding{Check: "a", Verdict: check.Vacuous}
	unknown := check.Finding{Check: "b", Verdict: check.Unknown}
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	broken := check.Finding{Check: "c", Verdict: check.Broken, Event: &history.Event{Time: at, Object: &history.Object{}}}
	for name, c := range map[string]struct {
		findings []check.Finding
		want     report.Verdict
	}{
		"vacuous":            {[]check.Finding{vacuous}, report.Vacuous},
		"a gap":              {[]check.Finding{unknown}, report.Infra},
		"broken":             {[]check.Finding{broken}, report.Failed},
		"vacuous and broken": {[]check.Finding{vacuous, broken}, report.Failed},
		"broken and a gap":   {[]check.Finding{broken, unknown}, report.Failed},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			end := judged(c.findings)
			g.Expect(end.verdict).To(Equal(c.want))
			if c.want == report.Failed {
				g.Expect(end.at).To(Equal(at))
			}
		})
	}
}

func TestKnownFailures(t *testing.T) {
	spec := &Spec{Name: "x", Known: []Known{{Releases: ">=1.6.0 <=1.15.0", Issue: "upstream#1", Reason: "it doesn't"}}}
	for release, known := range map[string]bool{
		"v1.5.5": false, "v1.6.0": true, "1.15.0": true, "v1.16.0": false, "main": false, "": false,
	} {
		t.Run(release, func(t *testing.T) {
			g := NewWithT(t)
			k, err := spec.knownFailure(release)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(k != nil).To(Equal(known))
		})
	}
	_, err := (&Spec{Name: "x", Known: []Known{{Releases: "all of them"}}}).knownFailure("v1.0.0")
	NewWithT(t).Expect(err).To(MatchError(ContainSubstring("not a constraint")))
}

func TestAProviderHasKnownFailuresOfItsOwn(t *testing.T) {
	suite := NewSuite("drift")
	spec := suite.Add(Spec{Name: "replaces nodes", Run: nothing})
	adapter := &providers.Adapter{KnownFailures: []providers.KnownFailure{
		{Spec: "drift replaces pods", Releases: ">=1.0.0", Issue: "acme#1"},
		{Spec: "drift replaces nodes", Releases: ">=1.3.0 <1.9.0", Issue: "acme#2", Reason: "it doesn't"},
	}}
	for release, known := range map[string]bool{"v1.2.0": false, "v1.3.0": true, "v1.9.0": false, "main": false} {
		t.Run(release, func(t *testing.T) {
			g := NewWithT(t)
			s := &Session{Adapter: adapter, Provider: &providers.Installed{CoreVersion: release}}
			k, err := s.known(suite, spec)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(k != nil).To(Equal(known))
			if known {
				g.Expect(*k).To(Equal(Known{Releases: ">=1.3.0 <1.9.0", Issue: "acme#2", Reason: "it doesn't"}))
			}
		})
	}
}

func TestWhatIsKnownChangesTheVerdict(t *testing.T) {
	known := &Known{Issue: "upstream#1", Reason: "it doesn't"}
	for name, c := range map[string]struct {
		verdict, want report.Verdict
		note          string
	}{
		"a failure is known":         {report.Failed, report.Known, ""},
		"a pass is unexpected":       {report.Passed, report.Passed, "may be out of date"},
		"vacuous stays":              {report.Vacuous, report.Vacuous, ""},
		"infra stays":                {report.Infra, report.Infra, ""},
		"what is skipped is skipped": {report.Skipped, report.Skipped, ""},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			o := report.Outcome{Verdict: c.verdict}
			settle(&o, known)
			g.Expect(o.Verdict).To(Equal(c.want))
			g.Expect(o.Note).To(ContainSubstring(c.note))

			o = report.Outcome{Verdict: c.verdict}
			settle(&o, &Known{Issue: "upstream#1", Reason: "now and then it doesn't", Sometimes: true})
			g.Expect(o.Verdict).To(Equal(c.want))
			g.Expect(o.Note).To(BeEmpty(), "that it passes is no news")
		})
	}
}

func TestSince(t *testing.T) {
	g := NewWithT(t)
	spec := &Spec{Since: Since{Karpenter: "1.7", Kubernetes: "1.35"}}
	g.Expect(spec.Since.absent("v1.6.9", "v1.36.3")).To(Equal("promised since Karpenter 1.7; this is v1.6.9"))
	g.Expect(spec.Since.absent("v1.7.0", "v1.34.4")).To(Equal("promised since Kubernetes 1.35; this is v1.34.4"))
	g.Expect(spec.Since.absent("v1.7.0", "v1.35.0")).To(BeEmpty())
	g.Expect(spec.Since.absent("main", "v1.35.0")).To(BeEmpty(), "a release that is no version is taken for a new one")
}

func TestAFieldThatTheSchemaLacksIsRecognised(t *testing.T) {
	g := NewWithT(t)
	field, absent := absentField(errors.New("failed to create typed patch object (/pool; karpenter.sh/v1, Kind=NodePool): .spec.replicas: field not declared in schema"))
	g.Expect(absent).To(BeTrue())
	g.Expect(field).To(Equal(".spec.replicas"))
	_, absent = absentField(errors.New("connection refused"))
	g.Expect(absent).To(BeFalse())
	_, absent = absentField(nil)
	g.Expect(absent).To(BeFalse())
}
