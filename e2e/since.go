package e2e

import (
	"fmt"

	"github.com/Masterminds/semver/v3"
	"github.com/onsi/ginkgo/v2"
)

// missingIn returns why a release does not make the promise yet, or "".
func (s Since) missingIn(karpenter, kubernetes string) string {
	for _, c := range []struct{ what, since, have string }{
		{"Karpenter", s.Karpenter, karpenter},
		{"Kubernetes", s.Kubernetes, kubernetes},
	} {
		if c.since == "" {
			continue
		}
		since, err := semver.NewVersion(c.since)
		have, err2 := semver.NewVersion(c.have)
		if err == nil && err2 == nil && have.LessThan(since) {
			return fmt.Sprintf("promised since %s %s; this is %s", c.what, c.since, c.have)
		}
	}
	return ""
}

// goneIn returns why a release does not make a promise any more, or "". Until is the first release
// without it; empty: none. A release that is no version is taken for a new one.
func goneIn(until, karpenter string) string {
	end, err := semver.NewVersion(until)
	if have, notVersion := semver.NewVersion(karpenter); err != nil || notVersion == nil && have.LessThan(end) {
		return ""
	}
	return fmt.Sprintf("promised before Karpenter %s; this is %s", until, karpenter)
}

// constraints returns the same in Ginkgo's form, for Ginkgo's own filter.
func (s Since) constraints() ginkgo.ComponentSemVerConstraints {
	c := ginkgo.ComponentSemVerConstraints{}
	if s.Karpenter != "" {
		c["karpenter"] = []string{">=" + s.Karpenter}
	}
	if s.Kubernetes != "" {
		c["kubernetes"] = []string{">=" + s.Kubernetes}
	}
	return c
}
