package main

import (
	"bytes"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

func TestUpstreamsSpecsAreShownAsTheyEnd(t *testing.T) {
	var out bytes.Buffer
	follow(strings.NewReader(`Will run 2 of 75 specs
------------------------------
[BeforeSuite]
suite_test.go:48
[BeforeSuite] PASSED [0.127 seconds]
------------------------------
SSSSS
------------------------------
NodeClaim StandaloneNodeClaim should create a standard NodeClaim
suites/regression/nodeclaim_test.go:56
  STEP: waiting @ 11/21/26 00:52:20.811
------- node/a EVENTS -------
• [11.606 seconds]
------------------------------
Chaos
  should not produce a runaway scale-up [NoWatch]
suites/regression/chaos_test.go:56
• [FAILED] [900.001 seconds]
`), &out)
	NewWithT(t).Expect(out.String()).To(Equal(`[ 1] passed     11.606 seconds  NodeClaim StandaloneNodeClaim should create a standard NodeClaim
[ 2] failed    900.001 seconds  Chaos should not produce a runaway scale-up [NoWatch]
`))
}
