package main

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/e2e/report"
)

func TestAnAnnotationIsAtTheLineOfTheSpec(t *testing.T) {
	o := report.Outcome{
		Provider: "kwok", ID: "drift/a", Suite: "drift", Spec: "replaces nodes, one by one", Verdict: report.Failed,
		Reason: "100% of 3\nat event 7", Rerun: "make e2e FOCUS=drift/a",
	}
	const rest = "title=kwok%3A drift replaces nodes%2C one by one [drift/a] failed::" +
		"100%25 of 3%0Aat event 7%0ATo run it alone: make e2e FOCUS=drift/a"
	for source, want := range map[string]string{
		"/work/repo/suites/drift/a,b.go:12":               "::error file=suites/drift/a%2Cb.go,line=12," + rest,
		"/root/go/pkg/mod/plumbline/suites/a.go:12":       "::error " + rest,
		"/work/repo/.plumbline/suites/a.go:12":            "::error " + rest,
		"github.com/plumbline/suites/drift/a.go:12":       "::error " + rest, // built with -trimpath
		"/work/repository-of-others/suites/drift/a.go:12": "::error " + rest,
		"": "::error " + rest,
	} {
		o.Source = source
		NewWithT(t).Expect(annotation(o, "/work/repo")).To(Equal(want), source)
	}
}
