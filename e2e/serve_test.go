package e2e

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/e2e/report"
)

func TestServingAnswersEachTrial(t *testing.T) {
	g := NewWithT(t)
	var out bytes.Buffer
	r := &Registration{}
	trials := `{"variables": {"MUTANT": "1"}, "specs": ["drift/missing"]}` + "\n" + `{"specs": []}` + "\n"
	g.Expect(r.serve(t.Context(), nil, strings.NewReader(trials), &out)).To(Succeed(), "its input ends")
	answers := json.NewDecoder(&out)
	var first, second Answer
	g.Expect(answers.Decode(&first)).To(Succeed())
	g.Expect(first.Outcomes).To(ConsistOf(SatisfyAll(
		HaveField("ID", "drift/missing"), HaveField("Verdict", report.Infra), HaveField("Reason", "there is no such spec"))))
	g.Expect(answers.Decode(&second)).To(Succeed())
	g.Expect(second.Outcomes).To(BeEmpty())
}

func TestServingEndsWithABrokenTrial(t *testing.T) {
	g := NewWithT(t)
	var out bytes.Buffer
	err := (&Registration{}).serve(t.Context(), nil, strings.NewReader(`{"specs": `), &out)
	g.Expect(err).To(MatchError(ContainSubstring("reading a trial")))
	g.Expect(out.String()).To(BeEmpty())
}

func TestWhoseFaultAFailedSetUpIs(t *testing.T) {
	g := NewWithT(t)
	failed := func(why string) report.Outcome {
		return report.Outcome{Verdict: report.Infra, Reason: setUpFailed + why}
	}
	g.Expect(ConfigurationFailed(failed(notConfigured + " map[MUTANT:1]: it restarts"))).To(BeTrue())
	g.Expect(ConfigurationFailed(failed("starting the cluster: no space left"))).To(BeFalse())
}

func TestTheEnvironmentOfAServer(t *testing.T) {
	g := NewWithT(t)
	g.Expect(ServeEnvironment([]string{"PROVIDER=kwok"}, "/runs/1", "/honest.gz")).To(ContainElements(
		"PROVIDER=kwok", "PLUMBLINE_SERVE=3", "PLUMBLINE_RUN_FOLDER=/runs/1", "PLUMBLINE_RECORDING=/honest.gz"))
	g.Expect(ServeArguments("TestConformance")).To(ContainElement("-test.run=^TestConformance$"))
}
