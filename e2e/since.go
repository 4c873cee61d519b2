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
