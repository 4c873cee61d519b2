package main

import (
	"testing"

	. "github.com/onsi/gomega"
)

func TestParse(t *testing.T) {
	out := `goos: linux
BenchmarkRecorder/1000-events-per-s-2   10000   1000123 ns/op   2.41 %-of-a-core   24.1 cpu-µs/event
BenchmarkAwait-2   1000   9999 ns/op   0.81 ms-median
PASS
ok  	github.com/plumbline-e2e/plumbline/e2e/history	20.1s
`
	NewWithT(t).Expect(parse(out)).To(Equal([]figure{
		{Name: "Recorder/1000-events-per-s-2", Value: 2.41, Unit: "%-of-a-core", Bound: 3},
		{Name: "Recorder/1000-events-per-s-2", Value: 24.1, Unit: "cpu-µs/event"},
		{Name: "Await-2", Value: 0.81, Unit: "ms-median"},
	}))
	NewWithT(t).Expect(parse("PASS\n")).To(BeEmpty())
}
