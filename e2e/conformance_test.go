package e2e

import (
	"regexp"
	"runtime/debug"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/e2e/report"
	"github.com/plumbline-e2e/plumbline/providers"
)

func TestAReportSaysOfWhatItIs(t *testing.T) {
	g := NewWithT(t)
	all := Catalogue(NewSuite("drift"), NewSuite("taints"))
	c := Config{Release: "1.9.0", controller: report.Controller{Source: "a folder, ."}}
	got := c.conformance(providers.Named("kwok"), all, report.Conformance{Green: true})
	got.Plumbline = ""
	g.Expect(got).To(Equal(report.Conformance{
		Provider: "kwok", Version: "v1.9.0", Adapter: "providers/kwok/adapter.yaml",
		Controller: report.Controller{Source: "a folder, ."}, Complete: true, Green: true,
		Gates: map[string]bool{"StaticCapacity": false, "CapacityBuffer": false},
	}))
	written := &providers.Adapter{Name: "acme", Source: providers.Source{Version: "v1.2.3"}}
	got = Config{}.conformance(written, all, report.Conformance{})
	g.Expect([]string{got.Version, got.Adapter}).To(Equal([]string{"v1.2.3", ""}))
}

func TestARunIsCompleteWithTheWholeCatalogue(t *testing.T) {
	g := NewWithT(t)
	complete := func(c Config, suites ...*Suite) bool {
		return c.conformance(&providers.Adapter{}, suites, report.Conformance{}).Complete
	}
	drift, taints, own := NewSuite("drift"), NewSuite("taints"), NewSuite("of a provider")
	Catalogue(drift, taints)
	g.Expect(complete(Config{}, own, taints, drift)).To(BeTrue())
	g.Expect(complete(Config{}, drift)).To(BeFalse(), "a suite is missing")
	g.Expect(complete(Config{}, own)).To(BeFalse(), "it is of no catalogue")
	g.Expect(complete(Config{Labels: "!slow"}, taints, drift)).To(BeFalse())
	g.Expect(complete(Config{Focus: regexp.MustCompile("drift")}, taints, drift)).To(BeFalse())
}

func TestTheVersionOfTheHarness(t *testing.T) {
	released := debug.Module{Path: module, Version: "v0.3.0"}
	fork := debug.Module{Path: "example.com/fork", Version: "v9.0.0"}
	folder := debug.Module{Path: "../plumbline"}
	replaced := func(by debug.Module) *debug.Module {
		return &debug.Module{Path: module, Version: "v0.3.0", Replace: &by}
	}
	importer := debug.Module{Path: "example.com/acme", Version: "v1.2.3"}
	for want, program := range map[string]debug.BuildInfo{
		"v0.3.0":                  {Main: importer, Deps: []*debug.Module{{Path: "example.com/other"}, &released}},
		"v0.3.1-0.2026+dirty":     {Main: debug.Module{Path: module, Version: "v0.3.1-0.2026+dirty"}},
		"example.com/fork@v9.0.0": {Main: importer, Deps: []*debug.Module{replaced(fork)}},
	} {
		NewWithT(t).Expect(harnessVersion(&program)).To(Equal(want))
	}
	for _, program := range []debug.BuildInfo{
		{Main: debug.Module{Path: module, Version: "(devel)"}},
		{Main: importer, Deps: []*debug.Module{replaced(folder)}},
	} {
		NewWithT(t).Expect(harnessVersion(&program)).To(BeEmpty())
	}
}
