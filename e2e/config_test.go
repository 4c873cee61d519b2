package e2e

import (
	"context"
	"regexp"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/e2e/clock"
	"github.com/plumbline-e2e/plumbline/providers"
)

func nothing(context.Context, *Env) {}

func twoSuites() []*Suite {
	drift, taints := NewSuite("drift"), NewSuite("node taints")
	drift.Add(Spec{Name: "replaces nodes", Row: "replaces", Run: nothing})
	drift.Add(Spec{Name: "is slow", Row: "slow", Run: nothing, Labels: []string{"slow"}})
	taints.Add(Spec{Name: "keep pods off", Row: "off", Run: nothing})
	return []*Suite{drift, taints}
}

func clearEnvironment(t *testing.T) {
	t.Helper()
	for _, name := range []string{
		"CLUSTER", "K8S", "NODE_IMAGE", "KARPENTER", "IMAGE", "GATES", "FOCUS", "SKIP", "LABELS",
		"PROCS", "SPEED", "KEEP", "ARTIFACTS",
	} {
		t.Setenv(name, "")
	}
}

func TestAllMistakesInTheEnvironmentAreReportedTogether(t *testing.T) {
	g := NewWithT(t)
	clearEnvironment(t)
	t.Setenv("CLUSTER", "minikube")
	t.Setenv("K8S", "1.12")
	t.Setenv("NODE_IMAGE", "mine")
	t.Setenv("GATES", "NodeRepair=true,StaticCapacity")
	t.Setenv("FOCUS", "(")
	t.Setenv("LABELS", "a &&")
	t.Setenv("PROCS", "many")
	t.Setenv("SPEED", "fast")
	t.Setenv("KEEP", "perhaps")
	_, err := FromEnv()
	g.Expect(err).To(MatchError(And(
		ContainSubstring("CLUSTER=minikube: there is no such backend; known: local, "),
		ContainSubstring("NODE_IMAGE=mine: local clusters use no node image; set CLUSTER=kind"),
		ContainSubstring("K8S=1.12"), ContainSubstring("1.36"),
		ContainSubstring(`GATES=NodeRepair=true,StaticCapacity: "StaticCapacity" is not a feature gate and its state`),
		ContainSubstring("FOCUS=(: not a regular expression"),
		ContainSubstring("LABELS=a &&: not a Ginkgo label filter"),
		ContainSubstring("PROCS=many: not a whole number from 1 up"),
		ContainSubstring("SPEED=fast: neither auto nor a number from 1 to 1000"),
		ContainSubstring("KEEP=perhaps: say 1 or 0"),
	)))
}

func TestDefaults(t *testing.T) {
	g := NewWithT(t)
	clearEnvironment(t)
	c, err := FromEnv()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(c.Cluster).To(Equal("local"))
	g.Expect(c.Kubernetes).To(HavePrefix("v1.36."))
	g.Expect(c.Procs).To(BeNumerically(">=", 1))
	bends := clock.Supported
	g.Expect(c.Speed.Bent()).To(Equal(bends))
	_, specs, err := c.deal(&providers.Adapter{Name: "kwok"}, twoSuites())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(specs).To(HaveLen(3))
}

func TestSelection(t *testing.T) {
	for name, c := range map[string]struct {
		variable, value string
		want            int
	}{
		"focus on a suite":         {"FOCUS", "kwok: drift", 2},
		"focus on a spec":          {"FOCUS", "^kwok: node taints keep pods off$", 1},
		"focus on an ID":           {"FOCUS", "^e2e/config/(slow|off)$", 2},
		"skip":                     {"SKIP", "slow", 2},
		"skip an ID":               {"SKIP", "^e2e/config/off$", 2},
		"a suite's label":          {"LABELS", "node-taints", 1},
		"a spec's label":           {"LABELS", "slow", 1},
		"labels with an expresion": {"LABELS", "drift && !slow", 1},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			clearEnvironment(t)
			t.Setenv(c.variable, c.value)
			config, err := FromEnv()
			g.Expect(err).NotTo(HaveOccurred())
			_, specs, err := config.deal(&providers.Adapter{Name: "kwok"}, twoSuites())
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(specs).To(HaveLen(c.want))
		})
	}
}

func TestGatesAreLaidOverTheAdapters(t *testing.T) {
	g := NewWithT(t)
	clearEnvironment(t)
	t.Setenv("GATES", "StaticCapacity=true, NodeRepair=0")
	config, err := FromEnv()
	g.Expect(err).NotTo(HaveOccurred())
	adapter := &providers.Adapter{Name: "kwok"}
	adapter.Controller.Gates = map[string]bool{"StaticCapacity": false, "NodeOverlay": true}

	gated := config.Gated(adapter)
	g.Expect(gated.Name).To(Equal("kwok"))
	g.Expect(gated.Controller.Gates).
		To(Equal(map[string]bool{"StaticCapacity": true, "NodeRepair": false, "NodeOverlay": true}))
	g.Expect(adapter.Controller.Gates).To(HaveKeyWithValue("StaticCapacity", false), "the adapter's own stay as they are")
	g.Expect(config.Gated(&providers.Adapter{}).Controller.Gates).To(HaveLen(2), "an adapter may have none")
	g.Expect(Config{}.Gated(adapter)).To(BeIdenticalTo(adapter))
}

func TestMistakenGates(t *testing.T) {
	for _, value := range []string{
		"StaticCapacity", "=true", "StaticCapacity=on", "StaticCapacity=true,",
		"NodeRepair=true NodeOverlay=true",
	} {
		t.Run(value, func(t *testing.T) {
			clearEnvironment(t)
			t.Setenv("GATES", value)
			_, err := FromEnv()
			NewWithT(t).Expect(err).To(MatchError(ContainSubstring("StaticCapacity=true,NodeRepair=false")))
		})
	}
}

func TestASelectionOfNothingIsAMistake(t *testing.T) {
	g := NewWithT(t)
	_, _, err := Config{Focus: regexp.MustCompile("brunch")}.deal(&providers.Adapter{Name: "kwok"}, twoSuites())
	g.Expect(err).To(MatchError(And(
		ContainSubstring("none of the 3 specs is selected by FOCUS=brunch"),
		ContainSubstring("e2e/config/replaces  kwok: drift replaces nodes"))))
	_, _, err = Config{}.deal(&providers.Adapter{Name: "kwok"}, nil)
	g.Expect(err).To(MatchError(ContainSubstring("no specs to run")))
}

func TestASuiteRefusesSpecsThatCannotBeTold(t *testing.T) {
	g := NewWithT(t)
	suite := NewSuite("drift")
	suite.Add(Spec{Name: "replaces nodes", Row: "nodes", Run: nothing})
	g.Expect(func() { suite.Add(Spec{Name: "replaces nodes", Run: nothing}) }).To(PanicWith(ContainSubstring("two specs")))
	g.Expect(func() { suite.Add(Spec{Run: nothing}) }).To(PanicWith(ContainSubstring("needs a Name")))
	g.Expect(suite.Specs()[0].Source()).To(ContainSubstring("config_test.go:"))
}
