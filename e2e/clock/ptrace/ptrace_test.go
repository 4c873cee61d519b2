//go:build linux && (amd64 || arm64)

package ptrace

import (
	"os"
	"testing"

	. "github.com/onsi/gomega"
)

func TestCodeIsTheRoutineAndNoMore(t *testing.T) {
	g := NewWithT(t)
	got := routineFor(0x1122334455667788, 0)
	g.Expect(len(got)).To(And(BeNumerically(">", 100), BeNumerically("<", 300)))
	g.Expect(routineFor(0x1122334455667788, 0)).To(Equal(got))
	g.Expect(routineFor(0, -1)).To(HaveLen(len(got)), "it loads any numbers in the same way")
}

func TestTheVDSOHasWhatIsNeeded(t *testing.T) {
	g := NewWithT(t)
	found, err := findVDSO(os.Getpid())
	g.Expect(err).NotTo(HaveOccurred())
	from, to, err := vdsoRange(os.Getpid())
	g.Expect(err).NotTo(HaveOccurred())
	for _, at := range []uint64{found.function, found.trap} {
		g.Expect(at).To(And(BeNumerically(">", from), BeNumerically("<", to)))
	}
	_, err = findVDSO(1 << 30)
	g.Expect(err).To(HaveOccurred())
}

func TestCheck(t *testing.T) {
	g := NewWithT(t)
	g.Expect(Check(os.Args[0])).To(Succeed())
	g.Expect(Check("/bin/sh")).To(MatchError(ContainSubstring("it is no Go program")))
}
