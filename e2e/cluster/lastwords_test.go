package cluster

import (
	"fmt"
	"slices"
	"testing"

	. "github.com/onsi/gomega"
)

func TestLastWords(t *testing.T) {
	var log []string
	for i := range 100 {
		log = append(log, fmt.Sprint(i))
	}
	g := NewWithT(t)
	g.Expect(LastWords(log, 3)).To(Equal([]string{"97", "98", "99"}))
	g.Expect(LastWords(log[:2], 3)).To(Equal([]string{"0", "1"}))
	g.Expect(LastWords(nil, 3)).To(BeEmpty())

	panicked := slices.Clone(log)
	panicked[50] = "panic: no space left on device"
	g.Expect(LastWords(panicked, 6)).To(Equal([]string{"46", "47", "48", "49", "panic: no space left on device", "51"}))
	panicked[98] = "fatal error: all goroutines are asleep"
	g.Expect(LastWords(panicked, 6)).
		To(Equal([]string{"94", "95", "96", "97", "fatal error: all goroutines are asleep", "99"}))
}
