package env

import (
	"errors"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/report"
)

func TestTheWorstFindingDecides(t *testing.T) {
	vacuous := check.Finding{Check: "a", Verdict: check.Vacuous}
	unknown := check.Finding{Check: "b", Verdict: check.Unknown}
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	number := 7
	broken := check.Finding{
		Check: "c", Verdict: check.Broken, Event: &history.Event{Time: at, Object: &history.Object{}}, Number: number,
	}
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
			failure := failureOf(c.findings)
			g.Expect(failure.Verdict).To(Equal(c.want))
			if c.want == report.Failed {
				g.Expect(failure.At).To(Equal(at))
				g.Expect(failure.Broke).To(Equal([]report.Broken{{Kind: report.BrokenCheck, What: "c", Event: &number}}))
			} else {
				g.Expect(failure.Broke).To(BeEmpty())
			}
		})
	}
}

func TestAFieldThatTheSchemaLacksIsRecognised(t *testing.T) {
	g := NewWithT(t)
	field,
		absent := absentField(errors.New("failed to create typed patch object (/pool; karpenter.sh/v1, Kind=NodePool): " +
		".spec.replicas: field not declared in schema"))
	g.Expect(absent).To(BeTrue())
	g.Expect(field).To(Equal(".spec.replicas"))
	_, absent = absentField(errors.New("connection refused"))
	g.Expect(absent).To(BeFalse())
	_, absent = absentField(nil)
	g.Expect(absent).To(BeFalse())
}
