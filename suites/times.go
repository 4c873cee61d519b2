package suites

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e"
)

// times.json says how many seconds each spec takes with bent time, as `make times` has measured it on one machine.
// Machines that share a run deal its specs by it. Only their order matters, so it needs no care.
//
//go:embed times.json
var times []byte

// withTimes tells suites how long their specs take.
func withTimes(all []*e2e.Suite) []*e2e.Suite {
	seconds := map[string]float64{}
	if err := json.Unmarshal(times, &seconds); err != nil {
		panic(fmt.Sprintf("times.json: %v", err))
	}
	for _, suite := range all {
		suite.Measured = map[string]time.Duration{}
		for _, spec := range suite.Specs() {
			if took, known := seconds[spec.ID()]; known {
				suite.Measured[spec.ID()] = time.Duration(took * float64(time.Second))
			}
		}
	}
	return all
}
